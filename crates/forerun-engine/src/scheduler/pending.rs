//! Readahead that was decided and not dispatched yet.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::{Fair, Kind, Payer, Queued};
use crate::types::{ClientId, Extent, ObjectId};

/// The most windows queued. More streams want something at once only if the storage is far behind. The
/// newest windows can then wait for their readers.
const PENDING_MAX: usize = 1024;

/// Windows in the order in which they were decided. One turn takes one fetch of a window and queues the
/// rest behind the others. So no stream's large window starves another's small one. Where seeks are dear, a
/// slice has several fetches.
#[derive(Debug)]
pub(crate) struct Pending {
    windows: VecDeque<Queued>,
    /// The bytes of each object's windows, if it has any: every decision asks for them.
    bytes: BTreeMap<ObjectId, u64>,
    slice: Option<Slice>,
    /// Objects whose windows are one batch: their slice goes on upward from one window to the next.
    sweeps: Vec<ObjectId>,
}

/// The current slice, and the bytes that are left of it.
#[derive(Clone, Copy, Debug)]
struct Slice {
    object: ObjectId,
    /// Where its stream continues.
    offset: u64,
    left: u64,
}

impl Slice {
    /// Whether its stream continues with `window`.
    fn takes(&self, window: &Queued) -> bool {
        window.object == self.object && window.extent.overlaps(&Extent::new(self.offset, 1))
    }
}

impl Pending {
    pub(crate) fn new() -> Pending {
        Pending { windows: VecDeque::new(), bytes: BTreeMap::new(), slice: None, sweeps: Vec::new() }
    }

    /// Whether the windows of `object` are one batch, to be fetched in order of address.
    pub(crate) fn set_sweep(&mut self, object: ObjectId, on: bool) {
        self.sweeps.retain(|sweep| *sweep != object);
        if on {
            self.sweeps.push(object);
        }
    }

    /// How many windows may be added that join no other.
    pub(crate) fn room(&self) -> usize {
        PENDING_MAX.saturating_sub(self.windows.len())
    }

    /// Bytes of `object` that wait to be dispatched.
    pub(crate) fn bytes_of(&self, object: ObjectId) -> u64 {
        self.bytes.get(&object).copied().unwrap_or(0)
    }

    /// The windows of `object` have `before` bytes less and `after` bytes more.
    fn count_bytes(&mut self, object: ObjectId, before: u64, after: u64) {
        let bytes = self.bytes.entry(object).or_default();
        *bytes = *bytes + after - before;
        if *bytes == 0 {
            self.bytes.remove(&object);
        }
    }

    /// How many windows wait.
    pub(crate) fn count(&self) -> usize {
        self.windows.len()
    }

    /// Whether new windows should wait, if they can.
    pub(crate) fn is_half_full(&self) -> bool {
        self.windows.len() >= PENDING_MAX / 2
    }

    /// Adds a window, or extends one of its class and client that ends where it starts: several readers may
    /// read one stream. False if there is no room for it.
    pub(crate) fn push(&mut self, window: Queued, fair: &mut Fair) -> bool {
        let Queued { object, extent, class, .. } = window;
        let has_room = self.room() > 0;
        let joined = self.windows.iter_mut().find(|other| {
            let is_whole = other.extent.end() == extent.offset && other.class == class;
            other.object == object && other.payer.client == window.payer.client && is_whole
        });
        match joined {
            Some(other) => other.extent.len += extent.len,
            None if has_room => {
                self.windows.push_back(window);
                fair.begin(window.payer, Kind::Window);
            }
            None => return false,
        }
        self.count_bytes(object, 0, extent.len);
        true
    }

    /// For whom the slice goes on, if it does.
    pub(crate) fn slice_payer(&self) -> Option<Payer> {
        let place = self.next_of(&self.slice?)?;
        Some(self.windows[place].payer)
    }

    /// Whether a fetch of `object` from `offset` on goes on with the current slice.
    pub(crate) fn goes_on(&self, object: ObjectId, offset: u64) -> bool {
        self.slice.is_some_and(|slice| (slice.object, slice.offset) == (object, offset))
    }

    /// The next window of the slice, or else the one whose turn it is. Of several it is the one that waits longest.
    pub(crate) fn pop(&mut self, fair: &mut Fair) -> Option<Queued> {
        let place = self.slice.and_then(|slice| self.next_of(&slice));
        let place = place.filter(|place| fair.is_ready(self.windows[*place].payer));
        self.slice = self.slice.filter(|_| place.is_some());
        let in_turn = || {
            let payer = fair.next_window()?;
            self.windows.iter().position(|window| window.payer == payer)
        };
        let window = self.windows.remove(place.or_else(in_turn)?)?;
        self.count_bytes(window.object, window.extent.len, 0);
        fair.end(window.payer, Kind::Window);
        Some(window)
    }

