//! Credentials that expire, and are renewed before that.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use object_store::aws::AwsCredential;
use object_store::{CredentialProvider, Result as StoreResult};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::object::NoCredentials;
use crate::{Error, ErrorKind, Result};

/// Credentials are renewed when they expire within this time: requests take a while, and clocks
/// differ.
const RENEW_BEFORE: TimeDelta = TimeDelta::minutes(5);
/// The least time between two renewals of credentials that have not expired. Their source may fail,
/// or give credentials for less than [`RENEW_BEFORE`].
const RENEWAL_PAUSE: Duration = Duration::from_secs(30);
/// The lifetime of credentials without an expiry: roles last for 15 minutes and more.
const UNKNOWN_LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// Credentials and their expiry.
#[derive(Clone, Debug)]
pub(super) struct Obtained {
    pub(super) credential: Arc<AwsCredential>,
    ends: Option<DateTime<Utc>>,
}

/// A source of credentials that expire.
#[async_trait]
pub(super) trait Origin: fmt::Debug + Send + Sync + 'static {
    async fn obtain(&self) -> Result<Obtained>;
}

/// The credentials of an [`Origin`], kept until they expire.
#[derive(Debug)]
pub(super) struct Renewing<O> {
    origin: O,
    /// The last credentials, and when they were obtained or should have been. The lock makes others
    /// wait for the renewal under way.
    last: Mutex<Option<(Obtained, Instant)>>,
}

impl<O: Origin> Renewing<O> {
    pub(super) fn new(origin: O) -> Renewing<O> {
        Renewing { origin, last: Mutex::new(None) }
    }
}

#[async_trait]
impl<O: Origin> CredentialProvider for Renewing<O> {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> StoreResult<Arc<AwsCredential>> {
        let mut last = self.last.lock().await;
        if let Some((obtained, renewed)) = &mut *last {
            let is_paused = renewed.elapsed() < RENEWAL_PAUSE && !obtained.ends_within(TimeDelta::zero());
            if is_paused || !obtained.ends_within(RENEW_BEFORE) {
                return Ok(obtained.credential.clone());
            }
            *renewed = Instant::now();
        }
        match (self.origin.obtain().await, &*last) {
            (Ok(obtained), _) => {
                let credential = obtained.credential.clone();
                *last = Some((obtained, Instant::now()));
                Ok(credential)
            }
            (Err(error), Some((obtained, _))) if !obtained.ends_within(TimeDelta::zero()) => {
                tracing::warn!(
                    target: "forerun::store",
                    %error, "credentials cannot be renewed, and are used until they end"
                );
                Ok(obtained.credential.clone())
            }
            (Err(error), _) => Err(NoCredentials(error).into()),
        }
    }
}

impl Obtained {
    /// Credentials that `party` gave.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] for characters that a header cannot carry.
    pub(super) fn new(
        party: &str,
        [key_id, secret_key]: [&str; 2],
        token: Option<&str>,
        ends: Option<&str>,
    ) -> Result<Obtained> {
        let denied = |what: &str| Error::new(ErrorKind::Denied, format!("{party} gave {what}"));
        let is_sound = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if ![Some(key_id), Some(secret_key), token].into_iter().flatten().all(is_sound) {
            return Err(denied("keys that are empty, or have blanks in them"));
        }
        // Old programs of AWS write the letters UTC.
        let time = |text: &str| DateTime::parse_from_rfc3339(&text.replace("UTC", "Z"));
        let ends = ends.map(time).transpose().map_err(|_| denied("an expiration that is not a time"))?;
        let credential = AwsCredential {
            key_id: key_id.to_owned(),
            secret_key: secret_key.to_owned(),
            token: token.map(str::to_owned),
        };
        Ok(Obtained { credential: Arc::new(credential), ends: ends.map(|ends| ends.to_utc()) })
    }

    /// The credentials in the JSON of programs and services, which call their session token
    /// `token`.
    pub(super) fn of_json(party: &str, json: &str, token: &str) -> Result<Obtained> {
        let json: Value = serde_json::from_str(json).unwrap_or_default();
        let get = |name: &str| json.get(name).and_then(Value::as_str);
        let (Some(key_id), Some(secret_key)) = (get("AccessKeyId"), get("SecretAccessKey")) else {
            let message = format!("{party} gave no JSON object with AccessKeyId and SecretAccessKey");
            return Err(Error::new(ErrorKind::Denied, message));
        };
        Obtained::new(party, [key_id, secret_key], get(token), get("Expiration"))
    }

    /// Credentials of another provider, which does not say when they expire.
    pub(super) fn of_provider(credential: Arc<AwsCredential>) -> Obtained {
        Obtained { credential, ends: Some(Utc::now() + UNKNOWN_LIFETIME) }
    }

    fn ends_within(&self, time: TimeDelta) -> bool {
        self.ends.is_some_and(|ends| ends < Utc::now() + time)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Gives credentials that expire after `seconds`, up to `good` times.
    #[derive(Debug)]
    struct Counted {
        seconds: i64,
        good: usize,
        count: AtomicUsize,
    }

    #[async_trait]
    impl Origin for Counted {
        async fn obtain(&self) -> Result<Obtained> {
            let count = self.count.fetch_add(1, Ordering::Relaxed);
            if count >= self.good {
                return Err(Error::new(ErrorKind::Denied, "no more"));
            }
            let ends = (Utc::now() + TimeDelta::seconds(self.seconds)).to_rfc3339();
            Obtained::new("a test", [&format!("id-{count}"), "s"], None, Some(&ends))
        }
    }

    /// The keys that are given at once, and half a minute later.
    async fn keys(seconds: i64, good: usize) -> [StoreResult<String>; 3] {
        let renewing = Renewing::new(Counted { seconds, good, count: AtomicUsize::new(0) });
        let get = async || renewing.get_credential().await.map(|credential| credential.key_id.clone());
        let (first, second) = (get().await, get().await);
        tokio::time::advance(RENEWAL_PAUSE).await;
        [first, second, get().await]
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_are_renewed_before_they_end_and_not_more_often() {
        let given = async |seconds, good| keys(seconds, good).await.map(Result::unwrap_or_default);
        assert_eq!(given(3600, 9).await, ["id-0", "id-0", "id-0"]);
        assert_eq!(given(200, 9).await, ["id-0", "id-0", "id-1"], "they end soon");
        assert_eq!(given(200, 1).await, ["id-0", "id-0", "id-0"], "they are good until they end");
        assert_eq!(given(-1, 9).await, ["id-0", "id-1", "id-2"], "they have ended");
        assert_eq!(given(-1, 1).await, ["id-0", "", ""]);
        assert!(keys(-1, 1).await[2].as_ref().unwrap_err().to_string().contains("no more"));
    }

    #[test]
    fn credentials_that_cannot_be_sent_are_refused() {
        for (id, token) in [("", None), ("a b", None), ("id", Some("two\nlines"))] {
            let error = Obtained::new("a program", [id, "s"], token, None).unwrap_err();
            assert!(error.message.contains("a program gave keys"), "{error}");
        }
        assert!(Obtained::new("a program", ["id", "s"], None, Some("soon")).is_err());
        assert!(Obtained::new("a program", ["id", "s"], None, Some("2020-06-17T20:00:00UTC")).is_ok());
    }
}
