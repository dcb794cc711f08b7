//! The read under way, and the door through which bets go because of it.

use alloc::vec::Vec;

use super::budget::{Account, Expected};
use super::common::Common;
use crate::device::Costs;
use crate::policy::balance::{Balance, Credit};
use crate::policy::{Access, View, Window};
use crate::types::{BLOCK_BYTES, Extent, StreamId};

/// See the module's page.
pub(super) struct Deal<'a> {
    pub(super) access: &'a Access,
    pub(super) view: &'a View<'a>,
    pub(super) costs: &'a Costs,
    /// Of the object, as the read finds it.
    pub(super) expected: Expected,
    /// Most reads do not ask for it.
    pub(super) account: Option<Account>,
    pub(super) balance: &'a Balance,
    /// It begins a run.
    pub(super) is_new_run: bool,
    /// Its reader has said that it reads on.
    pub(super) is_announced: bool,
    pub(super) common: &'a mut Common,
    pub(super) windows: &'a mut Vec<Window>,
}

impl Deal<'_> {
    pub(super) fn account(&mut self) -> &mut Account {
        self.account.get_or_insert_with(|| Account::of(self.access, self.expected, self.view))
    }

    /// What all objects together leave for guesses, and what it saves who need not wait.
    pub(super) fn credit(&self) -> Credit {
        self.balance.credit(self.view)
    }

    /// Bytes of `extent` that would have to be fetched.
    pub(super) fn missing(&self, extent: Extent) -> u64 {
        self.view.cache.missing(self.access.object, extent.to_blocks()) * BLOCK_BYTES
    }

    /// Bets on `extent`, for a stream or for none, if there is room for it. Whether anything of it is
    /// fetched.
    pub(super) fn bet(&mut self, extent: Extent, stream: Option<StreamId>) -> bool {
        if extent.is_empty() || extent.len > self.credit().room {
            return false;
        }
        let bytes = self.missing(extent);
        if bytes == 0 || bytes > self.account().room() {
            return false;
        }
        self.account().reserve(bytes, true);
        self.windows.push(Window { extent, mark: extent.offset, stream });
        true
    }
}
