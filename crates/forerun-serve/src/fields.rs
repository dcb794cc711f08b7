//! Fields of a message whose numbers are big-endian, one after the other.

/// There are fewer bytes than a field needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooShort;

/// The bytes that were not looked at yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], TooShort> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(TooShort)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TooShort> {
        self.bytes(N)?.try_into().map_err(|_| TooShort)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, TooShort> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, TooShort> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, TooShort> {
        self.array().map(u64::from_be_bytes)
    }

    /// Bytes after their length.
    pub(crate) fn counted(&mut self) -> Result<&'a [u8], TooShort> {
        let len = self.u32()?;
        self.bytes(usize::try_from(len).map_err(|_| TooShort)?)
    }
}
