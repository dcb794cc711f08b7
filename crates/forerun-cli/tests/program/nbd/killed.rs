//! Servers that are killed at any point while clients write. Flushed sectors are there afterwards, and each
//! other one is as before or as one of the writes since then left it.
//!
//! `FORERUN_NBD_KILLS` sets how often a server is killed.

use std::fs;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::super::nbd_client::{Client, request};
use super::super::numbers::*;
use super::super::support::forerun;
use super::Serving;

const SECTOR: usize = 512;
const SECTORS: usize = 4099;
const WRITERS: usize = 4;
/// The tag of zeros.
const ZEROS: u64 = 0;
/// The tag of the base.
const BASE: u64 = 1;

/// The content of a sector.
fn content(sector: usize, tag: u64) -> [u8; SECTOR] {
    let mut bytes = [0; SECTOR];
    if tag != ZEROS {
        for (number, word) in bytes.chunks_mut(8).enumerate() {
            let mixed =
                (tag << 32 | (sector * SECTOR / 8 + number) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            word.copy_from_slice(&(mixed | 1).to_le_bytes());
        }
    }
    bytes
}

/// One sector, by the tags that it had.
#[derive(Clone)]
struct Sector {
    tags: Vec<u64>,
    /// The last of them whose write was answered, and the last that was flushed.
    answered: usize,
    flushed: usize,
}

struct Model {
    sectors: Vec<Sector>,
    busy: Vec<Range<usize>>,
    luck: u64,
    next_tag: u64,
}

impl Model {
    fn new() -> Model {
        let sector = Sector { tags: vec![BASE], answered: 0, flushed: 0 };
        Model { sectors: vec![sector; SECTORS], busy: Vec::new(), luck: 7, next_tag: BASE + 1 }
    }

    fn below(&mut self, below: usize) -> usize {
        self.luck = self.luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.luck >> 33) as usize % below
    }

    /// Some sectors that nobody else writes now.
    fn take(&mut self) -> Range<usize> {
        loop {
            let len = [1, 1, 3, 8, 8, 100][self.below(6)];
            let start = self.below(SECTORS - len);
            let start = if self.below(2) == 0 { start / 8 * 8 } else { start };
            let found = start..start + len;
            if self.busy.iter().all(|busy| busy.end <= found.start || found.end <= busy.start) {
                self.busy.push(found.clone());
                return found;
            }
        }
    }

    /// Begins a write of `tag`.
    fn begin(&mut self, sectors: &Range<usize>, tag: u64) {
        self.sectors[sectors.clone()].iter_mut().for_each(|sector| sector.tags.push(tag));
    }

    /// The write of `sectors` was answered.
    fn end(&mut self, sectors: &Range<usize>, is_durable: bool) {
        self.busy.retain(|busy| busy != sectors);
        for sector in &mut self.sectors[sectors.clone()] {
            sector.answered = sector.tags.len() - 1;
            if is_durable {
                sector.flushed = sector.answered;
            }
        }
    }

    fn answered(&self) -> Vec<usize> {
        self.sectors.iter().map(|sector| sector.answered).collect()
    }

    fn end_flush(&mut self, answered: &[usize]) {
        for (sector, answered) in self.sectors.iter_mut().zip(answered) {
            sector.flushed = sector.flushed.max(*answered);
        }
    }

    /// Compares the bytes that the next server has.
    fn check(&mut self, bytes: &[u8], round: usize) {
        for (number, (sector, found)) in self.sectors.iter_mut().zip(bytes.chunks(SECTOR)).enumerate() {
            let mut possible = sector.tags[sector.flushed..].iter();
            let Some(tag) = possible.find(|tag| content(number, **tag) == found).copied() else {
                let lost = sector.tags[..sector.flushed].iter().any(|tag| content(number, *tag) == found);
                panic!(
                    "round {round}: sector {number} has {} after {:?}, of which {} was flushed",
                    if lost { "lost a flushed write" } else { "bytes that nobody wrote" },
                    sector.tags,
                    sector.tags[sector.flushed]
                );
            };
            *sector = Sector { tags: vec![tag], answered: 0, flushed: 0 };
        }
        self.busy.clear();
    }
}

/// Sends one request; the error, or 0.
fn ask(client: &mut Client, kind: u16, flags: u16, at: (u64, u32), payload: &[u8]) -> io::Result<u32> {
    client.socket.write_all(&request(kind, flags, 1, at.0, at.1))?;
    client.socket.write_all(payload)?;
    let mut reply = [0; 16];
    client.socket.read_exact(&mut reply)?;
    Ok(u32::from_be_bytes(reply[4..8].try_into().unwrap()))
}

/// Writes until the server is gone, and counts the requests.
fn write(socket: &Path, model: &Mutex<Model>, count: &AtomicUsize) -> io::Result<()> {
    let mut client = Client::unix(socket);
    client.go("");
    loop {
        let (sectors, tag, is_durable) = {
            let mut model = model.lock().unwrap();
            let (sectors, is_zero) = (model.take(), model.below(6) == 0);
            model.next_tag += 1;
            let tag = if is_zero { ZEROS } else { model.next_tag };
            model.begin(&sectors, tag);
            (sectors, tag, model.below(10) == 0)
        };
        let at = ((sectors.start * SECTOR) as u64, (sectors.len() * SECTOR) as u32);
        let flags = if is_durable { FLAG_FUA } else { 0 };
        let payload: Vec<u8> = sectors.clone().flat_map(|sector| content(sector, tag)).collect();
        let error = match tag {
            ZEROS => ask(&mut client, WRITE_ZEROES, flags, at, &[])?,
            _ => ask(&mut client, WRITE, flags, at, &payload)?,
        };
        assert_eq!(error, 0);
        let answered = {
            let mut model = model.lock().unwrap();
            model.end(&sectors, is_durable);
            (model.below(8) == 0).then(|| model.answered())
        };
        if let Some(answered) = answered {
            assert_eq!(ask(&mut client, FLUSH, 0, (0, 0), &[])?, 0);
            model.lock().unwrap().end_flush(&answered);
        }
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn check(extra: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (image, socket) = (folder.path().join("disk.img"), folder.path().join("nbd"));
    let base: Vec<u8> = (0..SECTORS).flat_map(|sector| content(sector, BASE)).collect();
    fs::write(&image, &base).unwrap();
    let kills = std::env::var("FORERUN_NBD_KILLS").map_or(5, |text| text.parse().expect("a number"));
    let model = Mutex::new(Model::new());
    for round in 0..=kills {
        let mut command = forerun();
        command.current_dir(folder.path()).args(["nbd", "--memory", "16MiB", "--unix", "nbd"]);
        let serving = Serving::start(command.args(extra).arg("disk.img"));
        let mut client = Client::unix(&socket);
        client.go("");
        model.lock().unwrap().check(&client.read(0, (SECTORS * SECTOR) as u32).unwrap(), round);
        if round == kills {
            assert_eq!(serving.end().0, Some(0));
            break;
        }
        let (count, kill_at) = (AtomicUsize::new(0), 20 + model.lock().unwrap().below(400));
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| write(&socket, &model, &count).expect_err("it is killed"));
            }
            while count.load(Ordering::Relaxed) < kill_at {
                thread::yield_now();
            }
            // Kills it.
            drop(serving);
        });
    }
}

#[test]
fn flushed_writes_of_an_overlay_survive_a_kill() {
    check(&["--overlay", "changes"]);
}

#[test]
fn flushed_writes_of_a_file_survive_a_kill() {
    check(&["--writable"]);
}
