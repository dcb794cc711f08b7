//! The goals of each pattern at 10 ms, and sane limits at 2 and 50 ms.

use forerun_policies::PolicyKind;
use forerun_sim::source::Extent;

use super::bed::*;

const GIB: u64 = 1024 * MIB;

/// At 10 ms at least `rate` MB/s, at 2 ms no less, and at 50 ms a sixth of it. At most `fetched` bytes for
/// each byte that was asked for.
#[track_caller]
fn check(what: &str, reading: &Reading, rate: f64, fetched: f64) {
    for (latency_ms, share) in [(2, 1.0), (10, 1.0), (50, 1.0 / 6.0)] {
        reading.at(latency_ms).check(&format!("{what} at {latency_ms} ms"), rate * share, fetched);
    }
}

#[test]
fn backward_is_as_fast_as_forward() {
    check("backward 64k", &backward(GIB, 64 * KIB), 340.0, 1.05);
    check("backward 4k", &backward(256 * MIB, 4 * KIB), 330.0, 1.05);
    for (latency_ms, len) in [(2, 64), (10, 64), (10, 4)] {
        let (there, back) = (forward(256 * MIB, len * KIB), backward(256 * MIB, len * KIB));
        let (there, back) = (there.at(latency_ms).seconds, back.at(latency_ms).seconds);
        assert!(back <= 1.1 * there, "{len} KiB at {latency_ms} ms: {back} s back, {there} s there");
    }
}

#[test]
fn backward_on_a_disk_costs_little_more_than_forward() {
    for len in [4 * KIB, 64 * KIB] {
        let time = |reading: Reading| reading.on("ide-2006", PolicyKind::Adaptive).seconds;
        let (there, back) = (time(forward(512 * MIB, len)), time(backward(512 * MIB, len)));
        println!("{len} bytes at once: {there:.2} s there, {back:.2} s back");
        assert!(back <= 1.1 * there, "{back} s back, {there} s there");
    }
    // A short one is found out in few leaps.
    let short = |reading: Reading| reading.on("ide-2006", PolicyKind::Adaptive).seconds;
    let (there, back) = (short(forward(16 * MIB, 4 * KIB)), short(backward(16 * MIB, 4 * KIB)));
    println!("16 MiB: {there:.3} s there, {back:.3} s back");
    assert!(back <= 1.25 * there, "{back} s back, {there} s there");
}

#[test]
fn strides_fetch_what_they_touch() {
    check("64k of 1m", &strided(2 * GIB, 64 * KIB, MIB), 250.0, 1.05);
    check("64k of 1m, back", &strided(2 * GIB, 64 * KIB, MIB).reversed(), 250.0, 1.05);
    // 64 connections carry 4 KiB each in 10 ms: 26.2 MB/s.
    check("4k of 64k", &strided(GIB, 4 * KIB, 64 * KIB), 25.0, 1.13);
    // Servers that take turns with 4 MiB each have 64 of them in line.
    let near = strided(256 * MIB, 4 * KIB, 64 * KIB).on("rbd-2014", PolicyKind::Adaptive);
    near.check("4k of 64k on servers", 74.0, 1.17);
}

#[test]
fn where_every_request_waits_for_the_one_before_gaps_are_read_through() {
    // A request takes as long as 1.6 MB.
    let array = "network:latency=8ms,connection=200MB/s,total=200MB/s,connections=1";
    // Larger gaps than 64 KiB are not read through before the device is known.
    for pages in [2, 8, 16] {
        let reading = strided(100 * MIB, 4 * KIB, pages * 4 * KIB);
        let seconds = reading.on(array, PolicyKind::Adaptive).seconds;
        println!("a page of {pages}: {seconds:.2} s");
        assert!(seconds <= 1.3, "a page of {pages}: {seconds} s");
    }
}

#[test]
fn steps_may_have_steps() {
    check("three of 16k in 1m", &grouped(2 * GIB, 16 * KIB, 3, MIB), 160.0, 1.1);
    let first = strided(GIB, 64 * KIB, MIB);
    let second = first.moved(GIB);
    check("two of 64k of 1m in turns", &in_turns(2 * GIB, &[first.order, second.order]), 230.0, 1.1);
}

#[test]
fn short_gaps_between_requests_are_read_through() {
    check("every other 4k", &sparse(256 * MIB, 4 * KIB, 50), 150.0, 2.1);
    check("4k in 16k", &jittered(256 * MIB, 4 * KIB, 16 * KIB), 80.0, 4.1);
}

#[test]
fn where_waits_differ_much_as_much_is_in_flight_as_brings_more() {
    // Half of the fetches take 100 ms, and one in ten three times as long. Little's law with the least
    // latency would give a tenth of this rate.
    for reading in [forward(GIB, MIB), backward(GIB, 256 * KIB)] {
        reading.on("s3-far", PolicyKind::Adaptive).check("far away", 150.0, 1.05);
    }
}

