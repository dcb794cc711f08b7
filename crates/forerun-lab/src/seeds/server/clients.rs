//! A web server and its clients, as in the document. Each time, the server requests the rest of a
//! file, and the socket takes a few pages of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use forerun_engine::ObjectId;
use forerun_sim::device::Time;
use forerun_sim::source::{Deed, Extent, Next, Placed, Source, Step, place};
use forerun_trace::generate::Numbers;

use super::PAGE_BYTES;

/// Clients come within this time.
const START_NS: u64 = 10_000_000_000;
/// The bytes that the socket took of each call in the document's trace.
const SENT_BYTES: [u64; 6] = [37_440, 28_800, 37_440, 14_400, 37_440, 37_440];

/// An event server with one thread: whoever's socket has room longest is next.
pub(crate) struct Server {
    file_bytes: u64,
    /// The rate of each client.
    bytes_per_s: u64,
    files: Vec<Placed>,
    streams: Vec<Stream>,
    due: BinaryHeap<Reverse<(Time, usize)>>,
    is_busy: bool,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    position: u64,
    /// Calls so far, and where in the sequence they began.
    turn: usize,
    /// When its socket had room.
    due: Time,
    sent: u64,
}

impl Server {
    /// With `count` clients, each of a file of `file_bytes`, which take it at this rate.
    pub(crate) fn new(count: usize, file_bytes: u64, bytes_per_s: u64) -> Server {
        let mut numbers = Numbers::new(1);
        let streams: Vec<Stream> = (0..count)
            .map(|_| Stream {
                position: 0,
                turn: numbers.below(SENT_BYTES.len() as u64) as usize,
                due: Time(numbers.below(START_NS)),
                sent: 0,
            })
            .collect();
        let due = streams.iter().enumerate().map(|(at, stream)| Reverse((stream.due, at))).collect();
        Server {
            file_bytes,
            bytes_per_s,
            files: place(std::iter::repeat_n(file_bytes, count), PAGE_BYTES),
            streams,
            due,
            is_busy: false,
        }
    }
}

impl Source for Server {
    fn objects(&self) -> &[Placed] {
        &self.files
    }

    fn client_count(&self) -> usize {
        1
    }

    fn next(&mut self, now: Time) -> Next {
        if self.is_busy {
            return Next::Blocked;
        }
        let Some(Reverse((time, at))) = self.due.peek().copied() else { return Next::End };
        if time > now {
            return Next::Later(time);
        }
        self.due.pop();
        let stream = &mut self.streams[at];
        let rest = self.file_bytes - stream.position;
        stream.sent = SENT_BYTES[stream.turn % SENT_BYTES.len()].min(rest);
        stream.turn += 1;
        self.is_busy = true;
        Next::Step(Step {
            token: at as u64,
            client: 0,
            deed: Deed::Read { asked: rest },
            object: ObjectId(at as u64),
            extent: Extent::new(stream.position, stream.sent),
        })
    }

    fn done(&mut self, now: Time, token: u64) {
        self.is_busy = false;
        let stream = &mut self.streams[token as usize];
        stream.position += stream.sent;
        if stream.position < self.file_bytes {
            // The client empties its socket meanwhile.
            let taken_ns = stream.sent * 1_000_000_000 / self.bytes_per_s;
            stream.due = Time((stream.due.0 + taken_ns).max(now.0));
            self.due.push(Reverse((stream.due, token as usize)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CLIENT_BYTES_PER_S, FILE_BYTES};
    use super::*;
    use crate::seeds::data;

    #[test]
    fn the_socket_takes_what_it_took_in_the_document() {
        let figure = &data::rows("s000_claims/partial sendfile sequence that defeats stock")[0];
        let calls = figure.text("value").split("(pos,want,done)").nth(1).unwrap();
        let calls: Vec<Vec<u64>> = calls
            .split(';')
            .map(|call| call.split(',').map(|number| number.trim().parse().unwrap()).collect())
            .collect();
        assert!(calls.iter().map(|call| call[2]).eq(SENT_BYTES));
        assert!(calls.iter().all(|call| call[0] + call[1] == FILE_BYTES));
    }

    #[test]
    fn clients_take_what_they_can_and_files_end() {
        let mut server = Server::new(2, FILE_BYTES, CLIENT_BYTES_PER_S);
        let (mut now, mut sent, mut calls) = (Time(0), 0, 0);
        loop {
            match server.next(now) {
                Next::Step(step) => {
                    sent += step.extent.len;
                    calls += 1;
                    assert_eq!(server.next(now), Next::Blocked);
                    server.done(now, step.token);
                }
                Next::Later(time) => now = time,
                _ => break,
            }
        }
        assert_eq!(sent, 2 * FILE_BYTES);
        // 32,160 bytes a call.
        assert!((1300..1320).contains(&calls), "{calls}");
        let least_ns = FILE_BYTES / CLIENT_BYTES_PER_S * 1_000_000_000;
        assert!(now.0 > least_ns - 2_000_000_000 && now.0 < least_ns + START_NS + 2_000_000_000);
    }
}
