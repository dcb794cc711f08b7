//! Advice of programs about their reads: words, sent by an ioctl on an open file or set as an
//! extended attribute of a file.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use forerun::{Advice, Extent, Kind, Reader};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::inodes::same_inode;
use super::protocol::size;
use super::tree::Tree;

/// The attribute's name.
const ATTRIBUTE: &str = "user.forerun.advice";
/// `_IOW('F', 0xAD, char[N])` with any N, without its N: the words, padded with zeros.
const IOCTL: u32 = 1 << 30 | (b'F' as u32) << 8 | 0xAD;
/// The bits of N.
const IOCTL_LEN: u32 = 0x3FFF << 16;
/// Limits: files that have advice, and bytes of advice for one file.
const FILES_MAX: usize = 1024;
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Advice in words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Saying {
    Normal,
    Sequential,
    Random,
    WillNeed(Vec<Extent>),
    DontNeed(Extent),
}

/// Advice given as attributes, for readers that open the file later. The mount must let the kernel
/// pass attributes on.
#[derive(Debug)]
pub(crate) struct Advised {
    /// Whether attributes are answered at all.
    is_enabled: bool,
    by_inode: Mutex<HashMap<u64, Saying>>,
}

impl Advised {
    pub(crate) fn new(is_enabled: bool) -> Advised {
        Advised { is_enabled, by_inode: Mutex::default() }
    }

    /// Applies the advice for inode `ino`, which was opened as `reader`.
    pub(crate) fn tell(&self, ino: u64, reader: &Reader) {
        let saying = self.by_inode.lock().get(&ino).cloned();
        if let Some(saying) = saying {
            reader.advise(saying.advice());
        }
    }
}

impl Tree {
    /// Handles an ioctl on an open file.
    pub(crate) fn ioctl(&self, handle: u64, command: u32, words: &[u8]) -> Result<(), Errno> {
        if command & !IOCTL_LEN != IOCTL {
            return Err(Errno::NOTTY);
        }
        let file = self.files.get(handle).ok_or(Errno::BADF)?;
        let text = words.split(|byte| *byte == 0).next().unwrap_or_default();
        let saying = parse(text)?;
        // The kernel reads the file itself: only `posix_fadvise` and `madvise` reach it.
        file.reader().ok_or(Errno::OPNOTSUPP)?.advise(saying.advice());
        Ok(())
    }

    /// Sets the attribute `name` of `ino`, or removes its advice.
    pub(crate) fn set_attribute(&self, ino: u64, name: &OsStr, text: Option<&[u8]>) -> Result<(), Errno> {
        if !self.advised.is_enabled || name != ATTRIBUTE {
            return Err(Errno::ROFS);
        }
        let entry = self.inodes.get(ino).ok_or(Errno::STALE)?;
        if entry.kind != Kind::File {
            return Err(Errno::PERM);
        }
        let saying = text.map_or(Ok(Saying::Normal), parse)?;
        let open = self.files.all();
        let readers = open.iter().filter_map(|file| file.reader());
        let readers: Vec<_> = readers.filter(|reader| same_inode(reader.entry(), &entry)).collect();
        readers.iter().for_each(|reader| reader.advise(saying.advice()));
        if let Saying::DontNeed(_) = saying {
            if readers.is_empty() {
                self.forerun.reader_of(&entry).advise(saying.advice());
            }
            return Ok(());
        }
        let mut by_inode = self.advised.by_inode.lock();
        if saying == Saying::Normal {
            if by_inode.remove(&ino).is_some() {
                self.inodes.forget(ino, 1);
            }
        } else if by_inode.len() < FILES_MAX || by_inode.contains_key(&ino) {
            // Keeps the inode's number for as long as it has advice.
            if by_inode.insert(ino, saying).is_none() {
                self.inodes.remember(&entry);
            }
        } else {
            return Err(Errno::NOSPC);
        }
        Ok(())
    }

