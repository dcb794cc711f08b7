//! Fair shares: whose read or readahead is fetched next.
//!
//! Readers belong to clients. Clients share the device by their weights, and the readers of a client share equally
//! (`turns.rs`). All that is fetched for a reader counts, whether it waits for it or not. So readers that wait go first until
//! they are ahead of their share by more than keeps the device busy. Then they let the readahead of others go first.

mod caps;
mod turns;

use alloc::collections::{BTreeMap, VecDeque};

use self::caps::Caps;
use self::turns::Turns;
use crate::types::{ClientId, ReadId, ReaderId, Time};

/// A part, or several times the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Favour {
    times: u64,
    of: u64,
}

impl Default for Favour {
    fn default() -> Favour {
        Favour { times: 1, of: 1 }
    }
}

impl Favour {
    /// That part of `bytes`.
    pub(crate) fn of(self, bytes: u64) -> u64 {
        (u128::from(bytes) * u128::from(self.times) / u128::from(self.of)) as u64
    }
}

/// See the module's page.
///
/// Invariant: a read is in the queue of its reader exactly while the turns count it as waiting.
#[derive(Debug, Default)]
pub(crate) struct Fair {
    clients: Turns<ClientId>,
    readers: BTreeMap<ClientId, Turns<ReaderId>>,
    /// Of readers that belong to another client than the default one.
    client_of: BTreeMap<ReaderId, ClientId>,
    /// Reads that wait, in the order in which they came.
    queues: BTreeMap<ReaderId, VecDeque<ReadId>>,
    waiting_count: usize,
    /// Readers that something was fetched for just now, as they were counted last.
    active_count: u64,
    caps: Caps,
    /// Bytes that were fetched for clients of which somebody wants to know.
    fetched_bytes: BTreeMap<ClientId, u64>,
    /// The time of the last call that may fetch something.
    now: Time,
    /// The bytes by which members may be ahead or behind: those that keep the device busy.
    slack: u64,
}

impl Fair {
    /// `reader` belongs to `client` from now on.
    pub(crate) fn set_client(&mut self, reader: ReaderId, client: ClientId) {
        debug_assert!(!self.queues.contains_key(&reader), "a reader that waits keeps its client");
        self.client_of.insert(reader, client);
    }

    pub(crate) fn set_weight(&mut self, client: ClientId, weight: u32) {
        self.clients.set_weight(client, weight, self.slack);
        self.watch(client);
    }

    /// Counts from now on what is fetched for `client`.
    fn watch(&mut self, client: ClientId) {
        self.fetched_bytes.entry(client).or_default();
    }

    /// Bytes that were fetched for `client` since it was given a weight or a rate.
    pub(crate) fn fetched_bytes(&self, client: ClientId) -> u64 {
        self.fetched_bytes.get(&client).copied().unwrap_or(0)
    }

    /// Sets or lifts the rate of `client`, or of all together, in bytes per second.
    pub(crate) fn set_rate(&mut self, client: Option<ClientId>, bytes_per_s: Option<u64>) {
        self.caps.set(client, bytes_per_s);
        client.into_iter().for_each(|client| self.watch(client));
    }

    /// It is `now`, and something may be fetched.
    pub(crate) fn advance(&mut self, now: Time) {
        self.now = now;
    }

    /// When something may be fetched for a client that has had its rate.
    pub(crate) fn next_ready(&self) -> Option<Time> {
        self.caps.next_ready(self.now)
    }

    /// Whether the rate of `reader` allows a fetch.
    pub(crate) fn is_ready(&self, reader: ReaderId) -> bool {
        self.caps.is_ready(self.now, self.client(reader))
    }

    /// The most bytes of one fetch for `reader`.
    pub(crate) fn fetch_bytes_max(&self, reader: ReaderId) -> u64 {
        self.caps.fetch_bytes_max(self.client(reader))
    }

    /// `reader` has left.
    pub(crate) fn leave(&mut self, reader: ReaderId) {
        if !self.queues.contains_key(&reader) {
            self.client_of.remove(&reader);
        }
    }

    fn client(&self, reader: ReaderId) -> ClientId {
        self.client_of.get(&reader).copied().unwrap_or_default()
    }

