//! Whether a client asks again at once after each reply.
//!
//! A processor that sleeps takes longer to wake than a read of bytes in memory. So the server looks for the next
//! request for a short time, if the last one came as fast. QEMU waits for its own events in the same way.

use std::time::{Duration, Instant};

/// How long the server looks for the next request before it sleeps.
const LOOK_TIME_MAX: Duration = Duration::from_micros(50);
/// The longest time from a reply to the next request of a quick client. Both sides may have slept in it.
const QUICK_TIME_MAX: Duration = Duration::from_micros(120);

/// Tells whether the next request of a client is worth a look.
#[derive(Debug, Default)]
pub(super) struct QuickClient {
    /// When all requests were answered; none while one is not.
    answered: Option<Instant>,
    is_quick: bool,
}

impl QuickClient {
    /// A request has come.
    pub(super) fn ask(&mut self, now: impl FnOnce() -> Instant) {
        if let Some(answered) = self.answered.take() {
            self.is_quick = now().duration_since(answered) <= QUICK_TIME_MAX;
        }
    }

    /// All requests are answered.
    pub(super) fn answer(&mut self, now: Instant) {
        self.answered = Some(now);
    }

    /// Whether the server should look again before it sleeps.
    pub(super) fn expects_request(&self, now: impl FnOnce() -> Instant) -> bool {
        let answered = self.answered.filter(|_| self.is_quick);
        answered.is_some_and(|answered| now().duration_since(answered) <= LOOK_TIME_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_quick_client_is_expected_and_not_for_long() {
        let begin = Instant::now();
        let at = |micros| begin + Duration::from_micros(micros);
        let mut client = QuickClient::default();
        assert!(!client.expects_request(|| at(0)));
        client.ask(|| at(0));
        client.answer(at(10));
        assert!(!client.expects_request(|| at(11)), "nothing is known of the client yet");
        client.ask(|| at(130));
        assert!(!client.expects_request(|| at(131)), "its request is not answered");
        client.answer(at(140));
        assert!(client.expects_request(|| at(190)) && !client.expects_request(|| at(191)));
        client.ask(|| at(261));
        client.answer(at(270));
        assert!(!client.expects_request(|| at(271)), "it was slow");
    }
}
