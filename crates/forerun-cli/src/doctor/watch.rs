//! The HTTP client of the backend, watched: which requests are sent, and what their answers say.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use forerun_backend::{HttpClient, HttpError, HttpRequest, HttpResponse, HttpService};
use parking_lot::Mutex;

/// A request and the head of its answer.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// The method and the URL, without its query.
    pub(super) request: String,
    /// Whether it had credentials in a header.
    pub(super) has_credentials: bool,
    /// Whether it asked for a part.
    pub(super) is_part: bool,
    pub(super) status: u16,
    /// The server's clock minus this machine's, in seconds.
    pub(super) skew_s: Option<i64>,
    /// The header that tells versions apart.
    pub(super) validator: Option<&'static str>,
}

/// Sends what `client` sends, and remembers it.
#[derive(Debug)]
struct Watched {
    client: HttpClient,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

/// `client`, and the exchanges of all who use it.
pub(super) fn watch(client: HttpClient) -> (HttpClient, Arc<Mutex<Vec<Exchange>>>) {
    let exchanges = Arc::default();
    (HttpClient::new(Watched { client, exchanges: Arc::clone(&exchanges) }), exchanges)
}

#[async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let uri = request.uri();
        let (scheme, host) = (uri.scheme_str().unwrap_or("http"), uri.host().unwrap_or_default());
        let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
        let shown = format!("{} {scheme}://{host}{port}{}", request.method(), uri.path());
        let has = |name: &str| request.headers().contains_key(name);
        let (has_credentials, is_part) = (has("authorization"), has("range"));
        let answer = self.client.execute(request).await?;
        let headers = answer.headers();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_weak = text("etag").is_some_and(|tag| tag.starts_with("W/"));
        self.exchanges.lock().push(Exchange {
            request: shown,
            has_credentials,
            is_part,
            status: answer.status().as_u16(),
            skew_s: text("date").and_then(|date| skew_s(date, SystemTime::now())),
            validator: match (text("etag"), text("last-modified")) {
                (Some(_), _) => Some(if is_weak { "a weak ETag" } else { "an ETag" }),
                (None, modified) => modified.map(|_| "Last-Modified"),
            },
        });
        Ok(answer)
    }
}

fn skew_s(date: &str, now: SystemTime) -> Option<i64> {
    let server = httpdate::parse_http_date(date).ok()?;
    let seconds = |ahead: std::time::Duration| i64::try_from(ahead.as_secs()).ok();
    match server.duration_since(now) {
        Ok(ahead) => seconds(ahead),
        Err(behind) => seconds(behind.duration()).map(|behind| -behind),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_is_compared_either_way() {
        let date = "Thu, 01 Jan 1970 01:00:00 GMT";
        let at = |seconds| skew_s(date, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!([at(3600), at(3000), at(4600)], [Some(0), Some(600), Some(-1000)]);
        assert_eq!(skew_s("today", SystemTime::now()), None);
    }
}