    /// `run` was dispatched for `client`. If it begins a slice, the slice has `slice_bytes`. A sweep's slice has no
    /// end while nobody else has windows.
    pub(crate) fn dispatched(&mut self, object: ObjectId, run: Extent, slice_bytes: u64, client: ClientId) {
        let slice = self.slice.filter(|slice| slice.object == object && slice.offset <= run.offset);
        let mut clients = self.windows.iter().map(|window| window.payer.client);
        let is_endless = self.sweeps.contains(&object) && clients.all(|other| other == client);
        let most = if is_endless { u64::MAX } else { slice_bytes };
        let left = slice.map_or(most, |slice| slice.left.min(most)).saturating_sub(run.len);
        self.slice = (left > 0).then_some(Slice { object, offset: run.end(), left });
    }

    /// The same of a demand fetch: it begins a slice of its own, unless it continues the current one.
    pub(crate) fn demanded(&mut self, object: ObjectId, run: Extent, slice_bytes: u64, client: ClientId) {
        self.slice = self.slice.filter(|slice| slice.object == object && slice.offset == run.offset);
        self.dispatched(object, run, slice_bytes, client);
    }

    /// The window with which `slice` goes on.
    fn next_of(&self, slice: &Slice) -> Option<usize> {
        let exact = self.windows.iter().position(|window| slice.takes(window));
        if exact.is_some() || !self.sweeps.contains(&slice.object) {
            return exact;
        }
        let is_above =
            |window: &Queued| window.object == slice.object && window.extent.offset >= slice.offset;
        let above = self.windows.iter().enumerate().filter(|(_, window)| is_above(window));
        above.min_by_key(|(_, window)| window.extent.offset).map(|(place, _)| place)
    }

    /// Whether a read of the blocks `extent` waits during the current slice. It belongs to another stream,
    /// or the slice will get there.
    pub(crate) fn is_out_of_slice(&self, object: ObjectId, extent: Extent) -> bool {
        let Some(slice) = self.slice else { return false };
        let is_next =
            extent.offset <= slice.offset || extent.offset > slice.offset.saturating_add(slice.left);
        self.windows.iter().any(|window| window.touches(object, extent) && !(slice.takes(window) && is_next))
    }

    pub(crate) fn put_back(&mut self, window: Queued, fair: &mut Fair) {
        if !window.extent.is_empty() {
            self.windows.push_back(window);
            self.count_bytes(window.object, 0, window.extent.len);
            fair.begin(window.payer, Kind::Window);
        }
    }

    /// `window` waits again, before all others, and the current slice ends.
    pub(crate) fn put_front(&mut self, window: Queued, fair: &mut Fair) {
        self.put_back(window, fair);
        self.windows.rotate_right(1);
        self.slice = None;
    }

    /// `extent` is fetched for a waiting reader, perhaps with readahead, or lies behind its reader. Windows
    /// that begin or end within it become shorter. Otherwise they would be fetched again if they were
    /// evicted after they were read.
    pub(crate) fn pass(&mut self, object: ObjectId, extent: Extent, fair: &mut Fair) {
        let mut passed = 0;
        for Queued { object: owner, extent: window, .. } in &mut self.windows {
            if *owner != object || !window.overlaps(&extent) {
                continue;
            }
            let before = window.len;
            if extent.offset <= window.offset {
                *window = Extent::between(extent.end().min(window.end()), window.end());
            } else if extent.end() >= window.end() {
                *window = Extent::between(window.offset, extent.offset);
            }
            passed += before - window.len;
        }
        self.drop_empty(fair);
        self.count_bytes(object, passed, 0);
    }

    /// The window that continues from `offset`: of several, the longest.
    pub(crate) fn window_from(&self, object: ObjectId, offset: u64) -> Option<Queued> {
        let byte = Extent::new(offset, 1);
        let goes_on = |window: &&Queued| window.object == object && window.extent.overlaps(&byte);
        self.windows.iter().filter(goes_on).max_by_key(|window| window.extent.end()).copied()
    }

    /// Drops the windows of `object` from the first byte of `extent` on, if they have some of it. Returns
    /// the dropped parts.
    pub(crate) fn cut(&mut self, object: ObjectId, extent: Extent, fair: &mut Fair) -> Vec<Queued> {
        let mut dropped = Vec::new();
        for window in &mut self.windows {
            if window.object == object && window.extent.overlaps(&extent) {
                let kept = Extent::between(window.extent.offset, extent.offset);
                dropped.push(window.from(kept.end()));
                window.extent = kept;
            }
        }
        self.drop_empty(fair);
        self.count_bytes(object, dropped.iter().map(|window| window.extent.len).sum(), 0);
        dropped
    }

    fn drop_empty(&mut self, fair: &mut Fair) {
        self.windows.retain(|window| {
            let is_empty = window.extent.is_empty();
            is_empty.then(|| fair.end(window.payer, Kind::Window));
            !is_empty
        });
    }
}

#[cfg(test)]
mod tests;
