//! The tables of the five documents that Forerun grew from, made again. Each has the document's
//! figure, the results of the algorithms of its time and of Forerun on a model of its machine, and
//! the bound.
//!
//! One file per family of tables. A claim that the model does not show is reported
//! with the reason; no parameter is fitted row by row.

mod daily;
pub mod data;
mod fairness;
mod findings;
mod images;
mod mounted;
mod nfs;
mod overhead;
mod pairs;
mod patterns;
mod plug;
pub(crate) mod programs;
mod random;
mod rbd;
pub(crate) mod scene;
pub(crate) mod server;
mod slow;
mod trees;

use std::convert::Infallible;

pub use findings::{Claim, Findings, Ruling};

use crate::work::on_all_cores_with;

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its short name, as in `A1`.
    pub id: &'static str,
    /// Its description, in a line.
    pub title: &'static str,
    /// The tables of [`data`] that it makes again.
    pub tables: &'static [&'static str],
    /// Makes them.
    pub run: fn() -> Findings,
}

/// Every experiment, in the order of the documents.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "A1",
        title: "every day's work, stock readahead of 128 KiB and adaptive readahead of 1 MiB",
        tables: &["s000_pairs/daily_128k_stock_vs_1m_adaptive"],
        run: daily::stock_128k,
    },
    Experiment {
        id: "A4",
        title: "every day's work, both with windows of 1 MiB",
        tables: &["s000_pairs/daily_same_1m"],
        run: daily::stock_1m,
    },
    Experiment {
        id: "B1",
        title: "lighttpd sends big files to slow clients, a few pages at a time",
        tables: &["s000_lighttpd", "s000_claims/partial sendfile sequence that defeats stock"],
        run: server::lighttpd,
    },
    Experiment {
        id: "B2",
        title: "memory for slow clients that keeps the disk as little busy",
        tables: &["s000_claims/memory saved per 1000 clients"],
        run: slow::memory,
    },
    Experiment {
        id: "C1",
        title: "800 slow readers in 64 MB of memory",
        tables: &["s000_claims/800 slow streams in 64 MB of memory without thrashing"],
        run: slow::streams,
    },
    Experiment {
        id: "D1",
        title: "every day's work over NFS, first round",
        tables: &["s000_pairs/nfs_round1"],
        run: nfs::first_round,
    },
    Experiment {
        id: "D2",
        title: "every day's work over NFS, second round",
        tables: &["s000_pairs/nfs_round2"],
        run: nfs::second_round,
    },
    Experiment {
        id: "E1",
        title: "random reads of 4 KiB, memory for the whole file",
        tables: &["s000_random_reads/300M.4k"],
        run: random::roomy_4k,
    },
    Experiment {
        id: "E2",
        title: "random reads of 64 KiB, memory for the whole file",
        tables: &["s000_random_reads/300M.64k"],
        run: random::roomy_64k,
    },
    Experiment {
        id: "E3",
        title: "random reads of 64 KiB, memory for most of the file",
        tables: &["s000_random_reads/80M.64k"],
        run: random::tight_64k,
    },
    Experiment {
        id: "E4",
        title: "random reads, memory for less than half of the file",
        tables: &["s000_random_reads/40M.64k", "s000_random_reads/40M.4k"],
        run: random::small,
    },
    Experiment {
        id: "E5",
        title: "the least and the most that adaptive readahead makes of random reads",
        tables: &["s000_claims/pure random reads"],
        run: random::range,
    },
    Experiment {
        id: "F1",
        title: "one page of every few from an array",
        tables: &["s000_claims/sparse sequential reads on RAID5"],
        run: patterns::sparse,
    },
    Experiment {
        id: "F2",
        title: "a file read from its end to its beginning",
        tables: &["s000_pairs/backward"],
        run: patterns::backward,
    },
    Experiment {
        id: "F3",
        title: "trees in a loop-mounted image",
        tables: &["s000_pairs/loop_mounted_iso"],
        run: mounted::loop_mounted,
    },
    Experiment {
        id: "G1",
        title: "the cost of the adaptive readahead for each page",
        tables: &["s002_overhead/cp sparse /dev/null"],
        run: overhead::per_page,
    },
    Experiment {
        id: "G2",
        title: "the cost of the adaptive readahead for each file",
        tables: &["s002_overhead/find /usr | md5sum"],
        run: overhead::per_file,
    },
    Experiment {
        id: "H1",
        title: "many processes read, each from its disk, and the queue is plugged or not",
        tables: &["s001_unplug", "s001_blktrace/old", "s001_blktrace/new"],
        run: plug::processes,
    },
    Experiment {
        id: "H2",
        title: "one process reads from an array whose queues are plugged or not",
        tables: &[],
        run: plug::arrays,
    },
    Experiment {
        id: "I1",
        title: "a virtual machine boots from Ceph RBD on an IDE bus",
        tables: &["s003_rbd/boot-ide"],
        run: rbd::boot_ide,
    },
    Experiment {
        id: "I2",
        title: "a virtual machine boots from Ceph RBD on a virtio bus",
        tables: &["s003_rbd/boot-virtio"],
        run: rbd::boot_virtio,
    },
    Experiment {
        id: "I3",
        title: "grep in a virtual machine on Ceph RBD on an IDE bus",
        tables: &["s003_rbd/grep-ide"],
        run: rbd::grep_ide,
    },
    Experiment {
        id: "I4",
        title: "grep in a virtual machine on Ceph RBD on a virtio bus",
        tables: &["s003_rbd/grep-virtio"],
        run: rbd::grep_virtio,
    },
    Experiment {
        id: "J1",
        title: "five clients of a file server, with enough memory and without",
        tables: &["s004_fairness"],
        run: fairness::clients,
    },
];

/// Makes the tables of `experiments` again, on all processors; in their order. `progress` hears how many are
/// done.
pub fn run(experiments: &[Experiment], progress: impl Fn(usize, usize) + Sync) -> Vec<Findings> {
    on_all_cores_with(experiments, |experiment| Ok::<_, Infallible>((experiment.run)()), progress)
        .unwrap_or_default()
}

/// An experiment's findings below its name.
pub fn show(experiment: &Experiment, findings: &Findings) -> String {
    format!("{}: {}\n\n{findings}", experiment.id, experiment.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_of_the_documents_is_claimed_by_an_experiment() {
        let claimed: BTreeSet<String> = EXPERIMENTS
            .iter()
            .flat_map(|experiment| experiment.tables.iter().map(|table| (*table).to_owned()))
            .collect();
        assert_eq!(claimed, data::tables());
    }

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<_> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
        assert_eq!(ids.len(), EXPERIMENTS.len());
    }
}
