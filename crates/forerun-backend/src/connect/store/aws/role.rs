//! Credentials of a profile: keys, a program, single sign-on, and roles assumed with these.

use std::sync::Arc;

use async_trait::async_trait;
use object_store::aws::{AmazonS3ConfigKey as Key, AwsAuthorizer, AwsCredential};
use object_store::client::HttpRequestBody;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use url::form_urlencoded::Serializer;

use super::profile::{Files, Section};
use super::renewal::{Obtained, Origin};
use super::{Context, process, sign_on, source};
use crate::connect::store::credentials::{ask, request_to};
use crate::object::{element, of_party};
use crate::{Error, ErrorKind, Result};

/// The credentials of the profile `name`.
#[derive(Debug)]
pub(super) struct FromProfile {
    pub(super) context: Context,
    pub(super) name: String,
}

impl FromProfile {
    /// Whether `profile` has settings for credentials.
    pub(super) fn has_credentials(profile: &Section) -> bool {
        let settings =
            ["role_arn", "sso_session", "sso_start_url", "aws_access_key_id", "credential_process"];
        settings.iter().any(|setting| profile.contains_key(*setting))
    }
}

#[async_trait]
impl Origin for FromProfile {
    async fn obtain(&self) -> Result<Obtained> {
        let files = Files::read(&self.context.options.environment).await?;
        let (base, roles) = self.chain(&files)?;
        let mut obtained = match base {
            Base::Profile(name, profile) => self.base(&files, &name, &profile).await?,
            Base::Machine(profile) => self.machine(&profile).await?,
        };
        for role in roles.iter().rev() {
            obtained = self.assume(role, &obtained.credential).await?;
        }
        Ok(obtained)
    }
}

/// The first credentials of a chain.
enum Base {
    /// Those of a profile, with its name.
    Profile(String, Section),
    /// Those of the environment, or of the machine.
    Machine(Section),
}

impl FromProfile {
    /// The first credentials, and the profiles whose roles are assumed with them, last one first.
    fn chain(&self, files: &Files) -> Result<(Base, Vec<Section>)> {
        let (mut name, mut roles) = (self.name.clone(), Vec::new());
        let mut names = Vec::new();
        loop {
            let invalid = |why: &str| Error::new(ErrorKind::Invalid, format!("the profile {name:?} {why}"));
            let profile = files.profile(&name).ok_or_else(|| invalid("is not in ~/.aws"))?;
            if names.contains(&name) {
                return Err(invalid("is its own source_profile, by way of others"));
            }
            if !profile.contains_key("role_arn") {
                return Ok((Base::Profile(name, profile), roles));
            }
            if profile.contains_key("mfa_serial") {
                return Err(invalid(
                    "has mfa_serial, and nobody can be asked for a code: use credential_process, or put \
                     the keys of `aws sts get-session-token` into another profile",
                ));
            }
            let next = profile.get("source_profile").cloned();
            if next.as_ref() == Some(&name) {
                roles.push(profile.clone());
                return Ok((Base::Profile(name, profile), roles));
            }
            match next {
                Some(next) => {
                    roles.push(profile);
                    names.push(std::mem::replace(&mut name, next));
                }
                None if profile.contains_key("web_identity_token_file") => {
                    return Ok((Base::Machine(profile), roles));
                }
                None if profile.contains_key("credential_source") => {
                    roles.push(profile.clone());
                    return Ok((Base::Machine(profile), roles));
                }
                None => {
                    return Err(invalid(
                        "has role_arn without source_profile, credential_source or web_identity_token_file",
                    ));
                }
            }
        }
    }

    async fn base(&self, files: &Files, name: &str, profile: &Section) -> Result<Obtained> {
        let get = |setting: &str| profile.get(setting).map(String::as_str);
        if get("sso_session").is_some() || get("sso_start_url").is_some() {
            return sign_on::obtain(&self.context, files, name, profile).await;
        }
        if let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key")) {
            let party = format!("the profile {name:?}");
            return Obtained::new(&party, [id, secret], get("aws_session_token"), None);
        }
        match get("credential_process") {
            Some(command) => process::run(command).await,
            None => Err(Error::new(
                ErrorKind::Denied,
                format!("the profile {name:?} has no keys, no credential_process and no single sign-on"),
            )),
        }
    }

    /// The credentials of `profile`'s web identity if it has one, or of its `credential_source`.
    async fn machine(&self, profile: &Section) -> Result<Obtained> {
        let context = &self.context;
        let provider = if profile.get("credential_source").is_some_and(|source| source == "Environment") {
            source::keys(&context.options)?
        } else {
            let mut builder = context.builder();
            for (setting, key) in [
                ("web_identity_token_file", Key::WebIdentityTokenFile),
                ("role_arn", Key::RoleArn),
                ("role_session_name", Key::RoleSessionName),
            ] {
                if let Some(value) = profile.get(setting) {
                    builder = builder.with_config(key, value);
                }
            }
            context.provider(builder)?
        };
        let credential = provider.get_credential().await.map_err(|error| of_party(&error, "their source"))?;
        Ok(Obtained::of_provider(credential))
    }

    async fn assume(&self, role: &Section, by: &Arc<AwsCredential>) -> Result<Obtained> {
        let region = role.get("region").unwrap_or(&self.context.region);
        let endpoint = self.context.options.environment.get("AWS_ENDPOINT_URL_STS");
        let endpoint = endpoint.unwrap_or_else(|| format!("https://sts.{region}.amazonaws.com"));
        let party = format!("STS at {}", crate::without_secrets(&endpoint));
        let mut request = request_to(&endpoint, HttpRequestBody::from(form(role)))?;
        *request.method_mut() = reqwest::Method::POST;
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, kind);
        AwsAuthorizer::new(by, "sts", region).try_authorize(&mut request, None).map_err(|error| {
            Error::new(ErrorKind::Permanent, format!("a request cannot be signed: {error}"))
        })?;
        let answer = ask(&self.context.client(), request, &party).await?;
        let get = |name: &str| element(&answer, name);
        match (get("AccessKeyId"), get("SecretAccessKey"), get("SessionToken")) {
            (Some(id), Some(secret), Some(token)) => {
                Obtained::new(&party, [id, secret], Some(token), get("Expiration"))
            }
            _ => Err(Error::new(ErrorKind::Denied, format!("{party} gave no credentials"))),
        }
    }
}

/// The form of a request for the role in the profile `role`.
fn form(role: &Section) -> String {
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", "AssumeRole").append_pair("Version", "2011-06-15");
    form.append_pair("RoleSessionName", role.get("role_session_name").map_or("forerun", String::as_str));
    for (setting, parameter) in
        [("role_arn", "RoleArn"), ("external_id", "ExternalId"), ("duration_seconds", "DurationSeconds")]
    {
        if let Some(value) = role.get(setting) {
            form.append_pair(parameter, value);
        }
    }
    form.finish()
}
