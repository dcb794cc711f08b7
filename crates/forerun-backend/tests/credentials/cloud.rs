//! A store and the services around it that give credentials, all of them fakes on this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forerun_backend::{ConnectOptions, Environment, Error, RetryOptions, connect};
use tempfile::TempDir;

use crate::answers::{reply, serve};

/// A store and the services around it, with a record of all requests.
pub(crate) struct Cloud {
    pub(crate) url: String,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    pub(crate) home: TempDir,
}

impl Cloud {
    /// Starts them. `answer` overrides the answers of a cloud that works.
    pub(crate) fn start(answer: impl Fn(&str) -> Option<String> + Clone + Send + 'static) -> Cloud {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let address = serve(move |request| {
            seen.lock().unwrap().push(request.to_owned());
            answer(request).unwrap_or_else(|| usual(request))
        });
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".aws/sso/cache")).unwrap();
        Cloud { url: format!("http://{address}"), requests, home }
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.home.path().join(file), text.replace("CLOUD", &self.url)).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.home.path().join(file)).unwrap()
    }

    /// The environment variables of these services, and `more`.
    pub(crate) fn variables(&self, more: &[(&str, &str)]) -> Vec<(String, String)> {
        let home = self.home.path().to_str().unwrap();
        let own = [
            ("HOME", home),
            ("AWS_ENDPOINT_URL_STS", &self.url),
            ("AWS_ENDPOINT_URL_SSO", &self.url),
            ("AWS_ENDPOINT_URL_SSO_OIDC", &self.url),
        ];
        let all = own.iter().chain(more);
        all.map(|(name, value)| ((*name).to_owned(), value.replace("CLOUD", &self.url))).collect()
    }

    pub(crate) fn options(&self, variables: &[(&str, &str)]) -> ConnectOptions {
        ConnectOptions::default()
            .with_endpoint(Some(self.url.clone()))
            .with_environment(Environment::of(self.variables(variables)))
            .with_retry(RetryOptions::default().with_backoff_first(Duration::from_millis(1)))
    }

    /// The user that the store sees.
    pub(crate) async fn user(&self, options: &ConnectOptions) -> String {
        connect("s3://bucket", options).await.unwrap();
        let requests = self.requests.lock().unwrap();
        signer(requests.iter().rfind(|request| request.starts_with("GET /bucket")).unwrap())
    }

    pub(crate) async fn error(&self, options: &ConnectOptions, words: &[&str]) -> Error {
        self.requests.lock().unwrap().clear();
        let error = connect("s3://bucket", options).await.unwrap_err();
        for word in words {
            let word = word.replace("CLOUD", &self.url);
            assert!(error.message.contains(&word), "no {word:?} in: {error}");
        }
        let requests = self.requests.lock().unwrap();
        assert!(!requests.iter().any(|request| request.starts_with("GET /bucket")), "the store was asked");
        error
    }
}

/// The user that signed `request`, and the session that it names.
fn signer(request: &str) -> String {
    let between = |from: &str, to: &str| {
        let (_, rest) = request.split_once(from)?;
        Some(rest.split_once(to)?.0.to_owned())
    };
    let id = between("Credential=", "/").unwrap();
    match between("x-amz-security-token: ", "\n") {
        Some(session) => format!("{id} {session}"),
        None => id,
    }
}

pub(crate) fn keys(id: &str, token: &str) -> String {
    format!(
        r#"{{"Version": 1, "AccessKeyId": "{id}", "SecretAccessKey": "s", "{token}": "session",
            "Expiration": "2099-01-01T00:00:00Z"}}"#
    )
}

/// The answers of a cloud that works.
fn usual(request: &str) -> String {
    let json = |body: &str| reply("200 OK", "application/json", body);
    let line = request.lines().next().unwrap();
    match line.rsplit_once(' ').unwrap().0 {
        "PUT /latest/api/token" => reply("200 OK", "text/plain", "metadata-token"),
        "GET /latest/meta-data/iam/security-credentials/" => reply("200 OK", "text/plain", "role"),
        "GET /latest/meta-data/iam/security-credentials/role" => json(&keys("INSTANCE", "Token")),
        "GET /container" if request.contains("authorization: secret") => json(&keys("CONTAINER", "Token")),
        "POST /token" if request.contains(r#""refreshToken":"old""#) => {
            json(r#"{"accessToken": "fresh", "expiresIn": 3600, "refreshToken": "new"}"#)
        }
        "GET /federation/credentials?role_name=reader&account_id=12"
            if request.contains("x-amz-sso_bearer_token: fresh") =>
        {
            json(
                r#"{"roleCredentials": {"accessKeyId": "SIGNED-ON", "secretAccessKey": "s",
                    "sessionToken": "session", "expiration": 4070908800000}}"#,
            )
        }
        "POST /" if request.contains("Action=AssumeRole&") => {
            let arn = request.split_once("RoleArn=").unwrap().1.split('&').next().unwrap();
            let id = format!("{arn}-BY-{}", signer(request).replace(' ', "-"));
            reply(
                "200 OK",
                "text/xml",
                &format!(
                    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{id}</AccessKeyId>\
                     <SecretAccessKey>s</SecretAccessKey><SessionToken>session</SessionToken>\
                     <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>\
                     </AssumeRoleResponse>"
                ),
            )
        }
        get if get.starts_with("GET /bucket") => {
            reply("200 OK", "application/xml", "<ListBucketResult><Name>bucket</Name></ListBucketResult>")
        }
        _ => reply("403 Forbidden", "text/plain", "no"),
    }
}
