//! Windows of the policy: queues them for dispatch, and takes them back.

use crate::engine::Engine;
use crate::events::Event;
use crate::objects::OBJECT_BYTES_MAX;
use crate::policy::{Reason, View, Window};
use crate::scheduler::{Payer, Queued};
use crate::types::*;

impl Engine {
    /// Queues the windows that the policy planned for `payer` of `object`, which has `size` bytes.
    pub(crate) fn queue_windows(&mut self, time: Time, object: ObjectId, payer: Payer, size: u64) {
        if self.policy.take_dropped() {
            self.cut_pending(object, Extent::new(0, OBJECT_BYTES_MAX));
        }
        let mut windows = core::mem::take(&mut self.windows);
        for window in windows.drain(..) {
            let extent = window.extent.intersection(&Extent::new(0, size)).to_blocks();
            if extent.is_empty() {
                continue;
            }
            self.emit_window(time, object, &window);
            if !self
                .pending
                .push(Queued { object, extent, class: window.reason.class, payer }, &mut self.fair)
            {
                self.policy.on_lost(object, extent);
            }
        }
        self.windows = windows;
        self.pending.set_sweep(object, self.device.is_serial() && self.policy.is_planned(object));
    }

    /// Tells of a window.
    pub(crate) fn emit_window(&mut self, time: Time, object: ObjectId, window: &Window) {
        if self.config.events_max > 0 {
            let Window { extent, mark, stream, reason: Reason { class, why } } = *window;
            self.emit(Event::Window { time, object, extent, mark, class, why, stream });
        }
    }

    /// Takes back queued readahead of `extent`.
    pub(crate) fn cut_pending(&mut self, object: ObjectId, extent: Extent) {
        for dropped in self.pending.cut(object, extent, &mut self.fair) {
            self.policy.on_lost(object, dropped.extent);
        }
    }

    /// The state that a policy may look at.
    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.cache, &self.device, &self.config, &self.pending, self.reads.count())
    }
}
