//! The three kinds of question: about one entry, a directory's list, where a link leads.

use std::ops::Range;
use std::sync::Arc;

use forerun_backend::{Backend, Entry, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{List, Table, Tables, cache};

/// The kinds of questions: their table, and their request to the backend.
pub(super) trait Topic: Clone + Send + Sync + 'static {
    fn table(tables: &mut Tables) -> &mut Table<Self>;
    fn ask(backend: Arc<dyn Backend>, path: String) -> BoxFuture<'static, Result<Self>>;
    /// Keeps what the answer says of other paths, and counts its entries.
    fn keep(&self, tables: &mut Tables, believed: &Range<Instant>) -> usize;
    /// The entries of a list.
    fn entries(&self) -> Option<&[Entry]> {
        None
    }
}

impl Topic for Entry {
    fn table(tables: &mut Tables) -> &mut Table<Entry> {
        &mut tables.stats
    }

    fn ask(backend: Arc<dyn Backend>, path: String) -> BoxFuture<'static, Result<Entry>> {
        async move { backend.stat(&path).await }.boxed()
    }

    fn keep(&self, _tables: &mut Tables, _believed: &Range<Instant>) -> usize {
        1
    }
}

impl Topic for List {
    fn table(tables: &mut Tables) -> &mut Table<List> {
        &mut tables.lists
    }

    fn ask(backend: Arc<dyn Backend>, path: String) -> BoxFuture<'static, Result<List>> {
        async move { Ok(backend.list(&path).await?.into()) }.boxed()
    }

    fn keep(&self, tables: &mut Tables, believed: &Range<Instant>) -> usize {
        for entry in self.iter().take(cache::ENTRIES_MAX) {
            tables.stats.cache.put(&entry.path, Ok(entry.clone()), 1, believed);
        }
        1 + self.len()
    }

    fn entries(&self) -> Option<&[Entry]> {
        Some(self)
    }
}

impl Topic for Vec<u8> {
    fn table(tables: &mut Tables) -> &mut Table<Vec<u8>> {
        &mut tables.links
    }

    fn ask(backend: Arc<dyn Backend>, path: String) -> BoxFuture<'static, Result<Vec<u8>>> {
        async move { backend.read_link(&path).await }.boxed()
    }

    fn keep(&self, _tables: &mut Tables, _believed: &Range<Instant>) -> usize {
        1
    }
}
