//! Nothing is read ahead: the baseline that every other policy must not lose to.

use alloc::vec::Vec;

use super::{Access, Policy, View, Window};
use crate::types::{Extent, ObjectId, ReaderId};

#[derive(Debug)]
pub(crate) struct None;

impl Policy for None {
    fn on_read(&mut self, _: &Access, _: &View<'_>, _: &mut Vec<Window>) {}
    fn on_lost(&mut self, _: ObjectId, _: Extent) {}
    fn on_close(&mut self, _: ObjectId, _: ReaderId) {}
    fn on_forget(&mut self, _: ObjectId) {}
}
