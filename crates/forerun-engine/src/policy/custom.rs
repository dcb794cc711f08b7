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
    /// A reader asks for `read.extent`. The policy adds the extents to read ahead to `windows`, in the order
    /// in which they will be needed. It need not leave out bytes that are in memory, in flight or past the
    /// object's end: the engine does.
    fn on_read(&mut self, read: &PolicyRead, view: &PolicyView<'_>, windows: &mut Vec<Extent>);

    /// Bytes that the policy wanted were evicted before they were read, or could not be fetched.
    fn on_lost(&mut self, _object: ObjectId, _extent: Extent) {}

    /// `reader` closed `object`.
    fn on_close(&mut self, _object: ObjectId, _reader: ReaderId) {}

    /// The engine forgets `object`, or its bytes have changed. The policy should drop all that it knows of it.
    fn on_forget(&mut self, _object: ObjectId) {}
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

    /// The bytes of `extent`, in whole blocks, that were read ahead and that nobody has read yet.
    pub fn unread_bytes(&self, object: ObjectId, extent: Extent) -> u64 {
        self.view.cache.unread_bytes(object, extent)
    }
}

/// Lets the engine call a policy from outside.
#[derive(Debug)]
pub(crate) struct Custom {
    policy: Box<dyn CustomPolicy>,
    /// Between calls empty, kept for its memory.
    wanted: Vec<Extent>,
}

impl Custom {
    pub(crate) fn new(policy: Box<dyn CustomPolicy>) -> Custom {
        Custom { policy, wanted: Vec::new() }
    }
}

impl Policy for Custom {
    fn rules(&self, _: &Config) -> Rules {
        Rules::Engine
    }

    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        let Access { time, object, reader, extent, size, late: is_late, missing: is_missing, .. } = *access;
        let read = PolicyRead { time, object, reader, extent, size, is_late, is_missing };
        self.policy.on_read(&read, &PolicyView { view }, &mut self.wanted);
        windows.extend(self.wanted.drain(..).map(|extent| Window::of_other(extent, extent.offset)));
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
