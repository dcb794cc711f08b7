//! Counts the answers of servers, for metrics.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::{HttpClient, HttpError, HttpRequest, HttpResponse, HttpService};
use tokio::time::Instant;

use crate::Durations;

/// The statuses that are counted apart. There are few, whatever a server sends.
const STATUSES: [(u16, &str); 18] = [
    (200, "200"),
    (206, "206"),
    (301, "301"),
    (302, "302"),
    (303, "303"),
    (307, "307"),
    (308, "308"),
    (400, "400"),
    (401, "401"),
    (403, "403"),
    (404, "404"),
    (412, "412"),
    (416, "416"),
    (429, "429"),
    (500, "500"),
    (502, "502"),
    (503, "503"),
    (504, "504"),
];
/// The place of all other statuses, and of requests without an answer.
const OTHER: usize = STATUSES.len();
const NONE: usize = OTHER + 1;

/// Counts requests over HTTP, and their times to the head of the answer. Clones of the options with one
/// share it ([`ConnectOptions::meter`](crate::ConnectOptions::meter)).
#[derive(Debug, Default)]
pub struct Meter {
    answers: [Durations; NONE + 1],
}

impl Meter {
    /// Each status, `other` and `none`, with the times of its requests. `none` has the requests that
    /// failed without an answer.
    pub fn answers(&self) -> impl Iterator<Item = (&'static str, &Durations)> {
        let names = STATUSES.iter().map(|(_, name)| *name).chain(["other", "none"]);
        names.zip(&self.answers)
    }

    fn add(&self, status: Option<u16>, time: Duration) {
        let known = |status| STATUSES.iter().position(|(known, _)| *known == status).unwrap_or(OTHER);
        self.answers[status.map_or(NONE, known)].add(time);
    }
}

/// A client whose requests are counted.
#[derive(Debug)]
pub(crate) struct Metered {
    client: HttpClient,
    meter: Arc<Meter>,
}

impl Metered {
    /// Counts the requests of `client`.
    pub(crate) fn client(client: HttpClient, meter: Arc<Meter>) -> HttpClient {
        HttpClient::new(Metered { client, meter })
    }
}

#[async_trait]
impl HttpService for Metered {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let begun = Instant::now();
        let answer = self.client.execute(request).await;
        let status = answer.as_ref().ok().map(|answer| answer.status().as_u16());
        self.meter.add(status, begun.elapsed());
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_make_more_counters() {
        let meter = Meter::default();
        let mut statuses: Vec<Option<u16>> = (100..1000).map(Some).collect();
        statuses.extend([None, Some(206)]);
        statuses.into_iter().for_each(|status| meter.add(status, Duration::from_millis(1)));
        let counts: Vec<_> = meter.answers().map(|(name, durations)| (name, durations.count())).collect();
        assert_eq!(counts.len(), 20);
        for expected in [("200", 1), ("206", 2), ("504", 1), ("other", 900 - 18), ("none", 1)] {
            assert!(counts.contains(&expected), "{counts:?}");
        }
    }
}
