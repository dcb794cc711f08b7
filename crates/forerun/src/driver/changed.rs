//! Objects of which the backend has another version by now.

use forerun_backend::Error;

use super::objects::Object;
use super::state::State;
use super::work::Work;

impl State {
    /// The backend has another version of `object`: this one is never read
    /// again, from memory neither.
    pub(super) fn change(&mut self, object: &Object, error: &Error, work: &mut Work) {
        if object.changed.set(error.clone()).is_err() {
            return;
        }
        let waiting = self.waiters.extract_if(.., |_, (waited_for, _)| *waited_for == object.id);
        for (read, (_, waiter)) in waiting {
            self.engine.abandon(read);
            work.answers.push((waiter, Err(error.clone())));
        }
        self.engine.forget(self.now, object.id);
        self.objects.remove(object.id);
    }
}
