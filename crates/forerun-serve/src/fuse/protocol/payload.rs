//! Payloads of answers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Attributes of an inode, as `stat` shows them. All of its times are that of the last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The number of the inode.
    pub inode: u64,
    /// In bytes.
    pub size: u64,
    /// The time of the last change.
    pub modified: SystemTime,
    /// Type and permissions.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// The preferred length of reads, in bytes.
    pub block_bytes: u32,
}

/// Flags of an open file.
pub mod open_flags {
    /// The page cache is bypassed.
    pub const DIRECT_IO: u32 = 1;
    /// Pages of the inode that are cached stay.
    pub const KEEP_CACHE: u32 = 1 << 1;
    /// Direct writes may run in parallel.
    pub const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
    /// The kernel reads the backing file itself.
    pub const PASSTHROUGH: u32 = 1 << 7;
}

/// The inode of a name, valid for `ttl`. Number 0 says that there is none.
pub fn entry(attributes: &Attributes, ttl: Duration) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    put_entry(&mut bytes, attributes, ttl);
    bytes
}

/// The attributes of an inode, valid for `ttl`.
pub fn attributes(attributes: &Attributes, ttl: Duration) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(104);
    put(&mut bytes, [ttl.as_secs()]);
    put_u32(&mut bytes, [ttl.subsec_nanos(), 0]);
    put_attributes(&mut bytes, attributes);
    bytes
}

/// A new handle. `backing` is the number of the file that the kernel reads itself, or 0.
pub fn opened(handle: u64, flags: u32, backing: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    put(&mut bytes, [handle]);
    put_u32(&mut bytes, [flags, backing]);
    bytes
}

/// The count of bytes written.
pub fn written(len: u32) -> Vec<u8> {
    size(len)
}

/// The size of an attribute, or of a list of their names.
pub fn size(len: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8);
    put_u32(&mut bytes, [len, 0]);
    bytes
}

/// The result of an ioctl.
pub fn ioctl(result: i32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    put_u32(&mut bytes, [result.cast_unsigned(), 0, 0, 0]);
    bytes
}

/// A file system of unknown size, with names of up to `name_bytes_max`.
pub fn statfs(block_bytes: u32, name_bytes_max: u32) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    put_u32(&mut bytes, [block_bytes, name_bytes_max, block_bytes, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

/// The bytes before the payload of an answer. `error` is 0, a negative `errno`, or the code of a
/// notification.
pub(crate) fn header(unique: u64, error: i32, payload_len: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    // No payload is longer than a request allows.
    bytes[..4].copy_from_slice(&(payload_len as u32).saturating_add(16).to_ne_bytes());
    bytes[4..8].copy_from_slice(&error.to_ne_bytes());
    bytes[8..].copy_from_slice(&unique.to_ne_bytes());
    bytes
}

/// The bytes before `len` bytes for the page cache of `inode`.
pub(crate) fn notify_store(inode: u64, offset: u64, len: u32) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&inode.to_ne_bytes());
    bytes[8..16].copy_from_slice(&offset.to_ne_bytes());
    bytes[16..20].copy_from_slice(&len.to_ne_bytes());
    bytes
}

pub(super) fn put_entry(bytes: &mut Vec<u8>, attributes: &Attributes, ttl: Duration) {
    // A number is never given to another inode: the generation is always 0.
    put(bytes, [attributes.inode, 0, ttl.as_secs(), ttl.as_secs()]);
    put_u32(bytes, [ttl.subsec_nanos(); 2]);
    put_attributes(bytes, attributes);
}

fn put_attributes(bytes: &mut Vec<u8>, attributes: &Attributes) {
    let Attributes { inode, size, modified, mode, owner: (user, group), block_bytes } = *attributes;
    let (seconds, nanoseconds) = since_1970(modified);
    put(bytes, [inode, size, size.div_ceil(512)]);
    put(bytes, [seconds.cast_unsigned(); 3]);
    put_u32(bytes, [nanoseconds; 3]);
    // One link, for directories too: 2 would tell `find` that there are no directories below, and 1
    // tells it nothing.
    put_u32(bytes, [mode, 1, user, group, 0, block_bytes, 0]);
}

/// Seconds, negative before 1970, and the nanoseconds after them.
fn since_1970(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after.as_secs().try_into().unwrap_or(i64::MAX), after.subsec_nanos()),
        Err(error) => {
            let before = error.duration();
            let seconds = -i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            match before.subsec_nanos() {
                0 => (seconds, 0),
                nanoseconds => (seconds - 1, 1_000_000_000 - nanoseconds),
            }
        }
    }
}

pub(super) fn put(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
}

pub(super) fn put_u32(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = u32>) {
    numbers.into_iter().for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Attributes {
        let modified = UNIX_EPOCH + Duration::new(5, 6);
        Attributes { inode: 3, size: 513, modified, mode: 0o100644, owner: (7, 8), block_bytes: 4096 }
    }

    #[test]
    fn payloads_are_as_long_as_the_kernel_expects() {
        let ttl = Duration::from_millis(1500);
        let lens = [entry(&some(), ttl), attributes(&some(), ttl), opened(1, 0, 0), size(1), ioctl(-1)]
            .map(|bytes| bytes.len());
        assert_eq!(lens, [128, 104, 16, 8, 16]);
        assert_eq!(statfs(4096, 255).len(), 80);
        assert_eq!(header(1, 0, 4)[..4], 20_u32.to_ne_bytes());
    }

    #[test]
    fn attributes_are_where_the_kernel_looks_for_them() {
        let bytes = attributes(&some(), Duration::from_millis(1500));
        let long = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        let short = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((long(0), short(8)), (1, 500_000_000), "the time to live");
        assert_eq!((long(16), long(24), long(32)), (3, 513, 2), "inode, size and blocks");
        assert_eq!((long(48), short(68)), (5, 6), "the last change");
        assert_eq!([76, 80, 84, 88, 96].map(short), [0o100644, 1, 7, 8, 4096]);
    }

    #[test]
    fn times_before_1970_count_backwards() {
        assert_eq!(since_1970(UNIX_EPOCH - Duration::from_millis(1)), (-1, 999_000_000));
        assert_eq!(since_1970(UNIX_EPOCH - Duration::from_secs(1)), (-1, 0));
    }
}
