//! The windows of each policy of other software, as text (`support/script.rs` of the engine's tests).

use forerun_policies::PolicyKind;

use crate::script::windows;

#[track_caller]
fn check(policy: PolicyKind, script: &str, expected: &str) {
    assert_eq!(windows(policy.into(), script), expected, "{} reads {script}", policy.name());
}

const TEN_IN_A_ROW: &str =
    "r 0 8k; r 8k 8k; r 16k 8k; r 24k 8k; r 32k 8k; r 40k 8k; r 48k 8k; r 56k 8k; r 64k 8k; r 72k 8k";

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
