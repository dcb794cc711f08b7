//! Lists: parts of many objects that a program says it will read, in this order.

#[path = "support/others.rs"]
mod others;

use std::collections::BTreeMap;

use forerun_engine::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const LIST: ListId = ListId(0);

/// An engine above storage that answers in a few milliseconds, and files of equal size, of which nobody has
/// opened any.
struct Bed {
    engine: Engine,
    now: u64,
    size: u64,
    /// Which object each file is now.
    objects: BTreeMap<u32, ObjectId>,
    next_object: u64,
    fetched: Vec<(ObjectId, Extent)>,
    ended: Vec<ListId>,
    forgotten: usize,
}

impl Bed {
    fn new(memory: u64, size: u64) -> Bed {
        Bed::with(Config::new(memory), size)
    }

    fn with(config: Config, size: u64) -> Bed {
        Bed {
            engine: Engine::new(config).expect("a configuration that works"),
            now: 1,
            size,
            objects: BTreeMap::new(),
            next_object: 1000,
            fetched: Vec::new(),
            ended: Vec::new(),
            forgotten: 0,
        }
    }

    fn object(&mut self, file: u32) -> ObjectId {
        let next = &mut self.next_object;
        *self.objects.entry(file).or_insert_with(|| {
            *next += 1;
            ObjectId(*next)
        })
    }

    fn tell(&mut self, list: ListId, parts: &[(u32, Extent)]) {
        self.engine.start_list(Time(self.now), list, List::new(parts.iter().copied()));
        self.settle();
    }

    /// Tells of all of the first `count` files.
    fn tell_whole(&mut self, list: ListId, count: u32) {
        let parts: Vec<_> = (0..count).map(|file| (file, Extent::new(0, self.size))).collect();
        self.tell(list, &parts);
    }

    /// Lets all fetches end, a few milliseconds later.
    fn settle(&mut self) {
        loop {
            while let Some((list, file)) = self.engine.poll_listed() {
                let (object, size) = (self.object(file), self.size);
                self.engine.announce_listed(Time(self.now), list, file, object, size);
            }
            while let Some(ended) = self.engine.poll_ended() {
                self.ended.push(ended);
            }
            let fetches: Vec<Fetch> = std::iter::from_fn(|| self.engine.poll_fetch(Time(self.now))).collect();
            let cancelled: Vec<FetchId> = std::iter::from_fn(|| self.engine.poll_cancel()).collect();
            while let Some(object) = self.engine.poll_forgotten() {
                self.objects.retain(|_, known| *known != object);
                self.forgotten += 1;
            }
            if fetches.is_empty() && cancelled.is_empty() {
                return;
            }
            self.now += 5_000_000;
            for fetch in fetches {
                if !cancelled.contains(&fetch.id) {
                    self.fetched.push((fetch.object, fetch.extent));
                    self.engine.handle_fetched(Time(self.now), fetch.id);
                }
            }
            for fetch in cancelled {
                self.engine.handle_failed(Time(self.now), fetch, FetchError { code: 0 });
            }
        }
    }

    fn open(&mut self, file: u32) -> ObjectId {
        let (object, size) = (self.object(file), self.size);
        self.engine.open(object, size);
        (0..4).for_each(|list| self.engine.enter_list(ListId(list), file, object));
        object
    }

    fn close(&mut self, object: ObjectId) {
        self.engine.close(Time(self.now), object, ReaderId(0));
        self.settle();
    }

    fn read(&mut self, object: ObjectId, extent: Extent) {
        let outcome = self.engine.read(Time(self.now), object, ReaderId(0), extent, &mut Vec::new());
        self.settle();
        while self.engine.poll_reply().is_some() {}
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        self.engine.release(read);
        self.now += 100_000;
        self.settle();
    }

    /// Opens `file`, reads `part` of it in pieces and closes it.
    fn visit(&mut self, file: u32, part: Extent) {
        const PIECE: u64 = 128 * KIB;
        let object = self.open(file);
        for at in (part.offset..part.end()).step_by(PIECE as usize) {
            self.read(object, Extent::new(at, PIECE).intersection(&part));
        }
        self.close(object);
    }

    fn visit_whole(&mut self, file: u32) {
        self.visit(file, Extent::new(0, self.size));
    }

    /// The fetched extents, by file.
    fn fetched(&self) -> Vec<(u32, Extent)> {
        let file = |object: &ObjectId| *self.objects.iter().find(|(_, known)| *known == object).unwrap().0;
        self.fetched.iter().map(|(object, extent)| (file(object), *extent)).collect()
    }

    fn bytes(&self) -> u64 {
        self.fetched.iter().map(|(_, extent)| extent.len).sum()
    }

    fn misses(&self) -> u64 {
        self.engine.counters().demand_count
    }

    fn report(&self) -> ListReport {
        self.engine.lists().next().expect("a list")
    }
}

