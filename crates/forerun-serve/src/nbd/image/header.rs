//! The header of an image: what Forerun asks of it before anything else is read.
//!
//! imago checks less than a server of other people's images needs. It takes ciphertext for data, and a size
//! that the tables do not cover for zeros. It does not see the format of a backing file in images of version 2.

/// The header and its extensions lie within these bytes.
pub(super) const HEADER_BYTES_MAX: usize = 64 << 10;

const MAGIC: u32 = 0x5146_49FB;
const VERSION_2_BYTES: usize = 72;
const VERSION_3_BYTES: usize = 104;
/// QEMU takes no larger clusters.
const CLUSTER_BITS_MAX: u32 = 21;
/// Entries of the first table, in QEMU too.
const L1_ENTRIES_MAX: u32 = 4 << 20;
const NAME_BYTES_MAX: usize = 1023;
/// The extension that holds the format of the backing file.
const FORMAT_EXTENSION: u32 = 0xE279_2ACA;
/// QEMU writes at most five.
const EXTENSIONS_MAX: usize = 32;

/// Features without which an image cannot be read, by bit, and why Forerun refuses them.
const FEATURES: [(u32, &str); 5] = [
    (0, "a program that wrote it did not close it; repair it with `qemu-img check -r all`"),
    (1, "it is marked as corrupt; repair it with `qemu-img check -r all`"),
    (2, "its bytes are in another file (data_file), which is not opened; convert it with `qemu-img convert`"),
    (3, "its clusters are compressed with zstd; convert it with `qemu-img convert -o compression_type=zlib`"),
    (4, "it has extended L2 entries; convert it with `qemu-img convert -o extended_l2=off`"),
];

/// The part of a header that Forerun needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The size of the disk.
    pub(super) size: u64,
    pub(super) cluster_bytes: u32,
    pub(super) l1_entries: u32,
    pub(super) l1_offset: u64,
    pub(super) backing: Option<BackingName>,
}

/// The file that has the bytes which the image lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BackingName {
    pub(super) name: String,
    pub(super) format: Option<String>,
}

impl Header {
    /// Whether a file that begins with `first` is an image.
    pub(super) fn is_in(first: &[u8]) -> bool {
        first.len() >= VERSION_2_BYTES && word(first, 0) == Some(MAGIC)
    }

    /// The header [in](Header::is_in) `first`, the first bytes of an image of `file_bytes`, at most
    /// [`HEADER_BYTES_MAX`].
    ///
    /// # Errors
    /// A sentence about the image.
    pub(super) fn parse(first: &[u8], file_bytes: u64) -> Result<Header, String> {
        let damaged = || "its header makes no sense".to_owned();
        let version = word(first, 4).ok_or_else(damaged)?;
        let header_bytes = match version {
            2 => VERSION_2_BYTES,
            3 => word(first, 100).ok_or_else(damaged)? as usize,
            _ => return Err(format!("it has version {version} of qcow2, and Forerun knows 2 and 3")),
        };
        if word(first, 32) != Some(0) {
            return Err(
                "it is encrypted, and Forerun has no key; decrypt it with `qemu-img convert`".to_owned()
            );
        }
        if version == 3 {
            check_features(long(first, 72).ok_or_else(damaged)?)?;
            if header_bytes < VERSION_3_BYTES {
                return Err(damaged());
            }
        }
        let cluster_bits = word(first, 20).filter(|bits| (9..=CLUSTER_BITS_MAX).contains(bits));
        let cluster_bytes = 1 << cluster_bits.ok_or("its clusters have a size that qcow2 does not allow")?;
        let (size, l1_entries) = long(first, 24).zip(word(first, 36)).ok_or_else(damaged)?;
        let l1_offset = long(first, 40).ok_or_else(damaged)?;
        let header = Header { size, cluster_bytes, l1_entries, l1_offset, backing: None };
        header.check_tables(file_bytes)?;
        // imago reads all of it within the first cluster.
        let first = &first[..first.len().min(cluster_bytes as usize)];
        let backing = backing(first, header_bytes, version)?;
        Ok(Header { backing, ..header })
    }

    /// The bytes of the first table.
    pub(super) fn l1_bytes(&self) -> u64 {
        u64::from(self.l1_entries) * 8
    }

    fn check_tables(&self, file_bytes: u64) -> Result<(), String> {
        let cluster = u64::from(self.cluster_bytes);
        let is_covered = self.size.div_ceil(cluster * (cluster / 8)) <= u64::from(self.l1_entries);
        if !is_covered || self.l1_entries > L1_ENTRIES_MAX || self.size > i64::MAX as u64 {
            let (size, entries) = (self.size, self.l1_entries);
            return Err(format!("its size of {size} bytes does not fit its table of {entries} entries"));
        }
        if !self.l1_offset.is_multiple_of(cluster) {
            return Err("its table does not begin with a cluster".to_owned());
        }
        let is_inside = self.l1_offset.checked_add(self.l1_bytes()).is_some_and(|end| end <= file_bytes);
        if is_inside { Ok(()) } else { Err(truncated()) }
    }
}

/// The reason where a part of an image lies past the end of its file.
pub(super) fn truncated() -> String {
    "it is truncated: a part lies past the end of the file".to_owned()
}

fn check_features(bits: u64) -> Result<(), String> {
    if let Some((_, why)) = FEATURES.iter().find(|(bit, _)| bits >> bit & 1 == 1) {
        return Err((*why).to_owned());
    }
    if bits == 0 { Ok(()) } else { Err(format!("it has features that Forerun does not know ({bits:#x})")) }
}

/// The backing file that the header in `first` names. The extensions come after `header_bytes`.
fn backing(first: &[u8], header_bytes: usize, version: u32) -> Result<Option<BackingName>, String> {
    let damaged = || "its header makes no sense".to_owned();
    let (offset, len) = long(first, 8).zip(word(first, 16)).ok_or_else(damaged)?;
    let has_name = offset != 0;
    // Some programs write no extensions at all into images of version 2.
    let end = if has_name { offset.min(first.len() as u64) as usize } else { first.len() };
    let has_extensions = version == 3 || (has_name && header_bytes < end);
    let format = if has_extensions { format_in(&first[..end], header_bytes)? } else { None };
    if !has_name {
        return Ok(None);
    }
    let range = offset as usize..(offset as usize).saturating_add(len as usize);
    let name = first.get(range).filter(|_| len as usize <= NAME_BYTES_MAX).ok_or_else(damaged)?;
    let name =
        String::from_utf8(name.to_vec()).map_err(|_| "its backing file has a name that is not UTF-8")?;
    Ok(Some(BackingName { name, format }))
}

/// The format of the backing file among the extensions from `at` on.
fn format_in(first: &[u8], mut at: usize) -> Result<Option<String>, String> {
    let mut format = None;
    for _ in 0..EXTENSIONS_MAX {
        // The list may end with the space for it.
        let (Some(kind), Some(len)) = (word(first, at), word(first, at + 4)) else { return Ok(format) };
        if kind == 0 {
            return Ok(format);
        }
        let data = first.get(at + 8..).and_then(|rest| rest.get(..len as usize));
        let data = data.ok_or("its header extensions make no sense")?;
        if kind == FORMAT_EXTENSION {
            format = Some(String::from_utf8_lossy(data).into_owned());
        }
        at += 8 + (len as usize).next_multiple_of(8);
    }
    Err(format!("its header has more than {EXTENSIONS_MAX} extensions"))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_be_bytes)
}
