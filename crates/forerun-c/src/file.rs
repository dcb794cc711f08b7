//! Files of an engine.

use std::ffi::{c_char, c_int, c_void};

use forerun::{Advice, Extent, Reader};
use libc::{iovec, ssize_t};

use crate::engine::Engine;
use crate::error::{Failure, guard};
use crate::fork::Owned;
use crate::raw;

/// Advice: nothing special. It takes back the advice before.
pub const FORERUN_ADVICE_NORMAL: c_int = 0;
/// Advice: the next read cannot be told. Nothing is read ahead for this file.
pub const FORERUN_ADVICE_RANDOM: c_int = 1;
/// Advice: the file is read onward. Readahead begins with the first read.
pub const FORERUN_ADVICE_SEQUENTIAL: c_int = 2;
/// Advice: these bytes are read next, after those of earlier advice.
pub const FORERUN_ADVICE_WILLNEED: c_int = 3;
/// Advice: nobody needs these bytes soon.
pub const FORERUN_ADVICE_DONTNEED: c_int = 4;

/// As many buffers as Linux takes (`IOV_MAX`).
const BUFFERS_MAX: usize = 1024;
/// Bytes that one lease of `forerun_preadv` holds: the longest read that the engine answers without a
/// copy, and little beside the least budget, 4 MiB.
const LEASE_BYTES: usize = 1 << 20;

/// An open file: one version of one object.
#[derive(Debug)]
pub struct File {
    reader: Owned<Reader>,
}

/// The reader of a handle.
///
/// # Safety
/// `file` is NULL or open.
unsafe fn reader<'a>(file: *const File) -> Result<&'a Reader, Failure> {
    // SAFETY: the caller says so.
    unsafe { raw::reference(file, "file") }?.reader.get()
}

/// Opens the object at path, which is relative to the engine's URL, such as "train/part-0001.bin". path may
/// be NULL if that URL names one object. The handle is stored in *file, and NULL if the call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_open(
    engine: *const Engine,
    path: *const c_char,
    file: *mut *mut File,
) -> c_int {
    let open = || {
        // SAFETY: docs/c.md asks callers for open handles and valid texts, or NULL.
        let (engine, path) = unsafe { (raw::reference(engine, "engine")?, raw::text(path, "path")?) };
        let forerun = engine.forerun.get()?;
        let path = path.or(forerun.object()).ok_or_else(|| {
            let url = forerun.url();
            Failure::invalid(format!("the path is NULL, and {url} is a directory; name a file in it"))
        })?;
        Ok(File { reader: Owned::new(forerun.open_blocking(path)?) })
    };
    // SAFETY: docs/c.md asks callers for valid pointers or NULL.
    guard(|| unsafe { raw::give(file, "place for the file", open) }) as c_int
}

/// Closes the file. NULL is allowed. No other thread may be in a call with this file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_close(file: *mut File) {
    guard(|| {
        // SAFETY: docs/c.md asks callers to close a handle once, when no call uses it.
        unsafe { raw::take_back(file) };
        Ok(0)
    });
}

/// The size in bytes, of the version that was opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_size(file: *const File) -> i64 {
    // SAFETY: docs/c.md asks callers for open handles or NULL.
    guard(|| Ok(i64::try_from(unsafe { reader(file)? }.size()).unwrap_or(i64::MAX)))
}

/// Reads count bytes from offset on into buf, and returns how many. They are fewer only where the file
/// ends, and 0 past its end. Any number of threads may read one file at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_pread(
    file: *const File,
    buf: *mut c_void,
    count: usize,
    offset: u64,
) -> ssize_t {
    guard(|| {
        // SAFETY: docs/c.md asks callers for open handles, and for `count` bytes that are the call's.
        let (reader, buf) = unsafe { (reader(file)?, raw::buffer(buf.cast(), count)?) };
        Ok(or_stale(reader.read_at_blocking(buf, offset))? as i64)
    }) as ssize_t
}