/// Two parts of each of `count` files of 1 MiB: the first of each, then the second of each.
fn interleaved(count: u32) -> Vec<(u32, Extent)> {
    let parts = |at: u64| (0..count).map(move |file| (file, Extent::new(at, 128 * KIB)));
    parts(0).chain(parts(512 * KIB)).collect()
}

#[test]
fn fetches_in_the_order_of_the_list_what_nobody_has_opened() {
    let (mut bed, parts) = (Bed::new(64 * MIB, MIB), interleaved(4));
    bed.tell(LIST, &parts);
    assert_eq!(bed.fetched(), parts);
    for (file, part) in &parts {
        bed.visit(*file, *part);
    }
    assert_eq!((bed.misses(), bed.bytes()), (0, MIB));
    assert_eq!(bed.ended, [LIST], "it was read to its end");
}

#[test]
fn a_list_larger_than_the_memory_is_read_ahead_as_far_as_it_is_read() {
    let mut bed = Bed::new(8 * MIB, MIB);
    bed.tell_whole(LIST, 64);
    assert!((MIB..=6 * MIB).contains(&bed.bytes()), "{} at once", bed.bytes());
    (0..64).for_each(|file| bed.visit_whole(file));
    let counters = bed.engine.counters();
    assert!(counters.memory_bytes_peak <= 8 * MIB);
    assert_eq!((bed.bytes(), counters.wasted_bytes), (64 * MIB, 0));
    assert!(counters.miss_bytes <= MIB, "{} missing", counters.miss_bytes);
}

#[test]
fn parts_of_open_files_come_back_to_what_was_read_ahead_of_them() {
    let (size, count) = (4 * MIB, 8);
    let mut bed = Bed::new(16 * MIB, size);
    let parts: Vec<(u32, Extent)> =
        (0..64).map(|at| (at % count, Extent::new(u64::from(at / count) * 512 * KIB, 512 * KIB))).collect();
    bed.tell(LIST, &parts);
    // Files are closed and opened again between parts: what is ahead of them stays.
    parts.iter().for_each(|(file, part)| bed.visit(*file, *part));
    assert_eq!((bed.misses(), bed.bytes()), (0, 32 * MIB));
    assert_eq!(bed.engine.counters().cancelled_count, 0);
}

#[test]
fn four_readers_with_a_quarter_each_are_all_read_ahead_of() {
    let mut bed = Bed::new(64 * MIB, 150_000);
    bed.tell_whole(LIST, 2000);
    for step in 0..500 {
        (0..4).for_each(|reader| bed.visit_whole(reader * 500 + step));
    }
    let bytes = 2000 * Extent::new(0, 150_000).to_blocks().len;
    assert!(bed.bytes() <= bytes + bytes / 20, "{} of {bytes}", bed.bytes());
    assert!(bed.misses() <= 40, "{} misses", bed.misses());
}

#[test]
fn readers_that_take_batches_in_turns_are_read_ahead_of() {
    let mut bed = Bed::new(64 * MIB, 150_000);
    bed.tell_whole(LIST, 2048);
    // Four readers take a batch of 32 each, all at once.
    for round in 0..16 {
        for step in 0..32 {
            (0..4).for_each(|reader| bed.visit_whole(round * 128 + reader * 32 + step));
        }
    }
    let bytes = 2048 * Extent::new(0, 150_000).to_blocks().len;
    assert!(bed.bytes() <= bytes + bytes / 20, "{} of {bytes}", bed.bytes());
    assert!(bed.misses() <= 64, "{} misses", bed.misses());
    assert_eq!(bed.ended, [LIST]);
}

#[test]
fn small_files_are_read_to_the_end_of_the_list() {
    let mut bed = Bed::new(16 * MIB, 5000);
    bed.tell_whole(LIST, 3000);
    (0..3000).for_each(|file| bed.visit_whole(file));
    assert_eq!((bed.misses(), bed.ended.len()), (0, 1));
}

#[test]
fn nothing_is_read_ahead_any_more_where_the_listed_files_are_read_elsewhere() {
    let mut bed = Bed::new(64 * MIB, 256 * MIB);
    let parts: Vec<_> = (0..64).map(|file| (file, Extent::new(0, 2 * MIB))).collect();
    bed.tell(LIST, &parts);
    let ahead = bed.report().ahead_bytes;
    assert!(ahead > 0 && bed.report().is_followed);
    for step in 0..64_u64 {
        let at = 4 * MIB + step * 7919 % 2000 * 64 * KIB;
        bed.visit(step as u32 % 4, Extent::new(at, 4 * KIB));
    }
    assert!(!bed.report().is_followed);
    let beside = 64 * 4 * KIB + ahead;
    assert!(bed.bytes() <= beside + 2 * MIB, "{} of {beside}", bed.bytes());
}

