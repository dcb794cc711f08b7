//! Nothing is read ahead: the baseline that every other policy must not lose to.

use alloc::vec::Vec;

use super::{Access, Policy, Rules, View, Window};
use crate::config::Config;
use crate::types::{Extent, ObjectId, ReaderId};

#[derive(Debug)]
pub(crate) struct None;

impl Policy for None {
    /// Those of librbd without readahead: only the requested bytes are fetched.
    fn rules(&self, config: &Config) -> Rules {
        Rules::librbd(config)
    }

    fn on_read(&mut self, _: &Access, _: &View<'_>, _: &mut Vec<Window>) {}
    fn on_lost(&mut self, _: ObjectId, _: Extent) {}
    fn on_close(&mut self, _: ObjectId, _: ReaderId) {}
    fn on_forget(&mut self, _: ObjectId) {}
}
