//! The windows of each policy, as text: reads in, windows out.
//!
//! `r 0 64k; r 64k 64k` reads 64 KiB at 0 and at 64 KiB, a millisecond apart, from storage that answers at
//! once. The answer lists each window after the read that asked for it, as `offset+len mark position`.

use std::fmt::Write;

use forerun_engine::*;

fn windows(policy: PolicyKind, script: &str) -> String {
    let mut config = Config::new(64 << 20);
    config.policy = policy;
    config.events_max = 1000;
    let mut engine = Engine::new(config).expect("a configuration that works");
    engine.open(ObjectId(1), 64 << 20);
    let mut said = String::new();
    for (index, line) in script.split(';').enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["r", offset, len] = words[..] else { panic!("not a read: {line}") };
        let now = Time(index as u64 * 1_000_000);
        let extent = Extent::new(bytes(offset), bytes(len));
        let mut memory = Vec::new();
        let outcome = engine.read(now, ObjectId(1), ReaderId(1), extent, &mut memory);
        while let Some(fetch) = engine.poll_fetch(now) {
            engine.handle_fetched(now, fetch.id);
        }
        while engine.poll_reply().is_some() {}
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        engine.release(read);
        while let Some(event) = engine.poll_event() {
            if let Event::Window { extent, mark, .. } = event {
                let (offset, len) = (short(extent.offset), short(extent.len));
                write!(said, "{offset}+{len} mark {}; ", short(mark)).expect("a string takes all");
            }
        }
    }
    said.trim_end_matches("; ").to_string()
}

fn bytes(word: &str) -> u64 {
    let (digits, unit) = match word.strip_suffix('k') {
        Some(digits) => (digits, 1024),
        None => (word.strip_suffix('m').unwrap_or(word), if word.ends_with('m') { 1 << 20 } else { 1 }),
    };
    digits.parse::<u64>().expect("a number") * unit
}

