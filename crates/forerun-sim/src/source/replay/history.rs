//! What became of the accesses that later ones may depend on.

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

/// Remembers every access that is still to come or under way, and the last
/// [`BUFFERED_MAX`] that are done.
#[derive(Debug, Default)]
pub(super) struct History {
    moments: Map<u64, Moments>,
    done: VecDeque<u64>,
    /// Under way: by token, its id, its client and whether `moments` has it.
    in_flight: Map<u64, (u64, u32, bool)>,
    token: u64,
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
        self.token += 1;
        self.in_flight.insert(self.token, (id, client, remember));
        if remember {
            self.moments.entry(id).or_default().submitted = Some(now);
            self.woken.extend(self.waiting.remove(&id).unwrap_or_default());
        }
        self.token
    }

    /// An access is done; whose it was.
    pub(super) fn completed(&mut self, now: Time, token: u64) -> u32 {
        let (id, client, remember) =
            self.in_flight.remove(&token).expect("a step that was made is done once");
        if remember {
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
