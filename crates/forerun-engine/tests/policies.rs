//! The windows of the engine's own policies, as text (`support/script.rs`).

#[path = "support/script.rs"]
mod script;

use forerun_engine::PolicyChoice;
use script::{bytes, windows};

#[track_caller]
fn check(policy: PolicyChoice, script: &str, expected: &str) {
    assert_eq!(windows(policy, script), expected, "{policy:?} reads {script}");
}

const TEN_IN_A_ROW: &str =
    "r 0 8k; r 8k 8k; r 16k 8k; r 24k 8k; r 32k 8k; r 40k 8k; r 48k 8k; r 56k 8k; r 64k 8k; r 72k 8k";

#[test]
fn none_wants_nothing() {
    check(PolicyChoice::None, TEN_IN_A_ROW, "");
}

#[test]
fn adaptive_begins_at_the_start_or_after_two_in_a_row() {
    check(PolicyChoice::Adaptive, "r 0 64k", "64k+256k mark 128k");
    check(PolicyChoice::Adaptive, "r 1m 8k", "");
    check(PolicyChoice::Adaptive, "r 1m 8k; r 1032k 8k", "1040k+64k mark 1056k");
}

#[test]
fn adaptive_sees_readers_of_less_than_a_block() {
    let sectors: Vec<String> = (0..9).map(|i| format!("r {} 512", (1 << 20) + i * 512)).collect();
    check(PolicyChoice::Adaptive, &sectors[..8].join("; "), "");
    check(PolicyChoice::Adaptive, &sectors.join("; "), "1032k+64k mark 1048k");
}

#[test]
fn adaptive_leaves_random_reads_alone() {
    check(PolicyChoice::Adaptive, "r 1m 4k; r 9m 4k; r 5m 4k; r 33m 4k; r 17m 4k; r 60m 4k; r 2m 4k", "");
}

#[test]
fn adaptive_tells_streams_on_one_handle_apart() {
    check(
        PolicyChoice::Adaptive,
        "r 1m 64k; r 32m 64k; r 1088k 64k; r 32832k 64k",
        "1152k+512k mark 1280k; 32896k+512k mark 33024k",
    );
}

#[test]
fn adaptive_stops_where_another_stream_began() {
    let towards: Vec<String> = (0..31).map(|i| format!("r {}k 64k", 1024 + i * 64)).collect();
    let wanted = windows(PolicyChoice::Adaptive, &format!("r 3m 64k; r 3136k 64k; {}", towards.join("; ")));
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
    check(PolicyChoice::Adaptive, "r 2112k 32k; r 2m 32k; r 2080k 32k", "2144k+352k mark 2240k");
}

#[test]
fn adaptive_goes_backward_as_it_goes_forward() {
    check(PolicyChoice::Adaptive, "r 33m 8k; r 33784k 8k", "33720k+64k mark 33720k");
    check(PolicyChoice::Adaptive, "r 33m 8k; r 33776k 8k", "");
}

#[test]
fn adaptive_goes_on_in_equal_steps_and_fetches_just_those() {
    check(
        PolicyChoice::Adaptive,
        "r 1m 8k; r 2m 8k; r 3m 8k; r 4m 8k",
        "5m+8k mark 5m; 6m+8k mark 6m; 7m+8k mark 7m; 8m+8k mark 8m; 9m+8k mark 9m; 10m+8k mark 10m; \
         11m+8k mark 11m; 12m+8k mark 12m; 13m+8k mark 13m; 14m+8k mark 14m; 15m+8k mark 15m; \
         16m+8k mark 16m",
    );
    check(PolicyChoice::Adaptive, "r 1m 8k; r 2m 8k; r 3m 8k; r 4100k 8k", "");
    let back = windows(PolicyChoice::Adaptive, "r 60m 8k; r 59m 8k; r 58m 8k; r 57m 8k");
    assert!(back.starts_with("56m+8k mark 56m; 55m+8k mark 55m"), "{back}");
}

#[test]
fn adaptive_sees_steps_within_steps() {
    let reads: Vec<String> = (1..6).map(|i| format!("r {i}m 8k; r {}k 8k", i * 1024 + 76)).collect();
    let wanted = windows(PolicyChoice::Adaptive, &reads.join("; "));
    assert!(wanted.starts_with("6m+8k mark 6m; 7m+8k mark 7m"), "{wanted}");
    assert!(wanted.contains("6220k+8k mark 6220k; 7244k+8k mark 7244k"), "{wanted}");
}

#[test]
fn adaptive_does_not_fill_an_object_as_large_as_the_memory() {
    let reads: Vec<String> = (1..20).map(|i| format!("r {}k 16k", i * i * i * 1000 % 60_000)).collect();
    check(PolicyChoice::Adaptive, &reads.join("; "), "");
}
