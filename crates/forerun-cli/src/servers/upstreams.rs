//! The engines of a server: one for each URL.

use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use forerun::{Forerun, Options};
use tokio::runtime::Handle;

use super::{Monitoring, NamedUrl};
use crate::explain::{Socket, Subject};
use crate::memory::Following;
use crate::mount::EngineOptions;
use crate::mount::running::explain_itself;

/// URLs, and an engine for each. They share the memory in equal parts: each measures its own storage.
pub(crate) struct Upstreams<'a> {
    urls: &'a [NamedUrl],
    engine: &'a EngineOptions,
    options: Options,
    foreruns: Vec<Forerun>,
}

impl<'a> Upstreams<'a> {
    /// Engines for `urls`, which are to be connected.
    ///
    /// # Errors
    /// If the options do not fit several URLs.
    pub(crate) fn new(
        urls: &'a [NamedUrl],
        engine: &'a EngineOptions,
        metadata_ttl: Duration,
        monitoring: &Monitoring,
        runtime: &Handle,
    ) -> Result<Upstreams<'a>, Box<dyn Error>> {
        if engine.learn.is_some() && urls.len() > 1 {
            return Err("--learn has one file for one URL: start a server for each URL".into());
        }
        let options = engine.options().with_memory_bytes(engine.memory.for_each_of(urls.len() as u64));
        let options = options.with_metadata_ttl(metadata_ttl).with_runtime(runtime.clone());
        let options = monitoring.metered(options);
        Ok(Upstreams { urls, engine, options, foreruns: Vec::new() })
    }

    /// Connects an engine to each URL.
    ///
    /// # Errors
    /// If an object cannot be reached.
    pub(crate) async fn connect(&mut self) -> Result<(), forerun::Error> {
        for named in self.urls {
            self.push(Forerun::connect(&named.url, self.options.clone()).await?);
        }
        Ok(())
    }

    /// The options of each engine.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The engine of the next URL.
    pub(crate) fn push(&mut self, forerun: Forerun) {
        self.engine.weigh(&forerun);
        self.foreruns.push(forerun);
    }

    /// Lets the memory follow what the machine has left until the result is dropped, if the user wants that.
    ///
    /// # Errors
    /// If the system has no room for a thread.
    pub(crate) fn follow_memory(&self) -> io::Result<Option<Following>> {
        Following::start(self.engine.memory, self.foreruns.clone())
    }

    /// Each URL with its engine.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&NamedUrl, &Forerun)> {
        self.urls.iter().zip(&self.foreruns)
    }

    /// The URLs, without secrets.
    pub(crate) fn shown(&self) -> String {
        let urls: Vec<String> = self.urls.iter().map(|named| forerun::without_secrets(&named.url)).collect();
        urls.join(", ")
    }

    /// A function that returns true once every engine has answered.
    pub(crate) fn answers(&self) -> impl Fn() -> bool + Clone + Send + 'static + use<> {
        let foreruns = self.foreruns.clone();
        move || {
            // Each call takes the lock of its engine.
            foreruns.iter().for_each(|forerun| {
                forerun.memory_bytes();
            });
            true
        }
    }

    /// Begins to answer `forerun explain` about the server at `place`. An answer is about one engine, so there is
    /// none for several.
    pub(crate) fn explain_at(&self, place: &str) {
        let [forerun] = &self.foreruns[..] else { return };
        let subject = Subject {
            forerun: forerun.clone(),
            url: self.shown(),
            directory: place.into(),
            policy: self.engine.policy.clone(),
            since: Instant::now(),
        };
        explain_itself(Socket::new(), subject);
    }

    /// Keeps what was learned.
    ///
    /// # Errors
    /// If a profile cannot be written.
    pub(crate) fn save_learned(&self) -> Result<(), forerun::Error> {
        self.foreruns.iter().try_for_each(Forerun::save_learned)
    }
}
