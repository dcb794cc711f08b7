//! The return value of a failed call, and the text that says more.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use forerun::{Error, ErrorKind};

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) errno: c_int,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(errno: c_int, message: impl Into<String>) -> Failure {
        Failure { errno, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(libc::EINVAL, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::new(errno_of(error.kind), error.message)
    }
}

fn errno_of(kind: ErrorKind) -> c_int {
    match kind {
        ErrorKind::NotFound => libc::ENOENT,
        ErrorKind::NotADirectory => libc::ENOTDIR,
        ErrorKind::Denied => libc::EACCES,
        ErrorKind::Changed => libc::ESTALE,
        ErrorKind::NoRange => libc::EOPNOTSUPP,
        ErrorKind::Transient => libc::ETIMEDOUT,
        ErrorKind::Busy => libc::EBUSY,
        ErrorKind::Unreachable => libc::EHOSTUNREACH,
        ErrorKind::Invalid => libc::EINVAL,
        ErrorKind::Interrupted => libc::EINTR,
        ErrorKind::Ended => libc::ENOTCONN,
        // So are kinds that a later version of the library adds.
        ErrorKind::Permanent | _ => libc::EIO,
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// The result of `call` for C: a number that is not negative, or a negative `errno`. No panic passes.
pub(crate) fn guard(call: impl FnOnce() -> Result<i64, Failure>) -> i64 {
    // After a panic the engine answers with errors at worst: it shares nothing with this call but locks
    // that stay usable.
    let answer = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panicked(&*panic)));
    answer.unwrap_or_else(|failure| {
        keep(&failure.message);
        -i64::from(failure.errno)
    })
}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gives no reason");
    let message =
        format!("a bug in Forerun stopped this call: {text}; please report it, and close the engine");
    Failure::new(libc::EIO, message)
}

fn keep(message: &str) {
    let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // A thread that is ending already has no place for a text any more, and nobody who asks.
    let _ = LAST.try_with(|last| last.replace(text));
}

/// The text of the last call that failed on this thread: what happened, to what, and what to do. It is
/// empty if none failed. The text stays valid until the next call that fails on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn forerun_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw;

    fn last() -> String {
        // SAFETY: the text is ours, and no call fails before it is copied.
        unsafe { raw::text(forerun_last_error(), "text") }.unwrap().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_an_io_error_with_text() {
        assert_eq!(last(), "");
        assert_eq!(guard(|| panic!("number {}", 7)), -i64::from(libc::EIO));
        assert!(last().contains("number 7"), "{}", last());
        assert_eq!(guard(|| Ok(3)), 3);
        assert_eq!(guard(|| Err(Failure::invalid("a\0b"))), -i64::from(libc::EINVAL));
        assert_eq!(last(), "a b");
        std::thread::spawn(|| assert_eq!(last(), "")).join().unwrap();
    }

    #[test]
    fn every_class_of_errors_has_an_errno() {
        let table = [
            (ErrorKind::NotFound, libc::ENOENT),
            (ErrorKind::NotADirectory, libc::ENOTDIR),
            (ErrorKind::Denied, libc::EACCES),
            (ErrorKind::Changed, libc::ESTALE),
            (ErrorKind::NoRange, libc::EOPNOTSUPP),
            (ErrorKind::Transient, libc::ETIMEDOUT),
            (ErrorKind::Busy, libc::EBUSY),
            (ErrorKind::Unreachable, libc::EHOSTUNREACH),
            (ErrorKind::Invalid, libc::EINVAL),
            (ErrorKind::Interrupted, libc::EINTR),
            (ErrorKind::Ended, libc::ENOTCONN),
            (ErrorKind::Permanent, libc::EIO),
        ];
        for (kind, errno) in table {
            assert_eq!(Failure::from(Error::new(kind, "it failed")).errno, errno, "{kind:?}");
        }
    }
}
