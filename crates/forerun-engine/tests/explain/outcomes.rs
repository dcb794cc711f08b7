//! Every block that is read ahead has one outcome: in the class for which it was decided, whoever reads what
//! and in what order.

#[path = "../../../forerun-trace/tests/support/property.rs"]
mod property;
#[path = "../support/bed.rs"]
mod store;

use std::collections::BTreeMap;

use forerun_engine::*;
use proptest::prelude::*;

use super::{KIB, MIB};

/// Large files, and small ones after them, in one directory.
const LARGE: u64 = 5;
const LARGE_BYTES: u64 = 16 * MIB;
const SMALL: u32 = 400;
const SMALL_BYTES: u64 = 24 * KIB;

/// How some of a file is read, or some files.
#[derive(Clone, Copy, Debug)]
enum Way {
    Up,
    Down,
    Strided,
    Scattered,
    /// A first read that is not at the start.
    NearStart,
    Advised,
    Learned,
    /// The next small files, one after the other.
    Files,
    Close,
}

const WAYS: [Way; 9] = [
    Way::Up,
    Way::Down,
    Way::Strided,
    Way::Scattered,
    Way::NearStart,
    Way::Advised,
    Way::Learned,
    Way::Files,
    Way::Close,
];

/// `count` reads of `len` bytes of `object`, from `offset` on.
#[derive(Clone, Copy, Debug)]
struct Part {
    way: Way,
    object: u64,
    offset: u64,
    len: u64,
    count: u64,
}

fn part() -> impl Strategy<Value = Part> {
    let lens = prop_oneof![Just(4 * KIB), Just(16 * KIB), Just(64 * KIB), 1..100_000u64];
    (0..WAYS.len(), 0..LARGE, 0..LARGE_BYTES, lens, 1..64u64)
        .prop_map(|(way, object, offset, len, count)| Part { way: WAYS[way], object, offset, len, count })
}

struct Model {
    bed: store::Bed,
    next_small: u32,
    /// Bytes of the blocks that were fetched and that the read under way had not asked for.
    ahead: BTreeMap<Class, u64>,
}

impl Model {
    fn new(memory_bytes: u64) -> Model {
        let config = Config { events_max: 1 << 16, ..Config::new(memory_bytes) };
        let mut bed = store::Bed::with(config);
        let large = (0..LARGE).map(|_| LARGE_BYTES);
        bed.list(large.chain((0..SMALL).map(|_| SMALL_BYTES)).collect());
        (0..LARGE as u32).for_each(|index| bed.enter(index));
        Model { bed, next_small: LARGE as u32, ahead: BTreeMap::new() }
    }

    /// Counts what was fetched while `asked` of `object` was being read.
    fn listen(&mut self, object: ObjectId, asked: Extent) {
        while let Some(event) = self.bed.engine.poll_event() {
            if let Event::Fetch { object: owner, extent, cause, ahead: Some(class), .. } = event {
                let is_asked = cause == Cause::Demand && owner == object;
                let wanted = if is_asked { asked.to_blocks() } else { Extent::default() };
                let fetched = extent.to_blocks();
                *self.ahead.entry(class).or_default() += fetched.len - fetched.intersection(&wanted).len;
            }
        }
    }

    fn read(&mut self, object: ObjectId, offset: u64, len: u64) {
        let size = if object.0 < LARGE { LARGE_BYTES } else { SMALL_BYTES };
        let extent = Extent::new(offset, len).intersection(&Extent::new(0, size));
        if !extent.is_empty() {
            self.bed.read(object, extent);
            self.listen(object, extent);
        }
    }

