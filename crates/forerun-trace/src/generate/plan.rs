//! Workloads to generate.

/// The order in which a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern {
    /// From the beginning to the end.
    Sequential,
    /// `streams` sequential readers of one file, in turns.
    Interleaved {
        /// The number of streams.
        streams: u64,
    },
    /// Requests at a distance of `stride` bytes.
    Strided {
        /// Bytes from one request's beginning to that of the next.
        stride: u64,
    },
    /// From the end to the beginning.
    Backward,
    /// Forward, with gaps: `percent` of the requests are read.
    Sparse {
        /// The share of the requests that are read, of a hundred.
        percent: u64,
    },
    /// Random multiples of the request's length.
    Random,
    /// Sequential, in bursts of `requests` without thinking, with `pause_ns` between them.
    Bursts {
        /// Requests in a burst.
        requests: u64,
        /// Nanoseconds between bursts.
        pause_ns: u64,
    },
    /// `files` small files, opened, read and closed one after the other, in random order.
    Tree {
        /// The number of files.
        files: u64,
    },
    /// The client of a file server: writes each of `files` files from beginning to end, and reads
    /// it back.
    FileServer {
        /// The number of files.
        files: u64,
    },
    /// A sequential reader that gets partial answers. It asks for the rest of its file each time,
    /// gets some tens of KiB whatever the request's size, and asks again.
    Partial,
}

/// The workload to generate.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The patterns, all at the same time. Each is a thread with a file of its own.
    pub patterns: Vec<Pattern>,
    /// The size of a file in bytes; of a tree, the largest size.
    pub file_bytes: u64,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// The most accesses of each pattern. Random needs it; for others the default is the file's
    /// number of requests.
    pub count: Option<u64>,
    /// The average think time between an answer and the next request, in nanoseconds.
    pub think_ns: u64,
    /// How far a request may move in the order.
    pub displaced: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for Plan {
    /// 64 MiB sequentially in requests of 128 KiB without thinking.
    fn default() -> Plan {
        Plan {
            patterns: vec![Pattern::Sequential],
            file_bytes: 64 << 20,
            request_bytes: 128 << 10,
            count: None,
            think_ns: 0,
            displaced: 0,
            seed: 1,
        }
    }
}
