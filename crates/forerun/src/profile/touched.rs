//! The touched bytes of one object.

use forerun_engine::Extent;

/// Extents in the order of their first touch. Each has its time, in milliseconds since the first read of the
/// run that touched it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    // Beside one another, because the engine takes extents without times.
    extents: Vec<Extent>,
    times_ms: Vec<u32>,
}

impl Touched {
    pub(super) fn push(&mut self, extent: Extent, time_ms: u32) {
        self.extents.push(extent);
        self.times_ms.push(time_ms);
    }

    pub(crate) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    pub(super) fn times_ms(&self) -> &[u32] {
        &self.times_ms
    }

    /// Each extent with its time.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Extent, u32)> {
        self.extents.iter().copied().zip(self.times_ms.iter().copied())
    }

    /// The sum of the extents' lengths.
    pub(crate) fn bytes(&self) -> u64 {
        self.extents.iter().map(|extent| extent.len).sum()
    }
}

impl FromIterator<(Extent, u32)> for Touched {
    fn from_iter<T: IntoIterator<Item = (Extent, u32)>>(touched: T) -> Touched {
        let (extents, times_ms) = touched.into_iter().unzip();
        Touched { extents, times_ms }
    }
}
