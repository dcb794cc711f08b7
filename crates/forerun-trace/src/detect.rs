//! Detecting the format of a file from its first bytes.

use crate::Format;
use crate::bytes::Fields;
use crate::formats::{blkparse, blktrace, compact, csv, ftrace, iolog, rbd_replay, strace, vscsi};

/// The format of a file that begins with `head`, if it is certain.
pub(crate) fn of_content(head: &[u8]) -> Option<Format> {
    of_binary(head).or_else(|| {
        let whole = head.iter().rposition(|byte| *byte == b'\n')?;
        of_text(std::str::from_utf8(&head[..whole]).ok()?)
    })
}

fn of_binary(head: &[u8]) -> Option<Format> {
    if head.starts_with(rbd_replay::BANNER) {
        return Some(Format::RbdReplay);
    }
    if head.starts_with(compact::MAGIC) {
        return Some(Format::Compact);
    }
    if blktrace::is_magic(head) {
        return Some(Format::Blktrace);
    }
    let fields = Fields { bytes: head, big: false };
    if vscsi::looks_like(fields, false) {
        return Some(Format::VscsiV1);
    }
    if vscsi::looks_like(fields, true) {
        return Some(Format::VscsiV2);
    }
    rbd_replay::looks_like_v0(Fields { bytes: head, big: true }).then_some(Format::RbdReplayV0)
}

fn of_text(text: &str) -> Option<Format> {
    if text.starts_with("# tracer:") {
        return Some(Format::Ftrace);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let line = lines.next()?;
    match line {
        iolog::BANNER_V2 => return Some(Format::FioV2),
        iolog::BANNER_V3 => return Some(Format::FioV3),
        _ if csv::is_header(line) => return Some(Format::Csv),
        _ if blkparse::looks_like(line) => return Some(Format::Blkparse),
        _ if ftrace::looks_like(line) => return Some(Format::Ftrace),
        _ if strace::looks_like(line) => return Some(Format::Strace),
        _ => {}
    }
    // A header of the published sets; the next line decides.
    let line = if line.starts_with(|c: char| c.is_alphabetic()) { lines.next()? } else { line };
    of_columns(&line.split(',').map(str::trim).collect::<Vec<_>>())
}

/// The published CSV sets have no reliable header.
fn of_columns(columns: &[&str]) -> Option<Format> {
    let number = |at: usize| columns[at].parse::<u64>().is_ok();
    match columns.len() {
        7 if matches!(columns[3], "Read" | "Write") => Some(Format::Msr),
        5 if matches!(columns[1], "R" | "W") && number(2) && number(4) => Some(Format::Alibaba),
        5 if matches!(columns[3], "0" | "1") && number(0) && number(1) && number(2) => Some(Format::Tencent),
        5 if columns[1].len() == 1 && number(3) && number(4) => Some(Format::Csv),
        _ => None,
    }
}
