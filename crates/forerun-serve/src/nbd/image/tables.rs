//! The tables of one image, which imago reads.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use forerun::{Error, ErrorKind, Reader, Result};
use imago::qcow2::Qcow2;
use imago::{DenyImplicitOpenGate, FormatAccess, FormatDriverBuilder, ShallowMapping};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::changes::on_disk;
use super::given::{GivenFile, KnownBytes, Lacking, with_given};
use super::header::{Header, truncated};
use super::{Images, refused};

/// Tables of the second level that imago keeps for each image. It has no option for it.
const L2_TABLES_MAX: u64 = 128;
/// Bits of an entry of the first table that are zero in each version, and those of its offset.
const L1_RESERVED: u64 = 0x7F00_0000_0000_01FF;
const L1_OFFSET: u64 = 0x00FF_FFFF_FFFF_FE00;
/// Times that imago may ask for bytes that it lacks in one call. A table and a compressed cluster are two.
const ROUNDS_MAX: usize = 4;
/// Copies of a table while it is loaded, in clusters: the bytes as they came, imago's own, and the table.
const LOAD_COPIES: u32 = 3;
/// The same for a compressed cluster. Its bytes may be twice as long as the cluster, and are there twice. There
/// are the cluster, what is read of it, and a table as well.
const UNPACK_COPIES: u32 = 7;
/// Bytes for loading and unpacking at once, of all images of a URL. Two of the largest clusters fit.
pub(super) const WORK_BYTES_MAX: usize = 32 << 20;

/// The place of bytes of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// In the backing file, if there is one. Else they are zeros.
    Unallocated,
    /// Nowhere: they are zeros.
    Zero,
    /// In the image's file, from this offset on.
    Bytes(u64),
    /// In a compressed cluster.
    Packed,
}

/// An answer about the place of bytes.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) location: Location,
    /// How many bytes lie there in a row.
    pub(super) len: u64,
    /// A table was fetched for it.
    pub(super) is_fetched: bool,
}

/// An answer of imago.
enum Outcome<T> {
    Is(T),
    Lacks(Range<u64>),
}

/// An image without its backing file.
#[derive(Debug)]
pub(super) struct Tables {
    access: FormatAccess<GivenFile>,
    /// Its own reader: the engine shall not take a look at a table for a stream that has ended.
    reader: Reader,
    pub(super) cluster_bytes: u32,
    rooms: Arc<Semaphore>,
    _memory: [OwnedSemaphorePermit; 2],
}

impl Tables {
    /// Reads the first table of the image that `reader` reads, and whose first bytes are `first`.
    ///
    /// # Errors
    /// If the tables make no sense, or if there is too little memory.
    pub(super) async fn open(
        reader: Reader,
        first: Vec<u8>,
        header: &Header,
        images: &Images,
    ) -> Result<Tables> {
        let entry = reader.entry().clone();
        let take = |bytes: u64| {
            let permit = u32::try_from(bytes).ok().and_then(|bytes| images.tables.try_take(bytes));
            permit.ok_or_else(|| {
                let why = format!(
                    "its tables would take {} KiB beside those of other images, and all may have a quarter of \
                     the memory; give more by --memory",
                    bytes.div_ceil(1024)
                );
                refused(&entry.path, why)
            })
        };
        // imago has the table twice for a moment, and it is here as well.
        let mut for_l1 = take(3 * header.l1_bytes())?;
        let l1 = fetch(&reader, header.l1_offset..header.l1_offset + header.l1_bytes()).await?;
        let count = check_l1(&l1.bytes, header, entry.size).map_err(|why| refused(&entry.path, why))?;
        let for_l2 = take(count.min(L2_TABLES_MAX) * u64::from(header.cluster_bytes))?;
        let mut given = vec![KnownBytes { offset: 0, bytes: first }, l1];
        let opened = with_given(&mut given, || {
            shielded(|| {
                let file = GivenFile::new(entry.size);
                // Nothing else is opened, whatever the header says.
                let image = Qcow2::<GivenFile>::builder(file).backing(None).data_file(None);
                image.open(DenyImplicitOpenGate::default())
            })
        });
        let access = FormatAccess::new(opened.map_err(|error| refused(&entry.path, error))?);
        drop((given, for_l1.split(2 * header.l1_bytes() as usize)));
        let (cluster_bytes, rooms) = (header.cluster_bytes, Arc::clone(&images.rooms));
        Ok(Tables { access, reader, cluster_bytes, rooms, _memory: [for_l1, for_l2] })
    }

