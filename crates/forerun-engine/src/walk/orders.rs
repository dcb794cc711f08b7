//! All orders of objects, with the part of files that is read.

use super::directories::{Directories, Listing, OrderId};
use super::habits::ReadLengths;
use super::places::{Manner, Places};

/// All orders, and how far files are read.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) directories: Directories,
    /// The objects that an earlier run opened, with the bytes that it read of each.
    pub(super) trail: Listing,
    pub(super) lengths: ReadLengths,
}

/// One order, and how much is read of its files.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) listing: &'a Listing,
    lengths: &'a ReadLengths,
}

impl Orders {
    pub(super) fn known(&self, order: OrderId) -> Option<Known<'_>> {
        let listing = match order {
            OrderId::Directory(directory) => self.directories.get(directory)?,
            OrderId::Trail => &self.trail,
        };
        Some(Known { listing, lengths: &self.lengths })
    }
}

impl<'a> Known<'a> {
    /// Its objects, as a reader of that manner comes to them.
    pub(super) fn places(self, manner: &'a Manner) -> Places<'a> {
        Places { manner, listing: self.listing, lengths: self.lengths }
    }
}
