//! A source in real time: the same accesses at the same moments as in the simulator,
//! from storage that really reads.
//!
//! One thread asks the source what is next, waits for that moment or for an answer, and starts
//! reads without waiting for them. So an open loop stays open however slow the storage is. The
//! source's rules about dependencies hold as they do in virtual time.

mod faith;

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use forerun_sim::run::{ClientRun, Run};
use forerun_sim::source::{Deed, Extent, Next, ObjectId, Source, Step, Time};

pub use faith::Faith;

/// Storage that reads are made on.
pub trait Storage {
    /// Starts to read `extent` of `object` for `client` and tells `done` when that is
    /// done, on any thread. Does not wait.
    fn read(&self, client: u32, object: ObjectId, extent: Extent, done: Done);

    /// `client` closes `object`.
    fn close(&self, client: u32, object: ObjectId);
}

/// The way to tell that a read has ended.
#[derive(Debug)]
pub struct Done {
    token: u64,
    start: Instant,
    finished: Sender<Finished>,
}

impl Done {
    /// The bytes are there, or why not.
    pub fn finish(self, result: Result<(), String>) {
        let time = Time(self.start.elapsed().as_nanos() as u64);
        // Nobody listens any more only if another read has failed.
        let _ = self.finished.send(Finished { token: self.token, time, result });
    }
}

#[derive(Debug)]
struct Finished {
    token: u64,
    time: Time,
    result: Result<(), String>,
}

/// The outcome; the run does not have the engine's counts.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Time, reads and clients.
    pub run: Run,
    /// How near to the plan the reads were made.
    pub faith: Faith,
}

/// Lets `source` do all it wants with `storage`. Writes are counted and not made.
///
/// # Errors
/// The error of the first read that failed.
pub fn play(source: &mut dyn Source, storage: &dyn Storage) -> Result<Live, String> {
    let (sender, finished) = channel();
    let clients = vec![ClientRun::default(); source.client_count()];
    let mut player = Player {
        storage,
        start: Instant::now(),
        planned: Time(0),
        sender,
        finished,
        early: None,
        under_way: HashMap::new(),
        live: Live { run: Run { clients, ..Run::default() }, faith: Faith::default() },
    };
    player.play(source)?;
    player.live.run.elapsed_ns = player.now().0;
    Ok(player.live)
}

struct Player<'a> {
    storage: &'a dyn Storage,
    start: Instant,
    /// The moment that the source was last told: what it wants done is due then.
    planned: Time,
    sender: Sender<Finished>,
    finished: Receiver<Finished>,
    /// Of a read that ended after the next thing is due.
    early: Option<Finished>,
    /// Reads by token, and when they were made.
    under_way: HashMap<u64, (Step, Time)>,
    live: Live,
}

impl Player<'_> {
    fn play(&mut self, source: &mut dyn Source) -> Result<(), String> {
        loop {
            match source.next(self.planned) {
                Next::Step(step) => self.make(source, step),
                Next::Later(time) => self.wait(source, time)?,
                Next::Blocked => {
                    let finished = self.early.take().map_or_else(|| self.finished.recv(), Ok);
                    self.finish(source, finished.map_err(|error| error.to_string())?)?;
                }
                Next::End => return Ok(()),
            }
        }
    }

    fn make(&mut self, source: &mut dyn Source, step: Step) {
        match step.deed {
            Deed::Read { .. } => {
                let now = self.now();
                self.live.faith.add(now.since(self.planned));
                self.under_way.insert(step.token, (step, now));
                let done = Done { token: step.token, start: self.start, finished: self.sender.clone() };
                self.storage.read(step.client, step.object, step.extent, done);
                return;
            }
            Deed::Write => self.live.faith.write_count += 1,
            Deed::Close => self.storage.close(step.client, step.object),
            Deed::List => {}
        }
        source.done(self.planned, step.token);
    }

    /// Waits for `time`, or for the end of a read before it.
    fn wait(&mut self, source: &mut dyn Source, time: Time) -> Result<(), String> {
        let left = Duration::from_nanos(time.0.saturating_sub(self.now().0));
        let next = self.early.take().map_or_else(|| self.finished.recv_timeout(left), Ok);
        match next {
            Ok(finished) if finished.time < time => return self.finish(source, finished),
            // The player was late: first comes what was due first.
            Ok(finished) => self.early = Some(finished),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("this holds a sender"),
        }
        self.planned = self.planned.max(time);
        Ok(())
    }

    fn finish(&mut self, source: &mut dyn Source, finished: Finished) -> Result<(), String> {
        let Finished { token, time, result } = finished;
        result?;
        self.planned = self.planned.max(time);
        let (step, asked) = self.under_way.remove(&token).expect("a read ends once");
        let waited_ns = time.since(asked);
        let run = &mut self.live.run;
        run.read_count += 1;
        run.read_bytes += step.extent.len;
        run.waits.add(waited_ns);
        let client = &mut run.clients[step.client as usize];
        client.read_bytes += step.extent.len;
        client.waited_ns += waited_ns;
        client.finished_ns = time.0;
        source.done(self.planned, token);
        Ok(())
    }

    fn now(&self) -> Time {
        Time(self.start.elapsed().as_nanos() as u64)
    }
}

#[cfg(test)]
mod tests;
