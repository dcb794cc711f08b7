//! One schedule, from its seed to its verdict.

use std::sync::Arc;
use std::time::Duration;

use forerun::{ConnectOptions, ErrorKind, Extent, Forerun, Options, PolicyKind};
use forerun_backend::{Environment, HttpClient, connect};
use tokio::runtime::{Builder, Runtime};

use crate::bench::Bench;
use crate::fault::Faults;
use crate::judge::{Judge, Verdict};
use crate::manners::{Manners, Validator};
use crate::random::Random;
use crate::read::Run;
use crate::site::Site;
use crate::store::{HOST, Service, Store};

/// All readers have ended by then: there are a few, with few operations of bounded time.
const END: Duration = Duration::from_secs(7 * 24 * 3600);
/// The time for fetches without a reader to end, after the last reader.
const SETTLING: Duration = Duration::from_secs(600);

/// Runs the schedule of `seed`. Equal seeds run equally.
///
/// # Panics
/// If a wait never ends.
pub fn run(seed: u64, keeps_trace: bool) -> Verdict {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime of one thread needs nothing");
    // Gives this thread virtual time as well.
    let _entered = runtime.enter();
    let judge = Arc::new(Judge::new(keeps_trace));
    let mut random = Random::new(seed);
    let has_faults = random.chance(750);
    let manners = Manners::new(&mut random);
    let may_change = random.chance(700) && manners.validator != Validator::Nothing;
    let site = Site::new(&mut random, may_change);
    judge.record(format_args!("seed {seed}: {manners:?}"));
    for object in &site.objects {
        judge.record(format_args!("{object:?}"));
    }
    let faults = if has_faults { Faults::new(&mut random) } else { Faults::none() };
    judge.record(format_args!("{faults:?}"));
    let store = Arc::new(Store::new(site, manners, Arc::clone(&judge), random.fork()));
    if random.chance(100) {
        store.set(faults.clone());
    }
    let watch = runtime.spawn(watch(seed));
    if let Some(bench) = build(&runtime, &store, &judge, &mut random) {
        store.set(faults);
        if random.chance(100) {
            close_early(&runtime, bench, &mut random);
        } else {
            read(&runtime, &Arc::new(bench), &mut random);
        }
    }
    runtime.block_on(async { tokio::time::sleep(SETTLING).await });
    if store.open_count() > 0 {
        judge.accuse(format_args!("{} requests never ended", store.open_count()));
    }
    watch.abort();
    judge.verdict()
}

/// A library over the store, if the store could be reached.
fn build(runtime: &Runtime, store: &Arc<Store>, judge: &Arc<Judge>, random: &mut Random) -> Option<Bench> {
    let http = Some(HttpClient::new(Service(Arc::clone(store))));
    let keys = [("AWS_ACCESS_KEY_ID", "reader"), ("AWS_SECRET_ACCESS_KEY", "secret")];
    let environment = Environment::of(keys);
    let is_bucket = store.manners.is_bucket;
    let endpoint = is_bucket.then(|| "http://store.test".to_owned());
    let options =
        ConnectOptions::default().with_http(http).with_environment(environment).with_endpoint(endpoint);
    let url = if is_bucket { "s3://bucket".to_owned() } else { format!("http://reader:secret@{HOST}/") };
    let connected = match runtime.block_on(connect(&url, &options)) {
        Ok(connected) => connected,
        Err(error) => {
            judge.record(format_args!("cannot connect: {error}"));
            if !error.is_transient() && !judge.is_explained("", error.kind) {
                judge.accuse(format_args!("cannot connect, and nothing explains it: {error}"));
            }
            return None;
        }
    };
    let policies = [PolicyKind::Adaptive, PolicyKind::None, PolicyKind::OnDemand];
    let (memory_bytes, ttl) = (4 << 20, Duration::from_millis(random.pick(&[0, 100, 1000, 10_000])));
    let options = Options::default()
        .with_memory_bytes(memory_bytes)
        .with_policy(random.pick(&policies))
        .with_metadata_ttl(ttl)
        .with_runtime(Some(runtime.handle().clone()));
    let forerun = Forerun::over(connected.backend, options).expect("the options are good");
    Some(Bench { forerun, store: Arc::clone(store), judge: Arc::clone(judge), memory_bytes, ttl })
}

/// Runs readers of both kinds, then checks the memory.
fn read(runtime: &Runtime, bench: &Arc<Bench>, random: &mut Random) {
    let tasks: Vec<_> = (0..random.within(1..5))
        .map(|number| runtime.spawn(Arc::clone(bench).read(number, random.fork())))
        .collect();
    if random.chance(300) {
        read_in_turn(runtime, bench, random);
    }
    for task in tasks {
        if let Err(stopped) = runtime.block_on(task) {
            bench.judge.accuse(format_args!("a reader stopped: {stopped}"));
        }
    }
    bench.store.set(Faults::none());
    runtime.block_on(async { tokio::time::sleep(SETTLING).await });
    // Memory in use now equals the cached bytes exactly.
    let cached: u64 = bench.forerun.explain().iter().map(|object| object.report.cached_bytes).sum();
    if cached != bench.forerun.memory_bytes() {
        let used = bench.forerun.memory_bytes();
        bench.judge.accuse(format_args!("{used} bytes are in use, and {cached} are cached"));
    }
}

/// Ends programs and library during reads, which must be answered all the same.
fn close_early(runtime: &Runtime, bench: Bench, random: &mut Random) {
    let bench = Arc::new(bench);
    let tasks: Vec<_> = (0..random.within(1..5))
        .map(|number| runtime.spawn(Arc::clone(&bench).read(number, random.fork())))
        .collect();
    let life = Duration::from_millis(random.within(0..3000));
    runtime.block_on(async { tokio::time::sleep(life).await });
    // The error that the library was closed.
    bench.judge.allow(ErrorKind::Permanent);
    tasks.iter().for_each(|task| task.abort());
    drop(bench);
}

/// Runs the reader that awaits its reads one by one.
fn read_in_turn(runtime: &Runtime, bench: &Arc<Bench>, random: &mut Random) {
    const NUMBER: u64 = 9;
    for _ in 0..random.within(1..4) {
        let path = bench.some_path(random);
        let Some(open) = runtime.block_on(bench.open(NUMBER, &path)) else { continue };
        let run = Run::new(random, open.size());
        for Extent { offset, len } in run.extents {
            if !runtime.block_on(bench.read_at(NUMBER, &open, Extent::new(offset, len))) {
                break;
            }
            runtime.block_on(async { tokio::time::sleep(run.pause).await });
        }
    }
}

/// Ends the program if a schedule does not end: nothing else can interrupt a blocked wait.
async fn watch(seed: u64) {
    tokio::time::sleep(END).await;
    eprintln!("seed {seed}: a wait never ends; {}", crate::replay(seed));
    std::process::exit(1);
}
