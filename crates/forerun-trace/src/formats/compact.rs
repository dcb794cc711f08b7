//! Reading Forerun's own format, described in `docs/trace-format.md`: blocks with a checksum. Their
//! records hold the differences from the record before.

use flate2::Crc;

use crate::bytes::{Bytes, Fields, RecordDecoder, Step};
use crate::error::Fault;
use crate::{Access, Dependency, FileId, Files, Moment, Op};

/// Bytes that no text has, and both kinds of line end: a transfer as text damages them visibly.
pub(crate) const MAGIC: &[u8; 8] = b"\x89FRT\r\n\x1a\n";
pub(super) const VERSION: u32 = 1;

/// Far above the usual length: one record with a name or many dependencies can make a block long.
const BLOCK_BYTES_MAX: u32 = 16 << 20;
pub(super) const RECORDS: u32 = 1;
pub(super) const END: u32 = 2;

pub(super) const NAME: u8 = 15;
pub(super) const OPS: [Op; 9] = [
    Op::Read,
    Op::Write,
    Op::Flush,
    Op::Discard,
    Op::Open { read_only: false },
    Op::Open { read_only: true },
    Op::Close,
    Op::Start,
    Op::Stop,
];
pub(super) const BLOCKING: u8 = 1 << 4;
pub(super) const OTHER_FILE: u8 = 1 << 5;
pub(super) const OTHER_THREAD: u8 = 1 << 6;
pub(super) const MORE: u8 = 1 << 7;

pub(super) const ASKED: u8 = 1;
pub(super) const SERVICE: u8 = 1 << 1;
pub(super) const AFTER: u8 = 1 << 2;
pub(super) const ID: u8 = 1 << 3;

/// The state that the next record refers to.
#[derive(Default)]
pub(super) struct Before {
    id: Option<u64>,
    pub(super) time_ns: u64,
    pub(super) thread: u64,
    pub(super) file: u32,
    /// The end of the last access of each file.
    ends: Vec<u64>,
}

impl Before {
    pub(super) fn id(&self) -> u64 {
        self.id.map_or(0, |id| id.wrapping_add(1))
    }

    pub(super) fn end(&mut self, file: u32) -> &mut u64 {
        let at = file as usize;
        if self.ends.len() <= at {
            self.ends.resize(at + 1, 0);
        }
        &mut self.ends[at]
    }

    pub(super) fn remember(&mut self, access: &Access) {
        (self.id, self.time_ns) = (Some(access.id), access.time_ns);
        (self.thread, self.file) = (access.thread, access.file.0);
        *self.end(access.file.0) = access.extent.offset.wrapping_add(access.extent.len);
    }
}

/// Reads records.
#[derive(Default)]
pub(crate) struct Decoder {
    begun: bool,
    before: Before,
    names: Vec<FileId>,
    block: Vec<u8>,
    at: usize,
    count: u64,
}

impl Decoder {
    /// Reads the next block; `false` if it is the last.
    fn next_block(&mut self, bytes: &mut Bytes) -> Result<bool, Fault> {
        let header =
            bytes.array_or_end::<12>()?.ok_or("the block that ends a trace is missing: it was cut")?;
        let header = Fields { bytes: &header, big: false };
        let (kind, len, sum) = (header.u32(0), header.u32(4), header.u32(8));
        if !matches!(kind, RECORDS | END) || len > BLOCK_BYTES_MAX {
            return Err("the head of a block is damaged".into());
        }
        self.block = bytes.vec(len as usize)?;
        self.at = 0;
        if checksum(kind, &self.block) != sum {
            return Err("the checksum of a block is wrong: the file is damaged".into());
        }
        if kind == RECORDS {
            return Ok(true);
        }
        if self.varint()? != self.count || self.at != self.block.len() {
            return Err(
                format!("the end disagrees with the number of accesses, which is {}", self.count).into()
            );
        }
        if bytes.array_or_end::<1>()?.is_some() {
            return Err("something follows the block that ends a trace".into());
        }
        Ok(false)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.block.get(self.at).copied().ok_or("a record goes beyond its block")?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number is longer than 64 bits".into())
    }

