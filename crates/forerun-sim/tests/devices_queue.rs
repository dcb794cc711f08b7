//! Elevators, merging and the plug.

mod devices_support;

use devices_support::*;
use forerun_sim::device::{Device, Notice, Request, RequestId, Time};
use forerun_sim::queue::{ELEVATORS, Plug, Queue, elevator};

fn queue(device: &str, name: &str, plug: Plug) -> Queue {
    Queue::new(preset(device), elevator(name).unwrap(), plug)
}

/// A and B of seed 001, in seconds from its trace: 1024 sectors each, one behind the other.
fn seed_001(second_ns: u64) -> [(u64, Request); 2] {
    [(0, read(0, 173_880 * 512, 512 * KIB)), (second_ns, read(1, 174_904 * 512, 512 * KIB))]
}

#[test]
fn a_plugged_request_waits_for_the_next_or_3_ms() {
    // Alone, it is dispatched after 3 ms.
    let mut plugged = queue("fc-2010", "noop", Plug::Historic);
    let done = open_loop(&mut plugged, &seed_001(0)[..1]);
    assert_near(done[0], 3 * MS + 3_111 * US, 1);
    // With a second one it is merged, and waits for the timer still.
    let mut plugged = queue("fc-2010", "noop", Plug::Historic);
    let done = open_loop(&mut plugged, &seed_001(470 * US));
    assert_eq!(done[0], done[1]);
    assert_near(done[0], 3 * MS + 4_421 * US, 1);
    assert_eq!(plugged.stats().read_count, 1);
    // Without a plug each goes its way.
    let mut free = queue("fc-2010", "noop", Plug::None);
    let done = open_loop(&mut free, &seed_001(470 * US));
    assert_near(done[0], 3_111 * US, 1);
    assert_eq!(free.stats().read_count, 2);
}

#[test]
fn a_waiter_unplugs() {
    // As in the trace: A arrives at 0, and B merges with it at 0.470 ms. A client waits at 0.471 ms, and
    // both are done 4.36 ms later.
    let mut queue = queue("fc-2010", "noop", Plug::Historic);
    let [(_, a), (_, b)] = seed_001(0);
    queue.submit(Time(0), a);
    queue.submit(Time(470 * US), b);
    assert_eq!(queue.stats().read_count, 0, "both are held back, urgent or not");
    queue.unplug(Time(471 * US));
    assert_eq!(queue.stats().read_count, 1);
    let mut notices = Vec::new();
    let mut now = Time(0);
    while let Some(time) = queue.next_time() {
        now = time;
        queue.advance(now, &mut notices);
    }
    assert_near(now.0 - 471 * US, 4_360 * US, 3);
    assert_eq!(notices, [0, 1].map(|id| Notice::Done { id: RequestId(id) }));
}

#[test]
fn four_requests_unplug() {
    let mut queue = queue("fc-2010", "noop", Plug::Historic);
    for index in 0..4 {
        assert_eq!(queue.stats().read_count, 0);
        queue.submit(Time(index), read(index, index * 64 * MIB, 4096));
    }
    assert_eq!(queue.stats().read_count, 4);
}

#[test]
fn neighbours_are_merged_up_to_a_mebibyte() {
    let mut queue = queue("scsi-2001", "noop", Plug::None);
    // The first occupies the disk; then 3 in front of each other, 16 behind each other.
    let mut requests = vec![(0, read(0, 512 * MIB, 4096))];
    requests.extend((1..=3).map(|id| (1, read(id, 64 * MIB - id * 4096, 4096))));
    requests.extend((4..20).map(|id| (1, read(id, id * 128 * KIB, 128 * KIB))));
    open_loop(&mut queue, &requests);
    assert_eq!(queue.stats().read_count, 1 + 1 + 2);
}

