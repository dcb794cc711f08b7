//! Reads of the disk in an image.

use forerun::{Advice, Error, ErrorKind, Extent, Result};
use futures::future::try_join_all;
use tokio::sync::OwnedSemaphorePermit;

use super::header::truncated;
use super::tables::Location;
use super::{Image, Layer};
use crate::sending::Lent;

/// Parts that are looked up before a task lets others run, for answers that may be shorter.
const PARTS_MAX: usize = 4096;
/// Bytes of the disk that are announced at once.
const ADVISED_BYTES_MAX: u64 = 32 << 20;

/// Bytes of the disk that lie in one place.
#[derive(Debug)]
struct Stretch<'a> {
    len: u64,
    place: Spot<'a>,
}

/// Where they are.
#[derive(Clone, Copy, Debug)]
enum Spot<'a> {
    Zero,
    /// In the file of the layer, from the offset on.
    Plain(&'a Layer, u64),
    /// In compressed clusters of the layer.
    Packed(&'a Layer),
}

impl Image {
    /// Reads `len` bytes, which lie within the disk. They have `permit` until they are sent.
    pub(in super::super) async fn read(
        &self,
        offset: u64,
        len: u32,
        permit: OwnedSemaphorePermit,
    ) -> Result<Lent> {
        let stretches = self.stretches(offset, u64::from(len), usize::MAX).await?;
        if let [Stretch { place: Spot::Plain(layer, at), .. }] = stretches[..]
            && at + u64::from(len) <= layer.reader.size()
        {
            return Ok(Lent::leased(layer.reader.lease(at, len as usize).await?, permit));
        }
        let mut bytes = vec![0; len as usize];
        fill(&mut bytes, offset, stretches).await?;
        Ok(Lent::gathered(bytes, permit))
    }

    /// Reads into `bytes`, which lie within the disk.
    pub(in super::super) async fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let stretches = self.stretches(offset, bytes.len() as u64, usize::MAX).await?;
        fill(bytes, offset, stretches).await
    }

    /// Reads bytes ahead, as far as they are in plain clusters.
    pub(in super::super) async fn will_need(&self, offset: u64, len: u64) -> Result<()> {
        for stretch in self.stretches(offset, len.min(ADVISED_BYTES_MAX), PARTS_MAX).await? {
            if let Spot::Plain(layer, at) = stretch.place {
                layer.reader.advise(Advice::WillNeed(&[Extent::new(at, stretch.len)]));
            }
        }
        Ok(())
    }

    /// The lengths of the first bytes and whether they are holes, for `len` bytes or fewer.
    pub(in super::super) async fn holes(&self, offset: u64, len: u64) -> Result<Vec<(u64, bool)>> {
        let stretches = self.stretches(offset, len, PARTS_MAX).await?;
        Ok(stretches.iter().map(|stretch| (stretch.len, matches!(stretch.place, Spot::Zero))).collect())
    }

    /// The places of `len` bytes, in order, or of the first ones after so many look-ups.
    async fn stretches(&self, offset: u64, len: u64, count_max: usize) -> Result<Vec<Stretch<'_>>> {
        let (mut at, end, mut count) = (offset, offset + len, 0);
        let mut stretches: Vec<Stretch<'_>> = Vec::new();
        while at < end && count < count_max {
            let stretch = self.stretch(at, end - at).await?;
            at += stretch.len;
            count += 1;
            match stretches.last_mut() {
                Some(last) if last.is_followed_by(&stretch) => last.len += stretch.len,
                _ => stretches.push(stretch),
            }
        }
        Ok(stretches)
    }

    /// The place of the bytes from `offset` on, and how many of `len` lie there.
    async fn stretch(&self, offset: u64, mut len: u64) -> Result<Stretch<'_>> {
        for layer in &self.layers {
            if offset >= layer.size {
                // A backing file may be shorter than the image above it. The rest is zeros.
                break;
            }
            len = len.min(layer.size - offset);
            let Some(tables) = &layer.tables else {
                return Ok(Stretch { len, place: Spot::Plain(layer, offset) });
            };
            let (location, found) = tables.locate(offset, len).await?;
            len = found;
            match location {
                Location::Unallocated => {}
                Location::Zero => break,
                Location::Bytes(at) => return Ok(Stretch { len, place: Spot::Plain(layer, at) }),
                Location::Packed => return Ok(Stretch { len, place: Spot::Packed(layer) }),
            }
        }
        Ok(Stretch { len, place: Spot::Zero })
    }
}

impl Stretch<'_> {
    /// Whether `next` goes on where this ends.
    fn is_followed_by(&self, next: &Stretch<'_>) -> bool {
        match (&self.place, &next.place) {
            (Spot::Zero, Spot::Zero) => true,
            (Spot::Plain(layer, at), Spot::Plain(other, next)) => {
                std::ptr::eq(*layer, *other) && at + self.len == *next
            }
            (Spot::Packed(layer), Spot::Packed(other)) => std::ptr::eq(*layer, *other),
            _ => false,
        }
    }
}

/// Fills `bytes`, which are at `offset` of the disk, from `stretches` at once.
async fn fill(bytes: &mut [u8], offset: u64, stretches: Vec<Stretch<'_>>) -> Result<()> {
    let (mut rest, mut at, mut fills) = (bytes, offset, Vec::new());
    for Stretch { len, place } in stretches {
        let end = at + len;
        while at < end {
            // One cluster at a time is unpacked, and several are at once.
            let step = match place {
                Spot::Packed(layer) => (layer.cluster_bytes() - at % layer.cluster_bytes()).min(end - at),
                _ => end - at,
            };
            let (own, tail) = rest.split_at_mut(step as usize);
            fills.push(fill_one(own, at, place));
            (rest, at) = (tail, at + step);
        }
    }
    try_join_all(fills).await.map(drop)
}

async fn fill_one(own: &mut [u8], offset: u64, place: Spot<'_>) -> Result<()> {
    match place {
        Spot::Zero => own.fill(0),
        Spot::Plain(layer, at) => layer.read(own, at).await?,
        Spot::Packed(layer) => {
            if let Some(tables) = &layer.tables {
                own.copy_from_slice(&tables.unpack(offset, own.len()).await?);
            }
        }
    }
    Ok(())
}

impl Layer {
    fn cluster_bytes(&self) -> u64 {
        self.tables.as_ref().map_or(1, |tables| u64::from(tables.cluster_bytes))
    }

    /// Reads bytes of the file. The last cluster may be shorter there than on the disk: its rest is zeros, as
    /// in QEMU.
    async fn read(&self, own: &mut [u8], at: u64) -> Result<()> {
        let last = (at + own.len() as u64 - 1) / self.cluster_bytes() * self.cluster_bytes();
        if last >= self.reader.size() {
            let path = &self.reader.entry().path;
            return Err(Error::new(ErrorKind::Permanent, format!("the image {path:?}: {}", truncated())));
        }
        let count = self.reader.read_at(own, at).await?;
        own[count..].fill(0);
        Ok(())
    }
}
