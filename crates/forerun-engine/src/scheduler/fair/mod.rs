//! Fair shares: whose read or readahead is fetched next.
//!
//! Readers belong to clients. Clients share the device by their weights, and the readers of a client share equally
//! (`turns.rs`). All that is fetched for a reader counts, whether it waits for it or not. So readers that wait go first until
//! they are ahead of their share by more than keeps the device busy. Then they let the readahead of others go first.

mod caps;
mod payer;
mod turns;

use alloc::collections::{BTreeMap, VecDeque};

use self::caps::Caps;
pub(crate) use self::payer::{Favour, Payer};
use self::turns::Turns;
pub(crate) use self::turns::{Kind, Slack};
use crate::types::{ClientId, ReadId, ReaderId, Time};

/// Reads of clients that have had their rate that are looked at: all of them would take too long.
const UNREADY_READS: usize = 64;

/// The reads of one reader that wait, in the order in which they came.
#[derive(Debug)]
struct WaitingReads {
    client: ClientId,
    reads: VecDeque<ReadId>,
}

/// See the module's page.
///
/// Invariant: a read is in the queue of its reader, and a window in `Pending`, exactly while the turns count it as
/// waiting.
#[derive(Debug, Default)]
pub(crate) struct Fair {
    clients: Turns<ClientId>,
    readers: BTreeMap<ClientId, Turns<ReaderId>>,
    /// Of readers that belong to another client than the default one.
    client_of: BTreeMap<ReaderId, ClientId>,
    queues: BTreeMap<ReaderId, WaitingReads>,
    /// Readers that something was fetched for just now, as they were counted last.
    active_count: u64,
    caps: Caps,
    /// Bytes that were fetched for clients of which somebody wants to know.
    fetched_bytes: BTreeMap<ClientId, u64>,
    /// The time of the last call that may fetch something.
    now: Time,
    slack: Slack,
}

impl Fair {
    /// `reader` belongs to `client` from now on.
    pub(crate) fn set_client(&mut self, reader: ReaderId, client: ClientId) {
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

    /// Bytes that were fetched for clients since they were given a weight or a rate.
    pub(crate) fn fetched_bytes(&self) -> impl Iterator<Item = (ClientId, u64)> + '_ {
        self.fetched_bytes.iter().map(|(client, bytes)| (*client, *bytes))
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

    /// Whether the rate of `payer` allows a fetch.
    pub(crate) fn is_ready(&self, payer: Payer) -> bool {
        self.caps.is_ready(self.now, payer.client)
    }

    /// The most bytes of one fetch for `payer` that no reader waits for.
    pub(crate) fn fetch_bytes_max(&self, payer: Payer) -> u64 {
        self.caps.fetch_bytes_max(payer.client)
    }

    /// `reader` has left.
    pub(crate) fn leave(&mut self, reader: ReaderId) {
        self.client_of.remove(&reader);
    }

    /// `reader` and its client.
    pub(crate) fn payer(&self, reader: ReaderId) -> Payer {
        Payer { client: self.client_of.get(&reader).copied().unwrap_or_default(), reader }
    }

    /// Whether a read waits.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.queues.is_empty()
    }

    /// `read` waits, behind the other reads of `reader`, or before them if it `is_first`.
    pub(crate) fn begin_wait(&mut self, reader: ReaderId, read: ReadId, is_first: bool) {
        let client = self.payer(reader).client;
        let queue = self.queues.entry(reader).or_insert(WaitingReads { client, reads: VecDeque::new() });
        if is_first {
            queue.reads.push_front(read)
        } else {
            queue.reads.push_back(read)
        }
        // The client that its other reads wait for.
        let payer = Payer { client: queue.client, reader };
        self.begin(payer, Kind::Read);
    }

    /// `read` waits no longer.
    pub(crate) fn end_wait(&mut self, reader: ReaderId, read: ReadId) {
        let Some(queue) = self.queues.get_mut(&reader) else { return };
        let Some(place) = queue.reads.iter().position(|waiting| *waiting == read) else { return };
        queue.reads.remove(place);
        let client = queue.client;
        if queue.reads.is_empty() {
            self.queues.remove(&reader);
        }
        self.end(Payer { client, reader }, Kind::Read);
    }

    /// One more of `kind` waits for the turn of `payer`.
    pub(crate) fn begin(&mut self, payer: Payer, kind: Kind) {
        let Payer { client, reader } = payer;
        self.clients.begin_wait(client, kind, self.slack);
        self.readers.entry(client).or_default().begin_wait(reader, kind, self.slack);
    }

    /// One of `kind` waits no longer.
    pub(crate) fn end(&mut self, payer: Payer, kind: Kind) {
        self.clients.end_wait(payer.client, kind);
        if let Some(readers) = self.readers.get_mut(&payer.client) {
            readers.end_wait(payer.reader, kind);
        }
    }

    /// Whose queued window is next, of those whose rate allows a fetch.
    pub(crate) fn next_window(&self) -> Option<Payer> {
        let mut clients = self.clients.in_turn(Kind::Window);
        let client = clients.find(|client| self.caps.is_ready(self.now, *client))?;
        let reader = self.readers.get(&client)?.in_turn(Kind::Window).next()?;
        Some(Payer { client, reader })
    }

    /// Every read that waits: those whose turn it is first. Of those whose rate allows no fetch, some are last: they may miss
    /// nothing any more.
    pub(crate) fn reads_in_turn(&self) -> impl Iterator<Item = (Payer, ReadId)> + '_ {
        self.reads(true).chain(self.reads(false).take(UNREADY_READS))
    }

    /// The reads of clients whose rate allows a fetch, or of the others.
    fn reads(&self, is_ready: bool) -> impl Iterator<Item = (Payer, ReadId)> + '_ {
        let clients = self.clients.in_turn(Kind::Read);
        let clients = clients.filter(move |client| self.caps.is_ready(self.now, *client) == is_ready);
        let readers = clients.flat_map(|client| {
            let readers =
                self.readers.get(&client).into_iter().flat_map(|readers| readers.in_turn(Kind::Read));
            readers.map(move |reader| Payer { client, reader })
        });
        readers.flat_map(|payer| {
            let queue = self.queues.get(&payer.reader).into_iter();
            queue.flat_map(|queue| &queue.reads).map(move |read| (payer, *read))
        })
    }

    /// `len` bytes are fetched for `payer`, which costs as much as `bytes`.
    pub(crate) fn charge(&mut self, payer: Payer, len: u64, bytes: u64, slack: Slack) {
        self.slack = slack;
        let Payer { client, reader } = payer;
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

    /// How much a stream of `reader` gets of what keeps the device busy, to what it would get if all streams got the same.
    pub(crate) fn favour(&self, reader: ReaderId) -> Favour {
        let client = self.payer(reader).client;
        let own = self.readers.get(&client).map_or(1, |readers| readers.active().count.max(1));
        let weight = u64::from(self.clients.weight(client));
        let weights = self.clients.active().weight.max(weight);
        Favour { times: weight * self.active_count.max(own), of: weights * own }
    }

    /// Whether a read of `payer` lets the readahead for `next` go first, who has had less.
    pub(crate) fn yields(&self, payer: Payer, next: Payer) -> bool {
        let Payer { client, reader } = payer;
        let of_client = self.readers.get(&client).filter(|_| client == next.client);
        self.clients.is_after(client, next.client, self.slack)
            || of_client.is_some_and(|readers| readers.is_after(reader, next.reader, self.slack))
    }
}

#[cfg(test)]
mod tests;
