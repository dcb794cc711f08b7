//! Listed files are opened in any order. Wasted readahead stays bounded, and so does the state of files
//! that are never opened.

#[path = "support/others.rs"]
mod others;
#[path = "../../forerun-trace/tests/support/property.rs"]
mod property;

use forerun_engine::*;
use proptest::prelude::*;

const FILES: u32 = 300;

/// An engine above a store that answers at once, and a directory of files.
struct Bed {
    engine: Engine,
    now: Time,
    sizes: Vec<u64>,
    fetched: u64,
    asked: u64,
    forgotten: usize,
}

impl Bed {
    fn new(config: Config, sizes: Vec<u64>) -> Bed {
        let mut engine = Engine::new(config).expect("a configuration that works");
        let files = sizes.iter().map(|size| ListedFile { size: *size, class: 0 });
        engine.list(Time(0), DirectoryId(0), files);
        Bed { engine, now: Time(1), sizes, fetched: 0, asked: 0, forgotten: 0 }
    }

    /// Opens the file at `index`, reads all of it and closes it.
    fn visit(&mut self, index: u32) {
        let (object, size) = (ObjectId(u64::from(index)), self.sizes[index as usize]);
        self.engine.open(object, size);
        self.engine.enter(self.now, DirectoryId(0), index, object);
        let mut memory = Vec::new();
        let outcome = self.engine.read(self.now, object, ReaderId(0), Extent::new(0, size), &mut memory);
        self.asked += size;
        if let Outcome::Ready(read) = outcome {
            self.engine.release(read);
        }
        self.drain();
        self.engine.close(self.now, object, ReaderId(0));
        self.drain();
    }

    fn drain(&mut self) {
        while let Some((directory, index)) = self.engine.poll_entry() {
            let (object, size) = (ObjectId(u64::from(index)), self.sizes[index as usize]);
            self.engine.announce(self.now, directory, index, object, size);
        }
        while let Some(fetch) = self.engine.poll_fetch(self.now) {
            self.fetched += fetch.extent.len;
            self.now.0 += 10_000_000;
            self.engine.handle_fetched(self.now, fetch.id);
            while let Some(reply) = self.engine.poll_reply() {
                self.engine.release(reply.read);
            }
        }
        while self.engine.poll_cancel().is_some() {}
        while self.engine.poll_forgotten().is_some() {
            self.forgotten += 1;
        }
    }
}

fn sizes(seed: u64) -> Vec<u64> {
    (0..u64::from(FILES)).map(|at| 1 + (at * 7919 + seed * 104_729) % 65_536).collect()
}

#[test]
fn files_that_nobody_opens_are_forgotten() {
    let config = Config { closed_objects_max: 4, ..Config::new(64 << 20) };
    let mut bed = Bed::new(config, sizes(1));
    (0..FILES).for_each(|index| bed.visit(index));
    assert!(bed.forgotten as u32 >= FILES - 4, "{} of {FILES} forgotten", bed.forgotten);
}

#[test]
fn only_own_policies_walk() {
    let others = [PolicyChoice::None, others::KERNEL, others::LIBRBD, others::OWN];
    for (policy, walks) in
        others.map(|policy| (policy, false)).into_iter().chain([(PolicyChoice::Adaptive, true)])
    {
        let mut bed = Bed::new(Config { policy, ..Config::new(64 << 20) }, sizes(1));
        (0..FILES / 2).for_each(|index| bed.visit(index));
        let ahead = bed.fetched - bed.asked;
        assert_eq!(ahead > 0, walks, "{policy:?} is {ahead} bytes ahead");
    }
}

proptest! {
    #![proptest_config(property::config(200))]

    #[test]
    fn waste_is_bounded_whatever_is_opened(
        runs in prop::collection::vec((0..FILES, 1..40u32, 1..4u32, any::<bool>()), 1..40),
        seed in 0..1000u64,
    ) {
        let mut bed = Bed::new(Config::new(64 << 20), sizes(seed));
        for (start, count, step, is_backward) in runs {
            for at in 0..count {
                let index = start + at * step;
                let index = if is_backward { (2 * FILES - index % FILES - 1) % FILES } else { index % FILES };
                bed.visit(index);
            }
        }
        // Bytes ahead of walks may still be used, and files that are opened again are read from memory.
        let wasted = bed.fetched.saturating_sub(bed.sizes.iter().sum::<u64>().min(bed.asked));
        prop_assert!(wasted <= bed.asked / 10 + (4 << 20), "{wasted} wasted of {}", bed.asked);
        prop_assert!(bed.engine.memory_bytes() <= 64 << 20);
    }
}
