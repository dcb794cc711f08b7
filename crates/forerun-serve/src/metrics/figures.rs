//! The figures of a mount or a server, and whether it is ready.

use std::fmt;
use std::sync::Arc;

use forerun::{Class, ClientId, Forerun, Meter, Snapshot};
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::RequestTimes;
use super::families::{Families, Labels, by, one};

/// The name of all clients that have no metrics of their own.
pub const OTHERS: &str = "others";

/// The metrics of a process, from its start to its end.
#[derive(Debug)]
pub struct Metrics {
    front_end: &'static str,
    /// By protocol.
    requests: Mutex<Vec<Arc<RequestTimes>>>,
    meter: Arc<Meter>,
    /// Those that have a weight of their own, by name.
    clients: Mutex<Vec<(String, ClientId)>>,
    stage: Mutex<Stage>,
}

/// How far the process has come. Engines exist once their stores have answered.
#[derive(Debug)]
enum Stage {
    Starting,
    Ready(Vec<Forerun>),
    Draining(Vec<Forerun>),
}

impl Metrics {
    /// Those of a `front_end`, such as `mount`.
    pub fn new(front_end: &'static str) -> Arc<Metrics> {
        Arc::new(Metrics {
            front_end,
            requests: Mutex::default(),
            meter: Arc::default(),
            clients: Mutex::default(),
            stage: Mutex::new(Stage::Starting),
        })
    }

    /// For a front end that answers these `operations`, and counts its requests here. No other has their names.
    pub fn requests(&self, operations: &'static [&'static str]) -> Arc<RequestTimes> {
        let requests = Arc::new(RequestTimes::new(operations));
        self.requests.lock().push(Arc::clone(&requests));
        requests
    }

    /// For the connections to the stores ([`forerun::ConnectOptions::meter`]).
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// The clients that have metrics of their own, by name. None is called [`OTHERS`].
    pub fn name_clients(&self, clients: Vec<(String, ClientId)>) {
        *self.clients.lock() = clients;
    }

    /// Requests are answered from now on, from `foreruns`.
    pub fn ready(&self, foreruns: Vec<Forerun>) {
        *self.stage.lock() = Stage::Ready(foreruns);
    }

    /// The process is about to end.
    pub fn drain(&self) {
        let mut stage = self.stage.lock();
        *stage = Stage::Draining(stage.foreruns().to_vec());
    }

    /// Why no request should come now; none if the process is ready.
    pub(super) fn not_ready(&self) -> Option<&'static str> {
        match &*self.stage.lock() {
            Stage::Starting => Some("starting"),
            Stage::Ready(_) => None,
            Stage::Draining(_) => Some("draining"),
        }
    }

    /// Lets go of the engines.
    pub(super) fn end(&self) {
        let ended = std::mem::replace(&mut *self.stage.lock(), Stage::Draining(Vec::new()));
        // Without the lock: the last clone of an engine ends it.
        drop(ended);
    }
}

impl Stage {
    fn foreruns(&self) -> &[Forerun] {
        match self {
            Stage::Starting => &[],
            Stage::Ready(foreruns) | Stage::Draining(foreruns) => foreruns,
        }
    }
}

/// The sums over several engines: metrics have no label with the name of one.
struct Sums(Vec<Snapshot>);

impl Collector for Metrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // A scrape may take a while. The front end does not wait for it.
        let foreruns = self.stage.lock().foreruns().to_vec();
        let sums = Sums(foreruns.iter().map(Forerun::snapshot).collect());
        let families = &mut Families::new(encoder);
        self.about_requests(families)?;
        sums.about_bytes(families)?;
        sums.about_memory(families)?;
        sums.about_now(families)?;
        self.about_clients(families, &sums)?;
        self.about_stores(families, &sums)
    }
}

impl Metrics {
    fn about_requests(&self, families: &mut Families<'_>) -> fmt::Result {
        let about = vec![("version", env!("CARGO_PKG_VERSION")), ("front_end", self.front_end)];
        families.gauge("forerun_build_info", "The version and the front end; always 1.", [(about, 1)])?;
        let requests = self.requests.lock().clone();
        let requests = || requests.iter().flat_map(|requests| requests.iter());
        let times = requests().map(|(name, times, _)| (vec![("operation", name)], times));
        families.histogram(
            "forerun_request_duration_seconds",
            "From the receipt of a request until its answer is ready.",
            times,
        )?;
        let failed = requests().map(|(name, _, failed)| (name, failed));
        families.counter(
            "forerun_request_errors",
            "Requests that were answered with an error.",
            by("operation", failed),
        )
    }

    fn about_clients(&self, families: &mut Families<'_>, sums: &Sums) -> fmt::Result {
        let clients = self.clients.lock().clone();
        let of = |client: &ClientId| {
            sums.of(|engine| {
                engine.clients.iter().find(|(of, _)| of == client).map_or(0, |(_, bytes)| *bytes)
            })
        };
        let named: Vec<(&str, u64)> =
            clients.iter().map(|(name, client)| (name.as_str(), of(client))).collect();
        let all = sums.of(|engine| engine.counters.demand_bytes + engine.counters.readahead_bytes);
        let others = all.saturating_sub(named.iter().map(|(_, bytes)| bytes).sum());
        families.counter(
            "forerun_client_fetch_bytes",
            "Bytes of dispatched fetches, by the client for whom they are.",
            by("client", named.into_iter().chain([(OTHERS, others)])),
        )
    }

