//! The verdict of the gates on one workload on one device.

use std::fmt;

use forerun_engine::Config;
use forerun_sim::source::Placed;

use super::best::Best;
use super::contender::{Against, CONTENDERS};
use super::kind::Kind;
use crate::compare::seconds;
use crate::outcome::Outcome;
use crate::show::mean;
use crate::stats::Ratio;

/// How much slower than `none` counts as slower.
pub const HARM_MARGIN: f64 = 0.01;

/// How much slower than the best peer counts as slower.
pub const PEER_MARGIN: f64 = 0.02;

/// A stream's time is at most so many times the best possible one.
const BOUND_FACTOR: f64 = 1.25;

/// And that of a start with a profile.
const LEARNED_FACTOR: f64 = 1.15;

/// A promise; the first is the most important.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Not slower than `none`.
    Harm,
    /// Not slower than the best of other policies.
    Peers,
    /// Streams are near the best possible time.
    Bound,
    /// Boots and starts that were learned are nearer.
    Learned,
    /// Little is read that nobody wants.
    Regret,
}

impl Gate {
    /// All of them, in the order of tables.
    pub const ALL: [Gate; 5] = [Gate::Harm, Gate::Peers, Gate::Bound, Gate::Learned, Gate::Regret];

    /// The promise.
    pub fn promise(self) -> &'static str {
        match self {
            Gate::Harm => "not 1 % slower than none",
            Gate::Peers => "not 2 % slower than the best peer",
            Gate::Bound => "streams within 25 % of the clairvoyant bound",
            Gate::Learned => "boots and starts within 15 % of the clairvoyant bound with a profile",
            Gate::Regret => "unread bytes at most a tenth of the read ones and half of the memory per object",
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Gate::Harm => "harm",
            Gate::Peers => "peers",
            Gate::Bound => "bound",
            Gate::Learned => "learned",
            Gate::Regret => "regret",
        })
    }
}

/// `adaptive` on one workload, device and budget.
#[derive(Clone, Debug)]
pub struct Row {
    /// The workload's name.
    pub workload: String,
    /// The device's name.
    pub device: String,
    /// The budget in bytes.
    pub memory_bytes: u64,
    /// The kind of the workload.
    pub kind: Kind,
    /// How many seeds `adaptive` had.
    pub seed_count: usize,
    /// Its mean time in seconds.
    pub seconds: f64,
    /// Its time to that of `none`.
    pub harm: Ratio,
    /// Its time to that of the best peer.
    pub peer: Ratio,
    /// The best peer's index among [`CONTENDERS`].
    pub peer_at: usize,
    /// The best possible time, as a share of its own with the same seed, on average of some seeds.
    pub bound: f64,
    /// The same with what the run before it taught, if that is asked.
    pub learned: Option<f64>,
    /// Whether that is of a bracket so wide that its upper end says little.
    pub is_vague: bool,
    /// Bytes it fetched for each that was asked for.
    pub fetched: f64,
    /// Bytes that nobody read, on average.
    pub wasted_bytes: f64,
    /// How many there may be.
    pub waste_bytes_max: f64,
    /// The same of the best peer, which has no such promise to keep.
    pub peer_wasted_bytes: f64,
}

impl Row {
    /// The row of a workload of these `objects`. It has the outcomes of [`CONTENDERS`] in their order, the
    /// `best` times for them, and the share of these that was `learned`.
    pub(super) fn of(
        outcomes: &[Outcome],
        best: &Best,
        learned: Option<f64>,
        kind: Kind,
        objects: &[Placed],
    ) -> Row {
        let times: Vec<Vec<f64>> = outcomes.iter().map(seconds).collect();
        let to = |at: usize| Ratio::of(&times[0], &times[at]);
        let peer_at = best_peer(&times);
        let own = &outcomes[0];
        let wasted_bytes = mean(own, |run| run.wasted_bytes);
        let used = mean(own, |run| run.demand_bytes + run.readahead_bytes) - wasted_bytes;
        let sizes = objects.iter().map(|object| object.size);
        Row {
            workload: own.workload.clone(),
            device: own.device.clone(),
            memory_bytes: own.memory_bytes,
            kind,
            seed_count: own.runs.len(),
            seconds: times[0].iter().sum::<f64>() / times[0].len() as f64,
            harm: to(1),
            peer: to(peer_at),
            peer_at,
            bound: best.share(own),
            learned,
            is_vague: !crate::show::is_narrow(own.bounds),
            fetched: mean(own, |run| run.device.read_bytes) / mean(own, |run| run.read_bytes).max(1.0),
            wasted_bytes,
            waste_bytes_max: Config::new(own.memory_bytes).waste_bytes_max(used as u64, sizes) as f64,
            peer_wasted_bytes: mean(&outcomes[peer_at], |run| run.wasted_bytes),
        }
    }

    /// The best peer's name.
    pub fn peer_name(&self) -> &'static str {
        CONTENDERS[self.peer_at].name
    }

    /// Whether the best peer would break the last promise here.
    pub fn is_peer_wasteful(&self) -> bool {
        self.peer_wasted_bytes > self.waste_bytes_max
    }

    /// Whether `gate` holds; `None` where it has nothing to say. An undecided promise does not hold.
    pub fn holds(&self, gate: Gate) -> Option<bool> {
        match gate {
            Gate::Harm => Some(self.harm.verdict(HARM_MARGIN).is_harmless()),
            Gate::Peers => Some(self.peer.verdict(PEER_MARGIN).is_harmless()),
            Gate::Bound => (self.kind == Kind::Stream).then_some(self.bound * BOUND_FACTOR >= 1.0),
            Gate::Learned => self.learned.map(|share| share * LEARNED_FACTOR >= 1.0),
            Gate::Regret => Some(self.wasted_bytes <= self.waste_bytes_max),
        }
    }

    /// The gates that do not hold.
    pub fn failing(&self) -> impl Iterator<Item = Gate> + '_ {
        Gate::ALL.into_iter().filter(|gate| self.holds(*gate) == Some(false))
    }

    /// The first gate that does not hold, and by how much it is missed, as a factor.
    pub fn worst(&self) -> Option<(Gate, f64)> {
        let gate = self.failing().next()?;
        let missed = match gate {
            Gate::Harm => self.harm.mean,
            Gate::Peers => self.peer.mean,
            Gate::Bound => 1.0 / (self.bound * BOUND_FACTOR),
            Gate::Learned => 1.0 / (self.learned.unwrap_or(1.0) * LEARNED_FACTOR),
            Gate::Regret => self.wasted_bytes / self.waste_bytes_max,
        };
        Some((gate, missed))
    }
}

/// The peer that takes the least time, by the seeds that all of them had; the first of equals.
fn best_peer(times: &[Vec<f64>]) -> usize {
    let seeds = times.iter().map(Vec::len).min().unwrap_or(0);
    let share = |at: &usize| Ratio::of(&times[*at][..seeds], &times[0][..seeds]).mean;
    let peers = (0..times.len()).filter(|at| CONTENDERS[*at].against == Against::Peer);
    peers.min_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(0)
}
