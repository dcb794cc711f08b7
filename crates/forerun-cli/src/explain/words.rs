//! The explanation of a mount in words.

use std::fmt::Write;
use std::time::Duration;

use forerun::{
    AccountReport, ClassCounters, Counters, DeviceEstimate, Explained, ListProgress, StreamReport, Why,
};

use super::answer::Subject;
use super::numbers::{percent, rate, size, time};

/// The most streams of one object that are listed.
const STREAMS_MAX: usize = 16;
/// The most closed objects that are listed.
const CLOSED_MAX: usize = 16;
/// A stream without reads for this long is shown as paused.
const PAUSE: Duration = Duration::from_secs(2);

/// The whole explanation.
pub(super) fn all(subject: &Subject) -> String {
    let (forerun, device) = (&subject.forerun, subject.forerun.device());
    let mut text = String::new();
    line(
        &mut text,
        &format!("{} on {} (process {})", subject.url, subject.directory.display(), std::process::id()),
    );
    let memory = format!("{} of {}", size(forerun.memory_bytes()), size(subject.memory_bytes_max));
    line(&mut text, &format!("policy {}, memory {memory} used", subject.policy));
    line(&mut text, &storage(&device, &forerun.counters()));
    let readahead = forerun.readahead();
    line(&mut text, &format!("read ahead since the start: {}", outcome(readahead.total())));
    for (class, counters) in readahead.iter() {
        line(&mut text, &format!("    {}, {}: {}", class.name(), size(counters.sum()), outcome(counters)));
    }
    if let Some(said) = repeated(&forerun.counters()) {
        line(&mut text, &said);
    }
    forerun.lists().iter().for_each(|one| line(&mut text, &list(one)));
    text.push('\n');
    let (open, closed): (Vec<_>, Vec<_>) =
        forerun.explain().into_iter().partition(|one| one.report.reader_count > 0);
    open.iter().for_each(|one| object(&mut text, one));
    if open.is_empty() {
        line(&mut text, "no object is open");
    }
    closed.iter().take(CLOSED_MAX).for_each(|one| object(&mut text, one));
    if let Some(more) = closed.len().checked_sub(CLOSED_MAX).filter(|more| *more > 0) {
        line(&mut text, &format!("and {more} more that are closed"));
    }
    text
}

/// The measured properties of the backend. Before the first fetch, its latency is a guess.
fn storage(device: &DeviceEstimate, counters: &Counters) -> String {
    if counters.demand_count + counters.readahead_count == 0 {
        return "the storage: nothing was fetched yet".to_owned();
    }
    format!(
        "the storage: {} until a fetch's first bytes, {} at most; fetches of {}, up to {} in flight",
        time(device.latency_ns),
        rate(device.throughput_bytes_per_s),
        size(device.fetch_bytes),
        size(device.pipe_bytes)
    )
}

/// The progress of one list.
fn list(one: &ListProgress) -> String {
    let (report, files) = (&one.report, one.file_count);
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let state = if report.is_followed {
        format!("{} ahead", size(report.ahead_bytes))
    } else {
        "not followed, since its files are read otherwise".to_owned()
    };
    format!("a list of {files}, {}: {} read, {state}", size(report.bytes), size(report.read_bytes))
}

/// Writes one object, in one line if it has one stream.
fn object(text: &mut String, one: &Explained) {
    let report = &one.report;
    let became = became(report.readahead.total(), report.waiting_bytes, report.missed_bytes);
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
    let AccountReport { allowance_bytes, lost_bytes, room_bytes, wait_bytes } = *account;
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
        Why::Policy => "set by the policy".to_owned(),
    }
}

/// The outcome of an object's readahead, and the bytes that were not read ahead.
fn became(readahead: ClassCounters, waiting_bytes: u64, missed_bytes: u64) -> String {
    let mut became = match waiting_bytes {
        0 if readahead.sum() == 0 => "nothing was read ahead".to_owned(),
        _ => outcome(readahead),
    };
    if missed_bytes > 0 {
        let _ = write!(became, "; {} fetched on demand", size(missed_bytes));
    }
    became
}

