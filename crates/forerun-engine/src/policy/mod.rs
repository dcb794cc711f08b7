//! Policies decide which bytes are read ahead: one idea per file, all behind one trait.
//!
//! A policy sees every read, hit or not, and answers with windows: extents that it wants in memory. It
//! ignores what is in memory, in flight or past the object's end. The scheduler leaves those out.

mod adaptive;
mod census;
mod custom;
mod follower;
mod none;
mod rules;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::cache::Cache;
use crate::config::{Config, PolicyChoice};
use crate::device::Device;
use crate::explain::{AccountReport, Class, End, StreamReport, Why};
use crate::scheduler::{Favour, Pending};
use crate::types::{Extent, ListId, ObjectId, ReaderId, StreamId, Time};
pub(crate) use custom::Custom;
pub use custom::{CustomPolicy, PolicyRead, PolicyRules, PolicyView, Wishes};
pub use follower::List;
pub(crate) use follower::Lists;
use follower::{Grant, Grants};
pub(crate) use rules::Rules;

/// An extent to read ahead. A read at or past `mark`, the trigger, starts the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) extent: Extent,
    pub(crate) mark: u64,
    /// The stream that wants it, if one does.
    pub(crate) stream: Option<StreamId>,
    pub(crate) reason: Reason,
}

impl Window {
    /// For no stream in particular.
    pub(crate) fn new(extent: Extent, reason: Reason) -> Window {
        Window { extent, mark: extent.offset, stream: None, reason }
    }

    /// For a policy other than `adaptive`.
    pub(crate) fn of_other(extent: Extent, mark: u64) -> Window {
        Window { mark, ..Window::new(extent, Reason::default()) }
    }
}

/// One read, as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) time: Time,
    pub(crate) object: ObjectId,
    pub(crate) reader: ReaderId,
    /// Not empty, within the object.
    pub(crate) extent: Extent,
    /// The object's size in bytes.
    pub(crate) size: u64,
    /// Some of it was not resident: the reader waits.
    pub(crate) late: bool,
    /// Some of it was not even in flight.
    pub(crate) missing: bool,
    /// Bytes of it, in whole blocks, that are in memory or in flight and were not read before: used
    /// readahead.
    pub(crate) unread_bytes: u64,
    /// The class of the first readahead in it that was not asked for before.
    pub(crate) ahead: Option<Class>,
}

/// Something that was said of reads to come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hint<'a> {
    Normal,
    Sequential,
    Random,
    WillNeed(&'a [Extent]),
    DontNeed(Extent),
    /// Extents in the order in which an earlier run touched them first.
    Learned(&'a [Extent]),
    /// The same of an object that is not open yet, and the bytes of it that are planned now.
    Expected(&'a [Extent], u64),
}

/// The object of a hint, its time and its reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) time: Time,
    pub(crate) object: ObjectId,
    pub(crate) reader: Option<ReaderId>,
    /// The object's size in bytes.
    pub(crate) size: u64,
}

/// The class of reading that a window is for, and the rule that decided its size. A policy gives it when it
/// decides; the class stays with the bytes until their outcome is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) class: Class,
    pub(crate) why: Why,
}

/// A stream that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) object: ObjectId,
    pub(crate) stream: StreamId,
    pub(crate) end: End,
}

/// The state that a policy may look at.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) device: &'a Device,
    pub(crate) config: &'a Config,
    /// A reader waits for every read, since it cannot be read ahead of, while others read.
    pub(crate) is_contended: bool,
    /// Windows that are queued and not dispatched.
    pub(crate) pending: &'a Pending,
    /// Other reads that are not over.
    pub(crate) others_count: usize,
    /// The share of a stream of the reader, to its share if all streams had the same.
    pub(crate) favour: Favour,
}

impl<'a> View<'a> {
    /// Of these parts, for no reader in particular.
    pub(crate) fn new(
        cache: &'a Cache,
        device: &'a Device,
        config: &'a Config,
        pending: &'a Pending,
        others_count: usize,
    ) -> View<'a> {
        View { cache, device, config, is_contended: false, pending, others_count, favour: Favour::default() }
    }
}

/// See the module's page.
pub(crate) trait Policy: Debug + Send {
    /// The rules that fetch and keep its windows.
    fn rules(&self, config: &Config) -> Rules;

    /// A reader asks for `access.extent`. Adds readahead to `windows`.
    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>);

    /// The extent that the reader of `access`, the last read, has passed: it does not need windows that
    /// begin there.
    fn passed(&self, _access: &Access) -> Option<Extent> {
        None
    }

    /// Extents of the object just read that are evicted last, although they were not read again. Asked once
    /// after each read.
    fn take_rescued(&mut self) -> Vec<Extent> {
        Vec::new()
    }

    /// Reads are announced. Adds readahead to `windows`.
    fn on_hint(&mut self, _said: &Said, _hint: &Hint<'_>, _view: &View<'_>, _windows: &mut Vec<Window>) {}

    /// A program says that it will read `list`, parts of many objects.
    fn on_list(&mut self, _now: Time, _id: ListId, _list: List, _view: &View<'_>) {}

    /// The lists that it follows, if it follows any.
    fn lists(&self) -> Option<&Lists> {
        None
    }

    /// The same, to be changed.
    fn lists_mut(&mut self) -> Option<&mut Lists> {
        None
    }

    /// Whether the readahead of `object` is a batch, whose order does not matter.
    fn is_planned(&self, _object: ObjectId) -> bool {
        false
    }

    /// Whether the queued windows of the object just read are out of date, except those just added. Asked
    /// once after each input.
    fn take_dropped(&mut self) -> bool {
        false
    }

    /// The streams that are over since it was asked last, where anybody listens to events.
    fn take_ended(&mut self) -> Vec<Ended> {
        Vec::new()
    }

    /// Tells of the streams and plans of `object`.
    fn streams(&self, _object: ObjectId, _view: &View<'_>, _tell: &mut dyn FnMut(StreamReport)) {}

    /// The account that limits the readahead of `object`, if it has one.
    fn account(&self, _object: ObjectId, _view: &View<'_>) -> Option<AccountReport> {
        None
    }

    /// Planned bytes will not come, or were evicted before they were read.
    fn on_lost(&mut self, object: ObjectId, extent: Extent);

    /// Planned bytes could not be fetched. To plan them again at once would only fail again.
    fn on_failed(&mut self, object: ObjectId, extent: Extent) {
        self.on_lost(object, extent);
    }

    /// Nobody has the object open any more.
    fn on_idle(&mut self, _object: ObjectId) {}

    /// A reader closed the object.
    fn on_close(&mut self, object: ObjectId, reader: ReaderId);

    /// Nothing about the object matters any more.
    fn on_forget(&mut self, object: ObjectId);
}

pub(crate) fn build(config: &Config) -> Box<dyn Policy> {
    match config.policy {
        PolicyChoice::None => Box::new(none::None),
        PolicyChoice::Adaptive => Box::new(adaptive::Adaptive::new(config)),
        PolicyChoice::Made(make) => Box::new(Custom::new(make(config))),
    }
}