#[test]
fn files_of_which_only_the_beginning_is_read_waste_little_more_than_the_lead() {
    let fetched = |is_told: bool| {
        let (mut bed, mut lead) = (Bed::new(64 * MIB, MIB), 0);
        if is_told {
            bed.tell_whole(LIST, 1000);
        }
        for file in 0..1000 {
            bed.visit(file, Extent::new(0, 16 * KIB));
            lead = bed.engine.lists().map(|report| report.ahead_bytes).fold(lead, u64::max);
        }
        (bed.bytes(), lead)
    };
    let ((without, _), (with, lead)) = (fetched(false), fetched(true));
    assert!(with <= without + lead + lead / 4, "{with} and {without} without, the lead was {lead}");
}

#[test]
fn a_list_that_nobody_reads_gives_its_memory_to_those_who_read() {
    let mut bed = Bed::new(16 * MIB, 4 * MIB);
    bed.tell_whole(LIST, 100);
    let lead = bed.bytes();
    bed.now += 60_000_000_000;
    (1000..1100).for_each(|file| bed.visit_whole(file));
    let counters = bed.engine.counters();
    assert!(counters.wasted_bytes <= lead, "{} of {lead}", counters.wasted_bytes);
    assert_eq!(bed.bytes(), lead + 400 * MIB, "nothing of it is fetched again");
}

#[test]
fn a_list_whose_lead_is_evicted_again_and_again_wants_less() {
    let mut bed = Bed::new(16 * MIB, MIB);
    bed.tell_whole(LIST, 200);
    let mut other = 1000;
    for file in 0..40 {
        bed.visit_whole(file);
        // Somebody else reads much meanwhile.
        bed.now += 60_000_000_000;
        (0..32).for_each(|_| {
            bed.visit_whole(other);
            other += 1;
        });
    }
    let wasted = bed.engine.counters().wasted_bytes;
    assert!(wasted <= 40 * 2 * MIB, "{wasted} wasted of 40 MiB that were read");
}

#[test]
fn a_file_that_was_replaced_is_followed_as_what_it_is_now() {
    let mut bed = Bed::new(64 * MIB, 256 * KIB);
    bed.tell_whole(LIST, 400);
    for file in 0..400 {
        // Each has another version when it is opened.
        let before = bed.objects.remove(&file);
        bed.visit_whole(file);
        assert_ne!(before, bed.objects.get(&file).copied());
    }
    assert_eq!(bed.ended, [LIST]);
}

#[test]
fn of_too_many_lists_the_one_that_rested_longest_gives_way() {
    let mut bed = Bed::new(64 * MIB, 256 * KIB);
    let tell = |bed: &mut Bed, list: u32| {
        bed.now += 1_000_000;
        let parts: Vec<_> = (0..20).map(|file| (list * 20 + file, Extent::new(0, 256 * KIB))).collect();
        bed.tell(ListId(u64::from(list)), &parts);
    };
    (0..16).for_each(|list| tell(&mut bed, list));
    bed.visit_whole(0);
    assert_eq!(bed.ended, []);
    tell(&mut bed, 16);
    assert_eq!(bed.ended, [ListId(1)], "the first one was read of just now");
    assert_eq!(bed.engine.lists().count(), 16);
}

#[test]
fn extents_of_two_lists_are_fetched_once() {
    let mut bed = Bed::new(64 * MIB, 256 * KIB);
    bed.tell_whole(ListId(0), 40);
    bed.tell_whole(ListId(1), 40);
    (0..40).for_each(|file| bed.visit_whole(file));
    assert_eq!(bed.bytes(), 40 * 256 * KIB);
    assert_eq!(bed.ended.len(), 2);
}

#[test]
fn a_second_reader_of_the_same_files_is_read_ahead_of_as_without_a_list() {
    let missed = |is_told: bool| {
        let mut bed = Bed::new(16 * MIB, 16 * MIB);
        if is_told {
            bed.tell_whole(LIST, 4);
        }
        (0..2).for_each(|file| bed.visit_whole(file));
        let before = bed.engine.counters();
        bed.visit_whole(0);
        bed.engine.counters().miss_bytes - before.miss_bytes
    };
    let (without, with) = (missed(false), missed(true));
    assert!(with <= without + MIB, "{with} of 16 MiB were waited for, and {without} without a list");
}

#[test]
fn other_policies_follow_no_lists() {
    let mut bed = Bed::with(Config { policy: others::LIBRBD, ..Config::new(64 * MIB) }, MIB);
    bed.tell_whole(LIST, 10);
    assert!(!bed.engine.follows_lists() && bed.bytes() == 0);
}

#[test]
fn parts_that_are_not_there_are_left_out() {
    let mut bed = Bed::new(64 * MIB, 256 * KIB);
    let parts = [
        (0, Extent::new(256 * KIB, MIB)),
        (1, Extent::new(5, 0)),
        (2, Extent::new(128 * KIB, u64::MAX)),
        (u32::MAX, Extent::new(0, MIB)),
        (3, Extent::new(u64::MAX - 1, 1)),
    ];
    bed.tell(LIST, &parts);
    assert_eq!(bed.fetched(), [(2, Extent::new(128 * KIB, 128 * KIB))]);
    assert_eq!(bed.forgotten, 1, "the number of the one that ends before its part");
}
