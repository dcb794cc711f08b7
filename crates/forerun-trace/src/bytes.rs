//! Binary formats: one record after the other.

use std::io::{self, Read};

use crate::error::{Fault, Position};
use crate::input::Input;
use crate::reader::Decode;
use crate::{Access, Files, Result};

/// The outcome of a record.
pub(crate) enum Step {
    Access(Access),
    Nothing,
    End,
}

/// Decodes the records of a format.
pub(crate) trait RecordDecoder: Send {
    /// Reads one record.
    fn record(&mut self, bytes: &mut Bytes, files: &mut Files) -> Result<Step, Fault>;

    /// Returns accesses that remain after the last record, one for each call.
    fn rest(&mut self) -> Option<Access> {
        None
    }

    /// The recorder's clock at time 0.
    fn origin_ns(&self) -> Option<u64> {
        None
    }
}

/// A source of bytes that counts them.
pub(crate) struct Bytes {
    input: Input,
    taken: u64,
}

impl Bytes {
    /// `N` bytes, or `None` at the end of the file.
    pub(crate) fn array_or_end<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Fault> {
        let mut array = [0; N];
        let mut filled = 0;
        while filled < N {
            match self.read(&mut array[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(cut()),
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(array))
    }

    /// `len` bytes; the caller has checked that they are few.
    pub(crate) fn vec(&mut self, len: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.by_ref().take(len as u64).read_to_end(&mut bytes)?;
        if bytes.len() < len { Err(cut()) } else { Ok(bytes) }
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read.read(buffer)?;
        self.taken += bytes as u64;
        Ok(bytes)
    }
}

pub(crate) fn cut() -> Fault {
    "the file ends in the middle of this record: it was cut".into()
}

/// A binary file with its decoder.
pub(crate) struct Records<D> {
    bytes: Bytes,
    decoder: D,
    number: u64,
}

impl<D: RecordDecoder> Records<D> {
    pub(crate) fn new(input: Input, decoder: D) -> Records<D> {
        Records { bytes: Bytes { input, taken: 0 }, decoder, number: 0 }
    }
}

impl<D: RecordDecoder> Decode for Records<D> {
    fn next(&mut self, files: &mut Files) -> Result<Option<Access>> {
        loop {
            self.number += 1;
            let byte = self.bytes.taken;
            match self.decoder.record(&mut self.bytes, files) {
                Ok(Step::Access(access)) => return Ok(Some(access)),
                Ok(Step::Nothing) => {}
                Ok(Step::End) => return Ok(self.decoder.rest()),
                Err(fault) => {
                    let at = Position::Record { number: self.number, byte };
                    return Err(fault.at(&self.bytes.input.name, at));
                }
            }
        }
    }

    fn origin_ns(&self) -> Option<u64> {
        self.decoder.origin_ns()
    }
}

/// The little-endian or big-endian numbers of a fixed record.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) big: bool,
}

impl Fields<'_> {
    pub(crate) fn u16(self, at: usize) -> u16 {
        self.unsigned(at, 2) as u16
    }

    pub(crate) fn u32(self, at: usize) -> u32 {
        self.unsigned(at, 4) as u32
    }

    pub(crate) fn u64(self, at: usize) -> u64 {
        self.unsigned(at, 8)
    }

    fn unsigned(self, at: usize, len: usize) -> u64 {
        let bytes = &self.bytes[at..at + len];
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if self.big { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
    }
}