#[test]
fn a_waiting_request_is_cancelled_unless_merged() {
    let mut queue = queue("scsi-2001", "deadline", Plug::None);
    queue.submit(Time(0), read(0, 0, 4096));
    queue.submit(Time(0), read(1, 64 * MIB, 4096));
    queue.submit(Time(0), read(2, 128 * MIB, 4096));
    queue.submit(Time(0), read(3, 128 * MIB + 4096, 4096));
    assert!(queue.cancel(Time(0), RequestId(1)));
    assert!(!queue.cancel(Time(0), RequestId(3)));
    let mut notices = Vec::new();
    while let Some(now) = queue.next_time() {
        queue.advance(now, &mut notices);
    }
    assert_eq!(notices, [0, 2, 3].map(|id| Notice::Done { id: RequestId(id) }));
}

/// One process reads in sequence with several requests waiting, another reads once, far
/// behind, at 50 ms: how long that takes.
fn victim_waits(name: &str) -> u64 {
    let mut queue = queue("scsi-2001", name, Plug::None);
    let (mut notices, mut next, mut now, mut victim) = (Vec::new(), 0, Time(0), None);
    let mut free = 8;
    let submitted = 50 * MS;
    while victim.is_none() && now.0 < 20_000 * MS {
        for _ in 0..free {
            // Every other 64 KiB, so that nothing is merged.
            queue.submit(now, Request { issuer: 1, ..read(next, next * 128 * KIB, 64 * KIB) });
            next += 1;
        }
        free = 0;
        let time = queue.next_time().unwrap();
        if now.0 < submitted && time.0 >= submitted {
            let far = read(u64::MAX, 8 << 30, 64 * KIB);
            queue.submit(Time(submitted), Request { issuer: 2, ..far });
            now = Time(submitted);
            continue;
        }
        now = time;
        queue.advance(now, &mut notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Done { id } if id.0 == u64::MAX => victim = Some(now.0 - submitted),
                Notice::Done { .. } => free += 1,
                Notice::Progress { .. } => {}
            }
        }
    }
    victim.unwrap_or(now.0 - submitted)
}

#[test]
fn the_old_elevator_starves_and_the_others_do_not() {
    let waits: Vec<_> = ELEVATORS.iter().map(|name| (*name, victim_waits(name) / MS)).collect();
    println!("{waits:?} ms");
    for (name, ms) in waits {
        match name {
            "linus" => assert!(ms > 5_000, "{name} waits {ms} ms only"),
            _ => assert!(ms < 1_500, "{name} waits {ms} ms"),
        }
    }
}

/// The bytes that each of two sequential readers reads in 5 s. One of them has twice as many requests of
/// twice the size.
fn shares(name: &str) -> [u64; 2] {
    let mut queue = queue("ide-2006", name, Plug::None);
    let (mut notices, mut now, mut id) = (Vec::new(), Time(0), 0);
    let mut owners = std::collections::BTreeMap::new();
    let (mut read_bytes, mut position) = ([0, 0], [0, 60 << 30]);
    let sizes = [64 * KIB, 128 * KIB];
    let mut todo = vec![0, 1, 1];
    while now.0 < 5_000 * MS {
        for reader in todo.drain(..) {
            let request = Request { issuer: reader as u32, ..read(id, position[reader], sizes[reader]) };
            // A gap keeps requests from being merged.
            position[reader] += sizes[reader] + 4096;
            owners.insert(RequestId(id), reader);
            id += 1;
            queue.submit(now, request);
        }
        now = queue.next_time().unwrap();
        queue.advance(now, &mut notices);
        for notice in notices.drain(..) {
            if let Notice::Done { id } = notice {
                let reader = owners.remove(&id).unwrap();
                read_bytes[reader] += sizes[reader];
                todo.push(reader);
            }
        }
    }
    read_bytes
}

#[test]
fn budgets_and_slices_share() {
    let [one, other] = shares("bfq");
    assert_near(one, other, 15);
    let [one, other] = shares("cfq");
    assert!(
        one > 50 * MIB && other > 50 * MIB,
        "{one} and {other}: each reads half the time, without seeking"
    );
    let [one, other] = shares("noop");
    assert!(one + other < 80 * MIB, "{one} and {other}: seeks all the time");
}

#[test]
fn unknown_elevators_are_refused_by_name() {
    let error = elevator("lift").err().unwrap();
    assert!(error.contains("\"lift\"") && error.contains("deadline"), "{error}");
}
