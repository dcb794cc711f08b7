//! Clients with a rate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun::{ClientId, Forerun, Options};
use forerun_backend::MemoryBackend;

const MIB: usize = 1 << 20;
const SLOW: ClientId = ClientId(1);

fn forerun() -> Forerun {
    let memory = MemoryBackend::new();
    ["a", "b"].iter().for_each(|name| memory.replace(name, vec![7; 2 * MIB]));
    Forerun::over(Arc::new(memory), Options::default()).unwrap()
}

/// The time of a read of all of `name`.
fn read(forerun: &Forerun, name: &str) -> Duration {
    let (reader, mut buf) = (forerun.open_blocking(name).unwrap(), vec![0; 2 * MIB]);
    let begun = Instant::now();
    assert_eq!(reader.read_at_blocking(&mut buf, 0).unwrap(), 2 * MIB);
    assert!(buf.iter().all(|byte| *byte == 7));
    begun.elapsed()
}

#[test]
fn a_client_with_a_rate_is_as_slow_as_that_and_others_are_not() {
    let forerun = forerun();
    forerun.set_rate(Some(SLOW), Some(4 * MIB as u64));
    let slow = forerun.for_client(SLOW);
    // All but the last fetch and a tenth of a second is waited for.
    let time = read(&slow, "a");
    assert!(time >= Duration::from_millis(100), "{time:?}");
    assert_eq!(forerun.snapshot().clients, [(SLOW, 2 * MIB as u64)]);
    read(&forerun, "b");
    assert_eq!(forerun.snapshot().clients, [(SLOW, 2 * MIB as u64)]);
}

#[test]
fn all_clients_together_have_a_rate() {
    let forerun = forerun();
    forerun.set_rate(None, Some(4 * MIB as u64));
    let time = read(&forerun, "a") + read(&forerun.for_client(SLOW), "b");
    assert!(time >= Duration::from_millis(600), "{time:?}");
    forerun.set_rate(None, None);
    read(&forerun, "a");
}
