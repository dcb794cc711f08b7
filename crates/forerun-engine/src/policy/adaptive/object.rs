//! One object: how it is read, and the plans of its streams.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::budget::Expected;
use super::common::Common;
use super::deal::Deal;
use super::detect::{Candidates, Nearby, Region, Shape, Stream, Strides};
use super::ended_streams::EndedStreams;
use super::evidence::{Head, Lengths};
use super::window_growth::Bounds;
use super::window_state::GRAIN;
use crate::ablation::Rule;
use crate::cache::Cache;
use crate::device::Costs;
use crate::explain::End;
use crate::policy::Access;
use crate::types::{Extent, ObjectId};

/// Streams kept of an object that nobody has open.
const STREAMS_IDLE_MAX: usize = 4;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) streams: Vec<Stream>,
    /// The stream that was read last.
    pub(super) last: usize,
    pub(super) candidates: Candidates,
    pub(super) strides: Strides,
    /// How long streams were that did not begin at the start.
    pub(super) lengths: Lengths,
    pub(super) region: Region,
    /// Boxed, since most objects are read in order.
    pub(super) nearby: Option<Box<Nearby>>,
    pub(super) reads: u64,
    /// Which of all objects' reads was its last.
    last_read: u64,
    pub(super) size: u64,
    /// The sum of [`Stream::expected`].
    pub(super) ahead: u64,
    /// Fetched, and passed over since a request that leaves it out costs more.
    passed: u64,
}

impl Object {
    /// The reserved bytes that are not lost.
    pub(super) fn expected(&self) -> Expected {
        debug_assert_eq!(
            self.ahead,
            self.streams.iter().map(Stream::expected).sum(),
            "it is kept up to date"
        );
        Expected { ahead: self.ahead + self.region.filled.unread, passed: self.passed }
    }

    /// Takes note of the read, whosesoever it is: of all objects' reads it is that `number`. Whether it begins
    /// a run.
    pub(super) fn record_read(&mut self, access: &Access, number: u64) -> bool {
        self.reads += 1;
        self.last_read = number;
        self.size = access.size;
        let useful = access.unread_bytes.min(access.extent.len);
        let missed = if access.missing { access.extent.len - useful } else { 0 };
        self.region.filled.record_read(useful + missed);
        if let Some(nearby) = &mut self.nearby {
            nearby.record_read(access.extent, access.size);
        }
        self.strides.record_read(access.extent)
    }

    /// A reader came for fetched `bytes` that no stream expected: they were not wasted.
    pub(super) fn come_back(&mut self, bytes: u64) {
        self.passed = self.passed.saturating_sub(bytes);
    }

    /// The stream at `at` goes on with the read, and plans the bytes that it keeps ahead. Returns the
    /// extent that its reader has passed.
    pub(super) fn go_on(&mut self, at: usize, deal: &mut Deal<'_>) -> Option<Extent> {
        self.last = at;
        let (access, costs) = (deal.access, deal.costs);
        let stream = &mut self.streams[at];
        let positions = stream.shape.positions(access.extent)?;
        let expected = stream.expected();
        stream.resume(self.reads, positions.offset);
        let useful = access.unread_bytes.min(access.extent.len);
        if positions.end() < stream.frontier {
            stream.skipped = stream.skipped.saturating_sub(useful);
        }
        let passed = stream.passes(access.extent);
        if let Some(left) = stream.left_out(access, positions)
            // They may cost one wait besides the rest of the allowance.
            && left.len <= deal.account().left() + costs.wait
        {
            deal.bet(left, Some(stream));
        }
        let skipped = stream.advance(access, positions);
        self.record_skip(at, skipped, access.object, deal.view.cache, costs);
        let stream = &mut self.streams[at];
        deal.common.shares.count_stream(access.time, &mut stream.counted);
        if !stream.sizing.is_quiet(stream.frontier) {
            self.want(at, deal);
        }
        self.ahead = self.ahead - expected + self.streams[at].expected();
        passed
    }

    /// The stream at `at` skipped the planned extent `skipped`.
    fn record_skip(&mut self, at: usize, skipped: Extent, object: ObjectId, cache: &Cache, costs: &Costs) {
        let stream = &mut self.streams[at];
        let bytes = stream.unread(skipped, object, cache);
        if bytes > 0 && (skipped.len > costs.gap || !stream.shape.is_dense()) {
            (stream.skipped, stream.in_row) = (stream.skipped + bytes, 0);
        } else if skipped.len <= GRAIN.max(costs.through) {
            // It is small, or cheaper than a request.
            self.passed += bytes;
        }
    }