    fn name(&mut self, files: &mut Files) -> Result<(), Fault> {
        let len = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        let end = self.at.checked_add(len).filter(|end| *end <= self.block.len());
        let name = &self.block[self.at..end.ok_or("a name goes beyond its block")?];
        let name = std::str::from_utf8(name).map_err(|_| "a name is not UTF-8 text".to_owned())?;
        self.names.push(files.intern(name));
        self.at += len;
        Ok(())
    }

    fn access(&mut self, head: u8) -> Result<Access, Fault> {
        let op = *OPS.get(usize::from(head & 15)).ok_or("an operation is unknown")?;
        let more = if head & MORE != 0 { self.byte()? } else { 0 };
        let file = if head & OTHER_FILE != 0 { self.varint()? } else { self.before.file.into() };
        let named = usize::try_from(file).ok().and_then(|at| self.names.get(at)).copied();
        // A thread's start names no file, so there may be none yet.
        let named = named.or((file == 0 && self.names.is_empty()).then(FileId::default));
        let named = named.ok_or("a file has no name")?;
        let thread = if head & OTHER_THREAD != 0 { self.varint()? } else { self.before.thread };
        let time_ns = self.before.time_ns.wrapping_add(unzigzag(self.varint()?));
        let offset = self.before.end(file as u32).wrapping_add(unzigzag(self.varint()?));
        let len = self.varint()?;
        let mut access = Access::new(time_ns, op, FileId(file as u32), offset, len);
        (access.thread, access.blocking) = (thread, head & BLOCKING != 0);
        self.rest(&mut access, more)?;
        self.before.remember(&access);
        access.file = named;
        Ok(access)
    }

    /// The fields that only some accesses have.
    fn rest(&mut self, access: &mut Access, more: u8) -> Result<(), Fault> {
        access.id = self.before.id();
        if more & ID != 0 {
            access.id = access.id.wrapping_add(unzigzag(self.varint()?));
        }
        if more & ASKED != 0 {
            access.asked = Some(self.varint()?);
        }
        if more & SERVICE != 0 {
            access.service_ns = Some(self.varint()?);
        }
        if more & AFTER != 0 {
            for _ in 0..self.varint()? {
                let (back, delta_ns) = (self.varint()?, self.varint()?);
                let moment = if back & 1 == 1 { Moment::Completed } else { Moment::Submitted };
                let id = access.id.wrapping_sub(unzigzag(back >> 1));
                access.after.push(Dependency { id, moment, delta_ns });
            }
        }
        Ok(())
    }
}

impl RecordDecoder for Decoder {
    fn record(&mut self, bytes: &mut Bytes, files: &mut Files) -> Result<Step, Fault> {
        if !std::mem::replace(&mut self.begun, true) {
            let header = bytes.array_or_end::<12>()?.filter(|header| header.starts_with(MAGIC));
            let header = header.ok_or("the file does not begin like a trace of Forerun")?;
            let version = Fields { bytes: &header, big: false }.u32(8);
            if version != VERSION {
                return Err(format!("its version is {version}; this program knows version {VERSION}").into());
            }
        }
        if self.at == self.block.len() {
            return Ok(if self.next_block(bytes)? { Step::Nothing } else { Step::End });
        }
        match self.byte()? {
            NAME => self.name(files).map(|()| Step::Nothing),
            head => {
                let access = self.access(head)?;
                self.count += 1;
                Ok(Step::Access(access))
            }
        }
    }
}

pub(super) fn checksum(kind: u32, block: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&kind.to_le_bytes());
    crc.update(block);
    crc.sum()
}

fn unzigzag(coded: u64) -> u64 {
    (coded >> 1) ^ (coded & 1).wrapping_neg()
}
