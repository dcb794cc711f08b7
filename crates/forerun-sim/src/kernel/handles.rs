//! Whose readahead state a request finds.

use forerun_engine::ReaderId;
use forerun_policies::kernel::Algorithm;

use super::config::FileState;
use crate::source::ObjectId;

/// Names of states that last for one request lie above the others.
const PASSING: u64 = 1 << 40;

/// The readers that the algorithm knows.
#[derive(Debug)]
pub(super) struct Handles {
    kind: FileState,
    shared: Vec<Shared>,
    turn: u64,
}

/// An entry of the small table.
#[derive(Clone, Copy, Debug)]
struct Shared {
    object: ObjectId,
    request_count: usize,
    last_turn: u64,
}

impl Handles {
    pub(super) fn new(kind: FileState) -> Handles {
        Handles { kind, shared: Vec::new(), turn: 0 }
    }

    /// A request of `client` begins.
    pub(super) fn open(&mut self, algorithm: &mut dyn Algorithm, object: ObjectId, client: u32) -> ReaderId {
        self.turn += 1;
        match self.kind {
            FileState::Client => ReaderId(u64::from(client)),
            FileState::Request => ReaderId(PASSING + self.turn),
            FileState::Shared(count_max) => self.open_shared(algorithm, object, count_max),
        }
    }

    fn open_shared(&mut self, algorithm: &mut dyn Algorithm, object: ObjectId, count_max: usize) -> ReaderId {
        let known = self.shared.iter().position(|entry| entry.object == object);
        let Some(index) = known.or_else(|| self.make_room(algorithm, object, count_max)) else {
            return ReaderId(PASSING + self.turn);
        };
        let entry = &mut self.shared[index];
        entry.request_count += 1;
        entry.last_turn = self.turn;
        ReaderId(index as u64)
    }

    /// An entry for `object`: a new one, or else the one that has been idle for longest.
    fn make_room(
        &mut self,
        algorithm: &mut dyn Algorithm,
        object: ObjectId,
        count_max: usize,
    ) -> Option<usize> {
        let fresh = Shared { object, request_count: 0, last_turn: 0 };
        if self.shared.len() < count_max {
            self.shared.push(fresh);
            return Some(self.shared.len() - 1);
        }
        let idle = self.shared.iter().enumerate().filter(|(_, entry)| entry.request_count == 0);
        let (index, old) = idle.min_by_key(|(_, entry)| entry.last_turn)?;
        algorithm.on_close(old.object, ReaderId(index as u64));
        self.shared[index] = fresh;
        Some(index)
    }

    /// The request that `reader` was given for has ended.
    pub(super) fn release(&mut self, algorithm: &mut dyn Algorithm, object: ObjectId, reader: ReaderId) {
        if reader.0 > PASSING {
            algorithm.on_close(object, reader);
        } else if let FileState::Shared(_) = self.kind {
            self.shared[reader.0 as usize].request_count -= 1;
        }
    }

    /// The client closes the object. Servers of requests do not hear of that.
    pub(super) fn close(&mut self, algorithm: &mut dyn Algorithm, object: ObjectId, client: u32) {
        if self.kind == FileState::Client {
            algorithm.on_close(object, ReaderId(u64::from(client)));
        }
    }
}
