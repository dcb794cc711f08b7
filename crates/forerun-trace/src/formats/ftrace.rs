//! Text of the kernel's ftrace: the `blk` tracer, whose actions are those of `blkparse`, and
//! the events `block_bio_queue`, `block_rq_issue` and `block_rq_complete`.

use crate::block::{Event, Events, Stage, flush_if_empty, op_of_letters, sectors};
use crate::formats::blkparse::{device, range};
use crate::lines::LineDecoder;
use crate::text::{Clock, decimal, number, quoted};
use crate::{Access, Files, Op};

/// Whether `line` has a process, a CPU and a time as ftrace writes them.
pub(crate) fn looks_like(line: &str) -> bool {
    EventLine::parse(line).is_ok()
}

/// `comm-pid (tgid) [cpu] flags seconds: rest`, where `(tgid)` and the flags may be missing.
struct EventLine<'a> {
    process: u64,
    time_ns: u64,
    rest: &'a str,
}

impl EventLine<'_> {
    fn parse(line: &str) -> Result<EventLine<'_>, String> {
        // The name of a process may have blanks and brackets; a number in brackets after a blank is
        // the CPU.
        let cpu = line.match_indices(" [").find_map(|(at, _)| {
            let (cpu, after) = line[at + 2..].split_once(']')?;
            cpu.parse::<u32>().is_ok().then_some((&line[..at], after))
        });
        let (task, after) = cpu.ok_or("there is no CPU in brackets")?;
        let task = task.trim_end();
        let task =
            if task.ends_with(')') { task.rsplit_once('(').map_or(task, |(task, _)| task) } else { task };
        let (_, process) = task.rsplit_once('-').ok_or("there is no process before the CPU")?;
        let (before, rest) = after.split_once(": ").ok_or("there is no time with a colon")?;
        let time = before.split_whitespace().last().ok_or("there is no time after the CPU")?;
        Ok(EventLine { process: number("process", process)?, time_ns: decimal("time", time, 9)?, rest })
    }
}

/// Reads lines.
pub(crate) struct Decoder {
    events: Events,
    clock: Clock,
}

impl Decoder {
    /// `events` selects the events that become accesses.
    pub(crate) fn new(events: Events) -> Decoder {
        Decoder { events, clock: Clock::default() }
    }

    /// `maj,min letters bytes? (command)? sector + count …`
    fn request(
        &mut self,
        stage: Stage,
        line: &EventLine<'_>,
        words: &[&str],
        files: &mut Files,
    ) -> Result<Option<Access>, String> {
        let [dev, letters, rest @ ..] = words else {
            return Err("the line ends before the sector".to_owned());
        };
        let Some(op) = op_of_letters(letters)? else { return Ok(None) };
        let plus = rest.iter().position(|word| *word == "+");
        let rest = plus.and_then(|plus| rest.get(plus.checked_sub(1)?..)).unwrap_or(rest);
        let (sector, count) = match range(rest)? {
            Some(range) => range,
            None if letters.starts_with('F') => (0, 0),
            None => return Ok(None),
        };
        // A flush is queued at "sector" 2^64 - 1, which means none.
        let (sector, op) = match flush_if_empty(op, count, letters.starts_with('F')) {
            Op::Flush => (0, Op::Flush),
            op => (sector, op),
        };
        let time_ns = self.clock.since(line.time_ns)?;
        let (device, extent) = (files.intern(&device(dev)?), sectors(sector, count)?);
        self.events.event(Event { stage, time_ns, process: line.process, op, device, extent })
    }
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.contains(" [LOST ") {
            let reason = "the kernel lost events here; record again with a larger buffer_size_kb";
            return Err(reason.to_owned());
        }
        let line = EventLine::parse(line)?;
        let words: Vec<&str> = line.rest.split_whitespace().collect();
        match words[..] {
            ["block_bio_queue:", ref rest @ ..] => self.request(Stage::Queued, &line, rest, files),
            ["block_rq_issue:", ref rest @ ..] => self.request(Stage::Dispatched, &line, rest, files),
            ["block_rq_complete:", ref rest @ ..] => self.request(Stage::Completed, &line, rest, files),
            // Another event, which the recording may contain.
            [name, ..] if name.ends_with(':') => Ok(None),
            [dev, action, ref rest @ ..] if device(dev).is_ok() => match Stage::of_letter(action) {
                Some(stage) => {
                    let words: Vec<&str> = std::iter::once(dev).chain(rest.iter().copied()).collect();
                    self.request(stage, &line, &words, files)
                }
                None => Ok(None),
            },
            _ => Err(format!("{} is neither an event nor a device", quoted(line.rest))),
        }
    }

    fn rest(&mut self) -> Option<Access> {
        self.events.rest()
    }

    fn origin_ns(&self) -> Option<u64> {
        self.clock.origin_ns()
    }
}
