//! Mixed requests on several connections, compared with a model in memory.
//!
//! In each round every connection sends some requests at once. No two of a round touch the same bytes if one
//! of them writes, but they may well touch the same block. `FORERUN_NBD_OPERATIONS` sets how many requests
//! there are.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;

use super::super::client::Message;
use super::super::support::{MIB, pattern};
use super::*;

const SIZE: usize = 6 * MIB + 777;
const CONNECTIONS: usize = 4;
/// So few that a debug build takes seconds for them.
const OPERATIONS: usize = 4000;
/// Requests of one connection in a round.
const AT_ONCE: usize = 4;
/// Requests between two restarts of the server.
const RESTART_AFTER: usize = 1500;

fn operations() -> usize {
    std::env::var("FORERUN_NBD_OPERATIONS").map_or(OPERATIONS, |text| text.parse().expect("a number"))
}

struct Luck(u64);

impl Luck {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    /// Small extents mostly, which often begin or end at a block.
    fn extent(&mut self) -> Range<usize> {
        let len = [1 + self.below(20), 512, 4096, 1 + self.below(10_000), 1 + self.below(600_000)];
        let len = len[[0, 1, 2, 2, 2, 3, 3, 4][self.below(8)]];
        let offset = self.below(SIZE - len);
        let offset = if self.below(2) == 0 { offset / 4096 * 4096 } else { offset };
        // A part of the export is used often.
        let offset = if self.below(2) == 0 { offset % 300_000 } else { offset };
        offset..offset + len
    }
}

/// A request in flight.
struct Sent {
    kind: u16,
    extent: Range<usize>,
    written: Vec<u8>,
    /// The bytes that a read has brought.
    read: Vec<u8>,
}

/// One connection with its requests in flight, by their cookies.
struct Line {
    client: Client,
    sent: HashMap<u64, Sent>,
}

impl Line {
    fn send(&mut self, luck: &mut Luck, taken: &mut Vec<(Range<usize>, bool)>) {
        let kind = [READ, READ, READ, WRITE, WRITE, WRITE, WRITE_ZEROES, TRIM, CACHE, FLUSH][luck.below(10)];
        let is_write = matches!(kind, WRITE | WRITE_ZEROES | TRIM);
        let extent = if kind == FLUSH { 0..0 } else { luck.extent() };
        let meets = |(other, writes): &(Range<usize>, bool)| {
            (is_write || *writes) && other.start < extent.end && extent.start < other.end
        };
        if taken.iter().any(meets) {
            return;
        }
        taken.push((extent.clone(), is_write));
        let flags = match kind {
            WRITE if luck.below(20) == 0 => FLAG_FUA,
            WRITE_ZEROES if luck.below(3) == 0 => FLAG_NO_HOLE,
            _ => 0,
        };
        let cookie = self.client.request(kind, flags, extent.start as u64, extent.len() as u32);
        let written = if kind == WRITE { pattern(extent.len(), luck.0) } else { Vec::new() };
        self.client.send(&written);
        let read = vec![0; if kind == READ { extent.len() } else { 0 }];
        self.sent.insert(cookie, Sent { kind, extent, written, read });
    }

    /// Takes all replies, and compares them with `model`, which gets the writes.
    fn settle(&mut self, model: &mut [u8], trimmed: &mut Vec<Range<usize>>) {
        while !self.sent.is_empty() {
            let Message::Chunk { is_done, kind, cookie, payload } = self.client.message() else {
                panic!("not structured")
            };
            let sent = self.sent.get_mut(&cookie).expect("a request in flight");
            let at = |payload: &[u8], start: usize| {
                u64::from_be_bytes(payload[..8].try_into().unwrap()) as usize - start
            };
            match kind {
                0 => {}
                1 => {
                    let from = at(&payload, sent.extent.start);
                    sent.read[from..from + payload.len() - 8].copy_from_slice(&payload[8..]);
                }
                2 => {
                    let len = u32::from_be_bytes(payload[8..].try_into().unwrap()) as usize;
                    let from = at(&payload, sent.extent.start);
                    sent.read[from..from + len].fill(0);
                }
                _ => panic!("{} {:?} fails: {}", sent.kind, sent.extent, String::from_utf8_lossy(&payload)),
            }
            if is_done {
                let sent = self.sent.remove(&cookie).unwrap();
                let Sent { kind, extent, written, read } = sent;
                match kind {
                    READ => {
                        assert!(read == model[extent.clone()], "the read of {extent:?} brings other bytes")
                    }
                    WRITE => model[extent].copy_from_slice(&written),
                    WRITE_ZEROES => model[extent].fill(0),
                    TRIM => trimmed.push(extent),
                    _ => {}
                }
            }
        }
    }
}

/// Trimmed bytes are as before or zeros, and stay it.
fn adopt(client: &mut Client, model: &mut [u8], trimmed: Vec<Range<usize>>) {
    for extent in trimmed {
        let found = client.read(extent.start as u64, extent.len() as u32).unwrap();
        let before = &mut model[extent.clone()];
        assert!(found.iter().zip(&*before).all(|(new, old)| new == old || *new == 0), "{extent:?}");
        before.copy_from_slice(&found);
    }
}

/// Sends requests to servers that `serve` starts, one after the other; the bytes that the last leaves.
fn check(seed: u64, mut model: Vec<u8>, serve: impl Fn() -> Served) -> Vec<u8> {
    let (mut luck, mut left) = (Luck(seed), operations());
    while left > 0 {
        let served = serve();
        let line = |_| Line { client: served.open_structured(""), sent: HashMap::new() };
        let mut lines: Vec<Line> = (0..CONNECTIONS).map(line).collect();
        assert!(lines[0].client.read(0, SIZE as u32).unwrap() == model, "after a start");
        let end = left.saturating_sub(RESTART_AFTER);
        while left > end {
            let mut taken = Vec::new();
            for line in &mut lines {
                (0..1 + luck.below(AT_ONCE)).for_each(|_| line.send(&mut luck, &mut taken));
            }
            left = left.saturating_sub(taken.len());
            let mut trimmed = Vec::new();
            lines.iter_mut().for_each(|line| line.settle(&mut model, &mut trimmed));
            adopt(&mut lines[luck.below(CONNECTIONS)].client, &mut model, trimmed);
        }
        drop(lines);
        served.end();
    }
    model
}

#[test]
fn an_overlay_is_like_memory_above_its_base() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    let bytes = pattern(SIZE, 1);
    let (storage, _) = base(bytes.clone());
    let serve_again = || {
        // Another engine each time, which reads ahead.
        let backend = Arc::clone(&storage) as Arc<dyn forerun::Backend>;
        let forerun = Forerun::over(backend, Options::default().with_memory_bytes(8 << 20)).unwrap();
        serve(&storage, &forerun, &path)
    };
    let model = check(1, bytes, serve_again);
    let served = serve_again();
    assert!(served.open("").read(0, SIZE as u32).unwrap() == model);
}

#[test]
fn a_writable_file_is_like_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    let bytes = pattern(SIZE, 2);
    fs::write(&path, &bytes).unwrap();
    let model = check(2, bytes, || serve_file(&path, Options::default().with_memory_bytes(8 << 20)));
    assert!(fs::read(&path).unwrap() == model);
}
