//! Requests that give advice: an ioctl on an open file, or an extended attribute of a file.

use std::ffi::OsStr;

use forerun::Kind;
use rustix::io::Errno;

use super::advice::{Saying, parse};
use super::inodes::same_inode;
use super::protocol::size;
use super::tree::Tree;

/// The attribute's name.
const ATTRIBUTE: &str = "user.forerun.advice";
/// `_IOW('F', 0xAD, char[N])` with any N, without its N: the words, padded with zeros.
const IOCTL: u32 = 1 << 30 | (b'F' as u32) << 8 | 0xAD;
/// The bits of N.
const IOCTL_LEN: u32 = 0x3FFF << 16;
/// Limit of the files that have advice.
const FILES_MAX: usize = 1024;

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
