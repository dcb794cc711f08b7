//! The patterns match their names.

mod support;

use forerun_trace::generate::{Pattern, Plan};
use forerun_trace::{Access, Moment, Op};

const KIB: u64 = 1024;

fn plan(pattern: Pattern) -> Plan {
    Plan { patterns: vec![pattern], file_bytes: 64 * KIB, request_bytes: 4 * KIB, ..Plan::default() }
}

fn accesses(plan: &Plan) -> Vec<Access> {
    plan.generate().unwrap().collect()
}

/// Offsets in requests.
fn places(plan: &Plan) -> Vec<u64> {
    accesses(plan).iter().map(|access| access.extent.offset / plan.request_bytes).collect()
}

#[test]
fn orders() {
    let sixteen: Vec<u64> = (0..16).collect();
    assert_eq!(places(&plan(Pattern::Sequential)), sixteen);
    assert_eq!(places(&plan(Pattern::Bursts { requests: 4, pause_ns: 9 })), sixteen);
    assert_eq!(places(&plan(Pattern::Backward)), sixteen.iter().rev().copied().collect::<Vec<_>>());
    assert_eq!(places(&plan(Pattern::Strided { stride: 12 * KIB })), [0, 3, 6, 9, 12, 15]);
    let interleaved = places(&plan(Pattern::Interleaved { streams: 4 }));
    assert_eq!(interleaved[..8], [0, 4, 8, 12, 1, 5, 9, 13]);
    assert_eq!(interleaved.len(), 16);
    let sparse = places(&Plan { file_bytes: 4096 * KIB, ..plan(Pattern::Sparse { percent: 25 }) });
    assert!(sparse.is_sorted() && (200..310).contains(&sparse.len()), "{}", sparse.len());
    let random = places(&Plan { count: Some(1000), ..plan(Pattern::Random) });
    assert!(random.len() == 1000 && random.iter().all(|place| *place < 16));
    assert!((0..16).all(|place| random.contains(&place)));
}

#[test]
fn the_last_request_ends_with_the_file() {
    let plan = Plan { file_bytes: 10_000, ..plan(Pattern::Backward) };
    let lens: Vec<u64> = accesses(&plan).iter().map(|access| access.extent.len).collect();
    assert_eq!(lens, [10_000 - 8192, 4096, 4096]);
}

#[test]
fn displaced_requests_are_all_there_and_none_is_very_late() {
    let mut plan = Plan { file_bytes: 4096 * KIB, displaced: 8, think_ns: 1000, ..plan(Pattern::Sequential) };
    let displaced = places(&plan);
    let mut sorted = displaced.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1024).collect::<Vec<_>>());
    assert_ne!(displaced, sorted);
    for (at, place) in displaced.iter().enumerate() {
        assert!((at as u64).abs_diff(*place) <= 8 + 8, "{place} at {at}");
    }
    let times = |plan: &Plan| accesses(plan).iter().map(|access| access.time_ns).collect::<Vec<_>>();
    let shuffled = times(&plan);
    plan.displaced = 0;
    assert_eq!(shuffled, times(&plan), "the reader's pace changes with the order");
}

#[test]
fn bursts_pause_and_readers_think() {
    let bursts = accesses(&plan(Pattern::Bursts { requests: 6, pause_ns: 500 }));
    let times: Vec<u64> = bursts.iter().map(|access| access.time_ns).collect();
    assert_eq!(times, [0, 0, 0, 0, 0, 0, 500, 500, 500, 500, 500, 500, 1000, 1000, 1000, 1000]);
    let slow = accesses(&Plan { file_bytes: 4096 * KIB, think_ns: 1000, ..plan(Pattern::Sequential) });
    let average = slow.last().unwrap().time_ns / 1023;
    assert!((950..1050).contains(&average), "{average}");
    for pair in slow.windows(2) {
        let [after] = pair[1].after[..] else { panic!("{:?}", pair[1].after) };
        assert_eq!((after.id, after.moment), (pair[0].id, Moment::Completed));
        assert_eq!(pair[0].time_ns + after.delta_ns, pair[1].time_ns);
        assert!((500..=1500).contains(&after.delta_ns));
    }
}

