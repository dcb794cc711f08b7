//! Profiles of ~/.aws: a program, roles, single sign-on.

use forerun_backend::ErrorKind;

use super::METADATA;
use super::answers::reply;
use super::cloud::{Cloud, keys};

#[tokio::test]
async fn a_program_of_the_profile_gives_credentials() {
    let cloud = Cloud::start(|_| None);
    cloud.write("keys.json", &keys("PROGRAM", "SessionToken"));
    let config = "[profile good]\ncredential_process = cat \"$HOME_OF_TEST/keys.json\"\n\
        [profile bad]\ncredential_process = echo 'the vault is locked' >&2; exit 3\n\
        [profile silent]\ncredential_process = true\n";
    cloud.write(".aws/config", &config.replace("$HOME_OF_TEST", cloud.home.path().to_str().unwrap()));
    let of = |profile: &str| cloud.options(&[("AWS_PROFILE", profile)]);
    assert_eq!(cloud.user(&of("good")).await, "PROGRAM session");
    let words =
        ["the profile \"bad\" gave no credentials", "credential_process failed", "the vault is locked"];
    let error = cloud.error(&of("bad"), &words).await;
    assert!(
        error.kind == ErrorKind::Denied && error.message.contains("tried before, in this order: AWS_ACCESS")
    );
    cloud.error(&of("silent"), &["credential_process gave no JSON object with AccessKeyId"]).await;
}

#[tokio::test]
async fn roles_are_assumed_one_after_the_other() {
    let cloud = Cloud::start(|_| None);
    cloud.write(
        ".aws/config",
        "[profile last]\nrole_arn = arn-2\nsource_profile = middle\nexternal_id = x\n\
         [profile middle]\nrole_arn = arn-1\nsource_profile = keys\n\
         [profile keys]\naws_access_key_id = BASE\naws_secret_access_key = s\n\
         [profile own]\nrole_arn = arn-3\nsource_profile = own\naws_access_key_id = OWN\naws_secret_access_key = s\n\
         [profile instance]\nrole_arn = arn-4\ncredential_source = Ec2InstanceMetadata\n\
         [profile loop]\nrole_arn = arn\nsource_profile = pool\n\
         [profile pool]\nrole_arn = arn\nsource_profile = loop\n\
         [profile lonely]\nrole_arn = arn\n\
         [profile code]\nrole_arn = arn\nsource_profile = keys\nmfa_serial = m\n\
         [profile gone]\nrole_arn = arn\nsource_profile = nowhere\n",
    );
    let of = |profile: &str| cloud.options(&[("AWS_PROFILE", profile), METADATA]);
    assert_eq!(cloud.user(&of("last")).await, "arn-2-BY-arn-1-BY-BASE-session session");
    assert_eq!(cloud.user(&of("own")).await, "arn-3-BY-OWN session");
    assert_eq!(cloud.user(&of("instance")).await, "arn-4-BY-INSTANCE-session session");
    assert!(cloud.requests.lock().unwrap().iter().any(|request| request.contains("ExternalId=x")));
    cloud.error(&of("loop"), &["the profile \"loop\" is its own source_profile"]).await;
    cloud.error(&of("lonely"), &["has role_arn without source_profile"]).await;
    cloud.error(&of("code"), &["mfa_serial", "aws sts get-session-token"]).await;
    cloud.error(&of("gone"), &["the profile \"nowhere\" is not in ~/.aws"]).await;
}

#[tokio::test]
async fn a_refusal_of_sts_is_not_the_stores() {
    let cloud = Cloud::start(|request| {
        let body = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>";
        request.starts_with("POST / ").then(|| reply("403 Forbidden", "text/xml", body))
    });
    cloud.write(
        ".aws/config",
        "[default]\nrole_arn = arn\nsource_profile = keys\n\
         [profile keys]\naws_access_key_id = BASE\naws_secret_access_key = s\n",
    );
    let error = cloud.error(&cloud.options(&[]), &["STS at CLOUD answered 403 AccessDenied: not you"]).await;
    assert_eq!(error.kind, ErrorKind::Denied);
    cloud.write(".aws/config", "");
    cloud.write("token", "t");
    let file = cloud.home.path().join("token");
    let web = [("AWS_WEB_IDENTITY_TOKEN_FILE", file.to_str().unwrap()), ("AWS_ROLE_ARN", "arn")];
    let cloud = Cloud::start(|_| None);
    cloud.error(&cloud.options(&web), &["STS, for AWS_WEB_IDENTITY_TOKEN_FILE", "it answered 403"]).await;
}

/// The file of the session `work`, named by its hash.
const SESSION: &str = ".aws/sso/cache/e274eeff768c6396088ec6eb091f4bf4d47ab1e0.json";

#[tokio::test]
async fn single_sign_on_uses_and_renews_the_token_of_the_login() {
    let cloud = Cloud::start(|_| None);
    cloud.write(
        ".aws/config",
        "[default]\nsso_session = work\nsso_account_id = 12\nsso_role_name = reader\n\
         [sso-session work]\nsso_region = eu-west-1\nsso_start_url = https://example.org\n",
    );
    let login = "`aws sso login --profile default`";
    cloud.error(&cloud.options(&[]), &["single sign-on has no token", login]).await;
    cloud.write(SESSION, r#"{"accessToken": "fresh", "expiresAt": "2099-01-01T00:00:00Z"}"#);
    assert_eq!(cloud.user(&cloud.options(&[])).await, "SIGNED-ON session");
    let ended = r#"{"accessToken": "stale", "expiresAt": "2020-01-01T00:00:00UTC", "clientId": "c",
        "clientSecret": "s", "refreshToken": "old", "other": "kept"}"#;
    cloud.write(SESSION, ended);
    assert_eq!(cloud.user(&cloud.options(&[])).await, "SIGNED-ON session");
    let kept = cloud.read(SESSION);
    assert!([r#""fresh""#, r#""new""#, r#""kept""#].iter().all(|word| kept.contains(word)), "{kept}");
    cloud.write(SESSION, &ended.replace("old", "revoked"));
    cloud.error(&cloud.options(&[]), &["single sign-on has ended", "answered 403", login]).await;
    cloud.write(SESSION, r#"{"accessToken": "revoked", "expiresAt": "2099-01-01T00:00:00Z"}"#);
    cloud.error(&cloud.options(&[]), &["single sign-on refused", "answered 403", login]).await;
}