    fn run(&mut self, part: Part) {
        let Part { way, object, offset, len, count } = part;
        let (object, now) = (ObjectId(object), self.bed.now());
        let all = Extent::new(offset, (count * len).min(LARGE_BYTES - offset));
        match way {
            Way::Advised => {
                self.bed.engine.advise(now, object, ReaderId(0), Advice::WillNeed(&[all]));
            }
            Way::Learned => self.bed.engine.plan(now, object, &[all]),
            Way::NearStart | Way::Close => self.reopen(object, way),
            _ => {}
        }
        match way {
            Way::Close => {}
            Way::NearStart => self.read(object, len * (1 + count % 8), len),
            Way::Files => (0..count).for_each(|_| self.read_small()),
            _ => (0..count).for_each(|index| self.read(object, place(part, index), len)),
        }
    }

    /// `object` has no reader for a moment. The engine forgets it if it is to be read as if for the first
    /// time.
    fn reopen(&mut self, object: ObjectId, way: Way) {
        self.bed.close(object);
        self.bed.land();
        if let Way::NearStart = way {
            self.bed.engine.forget(self.bed.now(), object);
        }
        self.bed.enter(object.0 as u32);
        self.listen(object, Extent::default());
    }

    /// The next small file, from its start to its end.
    fn read_small(&mut self) {
        let index = self.next_small;
        self.next_small = LARGE as u32 + (index + 1 - LARGE as u32) % SMALL;
        let object = ObjectId(u64::from(index));
        self.bed.enter(index);
        self.listen(object, Extent::default());
        self.read(object, 0, SMALL_BYTES);
        self.bed.close(object);
        self.listen(object, Extent::default());
    }

    /// Each block read ahead has an outcome or waits for its reader; once all objects are forgotten, it has one
    /// in its class.
    fn check(&mut self) -> ByClass {
        self.bed.land();
        self.listen(ObjectId(0), Extent::default());
        let objects: Vec<ObjectId> = self.bed.engine.objects().collect();
        let reports = objects.iter().filter_map(|object| self.bed.engine.explain(*object));
        let waiting: u64 = reports.map(|report| report.waiting_bytes).sum();
        assert_eq!(self.bed.engine.readahead().total().sum() + waiting, self.ahead.values().sum());
        for object in objects {
            self.bed.engine.forget(self.bed.now(), object);
        }
        let outcomes = self.bed.engine.readahead().clone();
        let sums = outcomes.iter().map(|(class, counters)| (class, counters.sum()));
        assert_eq!(sums.collect::<BTreeMap<_, _>>(), self.ahead, "{waiting} waited");
        outcomes
    }
}

/// Where the read of `part` with this index begins.
fn place(part: Part, index: u64) -> u64 {
    let Part { way, offset, len, count, .. } = part;
    let scattered = (index * 7919 + offset / KIB) % 1021 * 16 * KIB;
    match way {
        Way::Down => offset + (count - index - 1) * len,
        Way::Strided => offset + index * 8 * len,
        Way::Scattered => scattered,
        _ => offset + index * len,
    }
}

#[test]
fn each_class_has_an_outcome() {
    let mut model = Model::new(64 * MIB);
    let ways = [Way::Up, Way::Down, Way::Strided, Way::Scattered, Way::Advised, Way::Files, Way::NearStart];
    for (way, object) in ways.into_iter().zip([0, 1, 2, 3, 4, 0, 1]) {
        let (offset, count) = if let Way::Scattered = way { (0, 600) } else { (4 * MIB, 60) };
        model.run(Part { way, object, offset, len: 16 * KIB, count });
    }
    let outcomes = model.check();
    for class in Class::ALL.into_iter().filter(|class| *class != Class::Other) {
        assert!(outcomes.of(class).sum() > 0, "nothing was {}: {outcomes:?}", class.name());
    }
}

proptest! {
    #![proptest_config(property::config(300))]

    #[test]
    fn every_block_read_ahead_has_one_outcome(
        parts in prop::collection::vec(part(), 1..24),
        memory in prop_oneof![Just(4 * MIB), Just(16 * MIB), Just(64 * MIB)],
    ) {
        let mut model = Model::new(memory);
        parts.into_iter().for_each(|part| model.run(part));
        model.check();
    }
}
