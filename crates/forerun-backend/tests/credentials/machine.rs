//! The services of instances and containers, and the kinds of Google and Azure.

use std::time::{Duration, Instant};

use forerun_backend::{ErrorKind, connect};

use super::answers::reply;
use super::cloud::Cloud;
use super::{CONTAINER, METADATA};

#[tokio::test]
async fn a_metadata_service_that_refuses_is_named_and_not_the_store() {
    for status in ["403 Forbidden", "404 Not Found"] {
        let cloud = Cloud::start(move |request| {
            request.contains("/latest/").then(|| reply(status, "text/plain", "no"))
        });
        let words = [
            &format!(
                "the instance metadata service at CLOUD gave no credentials: it answered {}",
                &status[..3]
            ),
            "tried before, in this order: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile \"default\", \
             AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ];
        let error = cloud.error(&cloud.options(&[METADATA]), &words).await;
        assert!(error.kind == ErrorKind::Denied && !error.message.contains("the store"), "{error}");
    }
    let cloud = Cloud::start(|request| {
        request.starts_with("GET /container").then(|| reply("403 Forbidden", "text/plain", "no"))
    });
    cloud
        .error(&cloud.options(&CONTAINER), &["the container service at CLOUD/container", "answered 403"])
        .await;
}

#[tokio::test]
async fn a_metadata_service_that_hangs_or_is_absent_costs_a_bounded_time() {
    let cloud = Cloud::start(|request| {
        // Silent for the whole test: the client gives up before.
        request.contains("/latest/").then(|| {
            loop {
                std::thread::park();
            }
        })
    });
    let mut hangs = cloud.options(&[METADATA]);
    hangs.retry.deadline = Duration::ZERO;
    let began = Instant::now();
    let words = ["the instance metadata service at CLOUD gave no credentials", "timed out"];
    cloud.error(&hangs, &words).await;
    assert!(began.elapsed() < Duration::from_secs(30), "it took {:?}", began.elapsed());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let absent = cloud.options(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &nobody)]);
    let tried = format!("the instance metadata service at {nobody} (it does not answer)");
    cloud.error(&absent, &["no credentials were found; set AWS_ACCESS_KEY_ID", &tried]).await;
}

#[tokio::test]
async fn a_store_that_refuses_is_told_with_the_source_of_the_credentials() {
    let cloud = Cloud::start(|request| {
        request.starts_with("GET /bucket").then(|| reply("403 Forbidden", "text/plain", "no"))
    });
    let error = connect("s3://bucket", &cloud.options(&[METADATA])).await.unwrap_err();
    let advice =
        format!("check the instance metadata service at {}, which the credentials come from", cloud.url);
    assert!(error.message.contains("the store answered 403") && error.message.contains(&advice), "{error}");
}

#[tokio::test]
async fn kinds_of_google_credentials_that_are_not_supported_are_named() {
    let cloud = Cloud::start(|_| None);
    for kind in ["external_account", "impersonated_service_account"] {
        cloud.write("google.json", &format!(r#"{{"type": "{kind}", "client_secret": "hidden"}}"#));
        let file = cloud.home.path().join("google.json");
        let options = cloud.options(&[("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap())]);
        let error = connect("gs://bucket", &options).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied);
        for word in [kind, file.to_str().unwrap(), "Set GOOGLE_APPLICATION_CREDENTIALS", "print-access-token"]
        {
            assert!(error.message.contains(word), "no {word:?} in: {error}");
        }
        assert!(!error.message.contains("hidden"), "{error}");
    }
}

#[tokio::test]
async fn a_managed_identity_of_azure_is_asked_at_its_endpoint() {
    let answer = |request: &str| {
        let body = r#"{"access_token": "identity", "expires_on": "4070908800", "resource": "r", "token_type": "Bearer"}"#;
        if request.starts_with("GET /bucket") {
            return Some(reply("403 Forbidden", "text/plain", "no"));
        }
        request.starts_with("GET /identity?").then(|| reply("200 OK", "application/json", body))
    };
    let cloud = Cloud::start(answer);
    let variables = [("AZURE_STORAGE_ACCOUNT_NAME", "account"), ("IDENTITY_ENDPOINT", "CLOUD/identity")];
    let error = connect("az://bucket", &cloud.options(&variables)).await.unwrap_err();
    assert!(error.message.contains("check the managed identity at"), "{error}");
    let is_known = |request: &String| request.contains("authorization: Bearer identity");
    assert!(cloud.requests.lock().unwrap().iter().any(is_known));
    let cloud = Cloud::start(|_| None);
    let error = connect("az://bucket", &cloud.options(&variables)).await.unwrap_err();
    for word in
        ["the managed identity at", "gave no credentials: it answered 403", "AZURE_STORAGE_ACCOUNT_KEY, "]
    {
        assert!(error.message.contains(word), "no {word:?} in: {error}");
    }
}
