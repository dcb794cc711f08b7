//! The notices of a mount or a server to the service manager that has started it (sd_notify(3)).

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The service manager.
#[derive(Debug)]
pub(crate) struct Service {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl Service {
    /// The one that `NOTIFY_SOCKET` names; none if nothing asks for notices.
    ///
    /// # Errors
    /// If the name is not one of a socket.
    pub(crate) fn new() -> Result<Option<Service>, String> {
        let Some(name) = env::var("NOTIFY_SOCKET").ok().filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let address = match name.strip_prefix('@') {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(&name),
        };
        let service = address.and_then(|address| Ok(Service { socket: UnixDatagram::unbound()?, address }));
        service.map(Some).map_err(|error| format!("NOTIFY_SOCKET={name} cannot be used: {error}; unset it"))
    }

    /// The mount or server `shown` serves reads.
    pub(crate) fn ready(&self, shown: &str) {
        self.tell(&format!("READY=1\nSTATUS={shown}"));
    }

    /// It is about to end, by `status`.
    pub(crate) fn stopping(&self, status: &str) {
        self.tell(&format!("STOPPING=1\nSTATUS={status}"));
    }

    /// Files are read again, which `status` names; [`Service::ready`] follows.
    pub(crate) fn reloading(&self, status: &str) {
        self.tell(&format!("RELOADING=1\nSTATUS={status}"));
    }

    /// This process answers.
    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    fn tell(&self, message: &str) {
        if let Err(error) = self.socket.send_to_addr(message.as_bytes(), &self.address) {
            tracing::warn!(target: "forerun::mount", "the service manager cannot be told: {error}");
        }
    }
}

/// Tells `service` for ever that it `answers`, where it wants to know. If an answer does not come, this
/// waits, and the service manager then starts the program anew.
pub(crate) async fn watch(service: Option<&Service>, answers: impl Fn() -> bool + Clone + Send + 'static) {
    let Some((service, every)) = service.zip(watchdog()) else { return std::future::pending().await };
    tell_while(answers, every / 2, || service.alive()).await
}

/// Calls `tell` each time that `probe` gets an answer, `every` so often. A probe that hangs holds this up.
async fn tell_while(probe: impl Fn() -> bool + Clone + Send + 'static, every: Duration, tell: impl Fn()) {
    let mut ticks = tokio::time::interval(every);
    loop {
        ticks.tick().await;
        if tokio::task::spawn_blocking(probe.clone()).await.unwrap_or(false) {
            tell();
        }
    }
}

/// How long the manager waits for a sign of life of this process.
pub(crate) fn watchdog() -> Option<Duration> {
    let is_meant = env::var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
    let time: u64 = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    (is_meant && time > 0).then(|| Duration::from_micros(time))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::{Arc, mpsc};

    use parking_lot::Mutex;

    use super::*;

    #[tokio::test]
    async fn a_mount_that_stops_answering_is_not_told_to_be_alive() {
        // Each probe takes an answer: yes, no, yes, and then none, as from a mount that hangs.
        let (answer, answers) = mpsc::channel();
        let answers = Arc::new(Mutex::new(answers));
        let probe = move || answers.lock().recv().unwrap_or(false);
        [true, false, true].into_iter().for_each(|is_alive| answer.send(is_alive).unwrap());
        let told = Cell::new(0);
        let telling = tell_while(probe, Duration::from_millis(1), || told.set(told.get() + 1));
        let _ = tokio::time::timeout(Duration::from_millis(300), telling).await;
        assert_eq!(told.get(), 2);
        // The hanging probe ends, so that the runtime can.
        drop(answer);
    }
}
