//! Choosing the credentials: the first source that exists, in the order of [`choose`].

use std::sync::Arc;

use object_store::StaticCredentialProvider;
use object_store::aws::{AwsCredential, AwsCredentialProvider};

use super::Context;
use super::container::Container;
use super::profile::Section;
use super::renewal::Renewing;
use super::role::FromProfile;
use crate::connect::ConnectOptions;
use crate::connect::store::credentials::NamedCredentials;
use crate::connect::store::{metadata_answers, no_credentials};
use crate::{Error, ErrorKind, Result};

/// The variable that names another metadata service than the one of an EC2 instance.
pub(super) const INSTANCE_ENDPOINT: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
/// The metadata service of an EC2 instance.
const INSTANCE: &str = "http://169.254.169.254";
/// The name of the first source in messages.
const KEYS: &str = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

/// The credentials of the first source that has some:
/// * the profile `name`, if the options ask for it
/// * the environment
/// * the profile otherwise
/// * a web identity, a container, an instance
///
/// # Errors
/// [`ErrorKind::Denied`] if there are none, or if their source refuses. Lists the sources tried.
pub(super) async fn choose(
    context: &Context,
    name: &str,
    profile: &Section,
) -> Result<NamedCredentials<AwsCredential>> {
    let options = &context.options;
    let is_set = |name: &str| options.environment.get(name).is_some();
    let has_profile = FromProfile::has_credentials(profile);
    let named = format!("the profile {name:?}");
    let mut tried = Vec::new();
    let (provider, name) = if has_profile && options.profile.is_some() {
        (from_profile(context, name), named)
    } else if is_set("AWS_ACCESS_KEY_ID") || is_set("AWS_SECRET_ACCESS_KEY") {
        (keys(options)?, KEYS.to_owned())
    } else {
        tried.push(KEYS.to_owned());
        if has_profile {
            (from_profile(context, name), named)
        } else {
            tried.push(named);
            of_machine(context, &mut tried).await?
        }
    };
    let source = NamedCredentials::new(provider, name, &tried);
    source.check(&context.url.text, &options.retry).await?;
    Ok(source)
}

fn from_profile(context: &Context, name: &str) -> AwsCredentialProvider {
    Arc::new(Renewing::new(FromProfile { context: context.clone(), name: name.to_owned() }))
}

/// The credentials of this machine: a web identity, a container or an instance.
async fn of_machine(context: &Context, tried: &mut Vec<String>) -> Result<(AwsCredentialProvider, String)> {
    let environment = &context.options.environment;
    let is_set = |name: &str| environment.get(name).is_some();
    if is_set("AWS_WEB_IDENTITY_TOKEN_FILE") && is_set("AWS_ROLE_ARN") {
        let name = "STS, for AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN,".to_owned();
        return Ok((context.provider(context.builder())?, name));
    }
    tried.push("AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN".to_owned());
    if is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
        let name = "the container service (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI)".to_owned();
        return Ok((context.provider(context.builder())?, name));
    }
    if let Some(uri) = environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
        let name = format!("the container service at {}", crate::without_secrets(&uri));
        let provider = if is_set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            context.provider(context.builder())?
        } else {
            let token = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN");
            Arc::new(Renewing::new(Container { uri, token, name: name.clone(), client: context.client() }))
        };
        return Ok((provider, name));
    }
    tried.push("AWS_CONTAINER_CREDENTIALS_FULL_URI and _RELATIVE_URI".to_owned());
    let service = environment.get(INSTANCE_ENDPOINT).unwrap_or_else(|| INSTANCE.to_owned());
    let name = format!("the instance metadata service at {}", crate::without_secrets(&service));
    let is_disabled = environment.get("AWS_EC2_METADATA_DISABLED");
    let is_disabled = is_disabled.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if !is_disabled && metadata_answers(&service).await {
        return Ok((context.provider(context.builder())?, name));
    }
    let why = if is_disabled { "AWS_EC2_METADATA_DISABLED is set" } else { "it does not answer" };
    tried.push(format!("{name} ({why})"));
    Err(no_credentials(&context.url, tried))
}

/// The keys of the environment.
pub(super) fn keys(options: &ConnectOptions) -> Result<AwsCredentialProvider> {
    let get = |name: &str| {
        options.environment.get(name).ok_or_else(|| {
            let message = format!("{name} is not set: set both {KEYS}, or neither");
            Error::new(ErrorKind::Invalid, message)
        })
    };
    let token = options.environment.get("AWS_SESSION_TOKEN").or_else(|| options.environment.get("AWS_TOKEN"));
    Ok(Arc::new(StaticCredentialProvider::new(AwsCredential {
        key_id: get("AWS_ACCESS_KEY_ID")?,
        secret_key: get("AWS_SECRET_ACCESS_KEY")?,
        token,
    })))
}
