//! The sources of object stores' credentials, and the messages if there are none.

#[path = "../answers/mod.rs"]
mod answers;
mod cloud;
mod machine;
mod profile;

use cloud::Cloud;
use forerun_backend::ConnectOptions;

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "ENVIRONMENT"), ("AWS_SECRET_ACCESS_KEY", "s")];
const METADATA: (&str, &str) = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "CLOUD");
const CONTAINER: [(&str, &str); 2] = [
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/container"),
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "secret"),
];

fn with_profile(options: ConnectOptions, profile: &str) -> ConnectOptions {
    options.with_profile(Some(profile.to_owned()))
}

#[tokio::test]
async fn the_first_source_that_is_there_wins() {
    let cloud = Cloud::start(|_| None);
    let all = [KEYS[0], KEYS[1], CONTAINER[0], CONTAINER[1], METADATA];
    assert_eq!(cloud.user(&cloud.options(&[METADATA])).await, "INSTANCE session");
    assert_eq!(cloud.user(&cloud.options(&all[2..])).await, "CONTAINER session");
    cloud.write(".aws/credentials", "[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = s\n");
    assert_eq!(cloud.user(&cloud.options(&all[2..])).await, "DEFAULT");
    assert_eq!(cloud.user(&cloud.options(&all)).await, "ENVIRONMENT");
    assert_eq!(cloud.user(&with_profile(cloud.options(&all), "default")).await, "DEFAULT");
}
