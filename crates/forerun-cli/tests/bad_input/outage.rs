//! A server that is away for a while, or asks for fewer requests.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::line::{Cut, Line};
use crate::site::Site;
use crate::support::{Mounted, Store, mount, pattern};

const EIO: i32 = 5;
const SIZE: usize = 4 << 20;
const LARGE: usize = 16 << 20;
const READERS: usize = 32;
const OUTAGE: Duration = Duration::from_secs(6);

/// A site with as many files as there are readers.
fn wide_site(bytes: &[u8]) -> Site {
    let site = Site::start(bytes);
    (0..READERS).for_each(|index| site.put(&index.to_string(), bytes.to_vec()));
    site
}

/// Reads all files of `mounted` at once, while `meanwhile` happens.
fn read_all(mounted: &Mounted, bytes: &[u8], meanwhile: impl FnOnce()) {
    thread::scope(|scope| {
        for index in 0..READERS {
            let path = mounted.at(&index.to_string());
            scope.spawn(move || assert!(fs::read(path).unwrap() == bytes));
        }
        meanwhile();
    });
}

#[test]
fn an_outage_is_waited_for_with_few_requests() {
    let bytes = pattern(SIZE, 1);
    let site = wide_site(&bytes);
    site.behave(|manners| manners.latency = Duration::from_millis(50));
    let mounted = site.patient_mount();
    site.requests();
    read_all(&mounted, &bytes, || {});
    let usual = site.requests().len();
    mounted.end();

    let mounted = site.patient_mount();
    site.requests();
    read_all(&mounted, &bytes, || {
        // Long enough that the first answers are on their way. Nothing tells from outside that a reader
        // waits.
        thread::sleep(Duration::from_millis(75));
        site.behave(|manners| manners.always = Some(503));
        // Without probes, each request tries often enough in this time to exceed the bound below.
        thread::sleep(OUTAGE);
        site.behave(|manners| manners.always = None);
    });
    let requests = site.requests().len();
    println!("{requests} requests, and {usual} without the outage");
    assert!(requests <= 2 * usual);
    let log = mounted.end();
    assert_eq!(log.lines().count(), 1, "it told of trouble that it had overcome: {log}");
}

#[test]
fn a_server_that_takes_few_requests_is_sent_few() {
    let bytes = pattern(SIZE, 1);
    let site = wide_site(&bytes);
    let mounted = site.patient_mount();
    site.behave(|manners| {
        (manners.latency, manners.at_once_max) = (Duration::from_millis(10), Some(4));
    });
    let files: Vec<File> =
        (0..READERS).map(|index| File::open(mounted.at(&index.to_string())).unwrap()).collect();
    let mut peaks = [0; 4];
    // By the first part the mount finds out.
    for (index, peak) in peaks.iter_mut().enumerate() {
        site.behave(|manners| manners.at_once_peak = 0);
        let part = index * SIZE / 4..(index + 1) * SIZE / 4;
        thread::scope(|scope| {
            for file in &files {
                scope.spawn(|| {
                    let mut read = vec![0; part.len()];
                    file.read_exact_at(&mut read, part.start as u64).unwrap();
                    assert!(read == bytes[part.clone()]);
                });
            }
        });
        *peak = site.behave(|manners| manners.at_once_peak);
    }
    assert!(peaks[1..].iter().all(|peak| *peak <= 16), "{peaks:?} requests at once");
    mounted.end();
}

/// A mount of two files, `file` and `other`, whose way to the server can be cut.
struct Far {
    line: Line,
    mounted: Mounted,
    _server: Box<dyn std::any::Any>,
}

impl Far {
    fn web(bytes: &[u8], retry_timeout: &str) -> Far {
        let site = Site::start(bytes);
        let line = Line::to(site.url("").trim_start_matches("http://").trim_end_matches('/'));
        let url = format!("http://{}/", line.address);
        let mounted = Mounted::start(mount(&["--retry-timeout", retry_timeout, &url]));
        Far { line, mounted, _server: Box::new(site) }
    }

    fn bucket(bytes: &[u8], retry_timeout: &str) -> Far {
        let store = Store::start();
        fs::write(store.at("file"), bytes).unwrap();
        fs::write(store.at("other"), b"other").unwrap();
        let line = Line::to(store.endpoint.trim_start_matches("http://"));
        let endpoint = format!("http://{}", line.address);
        let mut command = mount(&["--retry-timeout", retry_timeout, "--endpoint", &endpoint, "s3://bucket"]);
        command.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "key");
        Far { line, mounted: Mounted::start(command), _server: Box::new(store) }
    }

    /// Opens `file`, and cuts the way. A read of bytes that are not there yet and a question for
    /// metadata, each with the time it takes.
    fn cut(&mut self, how: Cut) -> [thread::JoinHandle<(io::Result<usize>, Duration)>; 2] {
        let file = File::open(self.mounted.at("file")).unwrap();
        file.read_exact_at(&mut [0; 4096], 0).unwrap();
        self.line.cut(how);
        let other: PathBuf = self.mounted.at("other");
        let timed = |ask: Box<dyn FnOnce() -> io::Result<usize> + Send>| {
            thread::spawn(move || {
                let began = Instant::now();
                (ask(), began.elapsed())
            })
        };
        [
            timed(Box::new(move || file.read_at(&mut [0; 4096], LARGE as u64 - 4096))),
            timed(Box::new(move || fs::metadata(other).map(|_| 0))),
        ]
    }
}

type Start = fn(&[u8], &str) -> Far;

/// Runs `check` with both kinds of servers and each way to be away, all at once, as most of it is waiting.
fn everywhere(check: fn(Start, Cut)) {
    thread::scope(|scope| {
        for cut in [Cut::Refused, Cut::Reset, Cut::Silent] {
            scope.spawn(move || check(Far::web, cut));
            scope.spawn(move || check(Far::bucket, cut));
        }
    });
}

#[test]
fn a_way_that_is_cut_and_mended_is_waited_for() {
    everywhere(|start, cut| {
        let mut far = start(&pattern(LARGE, 1), "30s");
        let waiting = far.cut(cut);
        // Longer than six tries took. Nothing tells from outside that a reader waits.
        thread::sleep(Duration::from_secs(5));
        assert!(waiting.iter().all(|asked| !asked.is_finished()), "{cut:?}");
        far.line.mend();
        for asked in waiting {
            asked.join().unwrap().0.unwrap_or_else(|error| panic!("{cut:?}: {error}"));
        }
        far.mounted.end();
    });
}

#[test]
fn a_way_that_stays_cut_is_an_error_after_the_timeout() {
    everywhere(|start, cut| {
        let mut far = start(&pattern(LARGE, 1), "3s");
        for asked in far.cut(cut) {
            let (answer, took) = asked.join().unwrap();
            assert_eq!(answer.unwrap_err().raw_os_error(), Some(EIO), "{cut:?}");
            assert!(took >= Duration::from_secs(3), "{cut:?}: {took:?}");
        }
        let log = far.mounted.end();
        assert!(log.contains("gave up after"), "{log}");
    });
}

#[test]
fn without_patience_the_first_error_is_told() {
    everywhere(|start, cut| {
        let mut far = start(&pattern(LARGE, 1), "0");
        for asked in far.cut(cut) {
            let (answer, _) = asked.join().unwrap();
            assert_eq!(answer.unwrap_err().raw_os_error(), Some(EIO), "{cut:?}");
        }
        let log = far.mounted.end();
        assert!(log.contains("gave up after 1 try in"), "{log}");
    });
}