    /// The value of the attribute `name` of `ino`, for a buffer of `room` bytes.
    pub(crate) fn get_attribute(&self, ino: u64, name: &OsStr, room: u32) -> Result<Vec<u8>, Errno> {
        if !self.advised.is_enabled {
            // After this error the kernel answers itself.
            return Err(Errno::NOSYS);
        }
        if name != ATTRIBUTE || !self.is_file(ino) {
            return Err(Errno::NODATA);
        }
        let text = self.advised.by_inode.lock().get(&ino).unwrap_or(&Saying::Normal).to_string();
        within(room, text)
    }

    /// The names of the attributes of `ino`, for a buffer of `room` bytes.
    pub(crate) fn list_attributes(&self, ino: u64, room: u32) -> Result<Vec<u8>, Errno> {
        if !self.advised.is_enabled {
            return Err(Errno::NOSYS);
        }
        within(room, if self.is_file(ino) { format!("{ATTRIBUTE}\0") } else { String::new() })
    }

    fn is_file(&self, ino: u64) -> bool {
        self.inodes.get(ino).is_some_and(|entry| entry.kind == Kind::File)
    }
}

/// `text` for a buffer of `room` bytes; its length alone if `room` is 0.
fn within(room: u32, text: String) -> Result<Vec<u8>, Errno> {
    match room {
        0 => Ok(size(text.len() as u32)),
        room if text.len() > room as usize => Err(Errno::RANGE),
        _ => Ok(text.into_bytes()),
    }
}

impl Saying {
    fn advice(&self) -> Advice<'_> {
        match self {
            Saying::Normal => Advice::Normal,
            Saying::Sequential => Advice::Sequential,
            Saying::Random => Advice::Random,
            Saying::WillNeed(extents) => Advice::WillNeed(extents),
            Saying::DontNeed(extent) => Advice::DontNeed(*extent),
        }
    }
}

fn parse(text: &[u8]) -> Result<Saying, Errno> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Errno::TOOBIG);
    }
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Errno::INVAL)
}

/// `normal`, `sequential`, `random`, `willneed OFFSET+LENGTH …`, `dontneed OFFSET+LENGTH`.
impl FromStr for Saying {
    type Err = ();

    fn from_str(text: &str) -> Result<Saying, ()> {
        let mut words = text.split_ascii_whitespace();
        let name = words.next().ok_or(())?;
        let extents: Vec<Extent> = words.map(extent).collect::<Option<_>>().ok_or(())?;
        match (name, &extents[..]) {
            ("normal", []) => Ok(Saying::Normal),
            ("sequential", []) => Ok(Saying::Sequential),
            ("random", []) => Ok(Saying::Random),
            ("willneed", [_, ..]) => Ok(Saying::WillNeed(extents)),
            ("dontneed", [extent]) => Ok(Saying::DontNeed(*extent)),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Saying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Saying::Normal => f.write_str("normal"),
            Saying::Sequential => f.write_str("sequential"),
            Saying::Random => f.write_str("random"),
            Saying::DontNeed(extent) => write!(f, "dontneed {extent:?}"),
            Saying::WillNeed(extents) => {
                f.write_str("willneed")?;
                extents.iter().try_for_each(|extent| write!(f, " {extent:?}"))
            }
        }
    }
}

fn extent(word: &str) -> Option<Extent> {
    let (offset, len) = word.split_once('+')?;
    let (offset, len): (u64, u64) = (offset.parse().ok()?, len.parse().ok()?);
    offset.checked_add(len).map(|_| Extent::new(offset, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_shown_as_it_was_said() {
        for text in ["normal", "sequential", "random", "willneed 0+1048576 4096+1", "dontneed 0+4096"] {
            let saying: Saying = text.parse().unwrap();
            assert_eq!(saying.to_string(), text);
        }
        let padded: Saying = " willneed\t1+2\n".parse().unwrap();
        assert_eq!(padded, Saying::WillNeed(vec![Extent::new(1, 2)]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let wrong = ["", "fast", "normal 0+1", "willneed", "willneed 1", "dontneed 0+1 2+1", "willneed 1+-1"];
        for text in wrong {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), Errno::INVAL, "{text}");
        }
        assert!(parse(b"willneed 18446744073709551615+1").is_err());
        assert!(parse(&[b' '; TEXT_BYTES_MAX + 1]).is_err());
    }
}
