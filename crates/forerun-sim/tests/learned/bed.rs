//! Readings with and without a profile, and the best that was possible.

use std::cell::RefCell;
use std::path::Path;

use forerun_engine::profile::Recorder;
use forerun_engine::{Config, Event, Extent, ObjectId};
use forerun_policies::PolicyKind;
use forerun_sim::bound::{Clairvoyance, bounds};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Deed, Pace, Replay, Scan, Source, place};
use forerun_sim::world::World;
use forerun_trace::{Access, ReadOptions, Reader};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

/// The extents that were touched first of each object.
pub(crate) type Profiles = Vec<(ObjectId, Vec<Extent>)>;

/// Something that is read.
pub(crate) enum Reading {
    /// A recording.
    Recorded(Vec<Access>),
    /// Extents of one object of so many bytes, by one reader.
    Ordered(u64, Vec<Extent>),
    /// Objects of so many bytes, opened, read and closed one after another, in as many orders as there are
    /// readers.
    Opened(Vec<u64>, Vec<Vec<usize>>),
}

impl Reading {
    /// The recording at `path`.
    pub(crate) fn recorded(path: &Path) -> Reading {
        let reader = Reader::open(path, ReadOptions::default()).expect("a recording");
        Reading::Recorded(reader.collect::<Result<_, _>>().expect("it is whole"))
    }

    /// A recording that is shipped.
    pub(crate) fn sample(name: &str) -> Reading {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../samples/{name}.frt.gz"));
        Reading::recorded(&path)
    }

    fn source(&self) -> Box<dyn Source + '_> {
        match self {
            Reading::Recorded(accesses) => {
                Box::new(Replay::new(accesses.iter().cloned(), Scan::of(accesses), Pace::Closed))
            }
            Reading::Ordered(size, order) => {
                let reads = order.iter().map(|extent| Action::read(ObjectId(0), *extent));
                let client: Box<dyn Client + '_> = Box::new(reads);
                Box::new(Clients::new(place([*size], MIB), vec![client]))
            }
            Reading::Opened(sizes, orders) => {
                let clients = orders.iter().map(|order| -> Box<dyn Client + '_> {
                    Box::new(order.iter().flat_map(|index| opened(*index as u64, sizes[*index])))
                });
                Box::new(Clients::new(place(sizes.iter().copied(), 4 * KIB), clients.collect()))
            }
        }
    }

    /// The extents that are touched first, of the objects in their order.
    pub(crate) fn profiles(&self) -> Profiles {
        let recorders: RefCell<Vec<(ObjectId, Recorder)>> = RefCell::default();
        let config = Config { events_max: 1 << 16, ..Config::new(256 * MIB) };
        let device = Preset::from_name("nvme").expect("a device by its name").build(1);
        let world = World::new(config, device).expect("a configuration that works");
        let note = |event: &Event| {
            if let Event::Read { object, extent, .. } = *event {
                let mut recorders = recorders.borrow_mut();
                let known = recorders.iter().position(|(known, _)| *known == object);
                let place = known.unwrap_or_else(|| {
                    recorders.push((object, Recorder::new()));
                    recorders.len() - 1
                });
                recorders[place].1.record(extent);
            }
        };
        world.observe(note).run(&mut *self.source()).expect("nobody hangs");
        let recorders = recorders.into_inner();
        recorders.into_iter().map(|(object, recorder)| (object, recorder.extents().to_vec())).collect()
    }

    pub(crate) fn run(&self, device: &str, policy: PolicyKind, memory: u64, profiles: Profiles) -> Run {
        let device = Preset::from_name(device).expect("a device by its name").build(1);
        let config = Config { policy: policy.into(), ..Config::new(memory) };
        let world = World::new(config, device).expect("a configuration that works");
        world.learned(profiles).run(&mut *self.source()).expect("nobody hangs")
    }

    /// The time of the best schedule that was found.
    pub(crate) fn clairvoyant_ns(&self, device: &str) -> u64 {
        let preset = Preset::from_name(device).expect("a device by its name");
        let clairvoyance =
            Clairvoyance { memory_bytes: 256 * MIB, costs: preset.costs(), look_ahead: None, threads: 1 };
        let found = bounds(&|| self.source(), &|| preset.build(1), 0, &clairvoyance);
        found.expect("nobody hangs").clairvoyant_ns
    }
}

/// The steps of who reads the whole of `object`, which has `size` bytes.
fn opened(object: u64, size: u64) -> impl Iterator<Item = Action> {
    const LEN: u64 = 32 * KIB;
    let object = ObjectId(object);
    let reads = (0..size.div_ceil(LEN))
        .map(move |at| Action::read(object, Extent::new(at * LEN, LEN).intersection(&Extent::new(0, size))));
    reads.chain([Action::Do { deed: Deed::Close, object, extent: Extent::new(0, 0) }])
}
