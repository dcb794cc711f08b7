//! The binary files of `blktrace` and of `blkparse -d`: records of 48 bytes in the byte
//! order of the traced machine, each followed by `pdu_len` bytes.

use crate::block::{Event, Events, Stage, sectors, to_sectors};
use crate::bytes::{Bytes, Fields, RecordDecoder, Step};
use crate::error::Fault;
use crate::formats::blkparse::device_of;
use crate::text::Clock;
use crate::writer::{Encode, Fate};
use crate::{Access, Extent, Files, Op};

/// The upper three bytes of the magic number; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u8 = 7;

mod category {
    pub(super) const READ: u16 = 1;
    pub(super) const WRITE: u16 = 1 << 1;
    pub(super) const FLUSH: u16 = 1 << 2;
    pub(super) const QUEUE: u16 = 1 << 4;
    pub(super) const PASSED_THROUGH: u16 = 1 << 9;
    pub(super) const NOTIFY: u16 = 1 << 10;
    pub(super) const DISCARD: u16 = 1 << 13;
}

/// Whether `head` begins with the magic number of any version, in any byte order.
pub(crate) fn is_magic(head: &[u8]) -> bool {
    head.len() >= 4 && byte_order(head).is_some()
}

fn byte_order(record: &[u8]) -> Option<bool> {
    let magic = |big| Fields { bytes: record, big }.u32(0) & !0xff;
    [false, true].into_iter().find(|big| magic(*big) == MAGIC)
}

/// Reads records.
pub(crate) struct Decoder {
    events: Events,
    clock: Clock,
}

impl Decoder {
    /// `events` selects the events that become accesses.
    pub(crate) fn new(events: Events) -> Decoder {
        Decoder { events, clock: Clock::default() }
    }
}

impl RecordDecoder for Decoder {
    fn record(&mut self, bytes: &mut Bytes, files: &mut Files) -> Result<Step, Fault> {
        let Some(record) = bytes.array_or_end::<48>()? else { return Ok(Step::End) };
        let big = byte_order(&record).ok_or("it does not begin with blktrace's magic number")?;
        let fields = Fields { bytes: &record, big };
        let version = fields.u32(0) as u8;
        if version != VERSION {
            let reason = format!(
                "it has version {version} of blktrace's format, and only {VERSION} is known: record with an older \
                 blktrace, or convert it with blkparse"
            );
            return Err(reason.into());
        }
        bytes.vec(fields.u16(46).into())?;
        let category = (fields.u32(28) >> 16) as u16;
        // A notification may carry a time of another clock.
        if category & category::NOTIFY != 0 {
            return Ok(Step::Nothing);
        }
        let time_ns = self.clock.since(fields.u64(8))?;
        let Some(event) = event(fields, category, time_ns, files)? else { return Ok(Step::Nothing) };
        Ok(self.events.event(event)?.map_or(Step::Nothing, Step::Access))
    }

    fn rest(&mut self) -> Option<Access> {
        self.events.rest()
    }

    fn origin_ns(&self) -> Option<u64> {
        self.clock.origin_ns()
    }
}

fn event(
    record: Fields<'_>,
    category: u16,
    time_ns: u64,
    files: &mut Files,
) -> Result<Option<Event>, String> {
    // Bit 8 of the event says that a cgroup's name comes first in the payload.
    let stage = match record.u32(28) as u8 {
        1 => Stage::Queued,
        7 => Stage::Dispatched,
        8 => Stage::Completed,
        _ => return Ok(None),
    };
    let bytes = u64::from(record.u32(24));
    let op = match category {
        _ if category & category::PASSED_THROUGH != 0 => return Ok(None),
        _ if category & category::FLUSH != 0 && bytes == 0 => Op::Flush,
        _ if category & category::DISCARD != 0 => Op::Discard,
        _ if category & category::WRITE != 0 => Op::Write,
        _ if category & category::READ != 0 => Op::Read,
        _ => return Ok(None),
    };
    let offset = sectors(record.u64(16), 0)?.offset;
    offset.checked_add(bytes).ok_or("its extent is beyond 2^64 bytes")?;
    let device = record.u32(36);
    Ok(Some(Event {
        stage,
        time_ns,
        process: u64::from(record.u32(32)),
        op,
        device: files.intern(&format!("{}:{}", device >> 20, device & 0xf_ffff)),
        extent: Extent { offset, len: bytes },
    }))
}

/// Writes records of queued requests, little-endian, of CPU 0.
#[derive(Default)]
pub(crate) struct Encoder {
    sequence: u32,
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let category = match access.op {
            Op::Read => category::READ,
            Op::Write => category::WRITE,
            Op::Discard => category::DISCARD | category::WRITE,
            Op::Flush => category::FLUSH | category::WRITE,
            _ => return Ok(Fate::LeftOut),
        } | category::QUEUE;
        let (sector, _) = to_sectors(access.extent)?;
        let bytes =
            u32::try_from(access.extent.len).map_err(|_| "its length is beyond 2^32 bytes".to_owned())?;
        let process = u32::try_from(access.thread).map_err(|_| "its thread is beyond 2^32".to_owned())?;
        let (major, minor) = device_of(files.name(access.file), access.file);
        self.sequence = self.sequence.wrapping_add(1);
        out.extend_from_slice(&(MAGIC | u32::from(VERSION)).to_le_bytes());
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&access.time_ns.to_le_bytes());
        out.extend_from_slice(&sector.to_le_bytes());
        let queued = 1 | u32::from(category) << 16;
        for value in [bytes, queued, process, major << 20 | minor, 0, 0] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        Ok(Fate::Written)
    }
}
