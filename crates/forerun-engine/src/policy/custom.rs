//! A policy from outside of this crate. It has types of its own, so that those inside may change.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{Access, Policy, Rules, View, Window};
use crate::config::Config;
use crate::types::{DeviceEstimate, Extent, ObjectId, ReaderId, Time};

/// A policy of a program's own, for [`Engine::with_policy`](crate::Engine::with_policy).
///
/// It decides which bytes are read ahead. The engine decides the rest: the sizes of fetches, how many are in
/// flight, and which bytes leave the memory. A wrong policy costs time and bytes, and never changes what a
/// read returns. The engine calls it with a lock held, so it should be quick and must not wait.
pub trait CustomPolicy: Debug + Send {
    /// The rules by which the engine fetches and keeps its windows. The engine asks once, at the beginning.
    fn rules(&self) -> PolicyRules {
        PolicyRules::Engine
    }

    /// A reader asks for `read.extent`. The policy says in `wishes` what should be read ahead, in the order
    /// in which it will be needed. It need not leave out bytes that are in memory, in flight or past the
    /// object's end: the engine does.
    fn on_read(&mut self, read: &PolicyRead, view: &PolicyView<'_>, wishes: &mut Wishes);

    /// Bytes that the policy wanted were evicted before they were read, or could not be fetched.
    fn on_lost(&mut self, _object: ObjectId, _extent: Extent) {}

    /// `reader` closed `object`.
    fn on_close(&mut self, _object: ObjectId, _reader: ReaderId) {}

    /// The engine forgets `object`, or its bytes have changed. The policy should drop all that it knows of it.
    fn on_forget(&mut self, _object: ObjectId) {}
}

/// The rules by which the windows of a policy are fetched and kept. A policy of other software keeps the
/// rules of that software, so that it does not change with the engine's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyRules {
    /// The engine's own: it measures the device, and sizes and paces fetches accordingly.
    #[default]
    Engine,
    /// A kernel's: a window is requested at once, and its page cache does not know what was read ahead.
    Kernel,
    /// librbd's: a window is requested at once, as one operation for each storage object.
    Librbd,
}

/// The readahead that a [`CustomPolicy`] wants because of one read.
#[derive(Debug, Default)]
pub struct Wishes {
    /// Extents, each with its trigger.
    windows: Vec<(Extent, u64)>,
    rescued: Vec<Extent>,
}

impl Wishes {
    /// Reads `extent` ahead.
    pub fn read_ahead(&mut self, extent: Extent) {
        self.read_ahead_with_trigger(extent, extent.offset);
    }

    /// Reads `extent` ahead. Reports show that the next window begins once the reader gets to `trigger`.
    pub fn read_ahead_with_trigger(&mut self, extent: Extent, trigger: u64) {
        self.windows.push((extent, trigger));
    }

    /// Evicts `extent` of the object last, although it was not read again.
    pub fn rescue(&mut self, extent: Extent) {
        self.rescued.push(extent);
    }
}

/// One read, as a [`CustomPolicy`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyRead {
    /// When it was asked for.
    pub time: Time,
    /// The object that is read.
    pub object: ObjectId,
    /// The open handle that reads.
    pub reader: ReaderId,
    /// The bytes asked for: not empty, within the object.
    pub extent: Extent,
    /// The object's size in bytes.
    pub size: u64,
    /// Whether the reader waits, because some of the bytes are not in memory.
    pub is_late: bool,
    /// Whether some of the bytes were not even in flight.
    pub is_missing: bool,
}

/// The state that a [`CustomPolicy`] may look at.
#[derive(Debug)]
pub struct PolicyView<'a> {
    view: &'a View<'a>,
}

impl PolicyView<'_> {
    /// The measured speed of the backend.
    pub fn device(&self) -> DeviceEstimate {
        self.view.device.estimate()
    }

    /// The memory budget in bytes.
    pub fn memory_bytes_max(&self) -> u64 {
        self.view.config.memory_bytes_max
    }

    /// Whether the byte at `offset` is in memory or in flight.
    pub fn is_held(&self, object: ObjectId, offset: u64) -> bool {
        self.view.cache.is_held(object, offset)
    }

    /// Whether the byte at `offset` is in memory, was read, and would be evicted before bytes that were read
    /// again.
    pub fn is_read_once(&self, object: ObjectId, offset: u64) -> bool {
        self.view.cache.is_read_once(object, offset)
    }

    /// The blocks that eviction has looked at since the beginning.
    pub fn scanned_count(&self) -> u64 {
        self.view.cache.scanned_count()
    }

    /// The blocks that readers may fill: vacant ones, and those read once or not at all.
    pub fn fillable_count(&self) -> u64 {
        self.view.cache.fillable_count()
    }

    /// The bytes of `extent`, in whole blocks, that were read ahead and that nobody has read yet.
    pub fn unread_bytes(&self, object: ObjectId, extent: Extent) -> u64 {
        self.view.cache.unread_bytes(object, extent)
    }
}

/// Lets the engine call a policy from outside.
#[derive(Debug)]
pub(crate) struct Custom {
    policy: Box<dyn CustomPolicy>,
    /// Those of the last read, until the engine has asked for them.
    wishes: Wishes,
}

impl Custom {
    pub(crate) fn new(policy: Box<dyn CustomPolicy>) -> Custom {
        Custom { policy, wishes: Wishes::default() }
    }
}

impl Policy for Custom {
    fn rules(&self, config: &Config) -> Rules {
        match self.policy.rules() {
            PolicyRules::Engine => Rules::Engine,
            PolicyRules::Kernel => Rules::kernel(config),
            PolicyRules::Librbd => Rules::librbd(config),
        }
    }

    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        let Access { time, object, reader, extent, size, late: is_late, missing: is_missing, .. } = *access;
        let read = PolicyRead { time, object, reader, extent, size, is_late, is_missing };
        self.policy.on_read(&read, &PolicyView { view }, &mut self.wishes);
        windows.extend(self.wishes.windows.drain(..).map(|(extent, mark)| Window::of_other(extent, mark)));
    }

    fn take_rescued(&mut self) -> Vec<Extent> {
        core::mem::take(&mut self.wishes.rescued)
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.policy.on_lost(object, extent);
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.policy.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.policy.on_forget(object);
    }
}