/// As forerun_pread, into count buffers one after the other. At most 1024 buffers are allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_preadv(
    file: *const File,
    buffers: *const iovec,
    count: c_int,
    offset: u64,
) -> ssize_t {
    guard(|| {
        let count = usize::try_from(count).ok().filter(|count| *count <= BUFFERS_MAX).ok_or_else(|| {
            Failure::invalid(format!("the number of buffers is {count}; pass at most {BUFFERS_MAX}"))
        })?;
        // SAFETY: docs/c.md asks callers for open handles, and for `count` buffers.
        let (reader, buffers) = unsafe { (reader(file)?, raw::array(buffers, count, "array of buffers")?) };
        let total = buffers.iter().try_fold(0_usize, |sum, buffer| sum.checked_add(buffer.iov_len));
        let total = total.filter(|total| isize::try_from(*total).is_ok());
        let total =
            total.ok_or_else(|| Failure::invalid("the buffers are longer than SSIZE_MAX together"))?;
        // SAFETY: docs/c.md asks callers for buffers whose bytes are the call's. They may overlap, so no two
        // of these exist at once.
        let bytes = |buffer: &iovec| unsafe { raw::buffer(buffer.iov_base.cast(), buffer.iov_len) };
        buffers.iter().try_for_each(|buffer| bytes(buffer).map(drop))?;
        fill(reader, buffers.iter().flat_map(bytes), total, offset)
    }) as ssize_t
}

/// Fills `buffers`, which have `total` bytes, by reads that may span several of them.
fn fill<'a>(
    reader: &Reader,
    mut buffers: impl Iterator<Item = &'a mut [u8]>,
    total: usize,
    offset: u64,
) -> Result<i64, Failure> {
    let (mut buffer, mut done) = (&mut [][..], 0);
    while done < total {
        let asked = LEASE_BYTES.min(total - done);
        let lease = or_stale(reader.lease_blocking(offset.saturating_add(done as u64), asked))?;
        for mut bytes in lease.slices() {
            while !bytes.is_empty() {
                let (part, after) = buffer.split_at_mut(bytes.len().min(buffer.len()));
                part.copy_from_slice(&bytes[..part.len()]);
                bytes = &bytes[part.len()..];
                buffer = if after.is_empty() { buffers.next().unwrap_or_default() } else { after };
            }
        }
        done += lease.len();
        if lease.len() < asked {
            break;
        }
    }
    Ok(done as i64)
}

/// An object that is gone since it was opened is stale as much as one that was replaced.
fn or_stale<T>(result: forerun::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| match Failure::from(error) {
        Failure { errno: libc::ENOENT, message } => Failure { errno: libc::ESTALE, message },
        failure => failure,
    })
}

/// Says how this file will be read: one of FORERUN_ADVICE_*. It changes how fast reads are answered, never
/// their bytes. offset and len, in bytes, matter for WILLNEED and DONTNEED. A len of 0 means to the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forerun_advise(file: *const File, offset: u64, len: u64, advice: c_int) -> c_int {
    guard(|| {
        // SAFETY: docs/c.md asks callers for open handles or NULL.
        let reader = unsafe { reader(file)? };
        let rest = reader.size().saturating_sub(offset);
        let extent = Extent::new(offset, if len == 0 { rest } else { len.min(rest) });
        let extents = [extent];
        reader.advise(match advice {
            FORERUN_ADVICE_NORMAL => Advice::Normal,
            FORERUN_ADVICE_RANDOM => Advice::Random,
            FORERUN_ADVICE_SEQUENTIAL => Advice::Sequential,
            FORERUN_ADVICE_WILLNEED => Advice::WillNeed(&extents),
            FORERUN_ADVICE_DONTNEED => Advice::DontNeed(extent),
            other => {
                let message = format!("the advice {other} is unknown; pass one of FORERUN_ADVICE_*, 0 to 4");
                return Err(Failure::invalid(message));
            }
        });
        Ok(0)
    }) as c_int
}