fn short(bytes: u64) -> String {
    match bytes {
        0 => "0".into(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        _ if bytes.is_multiple_of(1024) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}

#[track_caller]
fn check(policy: PolicyKind, script: &str, expected: &str) {
    assert_eq!(windows(policy, script), expected, "{} reads {script}", policy.name());
}

const TEN_IN_A_ROW: &str =
    "r 0 8k; r 8k 8k; r 16k 8k; r 24k 8k; r 32k 8k; r 40k 8k; r 48k 8k; r 56k 8k; r 64k 8k; r 72k 8k";

#[test]
fn none_wants_nothing() {
    check(PolicyKind::None, TEN_IN_A_ROW, "");
}

#[test]
fn plain_starts_after_ten_requests_and_any_jump_resets_it() {
    check(PolicyKind::Plain, TEN_IN_A_ROW, "80k+80k mark 120k");
    check(PolicyKind::Plain, &TEN_IN_A_ROW.replace("r 40k", "r 4m"), "");
}

#[test]
fn aligned_ends_windows_where_storage_objects_end() {
    let reads: Vec<String> = (0..10).map(|i| format!("r {}k 256k", 1024 + i * 256)).collect();
    check(PolicyKind::Aligned, &format!("r 1m 0; {}", reads.join("; ")), "");
    let reads: Vec<String> = (0..10).map(|i| format!("r {}k 256k", i * 256)).collect();
    check(PolicyKind::Aligned, &reads.join("; "), "2560k+1536k mark 3328k");
    check(PolicyKind::Plain, &reads.join("; "), "2560k+2560k mark 3840k");
}

#[test]
fn eager_reads_to_the_end_of_the_storage_object() {
    check(PolicyKind::Eager, TEN_IN_A_ROW, "80k+4016k mark 4m");
}

#[test]
fn ondemand_doubles_at_its_marks() {
    // 128 KiB would be the kernel's default; here windows may have 4 MiB.
    check(PolicyKind::OnDemand, "r 0 4k; r 4k 4k; r 8k 4k", "0+16k mark 4k; 16k+64k mark 16k");
    check(PolicyKind::OnDemand, "r 0 4k; r 1m 4k; r 3m 4k", "0+16k mark 4k");
}

#[test]
fn amp_starts_at_the_second_miss_in_sequence() {
    check(PolicyKind::Amp, "r 0 64k; r 1m 64k; r 64k 64k", "128k+64k mark 180k");
    check(PolicyKind::Amp, "r 0 4k; r 4k 4k; r 8k 4k; r 12k 4k", "8k+4k mark 12k; 16k+8k mark 24k");
}

#[test]
fn amp_reads_more_ahead_after_each_set_that_was_read_to_its_end() {
    let reads: Vec<String> = (0..7).map(|i| format!("r {}k 64k", i * 64)).collect();
    check(
        PolicyKind::Amp,
        &reads.join("; "),
        "128k+64k mark 180k; 192k+64k mark 244k; 256k+128k mark 372k; 384k+192k mark 564k",
    );
}

#[test]
fn amp_tells_streams_on_one_handle_apart_and_leaves_random_reads_alone() {
    check(
        PolicyKind::Amp,
        "r 1m 64k; r 32m 64k; r 1088k 64k; r 32832k 64k",
        "1152k+64k mark 1204k; 32896k+64k mark 32948k",
    );
    check(PolicyKind::Amp, "r 1m 4k; r 9m 4k; r 5m 4k; r 33m 4k; r 17m 4k; r 60m 4k; r 2m 4k", "");
}

#[test]
fn adaptive_begins_at_the_start_or_after_two_in_a_row() {
    check(PolicyKind::Adaptive, "r 0 64k", "64k+256k mark 128k");
    check(PolicyKind::Adaptive, "r 1m 8k", "");
    check(PolicyKind::Adaptive, "r 1m 8k; r 1032k 8k", "1040k+64k mark 1056k");
}

#[test]
fn adaptive_sees_readers_of_less_than_a_block() {
    let sectors: Vec<String> = (0..9).map(|i| format!("r {} 512", (1 << 20) + i * 512)).collect();
    check(PolicyKind::Adaptive, &sectors[..8].join("; "), "");
    check(PolicyKind::Adaptive, &sectors.join("; "), "1032k+64k mark 1048k");
}

#[test]
fn adaptive_leaves_random_reads_alone() {
    check(PolicyKind::Adaptive, "r 1m 4k; r 9m 4k; r 5m 4k; r 33m 4k; r 17m 4k; r 60m 4k; r 2m 4k", "");
}

#[test]
fn adaptive_tells_streams_on_one_handle_apart() {
    check(
        PolicyKind::Adaptive,
        "r 1m 64k; r 32m 64k; r 1088k 64k; r 32832k 64k",
        "1152k+512k mark 1280k; 32896k+512k mark 33024k",
    );
}

#[test]
fn adaptive_stops_where_another_stream_began() {
    let towards: Vec<String> = (0..31).map(|i| format!("r {}k 64k", 1024 + i * 64)).collect();
    let wanted = windows(PolicyKind::Adaptive, &format!("r 3m 64k; r 3136k 64k; {}", towards.join("; ")));
    let ends: Vec<u64> = wanted
        .split("; ")
        .skip(2)
        .map(|window| {
            let (offset, rest) = window.split_once('+').expect("offset+len");
            bytes(offset) + bytes(rest.split_whitespace().next().expect("len"))
        })
        .collect();
    assert_eq!(ends.iter().max(), Some(&(3 << 20)), "{wanted}");
}

#[test]
fn adaptive_takes_disorder_for_a_stream() {
    check(PolicyKind::Adaptive, "r 2112k 32k; r 2m 32k; r 2080k 32k", "2144k+352k mark 2240k");
}

#[test]
fn adaptive_goes_backward_as_it_goes_forward() {
    check(PolicyKind::Adaptive, "r 33m 8k; r 33784k 8k", "33720k+64k mark 33720k");
    check(PolicyKind::Adaptive, "r 33m 8k; r 33776k 8k", "");
}

#[test]
fn adaptive_goes_on_in_equal_steps_and_fetches_just_those() {
    check(
        PolicyKind::Adaptive,
        "r 1m 8k; r 2m 8k; r 3m 8k; r 4m 8k",
        "5m+8k mark 5m; 6m+8k mark 6m; 7m+8k mark 7m; 8m+8k mark 8m; 9m+8k mark 9m; 10m+8k mark 10m; \
         11m+8k mark 11m; 12m+8k mark 12m; 13m+8k mark 13m; 14m+8k mark 14m; 15m+8k mark 15m; \
         16m+8k mark 16m",
    );
    check(PolicyKind::Adaptive, "r 1m 8k; r 2m 8k; r 3m 8k; r 4100k 8k", "");
    let back = windows(PolicyKind::Adaptive, "r 60m 8k; r 59m 8k; r 58m 8k; r 57m 8k");
    assert!(back.starts_with("56m+8k mark 56m; 55m+8k mark 55m"), "{back}");
}

#[test]
fn adaptive_sees_steps_within_steps() {
    let reads: Vec<String> = (1..6).map(|i| format!("r {i}m 8k; r {}k 8k", i * 1024 + 76)).collect();
    let wanted = windows(PolicyKind::Adaptive, &reads.join("; "));
    assert!(wanted.starts_with("6m+8k mark 6m; 7m+8k mark 7m"), "{wanted}");
    assert!(wanted.contains("6220k+8k mark 6220k; 7244k+8k mark 7244k"), "{wanted}");
}

#[test]
fn adaptive_does_not_fill_an_object_as_large_as_the_memory() {
    let reads: Vec<String> = (1..20).map(|i| format!("r {}k 16k", i * i * i * 1000 % 60_000)).collect();
    check(PolicyKind::Adaptive, &reads.join("; "), "");
}
