//! Answers to one kind of question, and the questions that are on their way.

use std::collections::HashMap;

use forerun_backend::Result;
use futures::future::{BoxFuture, Shared};
use tokio::time::Instant;

use super::cache::Cache;

/// Answers to one kind of question, kept and awaited.
#[derive(Debug)]
pub(super) struct Table<V: Clone> {
    pub(super) cache: Cache<V>,
    pub(super) questions: HashMap<String, Question<V>>,
}

/// A question on its way to the backend.
#[derive(Debug)]
pub(super) struct Question<V: Clone> {
    pub(super) epoch: u64,
    pub(super) answer: SharedAnswer<V>,
}

/// An answer that is on its way to however many wait for it.
pub(super) type SharedAnswer<V> = Shared<BoxFuture<'static, Result<V>>>;

impl<V: Clone> Table<V> {
    pub(super) fn new() -> Table<V> {
        Table { cache: Cache::new(), questions: HashMap::new() }
    }

    /// Whether there is an answer, or will be one.
    pub(super) fn is_known(&self, path: &str) -> bool {
        self.cache.get(path, Instant::now()).is_some() || self.questions.contains_key(path)
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.cache.remove(path);
        self.questions.remove(path);
    }
}
