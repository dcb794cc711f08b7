//! One thread owns the model, and answers requests at the model's times.
//!
//! Only this thread uses the model, so no lock is needed. The thread that receives a request from
//! the kernel records the time and moves the bytes, which takes much less than on the modelled
//! device. Then it hands the request over.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use forerun_sim::device::{Device, Direction, Notice, Request, RequestId, Time};

use super::clock::Clock;
use super::model::Model;
use super::stats::Stats;

/// The limit of the lateness that is forgiven a request, in real time: the usual time of waking up
/// and answering. Longer delays come from a busy machine, and forgiving them would show readers a
/// faster device.
const FORGIVEN_NS_MAX: u64 = 100_000;

/// Sends the answer to a request.
pub(crate) type SendAnswer = Box<dyn FnOnce() + Send>;

/// A message to the thread.
pub(crate) enum Message {
    /// A request of the kernel.
    Request {
        /// The first byte on the device.
        address: u64,
        /// The length in bytes, not 0.
        len: u64,
        /// Read or write.
        direction: Direction,
        /// The process that asked.
        issuer: u32,
        /// The time of its arrival.
        arrived: Time,
        /// Called when the device has completed it.
        answer: SendAnswer,
    },
    /// A request for the counters.
    Stats(Box<dyn FnOnce(&Stats) + Send>),
}

/// Starts the thread, with a device of `model`. It ends with the last sender; requests without an
/// answer then get none.
///
/// # Errors
/// If no thread can be started.
pub(crate) fn start(model: Model, clock: Clock) -> io::Result<Sender<Message>> {
    let (sender, messages) = channel();
    thread::Builder::new().name("forerun-device".to_owned()).spawn(move || {
        // The kernel's default slack makes every wait up to 50 microseconds longer. Only precision
        // depends on it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Pacer::new(model.build(), clock).run(&messages);
    })?;
    Ok(sender)
}

struct Pacer {
    device: Box<dyn Device>,
    clock: Clock,
    /// The time that the model has reached.
    time: Time,
    /// The lateness of the last answer, in the model's nanoseconds.
    late_ns: u64,
    waiting: HashMap<RequestId, SendAnswer>,
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

    /// Submits `request`. A reader that got its last answer late asks late by as much. Counting
    /// from its due time keeps errors from adding up for readers that wait for each answer.
    fn submit(&mut self, arrived: Time, request: Request) {
        let forgiven = self.late_ns.min(self.clock.model_ns(FORGIVEN_NS_MAX));
        let at = Time(arrived.0.saturating_sub(forgiven)).max(self.time);
        self.advance(at);
        self.time = at;
        self.stats.submitted(request.direction, request.len, self.waiting.len());
        self.device.submit(at, request);
        // The kernel has its own queue above, so the device must not hold requests back.
        self.device.unplug(at);
    }

    /// Sends the answers that are due until `until`, in the model's order.
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
