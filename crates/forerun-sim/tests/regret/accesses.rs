//! Reads made of any bytes, and the limit of their readahead's cost. It wastes at most a tenth of the used
//! bytes, and a constant for each object. No length of reading makes that constant larger.

use forerun_engine::Config;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Near ones and far ones.
const DEVICES: [&str; 5] = ["demo", "s3", "nvme", "rbd-2014", "ide-2006"];
const OBJECTS: u64 = 3;
const READS_MAX: usize = 3000;
/// The largest object.
const SIZE_MAX: u64 = 1 << 30;

/// Reads of some objects on some device, with some memory.
#[derive(Clone, Debug)]
pub(crate) struct Accesses {
    device: &'static str,
    memory_bytes: u64,
    sizes: Vec<u64>,
    reads: Vec<(u64, Extent)>,
}

impl Accesses {
    /// The accesses that `bytes` encode, whatever they are.
    pub(crate) fn new(bytes: &[u8]) -> Accesses {
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

    /// This many `readers` each read their part of them, one read after the other. `None` if there are no
    /// accesses.
    fn run(&self, readers: usize) -> Option<Run> {
        if self.reads.is_empty() {
            return None;
        }
        let device = Preset::from_name(self.device).expect("a device by its name").build(1);
        let config = Config::new(self.memory_bytes);
        let world = World::new(config, device).expect("a configuration that works");
        let read = |(object, extent): &(u64, Extent)| Action::read(ObjectId(*object), *extent);
        let client = |part: &[_]| -> Box<dyn Client> {
            Box::new(part.iter().map(read).collect::<Vec<_>>().into_iter())
        };
        let clients = self.reads.chunks(self.reads.len().div_ceil(readers)).map(client).collect();
        let places = place(self.sizes.iter().copied(), MIB);
        Some(world.run(&mut Clients::new(places, clients)).expect("nobody hangs"))
    }

    /// This many `readers` read all of them side by side. The waste is within its bound. In debug builds
    /// the world and the engine check all their invariants.
    pub(crate) fn check(&self, readers: usize) {
        let Some(run) = self.run(readers) else { return };
        let used = run.demand_bytes + run.readahead_bytes - run.wasted_bytes;
        let most = Config::new(self.memory_bytes).waste_bytes_max(used, self.sizes.iter().copied());
        assert!(
            run.wasted_bytes <= most,
            "on {}, {readers} readers, {} bytes of memory: {} bytes wasted where {most} may be, objects of {:?} bytes",
            self.device,
            self.memory_bytes,
            run.wasted_bytes,
            self.sizes
        );
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
            kind: bytes.below(8),
            len: ((4 * KIB) << bytes.below(6)) + bytes.below(2) * 100,
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
