//! Limits on the clients of a server.

use std::time::Duration;

/// Limits on the clients of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Clients at once. Others wait until one has left.
    pub connections: usize,
    /// How long a client may take for the head of a request, and rest before it.
    pub idle: Duration,
    /// How long a client may take no bytes of an answer.
    pub stall: Duration,
    /// How long answers may go on when the server ends.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let seconds = Duration::from_secs;
        Limits { connections: 4096, idle: seconds(60), stall: seconds(60), drain: seconds(30) }
    }
}

impl Limits {
    /// The same for so many clients.
    #[must_use]
    pub fn with_connections(self, connections: usize) -> Limits {
        Limits { connections, ..self }
    }

    /// The same with this time for heads and rests.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Limits {
        Limits { idle, ..self }
    }

    /// The same with this time without progress.
    #[must_use]
    pub fn with_stall(self, stall: Duration) -> Limits {
        Limits { stall, ..self }
    }

    /// The same with this time for the end.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Limits {
        Limits { drain, ..self }
    }
}
