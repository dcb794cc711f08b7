//! Programs that read: each waits for one answer before it does the next thing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Deed, Directory, Extent, Next, ObjectId, Placed, Source, Step, Time};

/// The next action of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Something to an object.
    Do {
        /// The deed.
        deed: Deed,
        /// To which object.
        object: ObjectId,
        /// To which bytes.
        extent: Extent,
    },
    /// It does nothing for so many nanoseconds.
    Pause(u64),
    /// It has ended.
    End,
}

impl Action {
    /// Reads `extent`.
    pub fn read(object: ObjectId, extent: Extent) -> Action {
        Action::Do { deed: Deed::Read { asked: extent.len }, object, extent }
    }

    /// Writes `extent`.
    pub fn write(object: ObjectId, extent: Extent) -> Action {
        Action::Do { deed: Deed::Write, object, extent }
    }

    /// Closes the object.
    pub fn close(object: ObjectId) -> Action {
        Action::Do { deed: Deed::Close, object, extent: Extent::default() }
    }

    /// Lists the directory at `index` in [`Source::directories`].
    pub fn list(index: u64) -> Action {
        Action::Do { deed: Deed::List, object: ObjectId(index), extent: Extent::default() }
    }
}

/// A program: asked for its next action whenever the one before is done.
pub trait Client {
    /// Its action at `now`.
    fn next(&mut self, now: Time) -> Action;
}

impl<I: Iterator<Item = Action>> Client for I {
    fn next(&mut self, _now: Time) -> Action {
        Iterator::next(self).unwrap_or(Action::End)
    }
}

/// Clients side by side, as a source.
pub struct Clients<'a> {
    objects: Vec<Placed>,
    directories: Vec<Directory>,
    clients: Vec<Box<dyn Client + 'a>>,
    /// The client that acts next, and when; of two at the same time, the one that came first.
    ready: BinaryHeap<Reverse<(Time, u64, u32)>>,
    turn: u64,
    outstanding: usize,
}

impl<'a> Clients<'a> {
    /// Clients that all begin at once.
    pub fn new(objects: Vec<Placed>, clients: Vec<Box<dyn Client + 'a>>) -> Clients<'a> {
        let (directories, ready) = (Vec::new(), BinaryHeap::new());
        let mut source = Clients { objects, directories, clients, ready, turn: 0, outstanding: 0 };
        (0..source.clients.len() as u32).for_each(|client| source.schedule(Time(0), client));
        source
    }

    /// The same with `directories` that may be listed.
    pub fn with_directories(self, directories: Vec<Directory>) -> Clients<'a> {
        Clients { directories, ..self }
    }

    fn schedule(&mut self, time: Time, client: u32) {
        self.ready.push(Reverse((time, self.turn, client)));
        self.turn += 1;
    }
}

impl Source for Clients<'_> {
    fn objects(&self) -> &[Placed] {
        &self.objects
    }

    fn directories(&self) -> &[Directory] {
        &self.directories
    }

    fn client_count(&self) -> usize {
        self.clients.len()
    }

    fn next(&mut self, now: Time) -> Next {
        while let Some(Reverse((time, _, client))) = self.ready.peek().copied() {
            if time > now {
                return Next::Later(time);
            }
            self.ready.pop();
            match self.clients[client as usize].next(now) {
                Action::Do { deed, object, extent } => {
                    self.outstanding += 1;
                    return Next::Step(Step { token: u64::from(client), client, deed, object, extent });
                }
                Action::Pause(ns) => self.schedule(Time(now.0 + ns), client),
                Action::End => {}
            }
        }
        if self.outstanding > 0 { Next::Blocked } else { Next::End }
    }

    fn done(&mut self, now: Time, token: u64) {
        self.outstanding -= 1;
        self.schedule(now, token as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_waits_for_its_answer_and_pauses() {
        let extent = Extent::new(0, 10);
        let actions =
            [Action::read(ObjectId(0), extent), Action::Pause(5), Action::write(ObjectId(0), extent)];
        let mut source = Clients::new(vec![], vec![Box::new(actions.into_iter())]);
        assert!(matches!(source.next(Time(0)), Next::Step(Step { token: 0, .. })));
        assert_eq!(source.next(Time(0)), Next::Blocked);
        source.done(Time(3), 0);
        assert_eq!(source.next(Time(3)), Next::Later(Time(8)));
        assert!(matches!(source.next(Time(8)), Next::Step(Step { deed: Deed::Write, .. })));
        source.done(Time(9), 0);
        assert_eq!(source.next(Time(9)), Next::End);
    }
}
