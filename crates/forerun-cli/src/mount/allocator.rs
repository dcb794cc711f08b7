//! How the C library's allocator keeps memory that is free.

/// Larger pieces go back to the system when they are freed. The allocator would raise this limit to
/// 32 MiB by itself, and then keep the buffers of connections that are closed.
#[cfg(target_env = "gnu")]
const MAPPED_BYTES_MIN: libc::c_int = 128 << 10;

/// Has it keep little: one heap for all threads instead of one each, and no large pieces. A mount with
/// `--memory 16MiB` then takes 44 MB instead of 49 MB, at the same rates (`forerun bench --memory 16MiB`).
pub(crate) fn keep_little() {
    // SAFETY: it changes the allocator's own settings, and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
