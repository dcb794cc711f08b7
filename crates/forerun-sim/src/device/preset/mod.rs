//! Devices by name, with the numbers that make them and where those come from.

mod disks;
mod networks;
mod parse;
mod solid;

use super::{Device, Disk, DiskSpec, Level, Network, NetworkSpec, Provisioned, ProvisionedSpec, Raid};
use super::{Stations, StationsSpec};

/// A device's parameters, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    name: String,
    title: String,
    capacity_bytes: u64,
    model: Model,
}

/// The device model of a preset, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Model {
    Network(NetworkSpec),
    Disk(DiskSpec),
    Raid { level: Level, chunk_bytes: u64, member_count: usize, member: DiskSpec },
    Stations(StationsSpec),
    Provisioned(ProvisionedSpec),
}

/// The best that a device can do, for bounds: no request is ever served faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// The least time to move to bytes that do not follow the last ones, in nanoseconds;
    /// 0 where nothing moves.
    pub positioning_ns_min: u64,
    /// The least time from a request to its first byte, in nanoseconds.
    pub latency_ns_min: u64,
    /// The usual time to the first byte of a request, in nanoseconds. Not a bound.
    pub latency_ns_typical: u64,
    /// The least time between the starts of two requests, in nanoseconds.
    pub request_interval_ns: u64,
    /// The most bytes that one request receives in a second.
    pub request_bytes_per_s_max: u64,
    /// The most bytes that all of them receive together in a second.
    pub bytes_per_s_max: u64,
    /// How many requests are served at once.
    pub slot_count: usize,
    /// Whether a disk's head moves.
    pub is_disk: bool,
}

impl Preset {
    /// The names, for help. `network:` takes parameters besides.
    pub const ALL: &'static [&'static str] = &[
        "demo",
        "s3",
        "s3-far",
        "nfs-gbe",
        "rbd-2014",
        "ebs-gp3",
        "nvme",
        "fc-2010",
        "ide-2006",
        "scsi-2001",
        "cheetah9lp",
        "raid0-7",
        "raid5",
        "instant",
    ];

    /// The preset called `name`, or a network store by its parameters:
    /// `network:latency=50ms,connection=80MB/s,total=400MB/s`.
    ///
    /// # Errors
    /// The part of the name that is not understood, and the names that are.
    pub fn from_name(name: &str) -> Result<Preset, String> {
        if let Some(parameters) = name.strip_prefix("network:") {
            return Ok(networks::preset(name, "network store", parse::network(parameters)?));
        }
        let known = networks::known(name).or_else(|| disks::known(name)).or_else(|| solid::known(name));
        known.ok_or_else(|| {
            format!(
                "no device is called {name:?}; there are {} and network:latency=50ms,...",
                Preset::ALL.join(", ")
            )
        })
    }

    /// The name it was asked for by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A title of a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Bytes it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// The device, with the luck of `seed`.
    pub fn build(&self, seed: u64) -> Box<dyn Device> {
        match &self.model {
            Model::Network(spec) => Box::new(Network::new(*spec, seed)),
            Model::Disk(spec) => Box::new(Disk::new(spec.clone())),
            Model::Raid { level, chunk_bytes, member_count, member } => {
                let disk = || Box::new(Disk::new(member.clone())) as Box<dyn Device>;
                Box::new(Raid::new(*level, *chunk_bytes, (0..*member_count).map(|_| disk()).collect()))
            }
            Model::Stations(spec) => Box::new(Stations::new(*spec, seed)),
            Model::Provisioned(spec) => Box::new(Provisioned::new(*spec, seed)),
        }
    }

    /// Whether seeds differ.
    pub fn has_luck(&self) -> bool {
        match &self.model {
            Model::Network(spec) => spec.latency.has_luck(),
            Model::Disk(_) | Model::Raid { .. } => false,
            Model::Stations(spec) => spec.delay.has_luck() || spec.hold.has_luck(),
            Model::Provisioned(spec) => spec.latency.has_luck(),
        }
    }

    /// The parameters, if it is one disk.
    pub fn disk(&self) -> Option<&DiskSpec> {
        match &self.model {
            Model::Disk(spec) => Some(spec),
            _ => None,
        }
    }

    /// The best it can do.
    pub fn costs(&self) -> Costs {
        match &self.model {
            Model::Network(spec) => networks::costs(spec),
            Model::Disk(spec) => disks::costs(spec),
            Model::Raid { member_count, member, .. } => disks::raid_costs(member, *member_count),
            Model::Stations(spec) => solid::stations_costs(spec),
            Model::Provisioned(spec) => solid::provisioned_costs(spec),
        }
    }
}
