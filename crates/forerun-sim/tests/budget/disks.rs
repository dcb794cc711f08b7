//! Disks: one thing at a time, and moving is dear.

use forerun_engine::PolicyKind;
use forerun_sim::run::Run;
use forerun_sim::source::{Client, place};
use forerun_trace::generate::Numbers;

use crate::support::*;

//= claims A1: dd reads it in 2.45 s
const FILE: u64 = 157_000_000 / 4096 * 4096;

/// Two files of a comparison, a page of each at a time.
fn lock_step(policy: PolicyKind) -> Run {
    let (a, b) = (sequential(0, 0, FILE, 4 * KIB), sequential(1, 0, FILE, 4 * KIB));
    let both = a.zip(b).flat_map(|(a, b)| [a, b]);
    run("ide-2006", policy, 256 * MIB, place([FILE; 2], MIB), vec![Box::new(both)])
}

fn alone(policy: PolicyKind) -> Run {
    let reader = sequential(0, 0, FILE, 4 * KIB);
    run("ide-2006", policy, 256 * MIB, place([FILE], MIB), vec![Box::new(reader)])
}

#[test]
fn streams_take_turns_on_a_disk() {
    for policy in [PolicyKind::Adaptive, PolicyKind::Ara, PolicyKind::Stock] {
        let (both, one) = (lock_step(policy), alone(policy));
        println!("{:10} both {} ms, one {} ms", policy.name(), both.elapsed_ns / MS, one.elapsed_ns / MS);
        assert!(one.elapsed_ns <= 2_450 * MS, "one stream alone is slower than dd was");
    }
    //= claims A1: 13.05 s is stock's time with 128 KiB
    assert!(lock_step(PolicyKind::Adaptive).elapsed_ns <= 13_050 * MS / 100 * 45);
}

/// A page at random at a time, with a stream beside it or without.
fn random(device: &str, with_stream: bool) -> Run {
    let (size, mut numbers) = (1024 * MIB, Numbers::new(3));
    let random = reads(0, 4 * KIB, (0..500).map(move |_| numbers.below(size / 4096) * 4096));
    let mut clients: Vec<Box<dyn Client>> = vec![Box::new(random)];
    if with_stream {
        clients.push(Box::new(sequential(1, 0, 512 * MIB, 64 * KIB)));
    }
    run(device, PolicyKind::Adaptive, 256 * MIB, place([size; 2], MIB), clients)
}

#[test]
fn a_reader_waits_for_one_fetch_of_a_stream_at_most() {
    for device in ["ide-2006", "scsi-2001", "cheetah9lp"] {
        let (alone, beside) = (random(device, false), random(device, true));
        let mean = |run: &Run| run.clients[0].waited_ns / 500;
        println!("{device:10} alone {} us, beside a stream {} us", mean(&alone) / 1000, mean(&beside) / 1000);
        // Its own move, the stream's move back and a fetch of the stream, which
        // takes up to two moves where 256 KiB do.
        assert!(mean(&beside) <= 4 * mean(&alone), "more than one fetch of the stream is in front of it");
    }
}
