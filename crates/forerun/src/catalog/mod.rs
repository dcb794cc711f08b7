//! What is where: the backend's answers about paths, asked for once by however
//! many want to know, and believed for a while.

mod ahead;
mod cache;
mod freshness;
mod topic;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun_backend::{Backend, Entry, Error, ErrorKind, Result};
use futures::FutureExt;
use futures::future::{BoxFuture, Either, Ready, Shared, ready};
use parking_lot::Mutex;
use tokio::runtime;

use crate::driver::closed;
use ahead::Ahead;
use cache::Cache;
use freshness::Freshness;
use topic::Topic;

/// Metadata of one backend.
#[derive(Debug)]
pub(crate) struct Catalog {
    backend: Arc<dyn Backend>,
    runtime: runtime::Handle,
    ttl: Duration,
    tables: Mutex<Tables>,
}

#[derive(Debug)]
struct Tables {
    stats: Table<Entry>,
    lists: Table<Arc<[Entry]>>,
    links: Table<Vec<u8>>,
    freshness: Freshness,
    ahead: Ahead,
    /// Counts invalidations: an answer to a question asked before the last one
    /// is given to those who wait for it but not kept.
    epoch: u64,
}

/// Answers to one kind of question, kept and awaited.
#[derive(Debug)]
struct Table<V: Clone> {
    cache: Cache<V>,
    questions: HashMap<String, Question<V>>,
}

/// A question on its way to the backend.
#[derive(Debug)]
struct Question<V: Clone> {
    epoch: u64,
    answer: Answer<V>,
}

/// An answer that is on its way to however many wait for it.
type Answer<V> = Shared<BoxFuture<'static, Result<V>>>;

impl Catalog {
    pub(crate) fn new(backend: Arc<dyn Backend>, runtime: runtime::Handle, ttl: Duration) -> Catalog {
        let (stats, lists, links) = (Table::new(), Table::new(), Table::new());
        let (freshness, ahead) = (Freshness::default(), Ahead::default());
        let tables = Tables { stats, lists, links, freshness, ahead, epoch: 0 };
        Catalog { backend, runtime, ttl, tables: Mutex::new(tables) }
    }

    /// Who asks for one file of a directory after the other is answered from its list,
    /// which is asked for again in time.
    pub(crate) async fn stat(self: &Arc<Catalog>, path: &str) -> Result<Entry> {
        self.refresh(path);
        self.look_up(path).await
    }

    /// Who lists one directory after the other has the next ones listed ahead.
    pub(crate) async fn list(self: &Arc<Catalog>, path: &str) -> Result<Arc<[Entry]>> {
        let answer = {
            let tables = &mut *self.tables.lock();
            let next = tables.ahead.wanted(path, tables.lists.is_known(path)).to_vec();
            let answer = self.begin(tables, path);
            for directory in next {
                if !tables.lists.is_known(&directory) {
                    // Whoever comes for it meets the answer, or asks again after an error.
                    drop(self.ask::<Arc<[Entry]>>(tables, &directory));
                }
            }
            answer
        };
        answer.await
    }

    /// Somebody asks for `path` soon, and is to meet the answer.
    pub(crate) fn expect(self: &Arc<Catalog>, path: &str) {
        let tables = &mut *self.tables.lock();
        // Nobody would believe an answer that came before the question.
        if !self.ttl.is_zero() && !tables.stats.is_known(path) {
            drop(self.ask::<Entry>(tables, path));
        }
    }

    pub(crate) async fn read_link(self: &Arc<Catalog>, path: &str) -> Result<Vec<u8>> {
        self.look_up(path).await
    }

    /// What is known of `path` is not believed any more, nor is the list that
    /// shows it.
    pub(crate) fn invalidate(&self, path: &str) {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let mut tables = self.tables.lock();
        tables.epoch += 1;
        tables.stats.remove(path);
        tables.links.remove(path);
        tables.lists.remove(path);
        tables.lists.remove(parent);
    }

    /// Lists the directory that `path` is in, if that is due.
    fn refresh(self: &Arc<Catalog>, path: &str) {
        let mut tables = self.tables.lock();
        let Some(directory) = tables.freshness.asked(path, Instant::now()) else { return };
        if !tables.lists.questions.contains_key(directory) {
            drop(self.ask::<Arc<[Entry]>>(&mut tables, directory));
        }
    }

    async fn look_up<V: Topic>(self: &Arc<Catalog>, path: &str) -> Result<V> {
        let answer = self.begin(&mut self.tables.lock(), path);
        answer.await
    }

    /// The answer that is believed, or the one that is on its way.
    fn begin<V: Topic>(
        self: &Arc<Catalog>,
        tables: &mut Tables,
        path: &str,
    ) -> Either<Ready<Result<V>>, Answer<V>> {
        if let Some(answer) = V::table(tables).cache.get(path, Instant::now()) {
            return Either::Left(ready(answer));
        }
        let asked = V::table(tables).questions.get(path).map(|question| question.answer.clone());
        Either::Right(asked.unwrap_or_else(|| self.ask(tables, path)))
    }

    /// Asks on a task of its own, so that the answer comes though the first who
    /// wanted it may not wait for it.
    fn ask<V: Topic>(self: &Arc<Catalog>, tables: &mut Tables, path: &str) -> Answer<V> {
        let (catalog, path, epoch) = (Arc::clone(self), path.to_owned(), tables.epoch);
        let asked = path.clone();
        let task = self.runtime.spawn(async move {
            let question = AssertUnwindSafe(V::ask(Arc::clone(&catalog.backend), asked.clone()));
            let answer = question.catch_unwind().await.unwrap_or_else(|_| Err(stopped(&asked)));
            catalog.keep(&asked, epoch, &answer);
            answer
        });
        let answer = task.map(|joined| joined.unwrap_or_else(|_| Err(closed()))).boxed().shared();
        V::table(tables).questions.insert(path, Question { epoch, answer: answer.clone() });
        answer
    }

    fn keep<V: Topic>(&self, path: &str, epoch: u64, answer: &Result<V>) {
        let mut tables = self.tables.lock();
        let questions = &mut V::table(&mut tables).questions;
        if questions.get(path).is_some_and(|question| question.epoch == epoch) {
            questions.remove(path);
        }
        let Some(until) = Instant::now().checked_add(self.ttl) else { return };
        if tables.epoch != epoch || self.ttl.is_zero() {
            return;
        }
        let entry_count = match answer {
            Ok(value) => value.keep(&mut tables, until),
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory) => 1,
            Err(_) => return,
        };
        if let Ok(value) = answer
            && let Some(entries) = value.entries()
            && entries.len() <= cache::ENTRIES_MAX
        {
            tables.freshness.listed(path, entries.len(), Instant::now(), self.ttl);
            tables.ahead.listed(path, entries);
        }
        V::table(&mut tables).cache.put(path, answer.clone(), entry_count, until);
    }
}

impl<V: Clone> Table<V> {
    fn new() -> Table<V> {
        Table { cache: Cache::new(), questions: HashMap::new() }
    }

    /// Whether there is an answer, or will be one.
    fn is_known(&self, path: &str) -> bool {
        self.cache.get(path, Instant::now()).is_some() || self.questions.contains_key(path)
    }

    fn remove(&mut self, path: &str) {
        self.cache.remove(path);
        self.questions.remove(path);
    }
}

fn stopped(path: &str) -> Error {
    let message = format!("looking up {path:?} stopped unexpectedly; this is a bug of the backend");
    Error::new(ErrorKind::Permanent, message)
}
