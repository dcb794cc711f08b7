//! Errors of Ceph's libraries, in sentences that a user can act on.

use std::io;

use rustix::io::Errno;

use crate::{Error, ErrorKind};

/// The error of a function that returned the negative `code`, about `what`.
pub(super) fn failed(what: &str, code: i64) -> Error {
    const READS: &str =
        "; the client needs the capabilities mon 'profile rbd' and osd 'profile rbd-read-only'";
    const STATE: &str = "; see the state of the cluster with `ceph -s`";
    const LOCKED: &str = "; another client has its lock (`rbd status`, `rbd lock ls`), so end that one";
    const BLOCKED: &str =
        "; the cluster blocks this client (`ceph osd blocklist ls`), so start the program again";
    let errno = errno_of(code);
    let (kind, advice) = match errno {
        Errno::NOENT => (ErrorKind::NotFound, ""),
        Errno::PERM | Errno::ACCESS => (ErrorKind::Denied, READS),
        Errno::TIMEDOUT | Errno::NOTCONN | Errno::HOSTUNREACH => (ErrorKind::Unreachable, STATE),
        Errno::AGAIN | Errno::BUSY | Errno::INTR => (ErrorKind::Transient, ""),
        Errno::ROFS => (ErrorKind::Denied, LOCKED),
        Errno::SHUTDOWN => (ErrorKind::Permanent, BLOCKED),
        _ => (ErrorKind::Permanent, ""),
    };
    explained(kind, what, errno, advice)
}

/// The error of connecting as the client `id`, with the negative `code`.
pub(super) fn not_connected(id: &str, code: i64) -> Error {
    const SETTINGS: &str =
        "; give `mon_host` and `keyring` in ceph.conf (CEPH_CONF, or ?conf=FILE in the URL)";
    // A client without any key is refused in the same way.
    const KEY: &str = "; its `keyring` of ceph.conf needs the key that `ceph auth ls` shows";
    let what = format!("cannot connect to Ceph as client.{id}");
    let errno = errno_of(code);
    match errno {
        Errno::NOENT | Errno::INVAL => explained(ErrorKind::Invalid, &what, errno, SETTINGS),
        Errno::PERM | Errno::ACCESS => explained(ErrorKind::Denied, &what, errno, KEY),
        _ => failed(&what, code),
    }
}

/// The error of opening the image `what` for writes, with the negative `code`.
pub(super) fn not_writable(what: &str, code: i64) -> Error {
    const WRITES: &str = "; the client needs the capabilities mon 'profile rbd' and osd 'profile rbd'";
    const FEATURE: &str = "; it needs the feature exclusive-lock, which `rbd feature enable` gives it";
    let errno = errno_of(code);
    match errno {
        Errno::PERM | Errno::ACCESS => explained(ErrorKind::Denied, what, errno, WRITES),
        Errno::INVAL => explained(ErrorKind::Invalid, what, errno, FEATURE),
        _ => failed(what, code),
    }
}

fn explained(kind: ErrorKind, what: &str, errno: Errno, advice: &str) -> Error {
    let error = io::Error::from(errno);
    Error::new(kind, format!("{what}: {error}{advice}")).with_source(error)
}

fn errno_of(code: i64) -> Errno {
    code.checked_neg()
        .and_then(|number| i32::try_from(number).ok())
        .map_or(Errno::IO, Errno::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_number_becomes_a_kind_with_advice() {
        for (errno, kind, advice) in [
            (Errno::NOENT, ErrorKind::NotFound, "No such file"),
            (Errno::PERM, ErrorKind::Denied, "profile rbd-read-only"),
            (Errno::TIMEDOUT, ErrorKind::Unreachable, "ceph -s"),
            (Errno::SHUTDOWN, ErrorKind::Permanent, "blocklist"),
            (Errno::ROFS, ErrorKind::Denied, "rbd lock ls"),
            (Errno::IO, ErrorKind::Permanent, "rbd://vms/disk"),
        ] {
            let error = failed("rbd://vms/disk", -i64::from(errno.raw_os_error()));
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.message.contains(advice), "{error}");
        }
        assert_eq!(failed("x", i64::MIN).kind, ErrorKind::Permanent);
    }

    #[test]
    fn an_image_that_cannot_be_written_names_what_is_missing() {
        for (errno, kind, advice) in [
            (Errno::PERM, ErrorKind::Denied, "osd 'profile rbd'"),
            (Errno::INVAL, ErrorKind::Invalid, "rbd feature enable"),
            (Errno::ROFS, ErrorKind::Denied, "rbd lock ls"),
            (Errno::NOENT, ErrorKind::NotFound, "No such file"),
        ] {
            let error = not_writable("rbd://vms/disk", -i64::from(errno.raw_os_error()));
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.message.contains(advice), "{error}");
        }
    }

    #[test]
    fn a_refused_connection_names_the_client_and_what_it_lacks() {
        for (errno, kind, advice) in [
            (Errno::NOENT, ErrorKind::Invalid, "mon_host"),
            (Errno::ACCESS, ErrorKind::Denied, "ceph auth ls"),
            (Errno::TIMEDOUT, ErrorKind::Unreachable, "ceph -s"),
        ] {
            let error = not_connected("reader", -i64::from(errno.raw_os_error()));
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.message.contains("client.reader") && error.message.contains(advice), "{error}");
        }
    }
}
