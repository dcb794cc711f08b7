//! Clients, which share the storage fairly.

use super::Engine;
use crate::types::{ClientId, ReaderId};

impl Engine {
    /// `reader`, which has asked for nothing yet, belongs to `client` until [`Engine::close`]. A reader that nobody tells of
    /// belongs to the default client. Files that are entered after this, and profiles, are of that client.
    ///
    /// When clients want more than the storage gives, each gets a share by its weight. The readers of one client share
    /// equally. A client leaves the rest to the others.
    pub fn set_client(&mut self, reader: ReaderId, client: ClientId) {
        self.fair.set_client(reader, client);
        if let Some(walks) = &mut self.walks {
            walks.opener = client;
        }
    }

    /// From now on `client` has this weight, at least 1. It gets so many times as much as a client with a weight of 1, which
    /// is the weight of each at first.
    pub fn set_weight(&mut self, client: ClientId, weight: u32) {
        self.fair.set_weight(client, weight);
    }

    /// From now on no more than `bytes_per_s` are fetched for `client`, or for all together; `None` lifts that. Reads of
    /// bytes that are in memory do not count.
    pub fn set_rate(&mut self, client: Option<ClientId>, bytes_per_s: Option<u64>) {
        self.fair.set_rate(client, bytes_per_s);
    }

    /// Each client that was given a weight or a rate, and the bytes of the fetches for it since then.
    pub fn client_bytes(&self) -> impl Iterator<Item = (ClientId, u64)> + '_ {
        self.fair.fetched_bytes()
    }
}
