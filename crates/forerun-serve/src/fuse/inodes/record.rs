//! Entries in memory, encoded without gaps: there may be millions.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forerun::{Entry, Kind, Version};
use serde::{Deserialize, Serialize};

/// An entry as it is encoded.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record<'a> {
    kind: u8,
    path: &'a str,
    version: &'a str,
    size: u64,
    modified: Option<Time>,
    mode: Option<u32>,
    owner: Option<(u32, u32)>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Time {
    Before1970(Duration),
    Since1970(Duration),
}

/// The identity of an inode: a directory stays the same when its contents change.
pub(super) type Identity<'a> = (u8, &'a str, Option<&'a str>);

pub(super) fn identity(entry: &Entry) -> Identity<'_> {
    Record::of(entry).identity()
}

impl<'a> Record<'a> {
    pub(super) fn of(entry: &'a Entry) -> Record<'a> {
        Record {
            kind: match entry.kind {
                Kind::Directory => 0,
                Kind::File => 1,
                Kind::Symlink => 2,
            },
            path: &entry.path,
            version: &entry.version.0,
            size: entry.size,
            modified: entry.modified.map(|time| match time.duration_since(UNIX_EPOCH) {
                Ok(since) => Time::Since1970(since),
                Err(before) => Time::Before1970(before.duration()),
            }),
            mode: entry.mode,
            owner: entry.owner,
        }
    }

    pub(super) fn identity(&self) -> Identity<'a> {
        (self.kind, self.path, (self.kind != 0).then_some(self.version))
    }

    pub(super) fn entry(&self) -> Entry {
        let kind = match self.kind {
            0 => Kind::Directory,
            1 => Kind::File,
            _ => Kind::Symlink,
        };
        Entry::file(self.path, self.size, Version(self.version.into()))
            .with_kind(kind)
            .with_modified(self.modified.as_ref().map(Time::as_system))
            .with_mode(self.mode)
            .with_owner(self.owner)
    }
}

impl Time {
    fn as_system(&self) -> SystemTime {
        match self {
            Time::Before1970(before) => UNIX_EPOCH - *before,
            Time::Since1970(since) => UNIX_EPOCH + *since,
        }
    }
}

/// Records, one after the other.
#[derive(Debug, Default)]
pub(super) struct Records(Vec<u8>);

impl Records {
    /// Adds `record` and returns its position.
    pub(super) fn add(&mut self, record: &Record<'_>) -> u64 {
        let at = self.0.len() as u64;
        self.0 = postcard::to_extend(record, std::mem::take(&mut self.0)).expect("memory takes every record");
        at
    }

    /// The record at position `at`.
    pub(super) fn get(&self, at: u64) -> Record<'_> {
        postcard::from_bytes(&self.0[at as usize..]).expect("it was written here")
    }

    /// The length of the record at `at`, in bytes.
    pub(super) fn len_at(&self, at: u64) -> usize {
        let bytes = &self.0[at as usize..];
        let (_, rest) = postcard::take_from_bytes::<Record<'_>>(bytes).expect("it was written here");
        bytes.len() - rest.len()
    }

    /// The length of all records, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were() {
        let plain = Entry::file("a/b", 0, Version("".into()));
        let full = Entry::file("ä".repeat(2000), u64::MAX, Version("\"v\"".into()))
            .with_modified(UNIX_EPOCH + Duration::new(1 << 40, 999_999_999))
            .with_mode(0o7777)
            .with_owner((u32::MAX, 0));
        let old = plain.clone().with_modified(UNIX_EPOCH - Duration::new(9, 1));
        let link = full.clone().with_kind(Kind::Symlink);
        let entries = [plain, full, old, link, Entry::directory("")];
        let mut records = Records::default();
        let places = entries.each_ref().map(|entry| records.add(&Record::of(entry)));
        assert_eq!(places.map(|at| records.get(at).entry()), entries);
    }

    #[test]
    fn a_record_takes_little_more_than_its_text() {
        let mut records = Records::default();
        records.add(&Record::of(&Entry::file("00123/456", 4096, Version("\"1\"".into()))));
        assert!(records.len() <= 9 + 3 + 9, "{} bytes", records.len());
    }
}
