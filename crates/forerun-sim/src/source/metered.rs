//! The bytes that each client gets in each second.

use super::{Directory, Next, Placed, Source, Time};
use crate::map::Map;

const SECOND_NS: u64 = 1_000_000_000;

/// A source whose bytes are counted when they are read or written.
#[derive(Debug)]
pub struct Metered<S> {
    inner: S,
    /// Client and bytes of each step that is being served, by its token.
    served: Map<u64, (u32, u64)>,
    seconds: Vec<Vec<u64>>,
}

impl<S: Source> Metered<S> {
    /// `inner`, counted.
    pub fn new(inner: S) -> Metered<S> {
        Metered { inner, served: Map::default(), seconds: Vec::new() }
    }

    /// For each second from the beginning on, the bytes of each client.
    pub fn seconds(&self) -> &[Vec<u64>] {
        &self.seconds
    }
}

impl<S: Source> Source for Metered<S> {
    fn objects(&self) -> &[Placed] {
        self.inner.objects()
    }

    fn directories(&self) -> &[Directory] {
        self.inner.directories()
    }

    fn client_count(&self) -> usize {
        self.inner.client_count()
    }

    fn next(&mut self, now: Time) -> Next {
        let next = self.inner.next(now);
        if let Next::Step(step) = next {
            self.served.insert(step.token, (step.client, step.extent.len));
        }
        next
    }

    fn done(&mut self, now: Time, token: u64) {
        if let Some((client, bytes)) = self.served.remove(&token) {
            let second = (now.0 / SECOND_NS) as usize;
            while self.seconds.len() <= second {
                self.seconds.push(vec![0; self.inner.client_count()]);
            }
            self.seconds[second][client as usize] += bytes;
        }
        self.inner.done(now, token);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Client, Clients, Extent, ObjectId};
    use super::*;

    #[test]
    fn bytes_count_in_the_second_in_which_they_arrive() {
        let read = |len| Action::read(ObjectId(0), Extent::new(0, len));
        let client = |actions: Vec<Action>| Box::new(actions.into_iter()) as Box<dyn Client>;
        let clients = vec![client(vec![read(5), read(6)]), client(vec![Action::Pause(SECOND_NS), read(7)])];
        let mut metered = Metered::new(Clients::new(vec![], clients));
        let mut now = Time(0);
        loop {
            match metered.next(now) {
                Next::Step(step) => {
                    now.0 += SECOND_NS - 1;
                    metered.done(now, step.token);
                }
                Next::Later(time) => now = time,
                _ => break,
            }
        }
        assert_eq!(metered.seconds(), [vec![5, 0], vec![6, 0], vec![0, 7]]);
    }
}
