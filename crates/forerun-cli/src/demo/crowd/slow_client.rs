//! A client that takes as much as its line carries, and no more.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::array_bytes::bytes_of;

/// The rate of a client: 43.4 MB/s for 1240.
//= seed 000
pub(super) const BYTES_PER_S: u64 = 35_000;
/// Steps of a quarter of a second: a socket's buffer holds several.
pub(super) const STEP_BYTES: u64 = BYTES_PER_S / 4;
const STEP: Duration = Duration::from_millis(250);
/// A client that gets a step within this time after it was due has not waited. On a busy machine, the tasks of a thousand
/// clients are late by less.
pub(super) const WAIT_MAX: Duration = Duration::from_millis(100);
/// The time at the begin of a client in which it may wait: nothing can be read ahead for it yet.
pub(super) const GRACE: Duration = Duration::from_secs(5);
/// Room for lines of an answer's head. The rest of the buffer is the system's.
const HEAD_BYTES: usize = 1024;

/// A client to be.
#[derive(Clone, Debug)]
pub(super) struct SlowClient {
    pub(super) address: SocketAddr,
    /// The file, and its path on the server.
    pub(super) file: u64,
    pub(super) path: String,
    /// When it asks.
    pub(super) start: Instant,
    /// From when its bytes are counted.
    pub(super) measured_from: Instant,
    /// When it hangs up.
    pub(super) until: Instant,
}

/// The outcome of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientOutcome {
    /// Bytes that it took while it was measured.
    pub(super) bytes: u64,
    /// The longest time that it waited after [`GRACE`].
    pub(super) wait_max: Duration,
    /// Whether all of its bytes were right.
    pub(super) is_right: bool,
    /// Why it was not served to the end.
    pub(super) failure: Option<String>,
}

/// The line of a client. The time of a wait is lost: a later step is not faster.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// When the next step is due.
    due: Instant,
    /// From when waits count.
    patient_until: Instant,
    wait_max: Duration,
}

impl Line {
    fn new(start: Instant) -> Line {
        Line { due: start, patient_until: start + GRACE, wait_max: Duration::ZERO }
    }

    /// The client waits at `now`, or has just taken a step.
    fn wait(&mut self, now: Instant) {
        let waited = now.saturating_duration_since(self.due.max(self.patient_until));
        self.wait_max = self.wait_max.max(waited);
    }

    /// The client has taken a step at `now`.
    fn take(&mut self, now: Instant) {
        self.wait(now);
        let is_late = now.saturating_duration_since(self.due) > WAIT_MAX;
        self.due = if is_late { now } else { self.due } + STEP;
    }
}

impl SlowClient {
    /// Reads until it is time to hang up.
    pub(super) async fn run(self) -> ClientOutcome {
        sleep_until(self.start).await;
        let mut outcome = ClientOutcome { bytes: 0, wait_max: Duration::ZERO, is_right: true, failure: None };
        let mut line = Line::new(self.start);
        let ended = timeout_at(self.until, self.read(&mut line, &mut outcome)).await;
        if let Ok(Err(failure)) = ended {
            outcome.failure = Some(failure);
        }
        line.wait(self.until);
        outcome.wait_max = line.wait_max;
        outcome
    }

    async fn read(&self, line: &mut Line, outcome: &mut ClientOutcome) -> Result<(), String> {
        let mut answer = self.ask().await.map_err(|error| error.to_string())?;
        let mut step = vec![0; STEP_BYTES as usize];
        let mut position = 0;
        loop {
            sleep_until(line.due).await;
            let mut taken = 0;
            while taken < step.len() {
                let count = answer.read(&mut step[taken..]).await.map_err(|error| error.to_string())?;
                if count == 0 {
                    return Err(format!("the answer ended after {} bytes", position + taken as u64));
                }
                taken += count;
                if Instant::now() >= self.measured_from {
                    outcome.bytes += count as u64;
                }
            }
            outcome.is_right &= step == bytes_of(self.file, position, taken);
            position += taken as u64;
            line.take(Instant::now());
        }
    }

    /// Asks for the file. The bytes of the answer follow.
    async fn ask(&self) -> std::io::Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.address);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = BufReader::with_capacity(HEAD_BYTES, stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if answer.read_line(&mut head).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = head.lines().next().unwrap_or_default();
        if status.split(' ').nth(1) == Some("200") { Ok(answer) } else { Err(std::io::Error::other(status)) }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_wait_is_lost_and_a_late_task_is_not() {
        let start = Instant::now();
        let mut line = Line::new(start);
        line.take(start + Duration::from_millis(20));
        assert_eq!((line.due, line.wait_max), (start + STEP, Duration::ZERO));
        line.take(start + Duration::from_secs(2));
        assert_eq!((line.due, line.wait_max), (start + Duration::from_secs(2) + STEP, Duration::ZERO));
        // Only the part after the first seconds counts.
        line.take(start + GRACE + Duration::from_secs(3));
        assert_eq!(line.wait_max, Duration::from_secs(3));
        line.wait(start + GRACE + Duration::from_secs(9));
        assert_eq!(line.wait_max, Duration::from_millis(5750));
    }

    /// Answers one client with `bytes`, and then says nothing more.
    async fn server(bytes: Vec<u8>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n").await.unwrap();
            stream.write_all(&bytes).await.unwrap();
            std::future::pending::<()>().await;
        });
        address
    }

    async fn outcome_of(bytes: Vec<u8>) -> ClientOutcome {
        let start = Instant::now();
        let client = SlowClient {
            address: server(bytes).await,
            file: 3,
            path: "/".to_owned(),
            start,
            measured_from: start,
            until: start + Duration::from_secs(1),
        };
        client.run().await
    }

    #[tokio::test]
    async fn bytes_are_counted_and_checked() {
        let two_steps = 2 * STEP_BYTES as usize;
        let outcome = outcome_of(bytes_of(3, 0, two_steps + 100)).await;
        assert_eq!((outcome.bytes, outcome.is_right, outcome.failure), (two_steps as u64 + 100, true, None));
        let mut wrong = bytes_of(3, 0, two_steps);
        wrong[STEP_BYTES as usize] ^= 1;
        assert!(!outcome_of(wrong).await.is_right);
    }
}