    fn want(&mut self, at: usize, deal: &mut Deal<'_>) {
        let (costs, account, credit) = (deal.costs, *deal.account(), deal.credit());
        let stream = &self.streams[at];
        let lengths = if stream.start == 0 { &deal.common.heads.lengths } else { &self.lengths };
        let wait = account.priced(costs.wait);
        let known = stream.shape.is_dense() && !deal.is_announced;
        let reach = if known { lengths.reach(stream.run(), wait, 0) } else { None };
        let is_decided = reach.is_some_and(|reach| reach < u64::MAX);
        let trusted = account.trust(stream, costs.wait);
        let allowed = if is_decided || Rule::Trust.is_off() { u64::MAX } else { trusted };
        // The bytes ahead of it have their room already.
        let allowed = allowed.min(account.room() + stream.expected());
        let end = (stream.frontier - stream.run()).saturating_add(reach.unwrap_or(u64::MAX));
        // All that may be streams wait as well, and are about to open windows.
        let others = self.candidates.count();
        let shares = deal.common.shares;
        let shares = if stream.sizing.window == 0 { shares.among(others) } else { shares };
        let (share, share_why) = shares.of_stream(reach.is_some(), deal.view);
        let bounds = Bounds {
            share,
            share_why,
            allowed: allowed.min(credit.room),
            limit: self.limit(at).min(end),
            reach,
            reading: shares.reading().max(others),
            service_ns: deal.view.device.service_high_ns(),
            is_announced: deal.is_announced,
        };
        self.streams[at].top_up(costs, &bounds, deal.windows);
    }

    /// Where another stream that goes the same way began, or the object ends.
    fn limit(&self, at: usize) -> u64 {
        let stream = &self.streams[at];
        let limit = stream.shape.limit(self.size);
        if !stream.shape.is_dense() {
            return limit;
        }
        let looked = stream.looked.filter(|looked| looked.offset >= stream.frontier && !Rule::Looks.is_off());
        let limit = looked.map_or(limit, |looked| looked.offset.min(limit));
        self.streams.iter().fold(limit, |limit, other| {
            let is_met = stream.frontier <= other.start && other.shape == stream.shape;
            if is_met { limit.min(other.start) } else { limit }
        })
    }

    /// Nobody has it open any more.
    pub(super) fn on_idle(&mut self, object: ObjectId, common: &mut Common) {
        for at in 0..self.streams.len() {
            let stream = &mut self.streams[at];
            common.ended.record_end(object, stream, self.size, End::Closed);
            common.shares.leave(&mut stream.counted);
        }
        common.heads.on_idle(object, self.head());
        self.streams.sort_by_key(|stream| core::cmp::Reverse(stream.last_read));
        self.streams.truncate(STREAMS_IDLE_MAX);
        self.streams.shrink_to_fit();
        self.sum_up();
        self.candidates.clear();
        self.strides.clear();
        self.nearby = None;
        self.last = 0;
    }

    /// How far it was read from its start.
    pub(super) fn head(&self) -> Head {
        let heads = self.streams.iter().filter(|stream| stream.start == 0 && stream.shape == Shape::FORWARD);
        let bytes = heads.map(|stream| stream.frontier).max();
        Head { bytes, is_whole: bytes.is_some_and(|bytes| bytes >= self.size), last_read: self.last_read }
    }

    /// All of its streams are over.
    pub(super) fn end_all(&mut self, object: ObjectId, told: &mut EndedStreams) {
        self.streams.iter_mut().for_each(|stream| told.record_end(object, stream, self.size, End::Forgotten));
    }

    fn sum_up(&mut self) {
        self.ahead = self.streams.iter().map(Stream::expected).sum();
    }

    pub(super) fn on_lost(&mut self, extent: Extent) {
        self.streams.iter_mut().for_each(|stream| stream.on_lost(extent));
        self.sum_up();
        if self.region.on_lost(extent) {
            self.region.filled.lose(extent.len);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent) {
        self.streams.iter_mut().for_each(|stream| stream.on_failed(extent));
        self.sum_up();
        self.region.on_lost(extent);
    }

    /// The youngest candidate had a bet.
    pub(super) fn help_youngest(&mut self) {
        self.candidates.help_youngest();
    }
}
