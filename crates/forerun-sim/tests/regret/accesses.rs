//! Reads out of any bytes, and what reading ahead of them may cost.

use forerun_engine::{Config, PolicyKind};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
pub static KIND: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(u64::MAX);
/// Near ones and far ones.
const DEVICES: [&str; 5] = ["demo", "s3", "nvme", "rbd-2014", "ide-2006"];
const OBJECTS: u64 = 3;
const READS_MAX: usize = 3000;
/// What a disk of `ide-2006`'s time holds is enough for all objects.
const SIZE_MAX: u64 = 1 << 30;

/// Reads of some objects on some device, with some memory.
#[derive(Clone, Debug)]
pub struct Accesses {
    pub device: &'static str,
    pub memory_bytes: u64,
    pub sizes: Vec<u64>,
    pub reads: Vec<(u64, Extent)>,
}

/// What they may waste: a tenth of what was of use and so much for each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regret {
    pub wasted: u64,
    pub used: u64,
}

impl Accesses {
    /// What `bytes` say, whatever they are.
    pub fn new(bytes: &[u8]) -> Accesses {
        let mut bytes = Bytes(bytes.iter());
        let device = DEVICES[bytes.below(DEVICES.len() as u64) as usize];
        let memory_bytes = [16, 64, 256][bytes.below(3) as usize] * MIB;
        let size = |bytes: &mut Bytes| (SIZE_MAX >> bytes.below(14)) - bytes.below(2) * 777;
        let sizes: Vec<u64> = (0..=bytes.below(OBJECTS)).map(|_| size(&mut bytes)).collect();
        let mut accesses = Accesses { device, memory_bytes, sizes, reads: Vec::new() };
        let mut part = Part::default();
        while accesses.reads.len() < READS_MAX && bytes.0.len() > 0 {
            if bytes.below(4) > 0 || part.count == 0 {
                part = Part::new(&mut bytes, accesses.sizes.len() as u64);
            }
            part.add(&mut accesses);
        }
        accesses.reads.truncate(READS_MAX);
        accesses
    }

    /// Reads them, one after the other, closed loop; none if there are none.
    pub fn run(&self) -> Option<Run> {
        if self.reads.is_empty() {
            return None;
        }
        let device = Preset::from_name(self.device).expect("a device by its name").build(1);
        let config = Config { policy: PolicyKind::Adaptive, ..Config::new(self.memory_bytes) };
        let world = World::new(config, device).expect("a configuration that works");
        let reads =
            self.reads.clone().into_iter().map(|(object, extent)| Action::read(ObjectId(object), extent));
        let client: Box<dyn Client> = Box::new(reads);
        let places = place(self.sizes.iter().copied(), MIB);
        Some(world.run(&mut Clients::new(places, vec![client])).expect("nobody hangs"))
    }

    pub fn regret(&self) -> Regret {
        self.run().map_or(Regret { wasted: 0, used: 0 }, |run| {
            let fetched = run.demand_bytes + run.readahead_bytes;
            Regret { wasted: run.wasted_bytes, used: fetched - run.wasted_bytes }
        })
    }

    fn read(&mut self, object: u64, offset: u64, len: u64) {
        let size = self.sizes[object as usize];
        let offset = offset % size;
        self.reads.push((object, Extent::new(offset, len.min(size - offset))));
    }
}

/// Some reads of one kind.
#[derive(Clone, Debug, Default)]
struct Part {
    object: u64,
    kind: u64,
    len: u64,
    count: u64,
    stride: u64,
    numbers: u64,
}

impl Part {
    fn new(bytes: &mut Bytes, objects: u64) -> Part {
        Part {
            object: bytes.below(objects),
            kind: bytes.below(8).min(KIND.load(std::sync::atomic::Ordering::Relaxed)).max(
                if KIND.load(std::sync::atomic::Ordering::Relaxed) < 8 {
                    KIND.load(std::sync::atomic::Ordering::Relaxed)
                } else {
                    0
                },
            ),
            len: (4 * KIB << bytes.below(6)) + bytes.below(2) * 100,
            // As many as it takes until a window has just grown, too.
            count: [1, 2, 3, 4, 5, 7, 9, 16, 17, 33, 64, 65, 129, 200, 256, 300][bytes.below(16) as usize],
            stride: 2 + bytes.below(30),
            numbers: bytes.below(256) | bytes.below(256) << 8,
        }
    }

    /// Adds them at another place each time.
    fn add(&mut self, to: &mut Accesses) {
        let Part { object, kind, len, count, stride, .. } = *self;
        let mut numbers = Numbers::new(self.numbers);
        self.numbers += 1;
        let size = to.sizes[object as usize];
        let start = numbers.below(size) / len * len;
        for index in 0..count {
            let offset = match kind {
                0 => start + index * len,
                1 => (start + size).saturating_sub(index * len),
                2 => start + index * stride * len,
                3 => numbers.below(size),
                // Most often near the start.
                4 => size >> numbers.below(20).min(40),
                // Many short runs.
                5 if index % stride == 0 => numbers.below(size),
                5 => to.reads.last().map_or(0, |(_, last)| last.end()),
                // Some in turns.
                6 => start + index % stride * (size / stride) + index / stride * len,
                // Sparse.
                _ => start + index * len + numbers.below(stride) * len,
            };
            to.read(object, offset, len);
        }
    }
}

/// Zeros when there are no more.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.next().copied().unwrap_or(0)) % bound
    }
}
