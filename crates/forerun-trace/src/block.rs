//! From events of the block layer to accesses: `Q` queued by a program, `D` dispatched to the
//! device, `C` completed.

use std::collections::HashMap;

use crate::{Access, Extent, FileId, Op};

/// No device has as many requests in flight. A trace without its completions would exceed it.
const IN_FLIGHT_MAX: usize = 1 << 16;

/// An event of one of the three kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) stage: Stage,
    pub(crate) time_ns: u64,
    pub(crate) process: u64,
    pub(crate) op: Op,
    pub(crate) device: FileId,
    pub(crate) extent: Extent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Queued,
    Dispatched,
    Completed,
}

impl Stage {
    pub(crate) fn of_letter(letter: &str) -> Option<Stage> {
        match letter {
            "Q" => Some(Stage::Queued),
            "D" => Some(Stage::Dispatched),
            "C" => Some(Stage::Completed),
            _ => None,
        }
    }
}

/// Chooses the events that become accesses.
pub(crate) struct Events {
    dispatched: bool,
    in_flight: HashMap<(FileId, u64), Access>,
}

impl Events {
    /// Selects queued events, or with `dispatched` those with service times.
    pub(crate) fn new(dispatched: bool) -> Events {
        Events { dispatched, in_flight: HashMap::new() }
    }

    pub(crate) fn event(&mut self, event: Event) -> Result<Option<Access>, String> {
        let key = (event.device, event.extent.offset);
        match event.stage {
            Stage::Queued if !self.dispatched => Ok(Some(access(event))),
            Stage::Dispatched if self.dispatched => {
                if self.in_flight.len() == IN_FLIGHT_MAX {
                    return Err(format!("{IN_FLIGHT_MAX} requests are dispatched and not completed"));
                }
                // A request that is dispatched again was sent back by the device: the first try
                // does not count.
                self.in_flight.insert(key, access(event));
                Ok(None)
            }
            Stage::Completed if self.dispatched => {
                let Some(mut done) = self.in_flight.remove(&key) else { return Ok(None) };
                done.service_ns = Some(event.time_ns.saturating_sub(done.time_ns));
                Ok(Some(done))
            }
            _ => Ok(None),
        }
    }

    /// The oldest request that was still in flight at the end of the recording.
    pub(crate) fn rest(&mut self) -> Option<Access> {
        let first = |(key, access): (&(FileId, u64), &Access)| (access.time_ns, *key);
        let (_, key) = self.in_flight.iter().map(first).min()?;
        self.in_flight.remove(&key)
    }
}

fn access(event: Event) -> Access {
    let Extent { offset, len } = event.extent;
    Access { thread: event.process, ..Access::new(event.time_ns, event.op, event.device, offset, len) }
}

/// The operation of the letters of `blkparse` and ftrace: `F? (D|W|R|N) F? A? S? M?`. An `F`
/// without data is a flush; `N` alone has no effect on storage.
pub(crate) fn op_of_letters(letters: &str) -> Result<Option<Op>, String> {
    if letters.is_empty()
        || letters.len() > 8
        || !letters.bytes().all(|letter| b"DWRNFASMVEB".contains(&letter))
    {
        return Err(format!("{} are not letters of a block request", crate::text::quoted(letters)));
    }
    let main = letters.trim_start_matches('F').chars().next();
    Ok(match main {
        Some('R') => Some(Op::Read),
        Some('W') => Some(Op::Write),
        Some('D') => Some(Op::Discard),
        None => Some(Op::Flush),
        Some('N') if letters.starts_with('F') => Some(Op::Flush),
        _ => None,
    })
}

/// A flush with the letters or bits of a write has no bytes.
pub(crate) fn flush_if_empty(op: Op, sectors: u64, flush: bool) -> Op {
    if flush && sectors == 0 { Op::Flush } else { op }
}

/// The bytes of `sectors` from `sector`.
pub(crate) fn sectors(sector: u64, sectors: u64) -> Result<Extent, String> {
    let bytes = |sectors: u64| sectors.checked_mul(512);
    match bytes(sector).zip(bytes(sectors)) {
        Some((offset, len)) if offset.checked_add(len).is_some() => Ok(Extent { offset, len }),
        _ => Err(format!("sector {sector} + {sectors} is beyond 2^64 bytes")),
    }
}

/// `extent` in sectors of 512 bytes, for formats that have no smaller unit.
pub(crate) fn to_sectors(extent: Extent) -> Result<(u64, u64), String> {
    if extent.offset.is_multiple_of(512) && extent.len.is_multiple_of(512) {
        return Ok((extent.offset / 512, extent.len / 512));
    }
    let Extent { offset, len } = extent;
    Err(format!(
        "{len} bytes at {offset} are not whole sectors of 512 bytes; choose a format that counts bytes"
    ))
}
