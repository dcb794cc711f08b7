//! What `priced` comes to with the patterns that most readers show.

use forerun_engine::PolicyKind::{None, Priced};

use super::bed::*;

/// At 10 ms at least `rate` MB/s, at 2 ms no less, at 50 ms a sixth of it; nowhere more than `fetched`
/// bytes for each that was asked for.
#[track_caller]
fn check(what: &str, reading: &Reading, rate: f64, fetched: f64) {
    for (latency_ms, share) in [(2, 1.0), (10, 1.0), (50, 1.0 / 6.0)] {
        let device = format!("network:latency={latency_ms}ms,connection=80MB/s,total=400MB/s");
        reading.on(&device, Priced).check(&format!("{what} at {latency_ms} ms"), rate * share, fetched);
    }
}

#[test]
fn streams_come_at_the_speed_of_the_link_either_way() {
    check("forward", &forward(512 * MIB, 64 * KIB), 340.0, 1.05);
    check("backward", &backward(1024 * MIB, 64 * KIB), 340.0, 1.05);
    check("in small pieces", &forward(256 * MIB, 4 * KIB), 300.0, 1.05);
    forward(1024 * MIB, MIB).on("s3-far", Priced).check("far away", 150.0, 1.05);
}

#[test]
fn steps_fetch_what_they_touch() {
    check("64k of 1m", &strided(2048 * MIB, 64 * KIB, MIB), 250.0, 1.05);
    check("64k of 1m, back", &strided(2048 * MIB, 64 * KIB, MIB).reversed(), 250.0, 1.05);
    check("three of 16k in 1m", &grouped(2048 * MIB, 16 * KIB, 3, MIB), 160.0, 1.1);
}

#[test]
fn what_leaves_requests_out_is_read_through() {
    check("every other 4k", &sparse(256 * MIB, 4 * KIB, 50), 150.0, 2.1);
    check("4k in 16k", &jittered(256 * MIB, 4 * KIB, 16 * KIB), 80.0, 4.1);
}

#[test]
fn an_object_that_is_read_all_over_is_filled() {
    check("64k of 64m, each once", &shuffled(64 * MIB, 64 * KIB), 200.0, 1.05);
}

#[test]
fn random_reads_are_left_alone() {
    let reading = random(1024 * MIB, 4 * KIB, 4000, 11);
    for device in ["demo", "ide-2006", "nvme"] {
        let (priced, none) = (reading.on(device, Priced), reading.on(device, None));
        assert!(priced.seconds <= 1.01 * none.seconds, "{device}: {} s, {} s", priced.seconds, none.seconds);
        assert!(priced.fetched <= 1.08, "{device}: {} fetched for each asked", priced.fetched);
    }
}