#[test]
fn an_object_that_is_read_all_over_is_filled() {
    check("64k of 64m, each once", &shuffled(64 * MIB, 64 * KIB), 200.0, 1.05);
}

#[test]
fn random_reads_are_left_alone() {
    for (size, len) in [(GIB, 4 * KIB), (GIB / 2, 4 * KIB), (GIB, 64 * KIB)] {
        let reading = random(size, len, 4000, 11);
        for latency_ms in [2, 10, 50] {
            reading.at(latency_ms).check(&format!("random at {latency_ms} ms"), 0.0, 1.04);
        }
        for device in ["demo", "ide-2006", "nvme"] {
            let (adaptive, none) =
                (reading.on(device, PolicyKind::Adaptive), reading.on(device, PolicyKind::None));
            assert!(adaptive.seconds <= 1.01 * none.seconds, "{} s, {} s", adaptive.seconds, none.seconds);
        }
    }
}

#[test]
fn neighbours_by_chance_are_no_streams() {
    // An eighth of 8192 places: a few of 1024 reads lie beside an earlier one.
    let reading = random(GIB, 128 * KIB, 1024, 11);
    for (device, most) in [("ide-2006", 1.03), ("nvme", 1.02), ("rbd-2014", 1.02)] {
        let (adaptive, none) =
            (reading.on(device, PolicyKind::Adaptive), reading.on(device, PolicyKind::None));
        let times = adaptive.seconds / none.seconds;
        assert!(times <= most, "{device}: {times:.3} times as long as without");
    }
}

#[test]
fn bursts_waste_little() {
    // Each waits once: 2 MiB in 10 ms and 5 ms on the wire are 138 MB/s.
    // So they do where one follows another, or lies past what was read ahead in vain.
    let many = bursts(GIB, 64 * KIB, 2 * MIB, 128);
    many.at(2).check("bursts at 2 ms", 270.0, 1.05);
    many.at(10).check("bursts at 10 ms", 126.0, 1.06);
    many.at(50).check("bursts at 50 ms", 32.0, 1.12);
}

#[test]
fn many_readers_in_turns_do_not_wait() {
    check("128 in turns", &interleaved(GIB, 64 * KIB, 128), 350.0, 1.05);
}

#[test]
fn disorder_changes_little() {
    for (device, size, len) in [
        ("demo", GIB, 64 * KIB),
        ("demo", GIB, 32 * KIB),
        ("nvme", GIB, 64 * KIB),
        ("rbd-2014", GIB / 2, 64 * KIB),
        ("ide-2006", GIB / 2, 64 * KIB),
    ] {
        let reading = forward(size, len);
        let in_order = reading.on(device, PolicyKind::Adaptive);
        for seed in [1, 2, 3] {
            let shuffled = reading.displaced(32, seed).on(device, PolicyKind::Adaptive);
            let (time, bytes) = (shuffled.seconds / in_order.seconds, shuffled.fetched / in_order.fetched);
            println!("{len} bytes at once on {device}: {time:.3} times as long, {bytes:.3} times the bytes");
            assert!(time <= 1.05, "{device}, {len} bytes at once: {time:.3} times as long");
            assert!(bytes <= 1.05, "{device}, {len} bytes at once: {bytes:.3} times the bytes");
        }
    }
}

/// Each thread is a reader of its own, but its requests go on with those of the others.
#[test]
fn threads_that_share_a_stream_are_as_fast_as_one() {
    for device in ["ide-2006", "raid5", "network:latency=100ms,connection=80MB/s,total=400MB/s"] {
        let reading = forward(GIB / 2, 32 * KIB).displaced(6, 1);
        let alone = reading.on(device, PolicyKind::Adaptive);
        let shared = reading.by_threads(8, device, PolicyKind::Adaptive);
        let time = shared.seconds / alone.seconds;
        println!("{device}: {time:.3} times as long");
        assert!(time <= 1.1, "{device}: eight threads take {time:.3} times as long as one");
    }
}

#[test]
fn a_reader_that_begins_out_of_order_far_away_waits_once() {
    let order =
        [4, 5, 10, 0, 12, 7, 11, 3, 9, 1, 6, 2, 8].map(|index| Extent::new(index * 32 * KIB, 32 * KIB));
    let outcome = Reading::new(64 * MIB, order).at(50);
    println!("{:.3} s", outcome.seconds);
    // For the first read, for what goes on from it and the head, and for what lies further on.
    assert!(outcome.seconds < 3.5 * 0.05, "{:.3} s are more than three waits", outcome.seconds);
}
