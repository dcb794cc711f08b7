//! Programs that read through the library.

use std::sync::Arc;
use std::time::Duration;

use forerun::{Advice, Entry, Error, ErrorKind, Extent, Kind, Part};
use futures::future::join_all;

use crate::bench::Bench;
use crate::judge;
use crate::random::Random;
use crate::read::{Open, Opened, Run};
use crate::site::{Version, below};

impl Bench {
    /// Runs a program of a few operations.
    pub(crate) async fn read(self: Arc<Bench>, number: u64, mut random: Random) {
        let mut open = None;
        for _ in 0..random.within(1..8) {
            match random.within(0..12) {
                0 => self.stat(number, &self.some_path(&mut random)).await,
                1 => self.list(number, &random).await,
                2 => self.prefetch(number, &mut random).await,
                3 => self.forerun.invalidate_metadata(&self.some_path(&mut random)),
                4 => tokio::time::sleep(Duration::from_millis(random.within(0..4000))).await,
                5 => open = None,
                _ => {
                    if open.is_none() {
                        open = self.open(number, &self.some_path(&mut random)).await;
                    }
                    if let Some(file) = &open
                        && !self.go_through(number, file, &mut random).await
                        && random.chance(700)
                    {
                        open = None;
                    }
                }
            }
            self.check_memory();
        }
        self.judge.record(format_args!("reader {number} is done"));
    }

    /// A path that may exist, may have existed, or never existed.
    pub(crate) fn some_path(&self, random: &mut Random) -> String {
        if random.chance(50) {
            return random.pick(&["d0", "d1/none", "none", ""]).to_owned();
        }
        let objects = &self.store.site.objects;
        objects[random.within(0..objects.len() as u64) as usize].path.clone()
    }

    async fn stat(&self, number: u64, path: &str) {
        let began = self.judge.begin();
        let answer = self.forerun.stat(path).await;
        self.judge.check_time(format_args!("reader {number}: stat of {path:?}"), began);
        match answer {
            Ok(entry) => drop(self.check_entry(number, &entry, began)),
            Err(error) => self.hear_of_path(number, path, &error, began),
        }
    }

    fn hear_of_path(&self, number: u64, path: &str, error: &Error, began: Duration) {
        let from = self.judge.told_since(began, self.ttl);
        let now = self.judge.now();
        let object = self.store.site.find(path);
        let is_missing =
            object.is_none_or(|object| object.between(from, now).any(|version| version.is_none()));
        let mut may_be = vec![];
        if is_missing {
            may_be.push(ErrorKind::NotFound);
        }
        self.judge.hear(format_args!("reader {number}: {path:?}"), path, error, &may_be);
    }

    /// The version that `entry` names; accuses if it did not exist lately.
    fn check_entry(&self, number: u64, entry: &Entry, began: Duration) -> Option<Version> {
        let now = self.judge.now();
        let path = &entry.path;
        self.judge.record(format_args!("reader {number}: {path:?} is {:?} of {}", entry.kind, entry.size));
        if entry.kind == Kind::Directory {
            return None;
        }
        let object = self.store.site.find(path);
        let named = object.and_then(|object| judge::named(object, &self.store.manners, entry, now));
        let was_there = |version: &Version| {
            let from = self.judge.told_since(began, self.ttl);
            object.is_some_and(|object| {
                object.between(from, now).flatten().any(|there| there.number == version.number)
            })
        };
        let lies = [ErrorKind::Changed, ErrorKind::Permanent];
        let may_lie = lies.iter().any(|kind| self.judge.is_explained(path, *kind));
        match named {
            Some(version) if version.size == entry.size && was_there(version) => {}
            // The answer to a part of an empty object names no version.
            None if entry.size == 0 => {}
            _ if may_lie => {}
            _ => self.judge.accuse(format_args!("reader {number}: {path:?} is told as {entry:?}")),
        }
        named.cloned()
    }

    pub(crate) async fn open(&self, number: u64, path: &str) -> Option<Open> {
        let began = self.judge.begin();
        let opened = self.forerun.open(path).await;
        self.judge.check_time(format_args!("reader {number}: opening {path:?}"), began);
        match opened {
            Ok(reader) => {
                let version = self.check_entry(number, reader.entry(), began);
                let opened = Arc::new(Opened { path: path.to_owned(), size: reader.size(), version });
                Some(Open { reader, opened })
            }
            Err(error) if error.kind == ErrorKind::Invalid && self.store.site.is_directory(path) => None,
            Err(error) => {
                self.hear_of_path(number, path, &error, began);
                None
            }
        }
    }

