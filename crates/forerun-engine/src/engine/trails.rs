//! Readahead across objects that an earlier run opened one after another: what the
//! engine is told of the trail and of openings, and what it does about objects that
//! nobody has opened yet.

use super::Engine;
use crate::config::PolicyKind;
use crate::policy::Hint;
use crate::trail::Trail;
use crate::types::*;

impl Engine {
    /// An earlier run opened objects one after another, and touched so many bytes of
    /// each: the steps of the trail, which replaces what was told before. Of no account to
    /// policies other than `adaptive`.
    pub fn set_trail(&mut self, touched: impl IntoIterator<Item = u64>) {
        if self.config.policy == PolicyKind::Adaptive {
            self.trail = Trail::new(touched);
        }
    }

    /// `object`, which was opened just now, is the step at `place`.
    pub fn enter_step(&mut self, now: Time, place: u32, object: ObjectId) {
        self.trail.enter(now, place, object, self.config.memory_bytes_max / 4);
        while let Some(object) = self.trail.next_dropped() {
            self.drop_step(object);
        }
        self.audit();
    }

    /// The next step, by its place, whose object is to be read ahead: the driver answers
    /// at once with [`Engine::announce_step`], or not at all.
    pub fn poll_step(&mut self) -> Option<u32> {
        // The rest is asked for when there is room for what it wants.
        if self.pending.is_half_full() { None } else { self.trail.next_wanted() }
    }

    /// The step at `place` is `object`, of `size` bytes, of which `extents` were touched
    /// first, in that order. True if some of it is read ahead because of that; it is then
    /// remembered as if it had been closed just now.
    pub fn announce_step(
        &mut self,
        now: Time,
        place: u32,
        object: ObjectId,
        size: u64,
        extents: &[Extent],
    ) -> bool {
        let is_missing = |extent: &Extent| self.cache.first_missing(object, *extent, extent.len).is_some();
        let is_wanted = !self.objects.is_open(object) && extents.iter().any(is_missing);
        let bytes = if is_wanted { self.trail.announce(place, object) } else { None };
        if let Some(bytes) = bytes {
            self.objects.announce(object, size);
            self.cache.expect(now, object);
            self.say(now, object, None, &Hint::Expected(extents, bytes));
            self.forget_surplus(now);
        } else if !self.objects.is_known(object) {
            self.forgotten.push_back(object);
        }
        self.audit();
        bytes.is_some()
    }

    /// Nobody comes for `object` any more.
    fn drop_step(&mut self, object: ObjectId) {
        if !self.objects.is_open(object) {
            self.stop_readahead(object);
            self.policy.on_idle(object);
            self.pending.set_sweep(object, false);
        }
    }
}
