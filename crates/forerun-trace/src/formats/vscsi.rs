//! CloudPhysics' vscsi records, little-endian and packed. Times are in microseconds.
//!
//! Version 1: `u32 sn, u32 len, u32 nsg, u16 cmd, u16 version, u64 lbn, u64 ts`.
//! Version 2: `u16 cmd, u16 version, u32 sn, u32 len, u32 nsg, u64 lbn, u64 ts, u64 rt`.

use crate::block::{sectors, to_sectors};
use crate::bytes::{Bytes, Fields, RecordDecoder, Step};
use crate::error::Fault;
use crate::text::Clock;
use crate::writer::{Encode, Fate};
use crate::{Access, Files, Op};

/// One file is one disk.
const DISK: &str = "disk0";

/// Whether the first two records of `head` have version and command of version 1 or 2.
pub(crate) fn looks_like(head: Fields<'_>, second: bool) -> bool {
    let size = if second { 40 } else { 32 };
    let records = head.bytes.len() / size;
    records > 0
        && (0..records.min(2)).all(|at| {
            let record = Fields { bytes: &head.bytes[at * size..], big: false };
            let layout = Layout::read(record, second);
            layout.version >> 8 == 1 + u16::from(second) && matches!(layout.command, 0..=0xff)
        })
}

struct Layout {
    command: u16,
    version: u16,
    len: u32,
    sector: u64,
    time_us: u64,
    response_us: Option<u64>,
}

impl Layout {
    fn read(record: Fields<'_>, second: bool) -> Layout {
        if second {
            Layout {
                command: record.u16(0),
                version: record.u16(2),
                len: record.u32(8),
                sector: record.u64(16),
                time_us: record.u64(24),
                response_us: Some(record.u64(32)),
            }
        } else {
            Layout {
                command: record.u16(12),
                version: record.u16(14),
                len: record.u32(4),
                sector: record.u64(16),
                time_us: record.u64(24),
                response_us: None,
            }
        }
    }
}

/// Reads records.
pub(crate) struct Decoder {
    second: bool,
    clock: Clock,
}

impl Decoder {
    /// Version 2 if `second`, otherwise version 1.
    pub(crate) fn new(second: bool) -> Decoder {
        Decoder { second, clock: Clock::default() }
    }

    fn access(&mut self, layout: &Layout, files: &mut Files) -> Result<Option<Access>, String> {
        let op = match layout.command {
            0x08 | 0x28 | 0x88 | 0xa8 => Op::Read,
            0x0a | 0x2a | 0x8a | 0xaa => Op::Write,
            0x35 | 0x91 => Op::Flush,
            0x42 => Op::Discard,
            // Other SCSI commands move no bytes.
            _ => return Ok(None),
        };
        let raw = layout.time_us.checked_mul(1000).ok_or("its time is beyond 2^64 nanoseconds")?;
        let start = sectors(layout.sector, 0)?.offset;
        let len = u64::from(layout.len);
        start.checked_add(len).ok_or("its extent is beyond 2^64 bytes")?;
        let mut access = Access::new(self.clock.since(raw)?, op, files.intern(DISK), start, len);
        access.service_ns = layout.response_us.map(|response| response.saturating_mul(1000));
        Ok(Some(access))
    }
}

impl RecordDecoder for Decoder {
    fn record(&mut self, bytes: &mut Bytes, files: &mut Files) -> Result<Step, Fault> {
        let layout = if self.second {
            let Some(record) = bytes.array_or_end::<40>()? else { return Ok(Step::End) };
            Layout::read(Fields { bytes: &record, big: false }, true)
        } else {
            let Some(record) = bytes.array_or_end::<32>()? else { return Ok(Step::End) };
            Layout::read(Fields { bytes: &record, big: false }, false)
        };
        let version = 1 + u16::from(self.second);
        if layout.version >> 8 != version {
            return Err(format!("its version is {}, not {version}", layout.version >> 8).into());
        }
        Ok(self.access(&layout, files)?.map_or(Step::Nothing, Step::Access))
    }

    fn origin_ns(&self) -> Option<u64> {
        self.clock.origin_ns()
    }
}

/// Writes records.
pub(crate) struct Encoder {
    second: bool,
    number: u32,
    disk: Option<crate::FileId>,
}

impl Encoder {
    /// Version 2 if `second`, otherwise version 1.
    pub(crate) fn new(second: bool) -> Encoder {
        Encoder { second, number: 0, disk: None }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, _: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let command: u16 = match access.op {
            Op::Read => 0x28,
            Op::Write => 0x2a,
            Op::Flush => 0x35,
            Op::Discard => 0x42,
            _ => return Ok(Fate::LeftOut),
        };
        if *self.disk.get_or_insert(access.file) != access.file {
            return Err("vscsi holds one disk; cut the trace to one file first".to_owned());
        }
        let len =
            u32::try_from(access.extent.len).map_err(|_| "its length is beyond 2^32 bytes".to_owned())?;
        let (sector, _) = to_sectors(crate::Extent { offset: access.extent.offset, len: 0 })?;
        self.number = self.number.wrapping_add(1);
        let command = command.to_le_bytes();
        let [number, len, segments] = [self.number, len, 1].map(u32::to_le_bytes);
        let parts: [&[u8]; 6] = match self.second {
            false => [&number, &len, &segments, &command, &0x0100_u16.to_le_bytes(), &[]],
            true => [&command, &0x0200_u16.to_le_bytes(), &number, &len, &segments, &[]],
        };
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(&sector.to_le_bytes());
        out.extend_from_slice(&(access.time_ns / 1000).to_le_bytes());
        if self.second {
            out.extend_from_slice(&(access.service_ns.unwrap_or(0) / 1000).to_le_bytes());
        }
        Ok(Fate::Written)
    }
}
