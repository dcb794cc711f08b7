//! Reads, and checks of their results.

use std::sync::Arc;
use std::time::Duration;

use forerun::{Error, ErrorKind, Extent, Reader};
use futures::channel::oneshot;

use crate::bench::Bench;
use crate::judge::{self, Judge};
use crate::random::Random;
use crate::site::Version;
use crate::store::Store;

/// One read, for checking its result. It does not keep the library alive.
#[derive(Clone)]
struct Asked {
    store: Arc<Store>,
    judge: Arc<Judge>,
    number: u64,
    open: Arc<Opened>,
    extent: Extent,
}

/// The object that was opened.
pub(crate) struct Opened {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// None if the server lied about it.
    pub(crate) version: Option<Version>,
}

/// An open object.
#[derive(Clone)]
pub(crate) struct Open {
    pub(crate) reader: Reader,
    pub(crate) opened: Arc<Opened>,
}

impl Open {
    pub(crate) fn size(&self) -> u64 {
        self.reader.size()
    }
}

/// A series of reads, one after the other or a few at once.
pub(crate) struct Run {
    pub(crate) extents: Vec<Extent>,
    pub(crate) width: usize,
    pub(crate) pause: Duration,
}

impl Run {
    /// A random series of reads of an object of `size` bytes.
    pub(crate) fn new(random: &mut Random, size: u64) -> Run {
        let len = random.pick(&[1, 777, 4096, 32 << 10, 128 << 10, 300_000, 2 << 20]);
        let count = random.within(1..20);
        let begin = random.pick(&[0, 0, random.clone().within(0..size + 2)]);
        let step = random.pick(&[len as i64, len as i64, -(len as i64), 3 * len as i64, 0]);
        let mut at = if step < 0 { size } else { begin };
        let mut extents = Vec::new();
        for _ in 0..count {
            extents.push(Extent::new(at, len));
            at = if step == 0 { random.within(0..size + 1) } else { at.saturating_add_signed(step) };
        }
        let pause = Duration::from_millis(random.pick(&[0, 0, 1, 30, 2000]));
        Run { extents, width: random.pick(&[1, 1, 2, 4]), pause }
    }
}

impl Bench {
    fn ask(&self, number: u64, open: &Open, extent: Extent) -> Asked {
        self.judge.ask();
        let (store, judge) = (Arc::clone(&self.store), Arc::clone(&self.judge));
        Asked { store, judge, number, open: Arc::clone(&open.opened), extent }
    }

    /// Starts a read. The receiver tells whether it was answered with bytes.
    pub(crate) fn submit(&self, number: u64, open: &Open, extent: Extent) -> oneshot::Receiver<bool> {
        let (done, end) = oneshot::channel();
        let asked = self.ask(number, open, extent);
        open.reader.submit(extent.offset, extent.len as usize, move |answer| {
            // The receiver is gone if the program has ended.
            let _ = done.send(match answer {
                Ok(lease) => asked.bytes(lease.slices()),
                Err(error) => asked.error(&error),
            });
        });
        end
    }

    /// Reads into a buffer, without a callback.
    pub(crate) async fn read_at(&self, number: u64, open: &Open, extent: Extent) -> bool {
        let mut bytes = vec![0; extent.len as usize];
        let (asked, began) = (self.ask(number, open, extent), self.judge.begin());
        let read = open.reader.read_at(&mut bytes, extent.offset).await;
        self.judge.check_time(format_args!("reader {number}: a read of {:?}", open.opened.path), began);
        match read {
            Ok(len) => asked.bytes([&bytes[..len]].into_iter()),
            Err(error) => asked.error(&error),
        }
    }

    /// Copies readahead, as a front end with a cache of its own does.
    pub(crate) fn push(&self, number: u64, open: &Open, extent: Extent) {
        let asked = self.ask(number, open, extent);
        if open.reader.peek(extent, |lease| asked.bytes(lease.slices())).is_some() {
            open.reader.consume(&[extent]);
        } else {
            self.judge.answer();
        }
    }
}

impl Asked {
    fn error(&self, error: &Error) -> bool {
        let Asked { store, judge, number, extent, .. } = self;
        let path = &self.open.path;
        judge.answer();
        let mut may_be = Vec::new();
        if judge::has_changed(&store.site, path, judge.now()) {
            may_be.extend([ErrorKind::Changed, ErrorKind::NotFound]);
        }
        if store.manners.ignores_range {
            may_be.push(ErrorKind::NoRange);
        }
        judge.hear(format_args!("reader {number}: {extent:?} of {path:?}"), path, error, &may_be);
        false
    }

    /// Checks that the bytes are those of the opened version, and of the right length.
    fn bytes<'b>(&self, slices: impl Iterator<Item = &'b [u8]>) -> bool {
        let Asked { judge, number, extent, .. } = self;
        let Opened { path, size, version } = &*self.open;
        judge.answer();
        let source = version.as_ref().map(Version::bytes).unwrap_or_default();
        let wanted_len = size.saturating_sub(extent.offset).min(extent.len);
        let (mut at, mut is_same) = (extent.offset.min(*size) as usize, true);
        let start = at;
        for slice in slices {
            is_same &= source.get(at..at + slice.len()).is_some_and(|wanted| wanted == slice);
            at += slice.len();
        }
        let len = (at - start) as u64;
        judge.record(format_args!("reader {number}: {extent:?} of {path:?}: {len} bytes"));
        if len != wanted_len || (len > 0 && !is_same) {
            judge.accuse(format_args!(
                "reader {number}: wrong bytes for {extent:?} of {path:?}: {len} of {wanted_len}, same: {is_same}"
            ));
        }
        true
    }
}
