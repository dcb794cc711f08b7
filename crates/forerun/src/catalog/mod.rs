//! The backend's answers about paths. Many callers share one request, and its answer is believed for a
//! while.

mod ahead;
mod bulk;
mod cache;
mod table;
mod topic;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use forerun_backend::{Backend, Entry, Error, ErrorKind, Result};
use futures::FutureExt;
use futures::future::{Either, Ready, ready};
use parking_lot::Mutex;
use tokio::runtime;
use tokio::time::Instant;

use crate::driver::closed;
use ahead::Ahead;
use bulk::Bulk;
use table::{Question, SharedAnswer, Table};
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
    lists: Table<List>,
    links: Table<Vec<u8>>,
    bulk: Bulk,
    ahead: Ahead,
    /// Counts invalidations: an answer to a question asked before the last one
    /// is given to those who wait for it but not kept.
    epoch: u64,
}

/// The entries of a directory.
type List = Arc<[Entry]>;

impl Catalog {
    pub(crate) fn new(backend: Arc<dyn Backend>, runtime: runtime::Handle, ttl: Duration) -> Catalog {
        let (stats, lists, links) = (Table::new(), Table::new(), Table::new());
        let (bulk, ahead) = (Bulk::default(), Ahead::default());
        let tables = Tables { stats, lists, links, bulk, ahead, epoch: 0 };
        Catalog { backend, runtime, ttl, tables: Mutex::new(tables) }
    }

    /// Readers that ask about many files of a directory are answered from its list, where
    /// lists are whole. Until the list has come, the backend is asked about each file.
    pub(crate) async fn stat(self: &Arc<Catalog>, path: &str) -> Result<Entry> {
        if self.backend.has_whole_lists() {
            self.list_in_bulk(path);
            if let Some(list) = self.list_for(path) {
                let listed = list.iter().find(|entry| entry.path == path);
                return listed.cloned().ok_or_else(|| self.not_listed(path));
            }
        }
        self.look_up(path).await
    }

    /// Lists a directory. If a program lists one after the other, the next ones are listed ahead.
    pub(crate) async fn list(self: &Arc<Catalog>, path: &str) -> Result<List> {
        let answer = {
            let tables = &mut *self.tables.lock();
            let next = tables.ahead.wanted(path, tables.lists.is_known(path)).to_vec();
            let answer = self.begin(tables, path);
            for directory in next {
                if !tables.lists.is_known(&directory) {
                    // A later caller meets the answer, or asks again after an error.
                    drop(self.ask::<List>(tables, &directory));
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

    /// Forgets the answers about `path`, and the list that shows it.
    pub(crate) fn invalidate(&self, path: &str) {
        let mut tables = self.tables.lock();
        tables.epoch += 1;
        tables.stats.remove(path);
        tables.links.remove(path);
        tables.lists.remove(path);
        tables.lists.remove(parent_of(path));
    }

    /// Lists the directory that `path` is in, if that is cheaper than to ask about its
    /// files. A list that fails is nobody's failure.
    fn list_in_bulk(self: &Arc<Catalog>, path: &str) {
        let (asked, epoch) = {
            let tables = &mut *self.tables.lock();
            (tables.bulk.asked(path, Instant::now(), self.ttl), tables.epoch)
        };
        let Some((directory, entries_max)) = asked else { return };
        let catalog = Arc::clone(self);
        self.runtime.spawn(async move {
            let list = AssertUnwindSafe(catalog.backend.list_within(&directory, entries_max));
            let list = list.catch_unwind().await.unwrap_or_else(|_| Err(stopped(&directory)));
            let has_failed = match list {
                Ok(Some(entries)) => {
                    catalog.keep::<List>(&directory, epoch, &Ok(entries.into()));
                    false
                }
                Ok(None) => true,
                Err(error) => {
                    tracing::debug!(
                        target: "forerun::read",
                        %error, "the files of {directory:?} are asked about one by one"
                    );
                    true
                }
            };
            catalog.tables.lock().bulk.ended(&directory, has_failed);
        });
    }

    /// The list that tells what is at `path`, if it is believed and nothing newer is known.
    fn list_for(&self, path: &str) -> Option<List> {
        let tables = self.tables.lock();
        if path.is_empty() || tables.stats.is_known(path) {
            return None;
        }
        tables.lists.cache.get(parent_of(path), Instant::now())?.ok()
    }

    fn not_listed(&self, path: &str) -> Error {
        let message = format!("{}: there is nothing at {path:?}", self.backend.url());
        Error::new(ErrorKind::NotFound, message)
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
    ) -> Either<Ready<Result<V>>, SharedAnswer<V>> {
        if let Some(answer) = V::table(tables).cache.get(path, Instant::now()) {
            return Either::Left(ready(answer));
        }
        let asked = V::table(tables).questions.get(path).map(|question| question.answer.clone());
        Either::Right(asked.unwrap_or_else(|| self.ask(tables, path)))
    }

    /// Asks on a task of its own, so that the answer comes though the first who
    /// wanted it may not wait for it.
    fn ask<V: Topic>(self: &Arc<Catalog>, tables: &mut Tables, path: &str) -> SharedAnswer<V> {
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
        let now = Instant::now();
        let Some(until) = now.checked_add(self.ttl) else { return };
        let believed = now..until;
        if tables.epoch != epoch || self.ttl.is_zero() {
            return;
        }
        let entry_count = match answer {
            Ok(value) => value.keep(&mut tables, &believed),
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory) => 1,
            Err(_) => return,
        };
        if let Ok(value) = answer
            && let Some(entries) = value.entries()
            && entries.len() <= cache::ENTRIES_MAX
        {
            tables.bulk.listed(path, entries.len(), Instant::now(), self.ttl);
            tables.ahead.listed(path, entries);
        }
        V::table(&mut tables).cache.put(path, answer.clone(), entry_count, &believed);
    }
}

fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn stopped(path: &str) -> Error {
    let message = format!("looking up {path:?} stopped unexpectedly; this is a bug of the backend");
    Error::new(ErrorKind::Permanent, message)
}
