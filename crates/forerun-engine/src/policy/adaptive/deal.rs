//! The read under way, and the door through which bets go because of it.

use alloc::vec::Vec;

use super::budget::{Account, Balance, Credit, Expected};
use super::common::Common;
use super::detect::Stream;
use crate::device::Costs;
use crate::explain::{Class, Why};
use crate::policy::{Access, Reason, View, Window};
use crate::types::{BLOCK_BYTES, Extent};

/// See the module's page.
pub(super) struct Deal<'a> {
    pub(super) access: &'a Access,
    pub(super) view: &'a View<'a>,
    pub(super) costs: &'a Costs,
    /// The object's expected bytes when the read came.
    pub(super) expected: Expected,
    /// [`Deal::account`] computes it when a decision first needs it; most reads do not.
    pub(super) account: Option<Account>,
    pub(super) balance: &'a Balance,
    /// It begins a run.
    pub(super) is_new_run: bool,
    /// It reads bytes that were fetched ahead and that no stream expects.
    pub(super) is_guessed: bool,
    /// Its reader has said that it reads on.
    pub(super) is_announced: bool,
    pub(super) common: &'a mut Common,
    pub(super) windows: &'a mut Vec<Window>,
}

impl Deal<'_> {
    /// The object's account when the read came, less the bytes that were reserved since.
    pub(super) fn account(&mut self) -> &mut Account {
        let Access { object, size, .. } = *self.access;
        self.account.get_or_insert_with(|| Account::of(object, size, self.expected, self.view))
    }

    /// The bytes that all objects together leave for guesses, and the worth of a saved wait.
    pub(super) fn credit(&self) -> Credit {
        self.balance.credit(self.view)
    }

    /// Bytes of `extent` that would have to be fetched.
    pub(super) fn missing(&self, extent: Extent) -> u64 {
        self.view.cache.missing(self.access.object, extent.to_blocks()) * BLOCK_BYTES
    }

    /// Bets on `extent`, for a stream or for none, if there is room for it. Whether any of it is fetched.
    pub(super) fn bet(&mut self, extent: Extent, stream: Option<&Stream>) -> bool {
        if extent.is_empty() || extent.len > self.credit().room {
            return false;
        }
        let bytes = self.missing(extent);
        if bytes == 0 || bytes > self.account().room() {
            return false;
        }
        self.account().reserve(bytes, true);
        let reason = Reason { class: stream.map_or(Class::Guessed, Stream::class), why: Why::Bet };
        self.windows.push(Window { stream: stream.map(|stream| stream.id), ..Window::new(extent, reason) });
        true
    }
}
