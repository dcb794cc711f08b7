//! A walk along the disk of an image: where its bytes are, stretch after stretch.

use forerun::Result;

use super::tables::Location;
use super::{Image, Layer};

/// Clusters of a layer that are looked at in one go. More would keep the processor from other tasks.
const CLUSTERS_MAX: u64 = 1024;

/// Bytes of the disk that lie in one place.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    pub(super) len: u64,
    pub(super) place: Spot<'a>,
}

/// Where they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot<'a> {
    Zero,
    /// In the file of the layer, from the offset on.
    Plain(&'a Layer, u64),
    /// In compressed clusters of the layer.
    Packed(&'a Layer),
}

/// See the module's page.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    image: &'a Image,
    at: u64,
    end: u64,
    /// Up to where each layer is known to have nothing. Without it, a layer without bytes would be looked at anew for
    /// each cluster of the layers below.
    nothing_until: Vec<u64>,
    /// Tables that were fetched on the way.
    fetched_count: usize,
}

impl<'a> Walk<'a> {
    /// One along `len` bytes of `image` from `offset` on, which lie within its disk.
    pub(super) fn new(image: &'a Image, offset: u64, len: u64) -> Walk<'a> {
        let nothing_until = vec![0; image.layers.len()];
        Walk { image, at: offset, end: offset + len, nothing_until, fetched_count: 0 }
    }

    pub(super) fn fetched_count(&self) -> usize {
        self.fetched_count
    }

    /// The next stretch, which may go on in the one after it; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Stretch<'a>>> {
        if self.at >= self.end {
            return Ok(None);
        }
        // Where all tables are in memory, a long walk does not wait by itself.
        tokio::task::consume_budget().await;
        let stretch = self.stretch().await?;
        self.at += stretch.len;
        Ok(Some(stretch))
    }

    async fn stretch(&mut self) -> Result<Stretch<'a>> {
        let mut len = self.end - self.at;
        for (layer, nothing_until) in self.image.layers.iter().zip(&mut self.nothing_until) {
            if self.at >= layer.size {
                // A backing file may be shorter than the image above it. The rest is zeros.
                break;
            }
            len = len.min(layer.size - self.at);
            let Some(tables) = &layer.tables else {
                return Ok(Stretch { len, place: Spot::Plain(layer, self.at) });
            };
            if *nothing_until <= self.at {
                len = len.min(CLUSTERS_MAX * layer.cluster_bytes());
                let found = tables.locate(self.at, len).await?;
                len = found.len;
                self.fetched_count += usize::from(found.is_fetched);
                match found.location {
                    Location::Unallocated => *nothing_until = self.at + len,
                    Location::Zero => break,
                    Location::Bytes(at) => return Ok(Stretch { len, place: Spot::Plain(layer, at) }),
                    Location::Packed => return Ok(Stretch { len, place: Spot::Packed(layer) }),
                }
            }
            len = len.min(*nothing_until - self.at);
        }
        Ok(Stretch { len, place: Spot::Zero })
    }
}

impl Stretch<'_> {
    /// Whether `next` goes on where this ends.
    pub(super) fn is_followed_by(&self, next: &Stretch<'_>) -> bool {
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
