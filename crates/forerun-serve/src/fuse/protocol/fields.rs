//! Fields of a request, one after the other.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The message ends within a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooShort;

/// The bytes that were not decoded yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], TooShort> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(TooShort)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, TooShort> {
        let bytes = self.bytes(4)?.try_into().map_err(|_| TooShort)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    pub(super) fn u64(&mut self) -> Result<u64, TooShort> {
        let bytes = self.bytes(8)?.try_into().map_err(|_| TooShort)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// A name, which ends with a zero.
    pub(super) fn name(&mut self) -> Result<&'a OsStr, TooShort> {
        let len = self.0.iter().position(|byte| *byte == 0).ok_or(TooShort)?;
        let name = self.bytes(len)?;
        self.bytes(1)?;
        Ok(OsStr::from_bytes(name))
    }
}
