//! A file server and clients that write and read back, as in seed 004.
//!
//! Each client writes a file, reads it back, and goes on to the next. While the files fit in the server's
//! memory, the clients share the network. When they do not, they share the disk.
//= seed 004

use forerun_engine::Config;
use forerun_policies::PolicyKind;
use forerun_sim::device::{Device, Preset};
use forerun_sim::kernel::{KernelConfig, KernelWorld, LoopDevice};
use forerun_sim::queue::{Plug, Queue, elevator};
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Link, Linked, Metered, ObjectId, Placed};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

use crate::seeds::programs::forward;
use crate::seeds::scene::stock;

pub(crate) const CLIENTS: u64 = 5;
pub(crate) const FILE_BYTES: u64 = 30 << 20;
/// The bytes that a client requests at once.
const REQUEST_BYTES: u64 = 8 << 10;
const PAGE_BYTES: u64 = 4096;
/// A directory each, which ext2 puts far apart on a disk of 9 GB.
const DIRECTORY_BYTES: u64 = 1800 << 20;
/// The most files that a client's directory has room for.
pub const FILES_EACH_MAX: u64 = DIRECTORY_BYTES / FILE_BYTES;
/// 255 sectors of a request, in whole pages.
//= linux 2.4.10 include/linux/blkdev.h
const LINUX_REQUEST_BYTES: u64 = 124 << 10;
/// The clients begin within this time of each other.
pub(super) const START_NS: u64 = 2_000_000_000;

/// The kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// A Linux 2.4 with this elevator.
    Linux(&'static str),
    /// Forerun above the disk.
    Forerun(PolicyKind),
    /// Forerun above a file of a Linux 2.4, which has a quarter of the memory, with this
    /// elevator.
    OverLinux(PolicyKind, &'static str),
}

/// The clients, and the memory of the server for their files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileClients {
    pub(crate) files_each: u64,
    pub(crate) memory_bytes: u64,
    /// The luck of their starts.
    pub(crate) seed: u64,
}

impl FileClients {
    /// The run, and the bytes that each client gets in each second.
    pub(crate) fn run(self, server: Serving) -> (Run, Vec<Vec<u64>>) {
        let bytes = self.memory_bytes;
        let mut source = Linked::new(Metered::new(self.source()), Link::ethernet_100());
        let linux = |bytes: u64| KernelConfig {
            request_bytes_max: LINUX_REQUEST_BYTES,
            ..KernelConfig::linux_2_4(bytes / PAGE_BYTES)
        };
        let engine = |policy: PolicyKind, bytes: u64, device: Box<dyn Device>| {
            let config = Config { policy: policy.into(), ..Config::new(bytes) };
            World::new(config, device).expect("the budget works")
        };
        let run = match server {
            Serving::Linux(name) => {
                KernelWorld::new(linux(bytes), stock(128 << 10), disk(name)).run(&mut source)
            }
            Serving::Forerun(policy) => engine(policy, bytes, disk("deadline")).run(&mut source),
            Serving::OverLinux(policy, name) => {
                let all = Placed { address: 0, size: CLIENTS * DIRECTORY_BYTES };
                let file = LoopDevice::new(linux(bytes / 4), stock(128 << 10), disk(name), all);
                engine(policy, bytes / 4 * 3, Box::new(file)).run(&mut source)
            }
        };
        (run.expect("nobody hangs in an experiment"), source.inner().seconds().to_vec())
    }

    fn source(self) -> Clients<'static> {
        let mut numbers = Numbers::new(self.seed);
        let count = self.files_each;
        let file = move |file: u64| {
            let (client, file) = (file / count, file % count);
            Placed { address: client * DIRECTORY_BYTES + file * FILE_BYTES, size: FILE_BYTES }
        };
        let files = (0..CLIENTS * count).map(file).collect();
        let clients = (0..CLIENTS).map(|client| {
            let begin = Action::Pause(numbers.below(START_NS));
            let files = (client * count..(client + 1) * count).map(ObjectId);
            let actions = files.flat_map(|file| {
                let written =
                    forward(FILE_BYTES, REQUEST_BYTES).map(move |extent| Action::write(file, extent));
                let read = forward(FILE_BYTES, REQUEST_BYTES).map(move |extent| Action::read(file, extent));
                written.chain(read).chain([Action::close(file)])
            });
            Box::new([begin].into_iter().chain(actions)) as Box<dyn Client>
        });
        Clients::new(files, clients.collect())
    }
}

fn disk(name: &str) -> Box<dyn Device> {
    let disk = Preset::from_name("scsi-2001").expect("a preset").build(1);
    Box::new(Queue::new(disk, elevator(name).expect("an elevator"), Plug::Historic))
}