    /// The place of the first of `len` bytes from `offset` on.
    pub(super) async fn locate(&self, offset: u64, len: u64) -> Result<Located> {
        let (mut given, mut room) = (Vec::new(), None);
        for _ in 0..ROUNDS_MAX {
            match self.ask(&mut given, |access| location_of(access.get_shallow_mapping(offset, len)?))? {
                Outcome::Is((location, found)) => {
                    return Ok(Located { location, len: found.clamp(1, len), is_fetched: !given.is_empty() });
                }
                // Another read may have brought the table while this one waited.
                Outcome::Lacks(_) if room.is_none() => room = Some(self.room(LOAD_COPIES).await?),
                Outcome::Lacks(bytes) => given.push(fetch(&self.reader, bytes).await?),
            }
        }
        Err(self.failed("its tables ask for more and more bytes"))
    }

    /// Reads `len` bytes at `offset` of the disk, which lie in one compressed cluster.
    pub(super) async fn unpack(self: &Arc<Tables>, offset: u64, len: usize) -> Result<Vec<u8>> {
        let _room = self.room(UNPACK_COPIES).await?;
        let mut given = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let (tables, is_first) = (Arc::clone(self), given.is_empty());
            let call = move || {
                let mut bytes = vec![0; len];
                let answer = tables.ask(&mut given, |access| access.read(&mut bytes[..], offset))?;
                Ok((answer, bytes, given))
            };
            // To unpack a cluster takes the processor for longer than a task may have it. Without its bytes it takes
            // no time.
            let (answer, bytes, before) = if is_first { call()? } else { on_disk(call).await? };
            given = before;
            match answer {
                Outcome::Is(()) => return Ok(bytes),
                Outcome::Lacks(bytes) => given.push(fetch(&self.reader, bytes).await?),
            }
        }
        Err(self.failed("a compressed cluster asks for more and more bytes"))
    }

    /// Memory for so many clusters.
    async fn room(&self, clusters: u32) -> Result<OwnedSemaphorePermit> {
        let bytes = clusters * self.cluster_bytes;
        let room = Arc::clone(&self.rooms).acquire_many_owned(bytes).await;
        room.map_err(|_| Error::new(ErrorKind::Ended, "the server is about to end"))
    }

    /// Calls imago with the bytes of `given`.
    fn ask<T>(
        &self,
        given: &mut Vec<KnownBytes>,
        call: impl FnOnce(&FormatAccess<GivenFile>) -> io::Result<T>,
    ) -> Result<Outcome<T>> {
        match with_given(given, || shielded(|| call(&self.access))) {
            Ok(answer) => Ok(Outcome::Is(answer)),
            Err(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Lacking>()) {
                Some(Lacking(bytes)) => Ok(Outcome::Lacks(bytes.clone())),
                None => Err(self.failed(&error.to_string())),
            },
        }
    }

    fn failed(&self, why: &str) -> Error {
        Error::new(ErrorKind::Permanent, format!("the image {:?}: {why}", self.reader.entry().path))
    }
}

/// Reads bytes that lie within the file.
async fn fetch(reader: &Reader, range: Range<u64>) -> Result<KnownBytes> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    let count = reader.read_at(&mut bytes, range.start).await?;
    if count < bytes.len() {
        return Err(refused(&reader.entry().path, truncated()));
    }
    Ok(KnownBytes { offset: range.start, bytes })
}

/// The tables of the second level that the first one names.
fn check_l1(l1: &[u8], header: &Header, file_bytes: u64) -> std::result::Result<u64, String> {
    let (cluster, mut count) = (u64::from(header.cluster_bytes), 0);
    for entry in l1.as_chunks().0 {
        let entry = u64::from_be_bytes(*entry);
        let offset = entry & L1_OFFSET;
        if entry & L1_RESERVED != 0 || !offset.is_multiple_of(cluster) {
            return Err(format!("its first table has an entry that makes no sense ({entry:#x})"));
        }
        if offset + cluster > file_bytes && offset != 0 {
            return Err(truncated());
        }
        count += u64::from(offset != 0);
    }
    Ok(count)
}

fn location_of((mapping, len): (ShallowMapping<'_, GivenFile>, u64)) -> io::Result<(Location, u64)> {
    let location = match mapping {
        ShallowMapping::Raw { offset, .. } => Location::Bytes(offset),
        ShallowMapping::Zero { explicit: true, .. } => Location::Zero,
        ShallowMapping::Zero { .. } => Location::Unallocated,
        ShallowMapping::Special { .. } => Location::Packed,
        _ => return Err(io::Error::other("its tables lead to no bytes")),
    };
    Ok((location, len))
}

/// Calls imago. A panic there is an error of the image, and the server goes on.
fn shielded<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let panicked = |_: Box<dyn Any + Send>| io::Error::other("its tables make no sense");
    catch_unwind(AssertUnwindSafe(call)).map_err(panicked).flatten()
}
