//! Clients that want more than the storage gives, to see how they share it.

use forerun_engine::{ClientId, Extent, ObjectId};
use forerun_trace::generate::Numbers;

use super::{Action, Client, Clients, place};

const MIB: u64 = 1 << 20;
/// The bytes of each read.
const READ_BYTES: u64 = 128 << 10;

/// Readers, the clients that they belong to, and the weights of those.
pub struct Sharers {
    /// The readers.
    pub source: Clients<'static>,
    /// The client of each reader.
    pub owners: Vec<ClientId>,
    /// The weights that are not 1.
    pub weights: Vec<(ClientId, u32)>,
}

/// A mix of clients that read.
#[derive(Clone, Copy, Debug)]
pub struct SharingMix {
    /// The name that users know it by.
    pub name: &'static str,
    /// The device's name. It gives less than they want.
    pub device: &'static str,
    make: fn() -> Sharers,
}

/// 10 ms away, 100 MB/s in all.
const STORE: &str = "network:latency=10ms,connection=80MB/s,total=100MB/s";
const DISK: &str = "ide-2006";

impl SharingMix {
    /// Five clients, one of which asks for 16 pieces at once.
    pub const MANY_AT_ONCE: SharingMix =
        SharingMix { name: "five, one of them 16 at once", device: STORE, make: many_at_once };
    /// Three clients, which read as much as their weights say.
    pub const WEIGHTED: SharingMix =
        SharingMix { name: "weights 1, 2 and 4", device: STORE, make: || weighted(&[1, 2, 4]) };
    /// Two clients that read as much, one of them with eight readers.
    pub const MANY_READERS: SharingMix =
        SharingMix { name: "one reader beside eight", device: STORE, make: many_readers };
    /// A client that reads in order, and one with 64 random readers.
    pub const RANDOM_READERS: SharingMix =
        SharingMix { name: "in order beside 64 at random", device: STORE, make: random_readers };
    /// Four clients of a disk.
    pub const DISK_EQUAL: SharingMix =
        SharingMix { name: "disk, four", device: DISK, make: || weighted(&[1, 1, 1, 1]) };
    /// Four clients of a disk, two of which may have more.
    pub const DISK_WEIGHTED: SharingMix =
        SharingMix { name: "disk, weights 1, 1, 2 and 4", device: DISK, make: || weighted(&[1, 1, 2, 4]) };
    /// A client of the same disk, alone.
    pub const DISK_ALONE: SharingMix =
        SharingMix { name: "disk, one alone", device: DISK, make: || equal(&[256 * MIB], &[1]) };

    /// All of them, in the order of tables.
    pub const ALL: [SharingMix; 7] = [
        SharingMix::MANY_AT_ONCE,
        SharingMix::WEIGHTED,
        SharingMix::MANY_READERS,
        SharingMix::RANDOM_READERS,
        SharingMix::DISK_ALONE,
        SharingMix::DISK_EQUAL,
        SharingMix::DISK_WEIGHTED,
    ];

    /// Its readers, from the beginning.
    pub fn sharers(&self) -> Sharers {
        (self.make)()
    }
}

impl Sharers {
    /// Reader `index` belongs to client `owners[index]`, and reads of objects of these sizes.
    fn new(sizes: &[u64], readers: Vec<Box<dyn Client>>, owners: impl IntoIterator<Item = u64>) -> Sharers {
        Sharers {
            source: Clients::new(place(sizes.iter().copied(), MIB), readers),
            owners: owners.into_iter().map(ClientId).collect(),
            weights: Vec::new(),
        }
    }

    /// The weight of `client`.
    pub fn weight_of(&self, client: ClientId) -> u32 {
        self.weights.iter().find(|(other, _)| *other == client).map_or(1, |(_, weight)| *weight)
    }
}

/// A reader of every `step`th piece of `object` from `first` on, of `size` bytes in all.
fn pieces(object: u64, size: u64, first: u64, step: u64) -> Box<dyn Client> {
    let places = (first..size / READ_BYTES).step_by(step as usize);
    Box::new(places.map(move |at| Action::read(ObjectId(object), Extent::new(at * READ_BYTES, READ_BYTES))))
}

/// A reader of each object, which belongs to the client of that name.
fn equal(sizes: &[u64], owners: &[u64]) -> Sharers {
    let readers = (0..).zip(sizes).map(|(object, size)| pieces(object, *size, 0, 1));
    Sharers::new(sizes, readers.collect(), owners.iter().copied())
}

fn weighted(weights: &[u32]) -> Sharers {
    let sizes: Vec<u64> = weights.iter().map(|weight| u64::from(*weight) * 128 * MIB).collect();
    let owners: Vec<u64> = (1..=weights.len() as u64).collect();
    let named = owners.iter().copied().map(ClientId).zip(weights.iter().copied());
    Sharers { weights: named.collect(), ..equal(&sizes, &owners) }
}

fn many_at_once() -> Sharers {
    let size = 256 * MIB;
    let mut readers: Vec<Box<dyn Client>> = (0..4).map(|object| pieces(object, size, 0, 1)).collect();
    readers.extend((0..16).map(|first| pieces(4, size, first, 16)));
    Sharers::new(&[size; 5], readers, (0..4).chain([4; 16]))
}

fn many_readers() -> Sharers {
    let sizes: Vec<u64> = [256 * MIB].into_iter().chain([32 * MIB; 8]).collect();
    equal(&sizes, &[1, 2, 2, 2, 2, 2, 2, 2, 2])
}

fn random_readers() -> Sharers {
    // 64 of them ask for more than the store gives.
    let (size, count, place_count) = (512 * MIB, 64, 8192);
    let mut readers = vec![pieces(0, size, 0, 1)];
    for seed in 0..count {
        let mut numbers = Numbers::new(seed);
        let reads = (0..size / READ_BYTES / count).map(move |_| {
            Action::read(ObjectId(1), Extent::new(numbers.below(place_count) * READ_BYTES, READ_BYTES))
        });
        readers.push(Box::new(reads));
    }
    Sharers::new(&[size, place_count * READ_BYTES], readers, [1].into_iter().chain([2; 64]))
}
