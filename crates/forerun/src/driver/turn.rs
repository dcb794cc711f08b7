//! A turn of the run loop.

use std::sync::Arc;
use std::time::Duration;

use forerun_engine::Time;

use super::Driver;
use super::state::State;
use super::work::Work;
use crate::Lease;

impl Driver {
    /// One turn: tell the engine something, then do what it says.
    pub(super) fn step<R>(self: &Arc<Driver>, tell: impl FnOnce(&mut State, &mut Work) -> R) -> R {
        let mut work = Work::default();
        // Dropped after the lock: what an interrupted turn leaves behind answers
        // nobody any more.
        let turn = Turn(self);
        let mut state = self.lock.turn();
        let result = tell(&mut state, &mut work);
        state.drain(&mut work);
        while !self.lock.is_settled(&mut state) {
            state.drain(&mut work);
        }
        drop(state);
        std::mem::forget(turn);
        if !work.is_empty() {
            self.carry_out(work);
        }
        result
    }

    fn carry_out(self: &Arc<Driver>, work: Work) {
        for start in work.starts {
            start.spawn(self);
        }
        for path in work.expected {
            self.catalog.expect(&path);
        }
        for fetch in work.cancels {
            fetch.abort();
        }
        for (waiter, answer) in work.answers {
            waiter.answer(self, answer.map(|(loan, ranges)| Lease::owned(self, loan, ranges)));
        }
        if let Some(due) = work.alarm {
            self.wake_at(due);
        }
    }

    /// Drains the engine at `due`, unless this driver has gone by then.
    fn wake_at(self: &Arc<Driver>, due: Time) {
        let (driver, wait) = (Arc::downgrade(self), Duration::from_nanos(due.since(self.now())));
        self.spawn(async move {
            tokio::time::sleep(wait).await;
            let Some(driver) = driver.upgrade() else { return };
            let now = driver.now();
            driver.step(|state, _| {
                state.advance(now);
                state.wake(due);
            });
        });
    }
}

/// A turn under way. Should the engine panic, everybody who waits hears that
/// there will be no answer, and so does everybody who reads from then on.
struct Turn<'a>(&'a Driver);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        tracing::error!(
            target: "forerun::read",
            "the engine stops because of a bug, and all reads fail from now on: mount or connect again, and report it"
        );
        self.0.shut_down();
    }
}

#[cfg(test)]
mod tests {
    use forerun_backend::{Backend, Entry, MemoryBackend, Version, layer::Delay};
    use forerun_engine::ClientId;
    use forerun_engine::{Config, Engine, Extent};
    use futures::channel::oneshot;
    use tokio::runtime;

    use super::super::{Begun, Waiter};
    use super::*;
    use crate::catalog::Catalog;
    use crate::mapping::Memory;

    #[test]
    fn a_panic_in_a_turn_ends_every_wait() {
        const BYTES: u64 = 4 << 20;
        let runtime = runtime::Runtime::new().unwrap();
        let handle = runtime.handle().clone();
        // Its answer never comes within the test.
        let backend: Arc<dyn Backend> =
            Arc::new(Delay::new(Arc::new(MemoryBackend::new()), Duration::from_secs(3600)));
        let catalog = Catalog::new(Arc::clone(&backend), handle.clone(), Duration::ZERO);
        let engine = Engine::new(Config::new(BYTES)).unwrap();
        let memory = Memory::new(BYTES as usize).unwrap();
        let driver = Arc::new(Driver::new(engine, memory, Arc::new(catalog), backend, None, handle));
        let (object, reader) = driver.open(&Entry::file("a", 4096, Version("1".into())), ClientId::default());
        let (answer, answered) = oneshot::channel();
        let read = |answer| {
            let waiter = || Waiter::Task(answer);
            driver.read(&object, reader, Extent::new(0, 4096), &mut Vec::new(), waiter)
        };
        assert!(matches!(read(answer), Ok(Begun::Waits(_))));
        let other = Arc::clone(&driver);
        let turn = std::thread::spawn(move || other.step::<()>(|_, _| panic!("as the test wants it to")));
        turn.join().unwrap_err();
        assert!(futures::executor::block_on(answered).is_err(), "the wait ends without an answer");
        assert!(read(oneshot::channel().0).is_err());
        runtime.shutdown_background();
    }
}
