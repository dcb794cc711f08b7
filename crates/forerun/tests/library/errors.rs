//! A backend's failures reach those who wait, and nobody else.

use forerun::{ErrorKind, Forerun, Reader, Result};

use crate::gate::{Request, gate, over, pattern};

const LEN: usize = 16 << 10;

/// Reads the whole object while `answer` answers its one fetch.
fn read(reader: &Reader, buf: &mut [u8], answer: impl FnOnce()) -> Result<usize> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| reader.read_at_blocking(buf, 0));
        answer();
        thread.join().unwrap()
    })
}

/// The read fails as the fetch does; the next one makes a new fetch and succeeds.
fn check(harm: impl FnOnce(Request), kind: ErrorKind, says: &str) {
    let source = pattern(LEN);
    let (gate, requests) = gate("a", source.clone());
    let forerun = over(&gate);
    let reader = forerun.open_blocking("a").unwrap();
    let mut buf = vec![0; LEN];
    let error = read(&reader, &mut buf, || harm(requests.next())).unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(says), "{error}");
    let len = read(&reader, &mut buf, || requests.next().send_all()).unwrap();
    assert!(len == LEN && buf == source);
    assert_eq!(forerun.counters().failed_count, 1);
}

#[test]
fn an_error_has_the_backends_sentence() {
    let sentence = "the key expired; log in again";
    check(|request| request.fail(ErrorKind::Denied, sentence), ErrorKind::Denied, sentence);
}

#[test]
fn an_error_in_the_middle_is_an_error() {
    let harm = |mut request: Request| {
        request.send(5000);
        request.fail(ErrorKind::Transient, "the connection broke");
    };
    check(harm, ErrorKind::Transient, "the connection broke");
}

#[test]
fn too_few_bytes_are_an_error() {
    let harm = |mut request: Request| request.send(LEN - 1);
    check(harm, ErrorKind::Transient, "sent fewer bytes of \"a\" than the 16384 requested at offset 0");
}

#[test]
fn too_many_bytes_are_an_error() {
    let harm = |mut request: Request| {
        request.send(LEN - 4);
        request.send_extra(b"12345");
    };
    check(harm, ErrorKind::Permanent, "sent more bytes");
}

#[test]
fn a_fetch_that_panics_hangs_nobody() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let wanted = info.payload_as_str().is_some_and(|text| text.contains("as the test wants it to"));
        if !wanted {
            hook(info);
        }
    }));
    check(|request| request.panic(), ErrorKind::Transient, "was stopped");
}

#[test]
fn options_that_cannot_be_kept_are_refused() {
    let (gate, _requests) = gate("a", "");
    for memory_bytes in [0, 1 << 20, u64::MAX] {
        let options = forerun::Options::default().with_memory_bytes(memory_bytes);
        let error = Forerun::over(gate.clone(), options).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.message.contains("budget"), "{error}");
    }
}

#[test]
fn the_systems_error_is_the_source_of_a_file_that_is_not_there() {
    use std::error::Error;
    let directory = tempfile::tempdir().unwrap();
    let url = directory.path().join("none").to_str().unwrap().to_owned();
    let error = std::io::Error::from(forerun::open_blocking(&url).unwrap_err());
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<forerun::Error>()).unwrap();
    let source = ours.source().and_then(|source| source.downcast_ref::<std::io::Error>()).unwrap();
    assert_eq!(source.raw_os_error(), Some(2));
}

#[test]
fn a_policy_is_read_from_the_name_that_it_shows() {
    for policy in forerun::PolicyKind::ALL {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    let error = "fast".parse::<forerun::PolicyKind>().unwrap_err().to_string();
    assert!(error.contains(" none, plain,") && error.ends_with(", adaptive"), "{error}");
}

#[test]
fn only_a_file_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let url = directory.path().to_str().unwrap();
    let error = forerun::open_blocking(url).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    std::os::unix::fs::symlink("nowhere", directory.path().join("link")).unwrap();
    let forerun = Forerun::connect_blocking(url, forerun::Options::default()).unwrap();
    for path in ["", "link"] {
        assert_eq!(forerun.open_blocking(path).unwrap_err().kind, ErrorKind::Invalid);
    }
    assert_eq!(forerun.read_link_blocking("link").unwrap(), b"nowhere");
    assert_eq!(forerun::open_blocking(&format!("{url}/none")).unwrap_err().kind, ErrorKind::NotFound);
}
