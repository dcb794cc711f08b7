//! Values that come through pointers. NULL is an error rather than undefined, wherever a value is needed.

use std::ffi::{CStr, c_char};
use std::mem::{self, MaybeUninit};
use std::{ptr, slice};

use crate::error::Failure;

fn null(what: &str) -> Failure {
    Failure::invalid(format!("the {what} is NULL; pass a pointer to one"))
}

/// A struct that begins with its size, which grows with later versions of the library.
///
/// # Safety
/// It is `repr(C)`, has no padding, begins with a `usize`, and any bytes are a value of it.
pub(crate) unsafe trait Growing {
    /// How large the first version of the struct was.
    const FIRST_BYTES: usize;
    /// The name in C.
    const NAME: &'static str;
}

/// The struct at `from` as this version knows it. Fields that the caller does not know are zero.
///
/// # Safety
/// `from` is NULL, or as many bytes can be read there as the number says with which they begin.
pub(crate) unsafe fn sized<T: Growing>(from: *const T) -> Result<T, Failure> {
    // SAFETY: the caller says so.
    let given = unsafe { given_bytes(from)? };
    let known = mem::size_of::<T>().min(given);
    // SAFETY: the caller says that these bytes can be read. No reference is made to a struct which may be shorter.
    let rest = unsafe { slice::from_raw_parts(from.cast::<u8>().add(known), given - known) };
    if rest.iter().any(|byte| *byte != 0) {
        let message = format!(
            "{} has a field set that this version of the library does not know; leave it zero, or use a \
             newer library",
            T::NAME
        );
        return Err(Failure::new(libc::E2BIG, message));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes can be read and fit, and any bytes are a value of `T`.
    unsafe {
        ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// Puts `value` into the struct at `to`, as far as the caller knows its fields. The rest of it is zero.
/// Its size stays.
///
/// # Safety
/// `to` is NULL, or as many bytes can be written there as the number says with which they begin.
pub(crate) unsafe fn put_sized<T: Growing>(to: *mut T, value: &T) -> Result<(), Failure> {
    // SAFETY: the caller says so.
    let given = unsafe { given_bytes(to)? };
    let (known, head) = (mem::size_of::<T>().min(given), mem::size_of::<usize>());
    let (to, from) = (to.cast::<u8>(), ptr::from_ref(value).cast::<u8>());
    // SAFETY: the caller says that `given` bytes can be written, which are at least the first version's.
    // `T` has no padding.
    unsafe {
        ptr::copy_nonoverlapping(from.add(head), to.add(head), known - head);
        ptr::write_bytes(to.add(known), 0, given - known);
    }
    Ok(())
}

/// # Safety
/// `of` is NULL or the place of a struct that begins with its size.
unsafe fn given_bytes<T: Growing>(of: *const T) -> Result<usize, Failure> {
    if of.is_null() {
        return Err(null(&format!("struct {}", T::NAME)));
    }
    // SAFETY: it is not NULL, and begins with a `usize`.
    let bytes = unsafe { of.cast::<usize>().read() };
    if bytes < T::FIRST_BYTES {
        let name = T::NAME;
        return Err(Failure::invalid(format!(
            "the size in struct {name} is {bytes}; set it to sizeof(struct {name})"
        )));
    }
    Ok(bytes)
}

/// The text at `text`; none if it is NULL.
///
/// # Safety
/// `text` is NULL or ends with a zero byte, and stays unchanged while the result is used.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not NULL, and the caller says the rest.
    let text = unsafe { CStr::from_ptr(text) };
    let not_utf8 = |_| Failure::invalid(format!("the {what} {text:?} is not UTF-8; pass it in UTF-8"));
    text.to_str().map(Some).map_err(not_utf8)
}

/// The caller's value at `pointer`.
///
/// # Safety
/// `pointer` is NULL, or points to a `T` that stays while the result is used.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller says so.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// The caller's `len` bytes at `start`, to be filled.
///
/// # Safety
/// `start` is NULL, or `len` bytes can be written there, which nobody else uses as long as the result is.
pub(crate) unsafe fn buffer<'a>(start: *mut u8, len: usize) -> Result<&'a mut [u8], Failure> {
    if isize::try_from(len).is_err() {
        return Err(Failure::invalid(format!("a read of {len} bytes is too long; read at most SSIZE_MAX")));
    }
    match (start.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(null("buffer")),
        // SAFETY: it is not NULL and not too long, and the caller says the rest.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(start, len) }),
    }
}

/// The caller's `count` elements at `start`.
///
/// # Safety
/// `start` is NULL, or `count` elements are there, which stay while the result is used.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    match (start.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(what)),
        // SAFETY: it is not NULL, and the caller says the rest.
        (false, _) => Ok(unsafe { slice::from_raw_parts(start, count) }),
    }
}

/// Has `make` make a handle, and gives it to the caller at `place`, which holds NULL if that fails.
///
/// # Safety
/// `place` is NULL, or a pointer can be written there.
pub(crate) unsafe fn give<T>(
    place: *mut *mut T,
    what: &str,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<i64, Failure> {
    if place.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not NULL, and the caller says that it can be written, here and below.
    unsafe { place.write(ptr::null_mut()) };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { place.write(made) };
    Ok(0)
}

/// Ends a handle that [`give`] gave; NULL is none.
///
/// # Safety
/// `handle` is NULL or from [`give`], and nobody uses it now or later.
pub(crate) unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it is from `Box::into_raw`, and the caller says that this is its last use.
        drop(unsafe { Box::from_raw(handle) });
    }
}
