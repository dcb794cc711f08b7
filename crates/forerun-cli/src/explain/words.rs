//! The explanation of a mount in words.

use forerun::{Counters, DeviceEstimate, ListProgress};

use super::numbers::{rate, size, time};
use super::object_words::{line, object, outcome};
use super::subject::Subject;

/// The most closed objects that are listed.
const CLOSED_MAX: usize = 16;
/// The whole explanation.
pub(super) fn all(subject: &Subject) -> String {
    let (forerun, device) = (&subject.forerun, subject.forerun.device());
    let mut text = String::new();
    line(
        &mut text,
        &format!("{} on {} (process {})", subject.url, subject.directory.display(), std::process::id()),
    );
    let memory = format!("{} of {}", size(forerun.memory_bytes()), size(forerun.memory_bytes_max()));
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

#[cfg(test)]
mod tests {
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
    fn lists_in_words() {
        let mut progress = ListProgress::default();
        (progress.file_count, progress.report.bytes) = (2000, 300 << 20);
        (progress.report.read_bytes, progress.report.ahead_bytes) = (3 << 20, 8 << 20);
        progress.report.is_followed = true;
        assert_eq!(list(&progress), "a list of 2000 files, 300 MiB: 3 MiB read, 8 MiB ahead");
        (progress.file_count, progress.report.is_followed) = (1, false);
        let left = list(&progress);
        assert!(left.starts_with("a list of 1 file,") && left.contains("not followed"), "{left}");
    }
}
