//! The keys of a bucket in the order of their bytes, from its directories.

use forerun::{Entry, Kind, Result};

use crate::served::Bucket;

/// A walk over the keys that begin with a prefix and come after another key.
///
/// Directories are listed when the walk comes to them, so that a page of keys costs as many listings as it has
/// directories.
pub(super) struct Keys<'a> {
    bucket: &'a Bucket,
    prefix: &'a str,
    after: &'a str,
    /// Directories are not entered.
    is_flat: bool,
    /// The directories from the top down to where the walk is; of each what is left, the next one last.
    left: Vec<Vec<(String, Entry)>>,
}

/// A key, or what many keys begin with.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Key(Entry),
    /// A directory that is not entered, with `/` at its end.
    Prefix(String),
}

impl<'a> Keys<'a> {
    /// The keys that begin with `prefix` and come after `after`. If `is_flat`, those of directories further
    /// down are left out, and the directories come instead.
    ///
    /// # Errors
    /// If the directory of the prefix cannot be listed.
    pub(super) async fn new(
        bucket: &'a Bucket,
        prefix: &'a str,
        after: &'a str,
        is_flat: bool,
    ) -> Result<Keys<'a>> {
        let mut keys = Keys { bucket, prefix, after, is_flat, left: Vec::new() };
        let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
        match keys.enter(directory).await {
            Err(error) if error.kind == forerun::ErrorKind::NotFound && !directory.is_empty() => Ok(keys),
            result => result.map(|()| keys),
        }
    }

    /// The next one; none at the end.
    ///
    /// # Errors
    /// If a directory cannot be listed.
    pub(super) async fn next(&mut self) -> Result<Option<Found>> {
        while let Some(left) = self.left.last_mut() {
            match left.pop() {
                None => {
                    self.left.pop();
                }
                Some((_, entry)) if entry.kind == Kind::File => return Ok(Some(Found::Key(entry))),
                Some((key, _)) if self.is_flat => {
                    // A client that stopped within this directory has seen the keys up to there.
                    if !self.after.starts_with(&key) || self.has_more(&key).await? {
                        return Ok(Some(Found::Prefix(key)));
                    }
                }
                Some((_, entry)) => match self.enter(&entry.path).await {
                    // It was removed meanwhile.
                    Err(error) if error.kind == forerun::ErrorKind::NotFound => {}
                    result => result?,
                },
            }
        }
        Ok(None)
    }

    /// Whether a key that begins with `prefix` comes after `after`.
    async fn has_more(&self, prefix: &str) -> Result<bool> {
        let mut keys = Box::pin(Keys::new(self.bucket, prefix, self.after, false)).await?;
        Ok(Box::pin(keys.next()).await?.is_some())
    }

    async fn enter(&mut self, directory: &str) -> Result<()> {
        let entries = self.bucket.entries(directory).await?;
        let mut left: Vec<(String, Entry)> = entries
            .iter()
            .filter_map(|entry| Some((key_of(entry)?, entry.clone())))
            .filter(|(key, entry)| self.wants(key, entry.kind))
            .collect();
        left.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        self.left.push(left);
        Ok(())
    }

    /// Whether `key` counts, or a key of the directory `key` may.
    fn wants(&self, key: &str, kind: Kind) -> bool {
        match kind {
            Kind::File => key.starts_with(self.prefix) && key > self.after,
            _ if self.is_flat => key.starts_with(self.prefix) && key != self.after && self.may_follow(key),
            _ => key.starts_with(self.prefix) && self.may_follow(key),
        }
    }

    /// Whether a key of the directory `key` may come after `after`.
    fn may_follow(&self, key: &str) -> bool {
        key > self.after || self.after.starts_with(key)
    }
}

/// The key of a file, and of a directory what its keys begin with; none of anything else.
fn key_of(entry: &Entry) -> Option<String> {
    match entry.kind {
        Kind::File => Some(entry.path.clone()),
        Kind::Directory => Some(format!("{}/", entry.path)),
        _ => None,
    }
}