    async fn list(&self, number: u64, random: &Random) {
        let path = random.clone().pick(&["", "", "d0", "d1", "d1/deep"]);
        let began = self.judge.begin();
        let listed = self.forerun.list(path).await;
        self.judge.check_time(format_args!("reader {number}: list of {path:?}"), began);
        let (from, now) = (self.judge.told_since(began, self.ttl), self.judge.now());
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => {
                let inside =
                    self.store.site.objects.iter().filter(|object| below(path, &object.path).is_some());
                let is_empty = inside.clone().all(|object| object.between(from, now).any(|at| at.is_none()));
                let may_be: &[ErrorKind] = if is_empty { &[ErrorKind::NotFound] } else { &[] };
                return self.judge.hear(
                    format_args!("reader {number}: list of {path:?}"),
                    path,
                    &error,
                    may_be,
                );
            }
        };
        self.judge.record(format_args!("reader {number}: {path:?} holds {}", entries.len()));
        for entry in entries.iter() {
            self.check_entry(number, entry, began);
        }
        // Parts whose stat failed are left out, and a log line tells so.
        let kinds = [ErrorKind::NotFound, ErrorKind::Permanent, ErrorKind::Denied, ErrorKind::NoRange];
        if kinds.iter().any(|kind| self.judge.is_explained(path, *kind)) {
            return;
        }
        for object in &self.store.site.objects {
            let is_inside = below(path, &object.path).is_some_and(|rest| !rest.contains('/'));
            let stayed = object.between(from, now).all(|version| version.is_some());
            if is_inside && stayed && !entries.iter().any(|entry| entry.path == object.path) {
                self.judge
                    .accuse(format_args!("reader {number}: the list of {path:?} lacks {:?}", object.path));
            }
        }
    }

    async fn prefetch(&self, number: u64, random: &mut Random) {
        let parts: Vec<Part> = (0..3).map(|_| Part::whole(self.some_path(random))).collect();
        let parts: Vec<Part> = parts.into_iter().filter(|part| !part.path.is_empty()).collect();
        // A hint: its failures fail no read.
        let told = self.forerun.prefetch(&parts).await.map_err(|error| error.kind);
        self.judge.record(format_args!("reader {number}: a list of {} files is told: {told:?}", parts.len()));
    }

    /// Returns false if a read failed.
    async fn go_through(self: &Arc<Bench>, number: u64, open: &Open, random: &mut Random) -> bool {
        if random.chance(200) {
            let some = [Extent::new(random.within(0..1 << 20), 200_000), Extent::new(0, 5000)];
            open.reader.advise(match random.within(0..5) {
                0 => Advice::Sequential,
                1 => Advice::Random,
                2 => Advice::Normal,
                3 => Advice::WillNeed(&some),
                _ => Advice::DontNeed(some[0]),
            });
        }
        let run = Run::new(random, open.reader.size());
        for extents in run.extents.chunks(run.width) {
            let began = self.judge.begin();
            let reads = extents.iter().map(|extent| self.submit(number, open, *extent));
            // The program ends before its answer comes.
            let answers: Vec<_> = reads.collect();
            if random.chance(20) {
                return true;
            }
            let are_good = join_all(answers).await.into_iter().all(|answer| answer == Ok(true));
            self.judge.check_time(format_args!("reader {number}: reads of {:?}", open.opened.path), began);
            self.check_memory();
            if !are_good {
                return false;
            }
            if random.chance(100) && open.size() > extents[0].end() + 4096 {
                self.push(number, open, Extent::new(extents[0].end(), 4096));
            }
            if !run.pause.is_zero() {
                tokio::time::sleep(run.pause).await;
            }
        }
        true
    }

    pub(crate) fn check_memory(&self) {
        let used = self.forerun.memory_bytes();
        if used > self.memory_bytes {
            self.judge.accuse(format_args!("{used} bytes are in use, and {} are allowed", self.memory_bytes));
        }
    }
}
