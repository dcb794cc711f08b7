//! The requests of a client that are counted, until each has its last reply.

use std::sync::Arc;

use super::super::protocol::Command;
use crate::metrics::{Begun, RequestTimes};

/// The names of the operations that requests are counted by. Requests that are refused are `other`.
pub const OPERATIONS: &[&str] =
    &["read", "write", "trim", "write_zeroes", "flush", "cache", "block_status", "other"];

/// Requests without a complete reply.
#[derive(Debug, Default)]
pub(super) struct Counting {
    requests: Option<Arc<RequestTimes>>,
    // At most `REQUESTS_MAX`, so a linear search is cheap.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    cookie: u64,
    begun: Begun,
    is_ok: bool,
}

impl Counting {
    /// Counts in `requests`, if there are any.
    pub(super) fn new(requests: Option<Arc<RequestTimes>>) -> Counting {
        Counting { requests, open: Vec::new() }
    }

    /// A request for `command` has come; for none if it is refused.
    pub(super) fn begin(&mut self, cookie: u64, command: Option<&Command>) {
        let (Some(requests), Some(operation)) = (&self.requests, number(command)) else { return };
        self.open.push(Open { cookie, begun: requests.begin(operation), is_ok: true });
    }

    /// A reply to the request is ready, perhaps one of several.
    pub(super) fn reply(&mut self, cookie: u64, is_last: bool, is_ok: bool) {
        let Some(place) = self.open.iter().position(|open| open.cookie == cookie) else { return };
        self.open[place].is_ok &= is_ok;
        if is_last {
            let Open { begun, is_ok, .. } = self.open.swap_remove(place);
            self.requests.iter().for_each(|requests| requests.end(begun, is_ok));
        }
    }
}

/// The place of `command` in [`OPERATIONS`]. A client that leaves asks for nothing.
fn number(command: Option<&Command>) -> Option<usize> {
    Some(match command {
        Some(Command::Read { .. }) => 0,
        Some(Command::Write { .. }) => 1,
        Some(Command::Trim { .. }) => 2,
        Some(Command::WriteZeroes { .. }) => 3,
        Some(Command::Flush) => 4,
        Some(Command::Cache { .. }) => 5,
        Some(Command::BlockStatus { .. }) => 6,
        None => 7,
        Some(Command::Disconnect) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_of_several_pieces_is_one_request_and_fails_if_one_does() {
        let requests = Arc::new(RequestTimes::new(OPERATIONS));
        let mut counting = Counting::new(Some(Arc::clone(&requests)));
        let read = Command::Read { offset: 0, len: 9, is_whole: false };
        counting.begin(1, Some(&read));
        counting.begin(2, Some(&read));
        counting.begin(3, None);
        counting.begin(4, Some(&Command::Disconnect));
        counting.reply(1, false, false);
        counting.reply(2, true, true);
        counting.reply(3, true, false);
        let counts = || {
            let counts = requests.iter().map(|(name, durations, failed)| (name, durations.count(), failed));
            counts.filter(|(_, count, _)| *count > 0).collect::<Vec<_>>()
        };
        assert_eq!(counts(), [("read", 1, 0), ("other", 1, 1)]);
        counting.reply(1, true, true);
        assert_eq!(counts(), [("read", 2, 1), ("other", 1, 1)]);
        assert!(counting.open.is_empty());
    }
}
