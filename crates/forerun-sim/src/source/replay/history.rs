//! The state of accesses that later ones may depend on.

use std::collections::{BTreeMap, VecDeque};

use forerun_trace::{Dependency, Moment};

use super::super::Time;
use super::BUFFERED_MAX;
use crate::map::Map;

/// When an access may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    At(Time),
    /// Not before something happens to this access.
    After(u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    submitted: Option<Time>,
    completed: Option<Time>,
}

/// An access that was made.
#[derive(Clone, Copy, Debug)]
struct Made {
    id: u64,
    client: u32,
    /// `moments` has it.
    is_remembered: bool,
}

/// A token says how many were made before and, in so many bits, where it is under way.
const PLACE_BITS: u32 = 17;

/// Remembers every access that is still to come or under way, and the last
/// [`BUFFERED_MAX`] that are done.
#[derive(Debug, Default)]
pub(super) struct History {
    moments: Map<u64, Moments>,
    done: VecDeque<u64>,
    /// Under way, by place.
    in_flight: Vec<Option<Made>>,
    vacant: Vec<u64>,
    /// How many were made so far.
    made_count: u64,
    /// Clients whose next access waits for the access named.
    waiting: BTreeMap<u64, Vec<u32>>,
    woken: Vec<u32>,
}

impl History {
    /// The trace has an access called `id`.
    pub(super) fn expect(&mut self, id: u64) {
        self.moments.insert(id, Moments::default());
    }

    pub(super) fn readiness(&self, after: &[Dependency], think_percent: u64) -> Readiness {
        let mut ready = Time(0);
        for dependency in after {
            // One that is not known is long done.
            let Some(moments) = self.moments.get(&dependency.id) else { continue };
            let moment = match dependency.moment {
                Moment::Submitted => moments.submitted,
                Moment::Completed => moments.completed,
            };
            let Some(time) = moment else { return Readiness::After(dependency.id) };
            let think_ns = u128::from(dependency.delta_ns) * u128::from(think_percent) / 100;
            ready = ready.max(Time(time.0.saturating_add(u64::try_from(think_ns).unwrap_or(u64::MAX))));
        }
        Readiness::At(ready)
    }

    pub(super) fn wait(&mut self, id: u64, client: u32) {
        self.waiting.entry(id).or_default().push(client);
    }

    /// An access is made; its token.
    pub(super) fn submitted(&mut self, now: Time, id: u64, client: u32, remember: bool) -> u64 {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.in_flight.push(None);
            self.in_flight.len() as u64 - 1
        });
        debug_assert!(place >> PLACE_BITS == 0, "more are under way than there may be");
        self.in_flight[place as usize] = Some(Made { id, client, is_remembered: remember });
        self.made_count += 1;
        if remember {
            self.moments.entry(id).or_default().submitted = Some(now);
            self.woken.extend(self.waiting.remove(&id).unwrap_or_default());
        }
        self.made_count << PLACE_BITS | place
    }

    /// An access is done; whose it was.
    pub(super) fn completed(&mut self, now: Time, token: u64) -> u32 {
        let place = token & ((1 << PLACE_BITS) - 1);
        let made = self.in_flight[place as usize].take();
        let Made { id, client, is_remembered } = made.expect("a step that was made is done once");
        self.vacant.push(place);
        if is_remembered {
            self.moments.entry(id).or_default().completed = Some(now);
            self.woken.extend(self.waiting.remove(&id).unwrap_or_default());
            self.done.push_back(id);
            if self.done.len() > BUFFERED_MAX
                && let Some(old) = self.done.pop_front()
            {
                self.moments.remove(&old);
            }
        }
        client
    }

    /// A client to look at again.
    pub(super) fn woken(&mut self) -> Option<u32> {
        self.woken.pop()
    }

    /// Nothing is under way, so what is waited for never comes: the first that is
    /// waited for is forgotten. False if nobody waits.
    pub(super) fn give_up(&mut self) -> bool {
        let Some((id, clients)) = self.waiting.pop_first() else { return false };
        self.moments.remove(&id);
        self.woken.extend(clients);
        true
    }
}