    /// How many reads wait.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting_count
    }

    /// `read` waits, behind the other reads of `reader`, or before them if it `is_first`.
    pub(crate) fn begin_wait(&mut self, reader: ReaderId, read: ReadId, is_first: bool) {
        let client = self.client(reader);
        self.clients.begin_wait(client, self.slack);
        self.readers.entry(client).or_default().begin_wait(reader, self.slack);
        let queue = self.queues.entry(reader).or_default();
        if is_first {
            queue.push_front(read)
        } else {
            queue.push_back(read)
        }
        self.waiting_count += 1;
    }

    /// `read` waits no longer.
    pub(crate) fn end_wait(&mut self, reader: ReaderId, read: ReadId) {
        let Some(queue) = self.queues.get_mut(&reader) else { return };
        let Some(place) = queue.iter().position(|waiting| *waiting == read) else { return };
        queue.remove(place);
        if queue.is_empty() {
            self.queues.remove(&reader);
        }
        self.waiting_count -= 1;
        let client = self.client(reader);
        self.clients.end_wait(client);
        if let Some(readers) = self.readers.get_mut(&client) {
            readers.end_wait(reader);
        }
    }

    /// Every read that waits for its turn alone, and its reader: those whose turn it is first.
    pub(crate) fn reads_in_turn(&self) -> impl Iterator<Item = (ReaderId, ReadId)> + '_ {
        let clients = self.clients.in_turn().filter(|client| self.caps.is_ready(self.now, *client));
        let readers = clients.filter_map(|client| self.readers.get(&client));
        let readers = readers.flat_map(Turns::in_turn);
        readers.flat_map(|reader| {
            self.queues.get(&reader).into_iter().flatten().map(move |read| (reader, *read))
        })
    }

    /// `len` bytes are fetched for `reader`, which costs as much as `bytes`. `slack` bytes keep the device busy.
    pub(crate) fn charge(&mut self, reader: ReaderId, len: u64, bytes: u64, slack: u64) {
        self.slack = slack;
        let client = self.client(reader);
        self.caps.charge(self.now, client, len);
        if let Some(fetched) = self.fetched_bytes.get_mut(&client) {
            *fetched += len;
        }
        self.clients.charge(client, bytes, slack);
        let readers = self.readers.entry(client).or_default();
        readers.charge(reader, bytes, slack);
        readers.count_active(slack);
        if self.clients.count_active(slack) {
            self.readers.retain(|client, _| self.clients.knows(*client));
            let active = self.readers.iter().filter(|(client, _)| self.clients.is_active(**client, slack));
            self.active_count = active.map(|(_, readers)| readers.active().count).sum();
        }
    }

    /// The place of `reader` in the order of turns: the least is next. None if its rate allows no fetch.
    pub(crate) fn rank(&self, reader: ReaderId) -> Option<(u64, u64)> {
        let client = self.client(reader);
        if !self.caps.is_ready(self.now, client) {
            return None;
        }
        let within = self.readers.get(&client).map_or(0, |readers| readers.start(reader, self.slack));
        Some((self.clients.start(client, self.slack), within))
    }

    /// How much a stream of `reader` gets of what keeps the device busy, to what it would get if all streams got the same.
    pub(crate) fn favour(&self, reader: ReaderId) -> Favour {
        let client = self.client(reader);
        let own = self.readers.get(&client).map_or(1, |readers| readers.active().count.max(1));
        let weight = u64::from(self.clients.weight(client));
        let weights = self.clients.active().weight.max(weight);
        Favour { times: weight * self.active_count.max(own), of: weights * own }
    }

    /// Whether a read of `reader` lets the readahead of one of `others` go first.
    pub(crate) fn yields(&self, reader: ReaderId, mut others: impl Iterator<Item = ReaderId>) -> bool {
        let client = self.client(reader);
        let Some(readers) = self.readers.get(&client) else { return false };
        if !self.clients.is_ahead(client) && !readers.is_ahead(reader) {
            return false;
        }
        others.any(|other| match self.client(other) {
            same if same == client => readers.is_after(reader, other, self.slack),
            owner => self.clients.is_after(client, owner, self.slack) && self.caps.is_ready(self.now, owner),
        })
    }
}

#[cfg(test)]
mod tests;
