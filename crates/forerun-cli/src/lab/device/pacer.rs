//! One thread that owns the model, and answers requests when the model says.
//!
//! Nobody else sees the model, so nothing is locked. The thread that receives a
//! request from the kernel notes the time, moves the bytes, which takes much less
//! than the model's device would, and hands the request over.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use forerun_sim::device::{Device, Direction, Notice, Request, RequestId, Time};

use super::clock::Clock;
use super::model::Model;
use super::stats::Stats;

/// The most by which a request counts as asked for earlier than it was, on the wall:
/// what waking up and answering usually takes. Delays beyond that are a machine that
/// is too busy, and making up for them would show readers a faster device.
const FORGIVEN_NS_MAX: u64 = 100_000;

/// Sends the answer to a request.
pub(super) type Answer = Box<dyn FnOnce() + Send>;

/// What the thread is told.
pub(super) enum Message {
    /// The kernel asked for something.
    Request {
        /// First byte on the device.
        address: u64,
        /// Length in bytes, not 0.
        len: u64,
        /// Read or write.
        direction: Direction,
        /// The process that asked.
        issuer: u32,
        /// When it arrived.
        arrived: Time,
        /// Called when the device would be done.
        answer: Answer,
    },
    /// Somebody wants to know the sums until now.
    Stats(Box<dyn FnOnce(&Stats) + Send>),
}

/// Starts the thread, with a device of `model`. It ends when nobody can tell it
/// anything any more; what is not answered then never is.
///
/// # Errors
/// If there are no more threads.
pub(super) fn start(model: Model, clock: Clock) -> io::Result<Sender<Message>> {
    let (sender, messages) = channel();
    thread::Builder::new().name("forerun-device".to_owned()).spawn(move || {
        // Otherwise the kernel makes every wait up to 50 microseconds longer, to save
        // wake-ups. It is a matter of precision only.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Pacer::new(model.build(), clock).run(&messages);
    })?;
    Ok(sender)
}

struct Pacer {
    device: Box<dyn Device>,
    clock: Clock,
    /// The model has been brought to this time.
    time: Time,
    /// How late the last answer was, in the model's nanoseconds.
    late_ns: u64,
    waiting: HashMap<RequestId, Answer>,
    request_count: u64,
    notices: Vec<Notice>,
    stats: Stats,
}

impl Pacer {
    fn new(device: Box<dyn Device>, clock: Clock) -> Pacer {
        Pacer {
            device,
            clock,
            time: Time(0),
            late_ns: 0,
            waiting: HashMap::new(),
            request_count: 0,
            notices: Vec::new(),
            stats: Stats::default(),
        }
    }

    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let message = match self.device.next_time() {
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(next) => messages.recv_timeout(self.clock.until(next)),
            };
            match message {
                Ok(Message::Request { address, len, direction, issuer, arrived, answer }) => {
                    let id = RequestId(self.request_count);
                    self.request_count += 1;
                    self.waiting.insert(id, answer);
                    self.submit(arrived, Request { id, address, len, direction, issuer, urgent: true });
                }
                Ok(Message::Stats(tell)) => {
                    self.stats.device = self.device.stats();
                    tell(&self.stats);
                }
                Err(RecvTimeoutError::Timeout) => self.advance(self.clock.now()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Whoever got the last answer too late has asked too late by as much: counting
    /// from when it should have been keeps the errors of a reader, who waits for each
    /// answer before the next request, from adding up.
    fn submit(&mut self, arrived: Time, request: Request) {
        let forgiven = self.late_ns.min(self.clock.model_ns(FORGIVEN_NS_MAX));
        let at = Time(arrived.0.saturating_sub(forgiven)).max(self.time);
        self.advance(at);
        self.time = at;
        self.stats.submitted(request.direction, request.len, self.waiting.len());
        self.device.submit(at, request);
        // What the kernel wanted to hold back it has held back above.
        self.device.unplug(at);
    }

    /// Answers what is done until `until`, in the model's order.
    fn advance(&mut self, until: Time) {
        while let Some(next) = self.device.next_time().filter(|next| *next <= until) {
            self.time = self.time.max(next);
            let mut notices = std::mem::take(&mut self.notices);
            self.device.advance(next, &mut notices);
            for notice in notices.drain(..) {
                if let Notice::Done { id } = notice
                    && let Some(answer) = self.waiting.remove(&id)
                {
                    answer();
                    self.late_ns = self.clock.now().since(next);
                    self.stats.answered(self.clock.real_ns(self.late_ns));
                }
            }
            self.notices = notices;
        }
    }
}
