//! The functions of librados and librbd that we call, declared after `rados/librados.h` and `rbd/librbd.h`
//! of version 16.2.
//!
//! A function that returns an integer returns a negative error number after a failure. Strings end in a
//! zero byte. The functions may be called from any thread.

use std::ffi::{c_char, c_int, c_long, c_void};

/// `struct timespec`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct CephTime {
    pub(super) seconds: c_long,
    pub(super) nanoseconds: c_long,
}

/// `rbd_image_spec_t`. librbd allocates the strings.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageSpec {
    pub(super) id: *mut c_char,
    pub(super) name: *mut c_char,
}

/// `rados_t`, `rados_ioctx_t`, `rbd_image_t` and `rbd_completion_t`.
pub(super) type Handle = *mut c_void;

/// `RBD_LOCK_MODE_EXCLUSIVE`.
pub(super) const LOCK_MODE_EXCLUSIVE: c_int = 0;
/// `RBD_WRITE_ZEROES_FLAG_THICK_PROVISION`: the zeros take space.
pub(super) const ZEROS_WITH_SPACE: c_int = 1;

/// `rbd_callback_t`. A thread of librbd calls it, once for each completion.
pub(super) type Callback = extern "C" fn(completion: Handle, argument: *mut c_void);

unsafe extern "C" {
    /// The process calls `function` when it exits, before it destroys the data of libraries.
    pub(super) fn atexit(function: extern "C" fn()) -> c_int;
}

#[link(name = "rados")]
unsafe extern "C" {
    /// `id` may be null for the client `admin`.
    pub(super) fn rados_create(cluster: *mut Handle, id: *const c_char) -> c_int;
    pub(super) fn rados_connect(cluster: Handle) -> c_int;
    /// Allowed without [`rados_connect`] too.
    pub(super) fn rados_shutdown(cluster: Handle);
    /// `path` may be null for the file of `CEPH_CONF` or the usual places.
    pub(super) fn rados_conf_read_file(cluster: Handle, path: *const c_char) -> c_int;
    pub(super) fn rados_conf_set(cluster: Handle, option: *const c_char, value: *const c_char) -> c_int;
    /// Writes the value with its zero byte to `value`, which has `size` bytes.
    pub(super) fn rados_conf_get(
        cluster: Handle,
        option: *const c_char,
        value: *mut c_char,
        size: usize,
    ) -> c_int;
    pub(super) fn rados_ioctx_create(cluster: Handle, pool: *const c_char, io: *mut Handle) -> c_int;
    pub(super) fn rados_ioctx_set_namespace(io: Handle, namespace: *const c_char);
    pub(super) fn rados_ioctx_destroy(io: Handle);
}

#[link(name = "rbd")]
unsafe extern "C" {
    /// Writes up to `count` images, and their number to `count`. With `ERANGE` it writes only their number.
    pub(super) fn rbd_list2(io: Handle, images: *mut ImageSpec, count: *mut usize) -> c_int;
    /// Frees the strings of [`rbd_list2`], and not the array.
    pub(super) fn rbd_image_spec_list_cleanup(images: *mut ImageSpec, count: usize);
    /// `snapshot` may be null for the image itself.
    pub(super) fn rbd_open_read_only(
        io: Handle,
        name: *const c_char,
        image: *mut Handle,
        snapshot: *const c_char,
    ) -> c_int;
    /// The same for an image that is read and written. It registers the client as a watcher of the image.
    pub(super) fn rbd_open(
        io: Handle,
        name: *const c_char,
        image: *mut Handle,
        snapshot: *const c_char,
    ) -> c_int;
    /// Takes the lock, and keeps it until the image is closed. Blocks.
    pub(super) fn rbd_lock_acquire(image: Handle, mode: c_int) -> c_int;
    pub(super) fn rbd_close(image: Handle) -> c_int;
    pub(super) fn rbd_get_size(image: Handle, size: *mut u64) -> c_int;
    /// Writes the identifier with its zero byte to `id`, which has `size` bytes.
    pub(super) fn rbd_get_id(image: Handle, id: *mut c_char, size: usize) -> c_int;
    pub(super) fn rbd_get_modify_timestamp(image: Handle, time: *mut CephTime) -> c_int;
    pub(super) fn rbd_snap_get_id(image: Handle, snapshot: *const c_char, id: *mut u64) -> c_int;
    pub(super) fn rbd_snap_get_timestamp(image: Handle, id: u64, time: *mut CephTime) -> c_int;
    pub(super) fn rbd_aio_create_completion(
        argument: *mut c_void,
        callback: Callback,
        completion: *mut Handle,
    ) -> c_int;
    /// Returns at once. The buffer must live until the callback.
    pub(super) fn rbd_aio_read(
        image: Handle,
        offset: u64,
        len: usize,
        buffer: *mut c_char,
        completion: Handle,
    ) -> c_int;
    /// As [`rbd_aio_read`].
    pub(super) fn rbd_aio_write(
        image: Handle,
        offset: u64,
        len: usize,
        buffer: *const c_char,
        completion: Handle,
    ) -> c_int;
    /// Leaves bytes as they are where it frees no space.
    pub(super) fn rbd_aio_discard(image: Handle, offset: u64, len: u64, completion: Handle) -> c_int;
    pub(super) fn rbd_aio_write_zeroes(
        image: Handle,
        offset: u64,
        len: usize,
        completion: Handle,
        flags: c_int,
        operation_flags: c_int,
    ) -> c_int;
    pub(super) fn rbd_aio_flush(image: Handle, completion: Handle) -> c_int;
    /// 0 or the count of bytes that were read, or a negative error number.
    pub(super) fn rbd_aio_get_return_value(completion: Handle) -> isize;
    /// Allowed in the callback.
    pub(super) fn rbd_aio_release(completion: Handle);
}
