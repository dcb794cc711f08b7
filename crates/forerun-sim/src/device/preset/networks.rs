//! Stores behind a network.

use super::{Costs, Model, Preset};
use crate::device::{Latency, NetworkSpec};

const MS: u64 = 1_000_000;
const MB: u64 = 1_000_000;

/// The store of `forerun demo`: 10 ms, 80 MB/s for each connection, 400 MB/s in all.
const DEMO: NetworkSpec = NetworkSpec {
    latency: Latency::constant(10 * MS),
    connection_bytes_per_s: 80 * MB,
    total_bytes_per_s: 400 * MB,
    request_interval_ns: 0,
    connection_count: 64,
};

/// S3 from a machine in the same region. The first byte is log-normal with median 14 ms and p90 20 ms. 93
/// MB/s for each connection, 5500 requests a second for each prefix (dvassallo/s3-benchmark of 2019;
/// Amazon's performance guidelines). One in 200 takes 0.1 to 1 s. 1250 MB/s is a 10 Gbit/s interface.
const S3: NetworkSpec = NetworkSpec {
    latency: Latency::log_normal(14 * MS, 280).with_tail(5_000, 100 * MS, 1000 * MS),
    connection_bytes_per_s: 93 * MB,
    total_bytes_per_s: 1250 * MB,
    request_interval_ns: 1_000_000_000 / 5500,
    connection_count: 256,
};

/// The same from far away, or as pessimistic as Amazon's advice of "100 to 200 ms":
/// median 100 ms, p90 200 ms.
const S3_FAR: NetworkSpec =
    NetworkSpec { latency: Latency::log_normal(100 * MS, 540).with_tail(5_000, 300 * MS, 3000 * MS), ..S3 };

/// An NFS server in the same Gigabit network, everything in its memory: 0.1 ms and 110 MB/s.
const NFS_GBE: NetworkSpec = NetworkSpec {
    latency: Latency::log_normal(MS / 10, 200),
    connection_bytes_per_s: 110 * MB,
    total_bytes_per_s: 110 * MB,
    request_interval_ns: 0,
    connection_count: 16,
};

/// The network store called `name`.
pub(super) fn known(name: &str) -> Option<Preset> {
    let (title, spec) = match name {
        "demo" => ("the store of forerun demo: 10 ms, 80 MB/s per connection, 400 MB/s", DEMO),
        "s3" => ("S3 in the same region: 14 ms, 93 MB/s per connection", S3),
        "s3-far" => ("S3 far away: 100 ms, 93 MB/s per connection", S3_FAR),
        "nfs-gbe" => ("NFS over Gigabit Ethernet: 0.1 ms, 110 MB/s", NFS_GBE),
        _ => return None,
    };
    Some(preset(name, title, spec))
}

/// A network store of `spec`.
pub(super) fn preset(name: &str, title: &str, spec: NetworkSpec) -> Preset {
    Preset {
        name: name.to_owned(),
        title: title.to_owned(),
        capacity_bytes: 1 << 42,
        model: Model::Network(spec),
    }
}

/// The best that `spec` can do.
pub(super) fn costs(spec: &NetworkSpec) -> Costs {
    Costs {
        positioning_ns_min: 0,
        latency_ns_min: spec.latency.ns_min(),
        latency_ns_typical: spec.latency.median_ns,
        request_interval_ns: spec.request_interval_ns,
        request_bytes_per_s_max: spec.connection_bytes_per_s.min(spec.total_bytes_per_s),
        bytes_per_s_max: spec
            .total_bytes_per_s
            .min(spec.connection_bytes_per_s * spec.connection_count as u64),
        slot_count: spec.connection_count,
        is_disk: false,
    }
}