    fn about_stores(&self, families: &mut Families<'_>, sums: &Sums) -> fmt::Result {
        let counts = self.meter.answers().map(|(code, times)| (code, times.count()));
        families.counter(
            "forerun_backend_requests",
            "Requests to stores over HTTP, by the status of the answer.",
            by("code", counts.filter(|(_, count)| *count > 0)),
        )?;
        let times = self.meter.answers().filter(|(_, times)| times.count() > 0);
        families.histogram(
            "forerun_backend_first_byte_seconds",
            "From a request to a store until the head of its answer, or until it failed.",
            times.map(|(code, times)| (vec![("code", code)], times)),
        )?;
        let retries = sums.of(|engine| engine.tries.again);
        families.counter("forerun_backend_retries", "Requests that were tried again.", one(retries))?;
        let busy = sums.of(|engine| engine.tries.busy);
        families.counter("forerun_backend_busy", "Answers that asked for fewer requests.", one(busy))
    }
}

impl Sums {
    fn of(&self, figure: impl Fn(&Snapshot) -> u64) -> u64 {
        self.0.iter().map(figure).sum()
    }

    fn about_bytes(&self, families: &mut Families<'_>) -> fmt::Result {
        let reads = self.of(|engine| engine.counters.read_count);
        families.counter("forerun_reads", "Reads that the engine was asked for.", one(reads))?;
        let read = [
            ("hit", self.of(|engine| engine.counters.hit_bytes)),
            ("late", self.of(|engine| engine.counters.late_bytes)),
            ("miss", self.of(|engine| engine.counters.miss_bytes)),
        ];
        families.counter(
            "forerun_read_bytes",
            "Bytes of reads: in memory, in flight, or neither, when they were asked for.",
            by("outcome", read),
        )?;
        let fetches = [
            ("demand", self.of(|engine| engine.counters.demand_count)),
            ("readahead", self.of(|engine| engine.counters.readahead_count)),
            ("hedge", self.of(|engine| engine.counters.repeated_count)),
        ];
        families.counter("forerun_fetches", "Fetches that were dispatched.", by("cause", fetches))?;
        let fetched = [
            ("demand", self.of(|engine| engine.counters.demand_bytes)),
            ("readahead", self.of(|engine| engine.counters.readahead_bytes)),
            ("hedge", self.of(|engine| engine.counters.repeated_bytes)),
        ];
        families.counter("forerun_fetch_bytes", "Bytes of dispatched fetches.", by("cause", fetched))?;
        let failed = self.of(|engine| engine.counters.failed_count);
        families.counter("forerun_fetches_failed", "Fetches that failed.", one(failed))?;
        let cancelled = self.of(|engine| engine.counters.cancelled_count);
        families.counter("forerun_fetches_cancelled", "Fetches that were cancelled.", one(cancelled))?;
        let won = self.of(|engine| engine.counters.won_count);
        families.counter("forerun_hedges_won", "Hedged fetches that answered first.", one(won))?;
        families.counter(
            "forerun_readahead_bytes",
            "Bytes of readahead whose outcome is known, in whole blocks.",
            self.readahead(),
        )
    }

    /// The outcomes of readahead of each class.
    fn readahead(&self) -> Vec<(Labels<'static>, u64)> {
        let mut samples = Vec::new();
        for class in Class::ALL {
            let outcomes = [
                ("in_time", self.of(|engine| engine.readahead.of(class).in_time_bytes)),
                ("late", self.of(|engine| engine.readahead.of(class).late_bytes)),
                ("wasted", self.of(|engine| engine.readahead.of(class).wasted_bytes)),
            ];
            samples.extend(
                outcomes.map(|(outcome, bytes)| (vec![("class", class.name()), ("outcome", outcome)], bytes)),
            );
        }
        samples
    }

    fn about_memory(&self, families: &mut Families<'_>) -> fmt::Result {
        let limit = self.of(|engine| engine.usage.memory_bytes_max);
        families.gauge("forerun_memory_limit_bytes", "The budget (`--memory`).", one(limit))?;
        let used = self.of(|engine| engine.usage.memory_bytes);
        families.gauge("forerun_memory_used_bytes", "Memory in use, bytes in flight included.", one(used))?;
        let peak = self.of(|engine| engine.counters.memory_bytes_peak);
        families.gauge("forerun_memory_peak_bytes", "The most memory ever in use.", one(peak))?;
        let unread = self.of(|engine| engine.usage.unread_bytes);
        families.gauge(
            "forerun_memory_unread_bytes",
            "The used memory that is in flight, or read ahead for readers that may come.",
            one(unread),
        )?;
        let lent = self.of(|engine| engine.usage.lent_bytes);
        families.gauge(
            "forerun_memory_lent_bytes",
            "Bytes that answered reads hold; bytes that two reads hold count twice.",
            one(lent),
        )
    }

    fn about_now(&self, families: &mut Families<'_>) -> fmt::Result {
        let fetches = [
            ("demand", self.of(|engine| engine.usage.demand_count as u64)),
            ("readahead", self.of(|engine| engine.usage.readahead_count as u64)),
        ];
        families.gauge("forerun_fetches_in_flight", "Fetches in flight.", by("cause", fetches))?;
        let bytes = self.of(|engine| engine.usage.flight_bytes);
        families.gauge("forerun_fetches_in_flight_bytes", "Bytes of the fetches in flight.", one(bytes))?;
        let waiting = self.of(|engine| engine.usage.waiting_count as u64);
        families.gauge("forerun_reads_waiting", "Reads that wait for bytes.", one(waiting))?;
        let of_class = |class: Class| self.of(|engine| engine.streams[class as usize].1);
        let streams = Class::ALL.map(|class| (class.name(), of_class(class)));
        families.gauge("forerun_streams", "Streams and plans of open objects.", by("class", streams))
    }
}
