//! Announced reads: tells the policy of advice and profiles.

use crate::advice::Advice;
use crate::engine::Engine;
use crate::objects::OBJECT_BYTES_MAX;
use crate::policy::{Hint, Said, View};
use crate::scheduler::{Payer, Queued};
use crate::types::*;

impl Engine {
    /// `reader` tells how it will read `object`, which it has open. Policies of other software ignore it,
    /// except for [`Advice::DontNeed`].
    pub fn advise(&mut self, now: Time, object: ObjectId, reader: ReaderId, advice: Advice<'_>) {
        let hint = match advice {
            Advice::Normal => Hint::Normal,
            Advice::Sequential => Hint::Sequential,
            Advice::Random => Hint::Random,
            Advice::WillNeed(extents) => Hint::WillNeed(extents),
            Advice::DontNeed(extent) => Hint::DontNeed(extent),
        };
        self.say(now, object, self.fair.payer(reader), &hint);
        if let Advice::DontNeed(extent) = advice {
            self.drop_unneeded(now, object, extent);
        }
        self.audit();
    }

    /// A profile of `object`, which is open: the extents that its readers touched first in an earlier run,
    /// in that order. The policy follows it as long as readers do the same again. Policies of other software
    /// ignore it.
    pub fn plan(&mut self, now: Time, object: ObjectId, extents: &[Extent]) {
        let client = self.walks.as_ref().map(|walks| walks.opener).unwrap_or_default();
        let payer = Payer { client, reader: ReaderId::NOBODY };
        self.say(now, object, payer, &Hint::Learned(extents));
        self.audit();
    }

    pub(crate) fn say(&mut self, time: Time, object: ObjectId, payer: Payer, hint: &Hint<'_>) {
        let reader = Some(payer.reader).filter(|reader| *reader != ReaderId::NOBODY);
        let size = self.objects.size(object);
        let view = View::new(&self.cache, &self.device, &self.config, &self.pending, self.reads.count());
        let said = Said { time, object, reader, size };
        self.policy.on_hint(&said, hint, &view, &mut self.windows);
        self.queue_windows(time, object, payer, size);
    }

    fn drop_unneeded(&mut self, now: Time, object: ObjectId, extent: Extent) {
        let extent = extent.intersection(&Extent::new(0, OBJECT_BYTES_MAX));
        if extent.is_empty() {
            return;
        }
        for dropped in self.pending.cut(object, extent, &mut self.fair) {
            self.policy.on_lost(object, dropped.extent.intersection(&extent));
            let rest = dropped.from(dropped.extent.offset.max(extent.end()));
            if !rest.extent.is_empty()
                && !self.pending.push(Queued { extent: rest.extent.to_blocks(), ..rest }, &mut self.fair)
            {
                self.policy.on_lost(object, rest.extent);
            }
        }
        self.cache.discard(object, extent);
        self.report_lost(now);
    }
}
