//! Credentials of AWS single sign-on, for a user who has run `aws sso login`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use object_store::client::HttpRequestBody;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use ring::digest;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::Context;
use super::profile::{Files, Section};
use super::renewal::Obtained;
use crate::apart;
use crate::connect::store::credentials::{ask, request_to};
use crate::{Error, ErrorKind, Result};

/// A token that expires sooner is renewed: requests take a while, and clocks differ.
const RENEW_BEFORE: TimeDelta = TimeDelta::minutes(1);

/// The credentials of the account and role in the profile `name`, by the token of `aws sso login`.
pub(super) async fn obtain(
    context: &Context,
    files: &Files,
    name: &str,
    profile: &Section,
) -> Result<Obtained> {
    let login = |why: &str| {
        let message = format!("single sign-on {why}: run `aws sso login --profile {name}`");
        Error::new(ErrorKind::Denied, message)
    };
    let session = match profile.get("sso_session") {
        Some(session) => files.session(session).ok_or_else(|| {
            let message = format!(
                "the profile {name:?} names the sso-session {session:?}, which is not in ~/.aws/config"
            );
            Error::new(ErrorKind::Invalid, message)
        })?,
        None => profile.clone(),
    };
    let get = |section: &Section, setting: &str| {
        section.get(setting).cloned().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, format!("single sign-on in the profile {name:?} needs {setting}"))
        })
    };
    let region = get(&session, "sso_region")?;
    let key = profile.get("sso_session").cloned().map_or_else(|| get(&session, "sso_start_url"), Ok)?;
    let home = context.options.environment.get("HOME").unwrap_or_default();
    let place = Path::new(&home).join(".aws/sso/cache").join(format!("{}.json", sha1(&key)));
    let file = place.clone();
    let token = apart::run(move || Token::read(&file))
        .await
        .map_err(|error| login(&format!("has no token ({error})")))?;
    let access = match token.valid() {
        Some(access) => access,
        None => token.renew(context, &region, place).await.map_err(|error| match error.is_transient() {
            true => error,
            false => login(&format!("has ended ({error})")),
        })?,
    };

    let (role, account) = (get(profile, "sso_role_name")?, get(profile, "sso_account_id")?);
    let query = Serializer::new(String::new())
        .append_pair("role_name", &role)
        .append_pair("account_id", &account)
        .finish();
    let endpoint = context.options.environment.get("AWS_ENDPOINT_URL_SSO");
    let endpoint = endpoint.unwrap_or_else(|| format!("https://portal.sso.{region}.amazonaws.com"));
    let party = format!("single sign-on at {}", crate::without_secrets(&endpoint));
    let address = format!("{}/federation/credentials?{}", endpoint.trim_end_matches('/'), query);
    let mut request = request_to(&address, HttpRequestBody::empty())?;
    let access = HeaderValue::from_str(&access).map_err(|_| login("has a token that cannot be sent"))?;
    request.headers_mut().insert("x-amz-sso_bearer_token", access);
    let answer = ask(&context.client(), request, &party).await.map_err(|error| match error.kind {
        ErrorKind::Denied => login(&format!("refused ({error})")),
        _ => error,
    })?;
    credentials(&party, &answer)
}

fn credentials(party: &str, answer: &str) -> Result<Obtained> {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let role = &answer["roleCredentials"];
    let (Some(id), Some(secret), Some(token), Some(ends)) = (
        role["accessKeyId"].as_str(),
        role["secretAccessKey"].as_str(),
        role["sessionToken"].as_str(),
        role["expiration"].as_i64().and_then(DateTime::from_timestamp_millis),
    ) else {
        return Err(Error::new(ErrorKind::Denied, format!("{party} gave no credentials")));
    };
    Obtained::new(party, [id, secret], Some(token), Some(&ends.to_rfc3339()))
}

/// A token file of `aws sso login`, which other programs read as well.
struct Token(Value);

impl Token {
    fn read(place: &Path) -> io::Result<Token> {
        let token: Value = serde_json::from_str(&std::fs::read_to_string(place)?)?;
        Ok(Token(token))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The token, unless it has expired or will soon.
    fn valid(&self) -> Option<String> {
        let ends = DateTime::parse_from_rfc3339(&self.get("expiresAt")?.replace("UTC", "Z")).ok()?;
        (ends > Utc::now() + RENEW_BEFORE).then(|| self.get("accessToken").map(str::to_owned))?
    }

    /// Renews the token and stores it for other programs: a service may accept each old one only
    /// once.
    async fn renew(mut self, context: &Context, region: &str, place: PathBuf) -> Result<String> {
        let ended = || Error::new(ErrorKind::Denied, "its token cannot be renewed");
        let mut form = json!({ "grantType": "refresh_token" });
        for name in ["clientId", "clientSecret", "refreshToken"] {
            form[name] = self.get(name).ok_or_else(ended)?.into();
        }
        let endpoint = context.options.environment.get("AWS_ENDPOINT_URL_SSO_OIDC");
        let endpoint = endpoint.unwrap_or_else(|| format!("https://oidc.{region}.amazonaws.com"));
        let party = format!("the token service at {}", crate::without_secrets(&endpoint));
        let address = format!("{}/token", endpoint.trim_end_matches('/'));
        let mut request = request_to(&address, HttpRequestBody::from(form.to_string()))?;
        *request.method_mut() = Method::POST;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = ask(&context.client(), request, &party).await?;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let (Some(access), Some(seconds)) = (answer["accessToken"].as_str(), answer["expiresIn"].as_i64())
        else {
            return Err(Error::new(ErrorKind::Denied, format!("{party} gave no token")));
        };
        let ends = Utc::now() + TimeDelta::try_seconds(seconds).unwrap_or_default();
        self.0["accessToken"] = access.into();
        self.0["expiresAt"] = ends.to_rfc3339_opts(SecondsFormat::Secs, true).into();
        if let Some(refresh) = answer["refreshToken"].as_str() {
            self.0["refreshToken"] = refresh.into();
        }
        let (file, text) = (place.clone(), self.0.to_string());
        if let Err(error) = apart::run(move || write(&file, &text)).await {
            tracing::warn!(
                target: "forerun::store",
                "{} cannot be written, so other programs may have to sign on again: {error}",
                place.display()
            );
        }
        Ok(access.to_owned())
    }
}

/// Replaces `place` atomically, so that no other program reads half of it.
fn write(place: &Path, text: &str) -> io::Result<()> {
    let new = PathBuf::from(format!("{}.{}", place.display(), std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(&new, place)
}

/// Names the files of tokens; nothing secret depends on it.
fn sha1(text: &str) -> String {
    let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
