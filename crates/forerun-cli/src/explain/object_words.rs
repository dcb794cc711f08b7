//! The explanation of an object and its streams in words.

use std::fmt::Write;
use std::time::Duration;

use forerun::{AccountReport, ClassCounters, Explained, StreamReport, Why};

use super::numbers::{percent, rate, size, time};

/// The most streams of one object that are listed.
const STREAMS_MAX: usize = 16;
/// A stream without reads for this long is shown as paused.
const PAUSE: Duration = Duration::from_secs(2);

/// Writes one object, in one line if it has one stream.
pub(super) fn object(text: &mut String, one: &Explained) {
    let report = &one.report;
    let became = describe_readahead(report.readahead.total(), report.waiting_bytes, report.missed_bytes);
    let (name, size_of) = (printable(&one.path), size(report.size));
    if report.reader_count == 0 {
        // Whole blocks are in memory, so they may exceed the object.
        let held = match report.cached_bytes {
            whole if whole >= report.size => format!("all of {size_of}"),
            part => format!("{} of {size_of}", size(part)),
        };
        return line(text, &format!("{name}: closed, {held} in memory; {became}"));
    }
    match &report.streams[..] {
        [] => line(text, &format!("{name}: {size_of}, no stream; {became}")),
        [stream] => line(text, &format!("{name}: {}; {became}", of_stream(one, stream, Some(report.size)))),
        several => {
            let count = several.len();
            let readers = match report.reader_count {
                1 => "1 reader".to_owned(),
                more => format!("{more} readers"),
            };
            line(text, &format!("{name}: {size_of}, {count} streams, {readers}; {became}"));
            for stream in several.iter().take(STREAMS_MAX) {
                line(text, &format!("    {}", of_stream(one, stream, None)));
            }
            if count > STREAMS_MAX {
                line(text, &format!("    and {} more", count - STREAMS_MAX));
            }
        }
    }
    if let Some(account) = &report.account {
        line(text, &format!("    {}", of_account(account)));
    }
}

/// The limits of one object's readahead.
fn of_account(account: &AccountReport) -> String {
    let AccountReport { allowance_bytes, lost_bytes, room_bytes, wait_bytes, .. } = *account;
    let lost = match lost_bytes {
        0 => "nothing".to_owned(),
        bytes => size(bytes),
    };
    format!(
        "account: {lost} lost or at risk, {} may be; room for {}; saving a wait is worth {}",
        size(allowance_bytes),
        size(room_bytes),
        size(wait_bytes)
    )
}

fn of_stream(one: &Explained, stream: &StreamReport, of: Option<u64>) -> String {
    let mut said = format!("{} at {}", stream.class.name(), size(stream.offset));
    if let Some(of) = of {
        let _ = write!(said, " of {}", size(of));
    }
    let _ = write!(said, ", window {}: {}", size(stream.window_bytes), why(stream));
    let idle = one.idle(stream);
    // A follower has no reader of its own.
    if idle > PAUSE && stream.last_read.0 > 0 {
        let _ = write!(said, "; not read for {}", time(idle.as_nanos() as u64));
    }
    said
}

fn why(stream: &StreamReport) -> String {
    let count = stream.active_count;
    let shared = |what: &str| match count {
        1 => format!("limited to {what}"),
        _ => format!("limited to its share of {what}, among {count} active streams"),
    };
    match stream.why {
        Why::FirstWindow => "the first window, while little is known about the reader".to_owned(),
        Why::Growing => "growing, because the reader had to wait".to_owned(),
        Why::Steady => {
            let (rate, service) = (rate(stream.rate_bytes_per_s), time(stream.service_ns));
            format!("the reader takes {rate}, and a fetch takes {service}")
        }
        Why::LimitedByShare => shared("the bytes that keep the storage busy"),
        Why::LimitedByMemory => shared("the memory (--memory)"),
        Why::LimitedByAccount => {
            "limited by the account of the object, for as much as this stream has read".to_owned()
        }
        Why::EndKnown => "up to the expected end of the stream".to_owned(),
        Why::Planned => "follows the profile of an earlier run".to_owned(),
        Why::Advised => "follows the advice of a program".to_owned(),
        Why::Listed => "follows the directory, whose files are read one after the other".to_owned(),
        Why::Bet => "a guess that costs little if it is wasted".to_owned(),
        // `Policy`, and what a later version may add.
        _ => "set by the policy".to_owned(),
    }
}

/// The outcome of an object's readahead, and the bytes that were not read ahead.
fn describe_readahead(readahead: ClassCounters, waiting_bytes: u64, missed_bytes: u64) -> String {
    let mut said = match waiting_bytes {
        0 if readahead.sum() == 0 => "nothing was read ahead".to_owned(),
        _ => outcome(readahead),
    };
    if missed_bytes > 0 {
        let _ = write!(said, "; {} fetched on demand", size(missed_bytes));
    }
    said
}

/// The outcome of readahead.
pub(super) fn outcome(counters: ClassCounters) -> String {
    let all = counters.sum();
    if all == 0 {
        return "no readahead was used yet".to_owned();
    }
    let part = |bytes: u64, word: &str| match bytes {
        0 => format!("nothing {word}"),
        _ => format!("{} {word}", percent(bytes, all)),
    };
    let ClassCounters { in_time_bytes, late_bytes, wasted_bytes, .. } = counters;
    format!(
        "{}, {}, {}",
        part(in_time_bytes, "in time"),
        part(late_bytes, "late"),
        part(wasted_bytes, "wasted")
    )
}

/// Names may contain anything; control characters must not reach a terminal.
fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

/// Adds a line to `text`.
pub(super) fn line(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_fetches_are_not_shown_as_readahead() {
        let none = ClassCounters::default();
        assert_eq!(describe_readahead(none, 0, 20_480), "nothing was read ahead; 20 KiB fetched on demand");
        assert_eq!(describe_readahead(none, 20_480, 0), "no readahead was used yet");
    }

    #[test]
    fn accounts_in_words() {
        let mut account = AccountReport::default();
        account.allowance_bytes = 8 << 20;
        account.room_bytes = 3 << 20;
        account.wait_bytes = 65_536;
        let said = "nothing lost or at risk, 8 MiB may be; room for 3 MiB; saving a wait is worth 64 KiB";
        assert_eq!(of_account(&account), format!("account: {said}"));
        account.lost_bytes = 4096;
        assert!(of_account(&account).contains(": 4 KiB lost or at risk,"));
    }

    #[test]
    fn outcomes_in_words() {
        let mut counters = ClassCounters::default();
        (counters.in_time_bytes, counters.late_bytes) = (998, 2);
        assert_eq!(outcome(counters), "99.8 % in time, 0.2 % late, nothing wasted");
        assert_eq!(outcome(ClassCounters::default()), "no readahead was used yet");
        assert_eq!(printable("a\u{1b}[31m.mp4"), "a\\u{1b}[31m.mp4");
    }
}
