//! How equal the clients of a run were.

use std::collections::BTreeMap;

use forerun_sim::run::Run;

use crate::stats::jain_index;

const SECOND_NS: u64 = 1_000_000_000;

/// The result of a run that clients shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedRun {
    /// When the first client was done, in nanoseconds.
    pub first_ns: u64,
    /// When the last one was.
    pub last_ns: u64,
    /// The least Jain index of a whole second in which all were there; none if there was no such second.
    pub jain_least: Option<f64>,
    /// Its mean over these seconds.
    pub jain_mean: Option<f64>,
    /// The bytes that all of them read and wrote.
    pub bytes: u64,
}

impl SharedRun {
    /// Of `run`, whose readers got the bytes of `seconds`, and had all begun at `begun_ns`. `owner` tells
    /// the client of a reader, and its weight. The bytes of a client count by its weight.
    pub(super) fn of(
        run: &Run,
        seconds: &[Vec<u64>],
        begun_ns: u64,
        owner: impl Fn(usize) -> (u64, u32),
    ) -> SharedRun {
        let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
        for (reader, client) in run.clients.iter().enumerate() {
            let end = ends.entry(owner(reader).0).or_default();
            *end = client.finished_ns.max(*end);
        }
        let first_ns = ends.values().copied().min().unwrap_or(0);
        let shared = (begun_ns.div_ceil(SECOND_NS) as usize).min(seconds.len())
            ..((first_ns / SECOND_NS) as usize).min(seconds.len());
        let indexes: Vec<f64> =
            seconds.get(shared).unwrap_or(&[]).iter().map(|bytes| jain_of(bytes, &owner)).collect();
        SharedRun {
            first_ns,
            last_ns: ends.values().copied().max().unwrap_or(0),
            jain_least: indexes.iter().copied().reduce(f64::min),
            jain_mean: (!indexes.is_empty()).then(|| indexes.iter().sum::<f64>() / indexes.len() as f64),
            bytes: run.clients.iter().map(|client| client.read_bytes + client.write_bytes).sum(),
        }
    }

    /// The end of the first to that of the last.
    pub fn first_to_last(&self) -> f64 {
        self.first_ns as f64 / self.last_ns.max(1) as f64
    }

    /// Bytes of all in a second, until the last is done.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.last_ns.max(1) as f64
    }
}

/// Jain's index of what the clients got, each divided by its weight.
fn jain_of(bytes: &[u64], owner: &impl Fn(usize) -> (u64, u32)) -> f64 {
    let mut shares: BTreeMap<u64, f64> = BTreeMap::new();
    for (reader, bytes) in bytes.iter().enumerate() {
        let (client, weight) = owner(reader);
        *shares.entry(client).or_default() += *bytes as f64 / f64::from(weight);
    }
    jain_index(&shares.into_values().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use forerun_sim::run::ClientRun;

    use super::*;

    #[test]
    fn seconds_count_in_which_all_were_there() {
        let client = |finished_ms: u64| ClientRun {
            finished_ns: finished_ms * 1_000_000,
            read_bytes: 10,
            write_bytes: 5,
            ..ClientRun::default()
        };
        // The first and the third reader are one client, with weight 2.
        let run = Run { clients: vec![client(2900), client(4000), client(3100)], ..Run::default() };
        let owner = |reader: usize| if reader == 1 { (7, 1) } else { (3, 2) };
        let seconds = [vec![9, 0, 0], vec![4, 3, 2], vec![0, 4, 0], vec![0, 1, 0]];
        let shared = SharedRun::of(&run, &seconds, 300_000_000, owner);
        assert_eq!((shared.first_ns, shared.last_ns, shared.bytes), (3_100_000_000, 4_000_000_000, 45));
        // In the second second both have 3, and in the third one of them has all.
        assert_eq!((shared.jain_least, shared.jain_mean), (Some(0.5), Some(0.75)));
        let late = SharedRun::of(&run, &seconds, 3_000_000_000, owner);
        assert_eq!((late.jain_least, late.jain_mean), (None, None));
    }
}
