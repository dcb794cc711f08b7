//! A server that fails while it is read from.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::site::{OTHER, Site, check_other};
use crate::support::pattern;

const EIO: i32 = 5;
const EACCES: i32 = 13;
const EOPNOTSUPP: i32 = 95;
const SIZE: usize = 16 << 20;

/// The errno that somebody gets who opens and reads `path` to its end.
fn errno_of_reading(path: &Path) -> Option<i32> {
    fs::read(path).expect_err("it was read").raw_os_error()
}

#[test]
fn bodies_cut_short_are_completed() {
    let bytes = pattern(SIZE, 1);
    let site = Site::start(&bytes);
    let mounted = site.mount();
    let cuts = [100_000, 0, 1, 65_536, 0, 0, 1_000_000, 131_072, 4096, 7];
    site.behave(|manners| manners.cuts = cuts.into());
    assert!(fs::read(mounted.at("file")).unwrap() == bytes);
    site.behave(|manners| assert!(manners.cuts.is_empty(), "{:?} were never cut", manners.cuts));
    let log = mounted.end();
    assert_eq!(log.lines().count(), 1, "it told of trouble that it had overcome: {log}");
}

#[test]
fn a_server_that_cuts_every_body_is_an_io_error_until_it_stops() {
    let bytes = pattern(SIZE, 1);
    let site = Site::start(&bytes);
    let mounted = site.mount();
    site.behave(|manners| manners.cuts = [0; 1000].into());
    assert_eq!(errno_of_reading(&mounted.at("file")), Some(EIO));
    site.behave(|manners| manners.cuts.clear());
    assert!(fs::read(mounted.at("file")).unwrap() == bytes);
    check_other(&mounted);
    let log = mounted.end();
    assert!(log.contains(&site.url("file")) && log.contains("gave up after"), "{log}");
}

#[test]
fn a_storm_of_errors_that_ends_in_time_is_not_noticed() {
    let bytes = pattern(SIZE, 1);
    let site = Site::start(&bytes);
    let mounted = site.mount();
    site.behave(|manners| manners.statuses = [503, 500, 429, 502].into());
    assert!(fs::read(mounted.at("file")).unwrap() == bytes);
    site.behave(|manners| assert!(manners.statuses.is_empty()));
    let log = mounted.end();
    assert_eq!(log.lines().count(), 1, "it told of trouble that it had overcome: {log}");
}

#[test]
fn a_storm_of_errors_that_lasts_is_an_io_error_until_it_is_over() {
    let bytes = pattern(SIZE, 1);
    let site = Site::start(&bytes);
    let mounted = site.mount();
    check_other(&mounted);
    let file = File::open(mounted.at("file")).unwrap();
    let other = File::open(mounted.at("other")).unwrap();
    site.behave(|manners| manners.always = Some(503));

    let mut buffer = vec![0; bytes.len()];
    let error = file.read_at(&mut buffer[..4096], 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(EIO), "{error}");
    // Bytes in memory need no server.
    other.read_exact_at(&mut buffer[..OTHER.len()], 0).unwrap();
    assert_eq!(&buffer[..OTHER.len()], OTHER);

    site.behave(|manners| manners.always = None);
    // The handle that met the storm as well as a new one.
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert!(buffer == bytes);
    assert!(fs::read(mounted.at("file")).unwrap() == bytes);
    drop((file, other));
    let log = mounted.end();
    assert!(log.contains("503") && log.contains("gave up after"), "{log}");
}

#[test]
fn a_refusal_is_told_at_once_and_forgotten_when_it_is_lifted() {
    let bytes = pattern(SIZE, 1);
    let site = Site::start(&bytes);
    let mounted = site.mount();
    let file = File::open(mounted.at("file")).unwrap();
    site.behave(|manners| manners.always = Some(403));
    site.requests();
    let error = file.read_at(&mut [0; 4096], 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(EACCES), "{error}");
    // The kernel asks more than once, but what is refused is not tried again and again.
    let requests = site.requests();
    assert!(requests.len() < 6, "{requests:?}");
    site.behave(|manners| manners.always = None);
    let mut buffer = vec![0; bytes.len()];
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert!(buffer == bytes);
    drop(file);
    let log = mounted.end();
    assert!(log.contains("403"), "{log}");
}

#[test]
fn a_server_without_ranges_gives_small_files_and_a_clear_error_for_large_ones() {
    let bytes = pattern(SIZE, 1);
    let site = Site::start(&bytes);
    site.behave(|manners| manners.ignores_range = true);
    let mounted = site.mount();
    check_other(&mounted);
    // Not even its first byte, which would be of little use.
    let file = File::open(mounted.at("file")).unwrap();
    assert_eq!(file.read_at(&mut [0], 0).unwrap_err().raw_os_error(), Some(EOPNOTSUPP));
    check_other(&mounted);
    site.behave(|manners| manners.ignores_range = false);
    assert!(fs::read(mounted.at("file")).unwrap() == bytes);
    let log = mounted.end();
    assert!(log.contains("cannot send part of an object (it ignores Range)"), "{log}");
}
