//! Reads of the disk in an image.

use forerun::{Advice, Error, ErrorKind, Extent, Result};
use futures::future::try_join_all;
use tokio::sync::OwnedSemaphorePermit;

use super::block_map::{Spot, Stretch, Walk};
use super::header::truncated;
use super::{Image, Layer};
use crate::sending::Lent;

/// Looks at tables for an answer that may be shorter: with clusters of 4 KiB enough for 4 GiB of one kind.
const LOOKS_MAX: usize = 1024;
/// Tables that are fetched for such an answer, one after the other.
const FETCHED_MAX: usize = 16;
/// Bytes of the disk that are announced at once.
const ADVISED_BYTES_MAX: u64 = 32 << 20;

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
        for stretch in self.stretches(offset, len.min(ADVISED_BYTES_MAX), LOOKS_MAX).await? {
            if let Spot::Plain(layer, at) = stretch.place {
                layer.reader.advise(Advice::WillNeed(&[Extent::new(at, stretch.len)]));
            }
        }
        Ok(())
    }

    /// The lengths of at most `count_max` runs of bytes, from the first on, and whether each is a hole. They may have
    /// fewer than `len` bytes.
    pub(in super::super) async fn holes(
        &self,
        offset: u64,
        len: u64,
        count_max: usize,
    ) -> Result<Vec<(u64, bool)>> {
        let (mut walk, mut runs) = (Walk::new(self, offset, len), Vec::<(u64, bool)>::new());
        for _ in 0..LOOKS_MAX {
            let Some(stretch) = walk.next().await? else { break };
            let is_hole = matches!(stretch.place, Spot::Zero);
            let is_full = runs.len() >= count_max.max(1);
            match runs.last_mut() {
                Some((len, last)) if *last == is_hole => *len += stretch.len,
                _ if is_full => break,
                _ => runs.push((stretch.len, is_hole)),
            }
            if walk.fetched_count() >= FETCHED_MAX {
                break;
            }
        }
        Ok(runs)
    }

    /// The places of `len` bytes, in order, or of the first ones after so many looks.
    async fn stretches(&self, offset: u64, len: u64, looks_max: usize) -> Result<Vec<Stretch<'_>>> {
        let (mut walk, mut stretches) = (Walk::new(self, offset, len), Vec::<Stretch<'_>>::new());
        for _ in 0..looks_max {
            let Some(stretch) = walk.next().await? else { break };
            match stretches.last_mut() {
                Some(last) if last.is_followed_by(&stretch) => last.len += stretch.len,
                _ => stretches.push(stretch),
            }
        }
        Ok(stretches)
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
    pub(super) fn cluster_bytes(&self) -> u64 {
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
