//! Record marking (RFC 5531, section 11): the bytes of a client, cut into records.

use bytes::{Buf, Bytes, BytesMut};

use super::{Broken, WRITE_BYTES_MAX};

/// The longest record: a write that is refused, with room for its head and names.
pub const RECORD_BYTES_MAX: usize = WRITE_BYTES_MAX as usize + (8 << 10);
/// Fragments of a record. Clients send one, and without a limit a record of empty ones would never end.
const FRAGMENTS_MAX: u32 = 64;
/// Length and flag before each fragment.
const MARK_BYTES: usize = 4;
/// The flag of a record's last fragment.
pub(super) const LAST_FRAGMENT: u32 = 1 << 31;

/// A record whose last fragment has not come.
#[derive(Debug, Default)]
pub(super) struct Records {
    begun: BytesMut,
    fragment_count: u32,
}

impl Records {
    /// The next record of `input`, once all of it is there.
    pub(super) fn next(&mut self, input: &mut BytesMut) -> Result<Option<Bytes>, Broken> {
        while let Some(mark) = input.get(..MARK_BYTES).and_then(|mark| mark.try_into().ok()) {
            let mark = u32::from_be_bytes(mark);
            let (len, is_last) = ((mark & !LAST_FRAGMENT) as usize, mark & LAST_FRAGMENT != 0);
            let whole = self.begun.len() + len;
            if whole > RECORD_BYTES_MAX {
                return Err(Broken::RecordTooLong(whole));
            }
            if input.len() < MARK_BYTES + len {
                return Ok(None);
            }
            input.advance(MARK_BYTES);
            let fragment = input.split_to(len);
            if is_last && self.fragment_count == 0 {
                return Ok(Some(fragment.freeze()));
            }
            self.begun.extend_from_slice(&fragment);
            self.fragment_count += 1;
            if self.fragment_count > FRAGMENTS_MAX {
                return Err(Broken::TooManyFragments);
            }
            if is_last {
                self.fragment_count = 0;
                return Ok(Some(self.begun.split().freeze()));
            }
        }
        Ok(None)
    }
}