/// The outcome of readahead.
fn outcome(counters: ClassCounters) -> String {
    let all = counters.sum();
    if all == 0 {
        return "no readahead was used yet".to_owned();
    }
    let part = |bytes: u64, word: &str| match bytes {
        0 => format!("nothing {word}"),
        _ => format!("{} {word}", percent(bytes, all)),
    };
    let ClassCounters { in_time_bytes, late_bytes, wasted_bytes } = counters;
    format!(
        "{}, {}, {}",
        part(in_time_bytes, "in time"),
        part(late_bytes, "late"),
        part(wasted_bytes, "wasted")
    )
}

/// The hedged requests of late answers, and how many of them came first.
fn repeated(counters: &Counters) -> Option<String> {
    let Counters { repeated_count, repeated_bytes, won_count, .. } = *counters;
    let requests = match repeated_count {
        0 => return None,
        1 => "1 late request was hedged".to_owned(),
        more => format!("{more} late requests were hedged"),
    };
    let bytes = size(repeated_bytes);
    Some(format!("{requests}, {bytes}: {won_count} of the second requests answered first"))
}

/// Names may contain anything; control characters must not reach a terminal.
fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

fn line(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use forerun::{ListId, ListReport};

    use super::*;

    #[test]
    fn requests_made_again_in_words() {
        let of = |repeated_count, won_count| {
            let mut counters = Counters::default();
            (counters.repeated_count, counters.won_count) = (repeated_count, won_count);
            counters.repeated_bytes = 3 << 20;
            repeated(&counters)
        };
        assert_eq!(of(0, 0), None);
        let said = "12 late requests were hedged, 3 MiB: 9 of the second requests answered first";
        assert_eq!(of(12, 9).as_deref(), Some(said));
        assert!(of(1, 1).is_some_and(|said| said.starts_with("1 late request was hedged")));
    }

    #[test]
    fn what_was_not_read_ahead_is_not_said_to_wait() {
        let none = ClassCounters::default();
        assert_eq!(became(none, 0, 20_480), "nothing was read ahead; 20 KiB fetched on demand");
        assert_eq!(became(none, 20_480, 0), "no readahead was used yet");
    }

    #[test]
    fn lists_in_words() {
        let report = ListReport {
            list: ListId(3),
            bytes: 300 << 20,
            read_bytes: 3 << 20,
            ahead_bytes: 8 << 20,
            is_followed: true,
        };
        let said = |file_count, report| list(&ListProgress { file_count, report });
        assert_eq!(said(2000, report), "a list of 2000 files, 300 MiB: 3 MiB read, 8 MiB ahead");
        let left = said(1, ListReport { is_followed: false, ..report });
        assert!(left.starts_with("a list of 1 file,") && left.contains("not followed"), "{left}");
    }

    #[test]
    fn accounts_in_words() {
        let account = AccountReport {
            allowance_bytes: 8 << 20,
            lost_bytes: 0,
            room_bytes: 3 << 20,
            wait_bytes: 65_536,
        };
        let said = "nothing lost or at risk, 8 MiB may be; room for 3 MiB; saving a wait is worth 64 KiB";
        assert_eq!(of_account(&account), format!("account: {said}"));
        assert!(
            of_account(&AccountReport { lost_bytes: 4096, ..account }).contains(": 4 KiB lost or at risk,")
        );
    }

    #[test]
    fn outcomes_in_words() {
        let counters = ClassCounters { in_time_bytes: 998, late_bytes: 2, wasted_bytes: 0 };
        assert_eq!(outcome(counters), "99.8 % in time, 0.2 % late, nothing wasted");
        assert_eq!(outcome(ClassCounters::default()), "no readahead was used yet");
        assert_eq!(printable("a\u{1b}[31m.mp4"), "a\\u{1b}[31m.mp4");
    }
}
