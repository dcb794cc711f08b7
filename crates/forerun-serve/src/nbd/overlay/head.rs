//! The head of an overlay's file: the base that it belongs to.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use forerun::{Entry, Error, ErrorKind, Result};

use super::super::changes::file_error;
use super::layout::{BLOCK_BYTES, HEAD_BYTES};

const MAGIC: &[u8; 16] = b"forerun overlay\n";
/// A program that does not know the number leaves the file alone.
const FORMAT: u32 = 1;
/// Magic number, format, block size, size, and length of the version.
const FIXED_BYTES: usize = 36;
/// The checksum ends the head.
const SUM_AT: usize = HEAD_BYTES - 4;

/// One version of one object, wherever it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) size: u64,
    version: String,
}

impl Base {
    pub(super) fn of(entry: &Entry) -> Base {
        Base { size: entry.size, version: entry.version.0.to_string() }
    }

    /// The head of its overlay; none if its version is too long.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&FORMAT.to_le_bytes());
        head.extend_from_slice(&(BLOCK_BYTES as u32).to_le_bytes());
        head.extend_from_slice(&self.size.to_le_bytes());
        head.extend_from_slice(&u32::try_from(self.version.len()).ok()?.to_le_bytes());
        head.extend_from_slice(self.version.as_bytes());
        if head.len() > SUM_AT {
            return None;
        }
        head.resize(SUM_AT, 0);
        head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
        Some(head)
    }

    /// The base of a head with the right magic number; none if it is damaged, or of a later format.
    fn decode(head: &[u8; HEAD_BYTES]) -> Option<Base> {
        let word = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let is_whole = word(SUM_AT)? == crc32fast::hash(&head[..SUM_AT]);
        if !is_whole || word(16)? != FORMAT || u64::from(word(20)?) != BLOCK_BYTES {
            return None;
        }
        let size = u64::from_le_bytes(head[24..32].try_into().ok()?);
        let version = head[..SUM_AT].get(FIXED_BYTES..FIXED_BYTES + word(32)? as usize)?;
        Some(Base { size, version: std::str::from_utf8(version).ok()?.to_owned() })
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of {} bytes with the version {:?}", self.size, self.version)
    }
}

/// Reads the head of the file `path`.
pub(super) fn read(file: &File, path: &Path) -> Result<Base> {
    let mut head = [0; HEAD_BYTES];
    let invalid = |why: &str| Error::new(ErrorKind::Invalid, format!("{}: {why}", path.display()));
    match file.read_exact_at(&mut head, 0) {
        Ok(()) if head.starts_with(MAGIC) => Base::decode(&head).ok_or_else(|| {
            invalid(
                "the head of the overlay is damaged, or of a later format; use the program that made it, or \
                 name another file",
            )
        }),
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            Err(file_error(path, "the overlay cannot be read", error))
        }
        _ => Err(invalid("the file is no overlay, and it is left as it is; name a file that does not exist")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_back_and_a_damaged_one_is_none() {
        let base = Base { size: 5, version: "etag \"ü\"".to_owned() };
        let head: [u8; HEAD_BYTES] = base.encode().unwrap().try_into().unwrap();
        assert_eq!(Base::decode(&head), Some(base));
        for at in [16, 20, 24, 32, 36, 2000, SUM_AT] {
            let mut damaged = head;
            damaged[at] ^= 1;
            assert_eq!(Base::decode(&damaged), None, "{at}");
        }
        let version = "v".repeat(SUM_AT - FIXED_BYTES);
        assert!(Base { size: 5, version: version.clone() }.encode().is_some());
        assert!(Base { size: 5, version: version + "v" }.encode().is_none());
    }
}
