//! The simulated server, in place of the HTTP client.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use forerun_backend::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};

use crate::answer::{Answer, failure};
use crate::fault::{Fault, Faults, IDLE_TIMEOUT};
use crate::judge::Judge;
use crate::manners::Manners;
use crate::random::Random;
use crate::site::Site;
use crate::{bucket, web};

/// The web server's host; [`Fault::Elsewhere`] redirects to another.
pub(crate) const HOST: &str = "web.test";
const OTHER_HOST: &str = "other.test";
/// The `Authorization` header of `reader:secret`.
const CREDENTIALS: &str = "Basic cmVhZGVyOnNlY3JldA==";
/// More requests than any schedule needs: a storm.
const REQUESTS_MAX: u64 = 20_000;

pub(crate) struct Store {
    pub(crate) site: Site,
    pub(crate) manners: Manners,
    judge: Arc<Judge>,
    state: Mutex<RequestDraws>,
    /// Counts the requests under way, plus one.
    open: Arc<()>,
}

/// The count of requests, and the draws of their faults and latencies.
struct RequestDraws {
    requests: u64,
    random: Random,
    faults: Faults,
}

impl Store {
    pub(crate) fn new(site: Site, manners: Manners, judge: Arc<Judge>, random: Random) -> Store {
        let state = Mutex::new(RequestDraws { requests: 0, random, faults: Faults::none() });
        Store { site, manners, judge, state, open: Arc::default() }
    }

    /// Sets the faults from now on.
    pub(crate) fn set(&self, faults: Faults) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).faults = faults;
    }

    pub(crate) fn open_count(&self) -> usize {
        Arc::strong_count(&self.open) - 1
    }

    /// Counts a request, and draws its fault and its latency.
    fn begin(&self, request: &HttpRequest) -> (u64, Option<Fault>, Duration) {
        let now = self.judge.now();
        let (id, fault, latency) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.requests += 1;
            let latency = self.manners.latency * state.random.within(50..200) as u32 / 100;
            (state.requests, state.faults.draw(now), latency)
        };
        let range = request.headers().get("range").and_then(|value| value.to_str().ok()).unwrap_or("");
        let (method, uri) = (request.method(), request.uri());
        self.judge.record(format_args!("request {id}: {method} {uri} {range} {fault:?}"));
        if let Some(fault) = fault {
            self.judge.explain(now, self.path_of(request), fault);
        }
        if id == REQUESTS_MAX {
            self.judge.accuse(format_args!("{id} requests are a storm"));
        }
        self.check_credentials(request);
        (id, fault, latency)
    }

    /// The path of `request`. A listing of a bucket and a circle of redirects may be about any
    /// path.
    fn path_of<'r>(&self, request: &'r HttpRequest) -> &'r str {
        let path = request.uri().path();
        let path = if self.manners.is_bucket { path.trim_start_matches("/bucket") } else { path };
        if path == "/circle" { "" } else { path.trim_matches('/') }
    }

    fn check_credentials(&self, request: &HttpRequest) {
        let sent = request.headers().get("authorization").map(|value| value.as_bytes());
        match request.uri().host() {
            Some(HOST) if sent != Some(CREDENTIALS.as_bytes()) => {
                self.judge.accuse(format_args!("a request without its credentials: {}", request.uri()));
            }
            Some(OTHER_HOST) if sent.is_some() => {
                self.judge.accuse(format_args!("credentials go to another server: {}", request.uri()));
            }
            _ => {}
        }
    }

    fn answer(&self, request: &HttpRequest, fault: Option<Fault>, now: Duration) -> Answer {
        let Manners { is_bucket, .. } = self.manners;
        let path = request.uri().path();
        match fault {
            _ if path == "/circle" => Answer::new(302).with("location", "/circle"),
            Some(Fault::Circle) if is_bucket => bucket::refusal(307, "TemporaryRedirect"),
            Some(Fault::Circle) => Answer::new(302).with("location", "/circle"),
            Some(Fault::Elsewhere) if !is_bucket && request.uri().host() == Some(HOST) => {
                Answer::new(307).with("location", format!("http://{OTHER_HOST}{path}"))
            }
            Some(Fault::Status(status, retry_after)) => {
                let answer = bucket::refusal(status, "Refused");
                match retry_after {
                    Some(seconds) => answer.with("retry-after", seconds.to_string()),
                    None => answer,
                }
            }
            Some(Fault::Nonsense) if !is_bucket && path.ends_with('/') => {
                Answer::page("text/html", "<a href=\"no\">&&&<a <a x".to_owned())
            }
            _ if is_bucket => {
                bucket::answer(&self.site, &self.manners, request, now, fault == Some(Fault::Nonsense))
            }
            _ => {
                let whole = Manners { ignores_range: true, ..self.manners.clone() };
                let manners = if fault == Some(Fault::Whole) { &whole } else { &self.manners };
                web::answer(&self.site, manners, request, path.trim_start_matches('/'), now)
            }
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}

/// The store as a client's service.
#[derive(Clone, Debug)]
pub(crate) struct Service(pub(crate) Arc<Store>);

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let store = &self.0;
        let open = Arc::clone(&store.open);
        let (id, fault, latency) = store.begin(&request);
        let late = match fault {
            Some(Fault::Late(ms)) => Duration::from_millis(ms),
            _ => Duration::ZERO,
        };
        match fault {
            Some(Fault::Refuse) => return Err(failure(HttpErrorKind::Connect, "nobody listens")),
            Some(Fault::Silence) => {
                tokio::time::sleep(IDLE_TIMEOUT).await;
                return Err(failure(HttpErrorKind::Timeout, "no answer in time"));
            }
            _ => tokio::time::sleep(latency + late).await,
        }
        if fault == Some(Fault::Reset) {
            return Err(failure(HttpErrorKind::Interrupted, "the connection was reset"));
        }
        let answer = store.answer(&request, fault, store.judge.now()).harmed(fault, id);
        let response = answer.send(fault, store.manners.piece, open);
        store.judge.record(format_args!("answer {id}: {}", response.status()));
        Ok(response)
    }
}
