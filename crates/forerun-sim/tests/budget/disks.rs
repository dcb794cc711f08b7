//! Disks: one thing at a time, and moving is dear.

use std::collections::BTreeSet;

use forerun_engine::{Cause, Config, Event};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Client, Clients, place};
use forerun_sim::world::World;
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

#[test]
fn a_reader_who_stops_has_no_more_ahead_on_a_disk_than_half_of_what_it_read() {
    let reader = sequential(0, 100 * MIB, 108 * MIB, 4 * KIB);
    let run =
        run("ide-2006", PolicyKind::Adaptive, 256 * MIB, place([1024 * MIB], MIB), vec![Box::new(reader)]);
    assert!(run.wasted_bytes <= 4 * MIB, "{} bytes in vain", run.wasted_bytes);
}

/// The most readahead fetches in flight when a demand fetch was dispatched, once the device is known. One
/// client reads pages at random, and another reads a stream.
fn readahead_in_front(device: &str) -> usize {
    let (size, mut numbers) = (1024 * MIB, Numbers::new(3));
    let random = reads(0, 4 * KIB, (0..500).map(move |_| numbers.below(size / 4096) * 4096));
    let stream = sequential(1, 0, 512 * MIB, 64 * KIB);
    let device = Preset::from_name(device).expect("a device by its name").build(1);
    let config = Config { events_max: 1024, ..Config::new(256 * MIB) };
    let (mut in_flight, mut most) = (BTreeSet::new(), 0);
    let world =
        World::new(config, device).expect("a configuration that works").observe(|event| match *event {
            Event::Fetch { id, cause: Cause::Readahead, .. } => _ = in_flight.insert(id.0),
            Event::Fetch { time, cause: Cause::Demand, .. } if time.0 > 1000 * MS => {
                most = most.max(in_flight.len());
            }
            Event::Fetched { id, .. } | Event::Failed { id, .. } => _ = in_flight.remove(&id.0),
            _ => {}
        });
    let clients: Vec<Box<dyn Client>> = vec![Box::new(random), Box::new(stream)];
    world.run(&mut Clients::new(place([size; 2], MIB), clients)).expect("nobody hangs");
    most
}

#[test]
fn a_reader_waits_for_one_fetch_of_a_stream_at_most() {
    let in_front = ["ide-2006", "scsi-2001", "cheetah9lp"].map(readahead_in_front);
    assert!(in_front.iter().all(|count| *count <= 1), "{in_front:?}");
    assert!(in_front.contains(&1), "nothing is read ahead beside him");
}
