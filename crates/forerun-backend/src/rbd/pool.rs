//! A connection to one pool of a cluster.

use std::ffi::{CStr, CString};
use std::sync::mpsc::{self, Sender};
use std::{mem, ptr};

use super::address::RbdUrl;
use super::cluster::{Access, Cluster};
use super::errno::failed;
use super::ffi;
use super::operation::Operation;
use crate::{Error, ErrorKind, Result};

/// A connection to one pool, or to one namespace of it.
///
/// Closing an image and the connection blocks, and the last user may be a thread of librbd. So a thread
/// of this connection closes them. It ends after the last image.
#[derive(Debug)]
pub(super) struct Pool {
    /// Valid as long as `closing` exists.
    io: ffi::Handle,
    closing: Sender<Closing>,
    /// The pool's URL, for messages.
    pub(super) url: String,
}

// SAFETY: librados and librbd allow the use of a pool from any thread, and the handle is only read.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// An image to close, or the whole connection if there is none.
#[derive(Debug)]
struct Closing {
    image: Option<ffi::Handle>,
    /// Ends once this is closed.
    operation: Operation,
}

// SAFETY: librbd allows the use of an image from any thread.
unsafe impl Send for Closing {}

/// A pool of a cluster.
struct PoolHandle {
    io: ffi::Handle,
    /// Dropped after the pool.
    _cluster: Cluster,
}

// SAFETY: as for `Pool`.
unsafe impl Send for PoolHandle {}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        // SAFETY: `rados_ioctx_create` made the handle, all its images are closed, and this is its last use.
        unsafe { ffi::rados_ioctx_destroy(self.io) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.send(None);
    }
}

impl Pool {
    /// Connects to the pool that `url` names. Blocks for up to some ten seconds.
    pub(super) fn connect(url: &RbdUrl, access: Access) -> Result<Pool> {
        let _operation = Operation::begin()?;
        let cluster = Cluster::connect(&url.client, access)?;
        let mut io = ptr::null_mut();
        let name = c_string(&url.pool)?;
        // SAFETY: the cluster is connected, the name ends in zero, and `io` takes the result.
        let code = unsafe { ffi::rados_ioctx_create(cluster.0, name.as_ptr(), &mut io) };
        check(code, || format!("the pool {:?}", url.pool))?;
        let pool = PoolHandle { io, _cluster: cluster };
        if let Some(namespace) = &url.namespace {
            let namespace = c_string(namespace)?;
            // SAFETY: the pool is open, no other thread has it yet, and the name ends in zero.
            unsafe { ffi::rados_ioctx_set_namespace(io, namespace.as_ptr()) };
        }
        let (closing, closed) = mpsc::channel::<Closing>();
        let close = move || {
            let mut last = None;
            for Closing { image, operation } in closed {
                let Some(image) = image else {
                    last = Some(operation);
                    continue;
                };
                // SAFETY: `rbd_open_read_only` made the handle, and its owner gave up its last use.
                unsafe { ffi::rbd_close(image) };
            }
            match last {
                Some(_operation) => drop(pool),
                // The process exits, and its data of librados may be gone already.
                None => mem::forget(pool),
            }
        };
        std::thread::Builder::new().name("rbd-close".to_owned()).spawn(close).map_err(|error| {
            let message = format!("cannot start a thread: {error}; raise the limit of threads");
            Error::new(ErrorKind::Permanent, message).with_source(error)
        })?;
        Ok(Pool { io, closing, url: url.directory() })
    }

    /// The pool's handle, valid as long as the pool is borrowed.
    pub(super) fn io(&self) -> ffi::Handle {
        self.io
    }

    /// Closes `image`, soon and on another thread.
    pub(super) fn close(&self, image: ffi::Handle) {
        self.send(Some(image));
    }

    fn send(&self, image: Option<ffi::Handle>) {
        // An exit of the process ends everything. The thread ends only after this sender.
        if let Ok(operation) = Operation::begin() {
            let _ = self.closing.send(Closing { image, operation });
        }
    }

    /// The names of the images. Blocks.
    pub(super) fn names(&self) -> Result<Vec<Vec<u8>>> {
        // Images may be added between two calls.
        const ROOM: usize = 64;
        let _operation = Operation::begin()?;
        let mut specs = Vec::new();
        loop {
            let mut count = specs.len();
            // SAFETY: the pool is open, and `specs` has room for `count` images.
            let code = unsafe { ffi::rbd_list2(self.io, specs.as_mut_ptr(), &mut count) };
            if code == -rustix::io::Errno::RANGE.raw_os_error() {
                let none = ffi::ImageSpec { id: ptr::null_mut(), name: ptr::null_mut() };
                specs.resize(count + ROOM, none);
                continue;
            }
            check(code, || self.url.clone())?;
            let specs = &mut specs[..count];
            // SAFETY: librbd wrote `count` images, whose names end in zero.
            let name = |spec: &ffi::ImageSpec| unsafe { CStr::from_ptr(spec.name) }.to_bytes().to_vec();
            let names = specs.iter().map(name).collect();
            // SAFETY: librbd allocated the strings of these images, and they are not used any more.
            unsafe { ffi::rbd_image_spec_list_cleanup(specs.as_mut_ptr(), count) };
            return Ok(names);
        }
    }
}

/// Turns a negative `code` into an error about `what`.
pub(super) fn check(code: impl Into<i64>, what: impl FnOnce() -> String) -> Result<()> {
    let code = code.into();
    if code < 0 { Err(failed(&what(), code)) } else { Ok(()) }
}

pub(super) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(ErrorKind::Invalid, format!("{text:?} has a zero byte")))
}
