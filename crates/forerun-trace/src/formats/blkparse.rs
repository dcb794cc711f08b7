//! The text of `blkparse`: `maj,min cpu seq sec.nsec pid action rwbs sector + count …`,
//! with or without the elapsed times of `-t`, and the summary at its end.

use crate::block::{Event, Events, Stage, flush_if_empty, op_of_letters, sectors, to_sectors};
use crate::lines::LineDecoder;
use crate::text::{decimal, number, quoted};
use crate::writer::{Encode, Fate};
use crate::{Access, Files, Op};

/// All actions that `blkparse` knows.
const ACTIONS: &str = "QMFGSRDCPUTIXBAm";

/// Whether `line` begins as a line of `blkparse` does.
pub(crate) fn looks_like(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let device = words.next().is_some_and(|word| device(word).is_ok());
    let numbers = words.by_ref().take(2).filter(|word| word.parse::<u64>().is_ok()).count() == 2;
    device && numbers && words.next().is_some_and(|time| time.contains('.') && decimal("", time, 9).is_ok())
}

/// `maj,min` as the name of a device.
pub(crate) fn device(word: &str) -> Result<String, String> {
    let wrong = || format!("the device is {}, not two numbers with a comma", quoted(word));
    let (major, minor) = word.split_once(',').ok_or_else(wrong)?;
    let parsed = (major.parse::<u32>(), minor.parse::<u32>());
    let (Ok(major), Ok(minor)) = parsed else { return Err(wrong()) };
    Ok(format!("{major}:{minor}"))
}

/// The sectors of a request, from the words `sector + count …`. None for requests without sectors:
/// commands passed through, and flushes of some kernels.
pub(crate) fn range(words: &[&str]) -> Result<Option<(u64, u64)>, String> {
    match words {
        [sector, "+", count, ..] => {
            Ok(Some((number("sector", sector)?, number("number of sectors", count)?)))
        }
        [] => Err("the line ends before the sector".to_owned()),
        [first, ..] if first.starts_with('[') || first.parse::<u64>().is_ok() => Ok(None),
        _ => Err(format!("{} stands in the place of the sector", quoted(words[0]))),
    }
}

/// Reads lines.
pub(crate) struct Decoder {
    events: Events,
    in_summary: bool,
}

impl Decoder {
    /// `events` selects the events that become accesses.
    pub(crate) fn new(events: Events) -> Decoder {
        Decoder { events, in_summary: false }
    }
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        // The totals begin with `CPU0 (name):` or `Total (name):`, and nothing follows them.
        self.in_summary |= line.starts_with("CPU") || line.starts_with("Total (");
        if self.in_summary || line.trim().is_empty() {
            return Ok(None);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [dev, cpu, sequence, time, process, action, rest @ ..] = &words[..] else {
            return Err(format!("there are {} words instead of at least 6", words.len()));
        };
        let device = device(dev)?;
        number::<u32>("cpu", cpu)?;
        number::<u64>("sequence number", sequence)?;
        let time_ns = decimal("time", time, 9)?;
        let process = number("process", process)?;
        if action.len() != 1 || !ACTIONS.contains(action) {
            return Err(format!("{} is not an action", quoted(action)));
        }
        let Some(stage) = Stage::of_letter(action) else { return Ok(None) };
        let [letters, rest @ ..] = rest else {
            return Err("the line ends before the kind of request".to_owned());
        };
        let Some(op) = op_of_letters(letters)? else { return Ok(None) };
        let (sector, count) = match range(rest)? {
            Some(range) => range,
            None if letters.starts_with('F') => (0, 0),
            None => return Ok(None),
        };
        let op = flush_if_empty(op, count, letters.starts_with('F'));
        let (device, extent) = (files.intern(&device), sectors(sector, count)?);
        self.events.event(Event { stage, time_ns, process, op, device, extent })
    }

    fn rest(&mut self) -> Option<Access> {
        self.events.rest()
    }
}

/// Writes the lines of queued requests.
#[derive(Default)]
pub(crate) struct Encoder {
    sequence: u32,
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let letters = match access.op {
            Op::Read => "R",
            Op::Write => "W",
            Op::Discard => "D",
            Op::Flush => "FN",
            _ => return Ok(Fate::LeftOut),
        };
        let (major, minor) = device_of(files.name(access.file), access.file);
        let (sector, count) = to_sectors(access.extent)?;
        self.sequence = self.sequence.wrapping_add(1);
        let (seconds, ns) = (access.time_ns / 1_000_000_000, access.time_ns % 1_000_000_000);
        let (sequence, process) = (self.sequence, access.thread);
        let line = format!(
            "{major:>3},{minor:<3} {:>2} {sequence:>8} {seconds:>5}.{ns:09} {process:>5} {:>2} {letters:>3} \
             {sector} + {count} [{process}]\n",
            0, "Q"
        );
        out.extend_from_slice(line.as_bytes());
        Ok(Fate::Written)
    }
}

/// The device number for a file: its own if `name` is `maj:min`, otherwise one of major number 259,
/// which Linux assigns dynamically.
pub(crate) fn device_of(name: &str, file: crate::FileId) -> (u32, u32) {
    let parsed =
        name.split_once(':').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parsed.filter(|(major, minor)| *major < 1 << 12 && *minor < 1 << 20).unwrap_or((259, file.0 & 0xf_ffff))
}
