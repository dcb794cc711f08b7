//! Credentials of object stores, as a user meets them.

use std::fs;
use std::process::Command;

use super::answers::reply;
use super::cloud::{Cloud, keys};
use super::support::{Foreground, forerun, output, runtime};

/// `forerun mount` of `url` with just the `variables` of a cloud.
fn mount(cloud: &Cloud, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = forerun();
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("XDG_RUNTIME_DIR", runtime());
    command.envs(cloud.variables(variables)).arg("mount").args(arguments);
    command
}

/// Checks that the mount fails for want of credentials, in a sentence with `words`, and that the store
/// was not asked.
fn check_refused(cloud: &Cloud, variables: &[(&str, &str)], words: &[&str]) -> String {
    check_refused_at("s3://bucket", cloud, variables, words)
}

fn check_refused_at(url: &str, cloud: &Cloud, variables: &[(&str, &str)], words: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["--endpoint", &cloud.url, "--retry-timeout", "0", url];
    let output = output(mount(cloud, variables, &arguments).arg(directory.path()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for word in words {
        let word = word.replace("CLOUD", &cloud.url);
        assert!(said.contains(&word), "no {word:?} in: {said}");
    }
    let requests = cloud.requests.lock().unwrap();
    assert!(!requests.iter().any(|request| request.starts_with("GET /bucket")), "{requests:?}");
    said
}

fn check_mounts(cloud: &Cloud, variables: &[(&str, &str)], user: &str) {
    let directory = tempfile::tempdir().unwrap();
    let mut command = mount(cloud, variables, &["--endpoint", &cloud.url, "s3://bucket"]);
    let mount = Foreground::start(command.arg(directory.path()), directory.path());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    drop(mount);
    let requests = cloud.requests.lock().unwrap();
    let signed = format!("Credential={user}/");
    assert!(requests.iter().any(|request| request.starts_with("GET /bucket") && request.contains(&signed)));
}

const METADATA: [(&str, &str); 1] = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", "CLOUD")];

#[test]
fn an_instance_that_has_no_role_is_told_apart_from_a_store_that_refuses() {
    let cloud = Cloud::start(|_| None);
    check_mounts(&cloud, &METADATA, "INSTANCE");
    for status in ["403 Forbidden", "404 Not Found"] {
        let cloud = Cloud::start(move |request| {
            request.contains("/latest/").then(|| reply(status, "text/plain", "no"))
        });
        let answer = format!(
            "the instance metadata service at CLOUD gave no credentials: it answered {}",
            &status[..3]
        );
        let tried = "tried before, in this order: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile";
        let said = check_refused(&cloud, &METADATA, &[&answer, tried]);
        assert!(!said.contains("the store answered"), "{said}");
    }
    let cloud = Cloud::start(|request| {
        // As long as the test: the program gives up before.
        request.contains("/latest/").then(|| {
            loop {
                std::thread::park();
            }
        })
    });
    check_refused(
        &cloud,
        &METADATA,
        &["the instance metadata service at CLOUD gave no credentials", "timed out"],
    );
}

#[test]
fn profiles_with_a_program_and_a_role_are_used() {
    let cloud = Cloud::start(|_| None);
    cloud.write("keys.json", &keys("PROGRAM", "SessionToken"));
    let program = format!("cat {}/keys.json", cloud.home.path().display());
    cloud.write(
        ".aws/config",
        &format!(
            "[default]\nrole_arn = arn\nsource_profile = vault\n\
             [profile vault]\ncredential_process = {program}\n\
             [profile broken]\ncredential_process = echo 'the vault is locked' >&2; exit 3\n"
        ),
    );
    check_mounts(&cloud, &[("AWS_PROFILE", "vault")], "PROGRAM");
    check_mounts(&cloud, &[], "arn-BY-PROGRAM-session");
    cloud.requests.lock().unwrap().clear();
    let words = ["the profile \"broken\" gave no credentials", "the vault is locked"];
    check_refused(&cloud, &[("AWS_PROFILE", "broken")], &words);
}

#[test]
fn single_sign_on_without_a_login_and_other_clouds_say_what_to_do() {
    let cloud = Cloud::start(|_| None);
    let settings = "sso_start_url = https://example.org\nsso_region = eu-west-1\nsso_account_id = 12\n";
    cloud.write(".aws/config", &format!("[default]\n{settings}sso_role_name = reader\n"));
    check_refused(&cloud, &[], &["single sign-on has no token", "run `aws sso login --profile default`"]);
    cloud.write("google.json", r#"{"type": "external_account", "client_secret": "hidden"}"#);
    let file = cloud.home.path().join("google.json");
    let google = [("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap())];
    let words = ["google.json", "are of type \"external_account\"", "print-access-token"];
    let said = check_refused_at("gs://bucket", &cloud, &google, &words);
    assert!(!said.contains("hidden"), "{said}");
    let azure = [("AZURE_STORAGE_ACCOUNT_NAME", "account"), ("IDENTITY_ENDPOINT", "CLOUD/identity")];
    let words = ["the managed identity at CLOUD/identity gave no credentials: it answered 403"];
    check_refused_at("az://bucket", &cloud, &azure, &words);
}