#[test]
fn a_tree_opens_reads_and_closes_each_file() {
    let plan = Plan { displaced: 3, ..plan(Pattern::Tree { files: 50 }) };
    let mut open = None;
    let (mut opened, mut next) = (0, 0);
    for access in accesses(&plan) {
        match access.op {
            Op::Open { read_only: true } => {
                assert_eq!(open.replace(access.file), None);
                (opened, next) = (opened + 1, 0);
            }
            Op::Close => assert_eq!(open.take(), Some(access.file)),
            _ => {
                assert_eq!(open, Some(access.file));
                next += access.extent.len;
            }
        }
    }
    assert_eq!((opened, open), (50, None));
    assert!(next > 0);
}

#[test]
fn clients_of_a_file_server_write_each_file_and_read_it_back() {
    // A tenth of each of the 30 MB of five clients' ten files.
    let client = Pattern::FileServer { files: 10 };
    let plan = Plan {
        patterns: vec![client; 5],
        file_bytes: 3_000_000,
        request_bytes: 8 * KIB,
        think_ns: 1000,
        ..Plan::default()
    };
    let mut generated = plan.generate().unwrap();
    let all: Vec<Access> = generated.by_ref().collect();
    let pass = |op, open| {
        let mut lines = vec![(open, 0, 0)];
        lines.extend((0..367).map(|at| (op, at * 8192, 3_000_000.min(at * 8192 + 8192) - at * 8192)));
        lines.push((Op::Close, 0, 0));
        lines
    };
    let one = [pass(Op::Write, Op::Open { read_only: false }), pass(Op::Read, Op::Open { read_only: true })];
    let one = one.concat();
    for client in 0..5 {
        let own: Vec<&Access> = all.iter().filter(|access| access.thread == client).collect();
        assert_eq!(own.len(), 10 * one.len());
        for (file, accesses) in own.chunks(one.len()).enumerate() {
            let found = accesses.iter().map(|access| (access.op, access.extent.offset, access.extent.len));
            assert!(found.eq(one.iter().copied()), "file {file} of client {client}");
            let name = format!("client{client}/{file:06}");
            assert!(accesses.iter().all(|access| generated.files().name(access.file) == name), "{name}");
        }
    }
    assert_eq!(generated.files().len(), 50);
}

#[test]
fn partial_answers_are_asked_for_again_from_where_they_ended() {
    let plan = Plan { file_bytes: 20_000_000, request_bytes: 1, ..plan(Pattern::Partial) };
    let all = accesses(&plan);
    let (last, others) = all.split_last().unwrap();
    let mut next = 0;
    for access in &all {
        assert_eq!((access.op, access.extent.offset), (Op::Read, next));
        next += access.extent.len;
    }
    assert_eq!((next, last.asked), (20_000_000, None));
    for access in others {
        assert_eq!(access.asked, Some(20_000_000 - access.extent.offset));
        assert!([14_400, 28_800, 37_440].contains(&access.extent.len), "{}", access.extent.len);
    }
    assert_eq!(accesses(&Plan { count: Some(7), ..plan }).len(), 7);
}

#[test]
fn a_mix_is_its_patterns_in_the_order_of_time() {
    let patterns = vec![Pattern::Sequential, Pattern::Random, Pattern::Backward];
    let mix = Plan { patterns, think_ns: 1000, ..plan(Pattern::Sequential) };
    let all = accesses(&mix);
    assert_eq!(all.len(), 48);
    assert!(all.is_sorted_by_key(|access| access.time_ns));
    assert!(all.iter().zip(0..).all(|(access, id)| access.id == id));
    for thread in 0..3 {
        assert_eq!(all.iter().filter(|access| access.thread == thread).count(), 16);
    }
    assert_eq!(all, accesses(&mix));
    assert_ne!(all, accesses(&Plan { seed: 2, ..mix }));
}

#[test]
fn plans_without_sense_are_refused() {
    for plan in [
        Plan { patterns: vec![], ..Plan::default() },
        Plan { request_bytes: 0, ..Plan::default() },
        Plan { file_bytes: 1, ..Plan::default() },
        plan(Pattern::Interleaved { streams: 0 }),
        plan(Pattern::Interleaved { streams: 17 }),
        plan(Pattern::Strided { stride: 1 }),
        plan(Pattern::Sparse { percent: 0 }),
        plan(Pattern::Bursts { requests: 0, pause_ns: 0 }),
        Plan { displaced: 1, ..plan(Pattern::Partial) },
    ] {
        assert!(plan.generate().is_err(), "{plan:?}");
    }
}
