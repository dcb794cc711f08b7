//! How an engine over a backend begins.

use std::sync::{Arc, Weak};
use std::time::Duration;

use forerun_backend::{Backend, Connected, Error, ErrorKind, Result};
use forerun_engine::{ClientId, Config, ConfigError, CustomPolicy, Engine};

use crate::catalog::Catalog;
use crate::driver::Driver;
use crate::instance::Shared;
use crate::mapping::Memory;
use crate::profile::Learner;
use crate::runtime::Background;
use crate::{Forerun, Options, Reader};

/// How much of what was learned a program that is killed loses at most.
const SAVE_INTERVAL: Duration = Duration::from_secs(60);

impl Forerun {
    /// Over the backend that `url` names, which is asked whether it answers. See
    /// [`forerun_backend::connect`] for the URLs there are.
    ///
    /// # Errors
    /// As [`forerun_backend::connect`], and [`ErrorKind::Invalid`] for options
    /// that cannot be kept.
    pub async fn connect(url: &str, options: Options) -> Result<Forerun> {
        let runtime = Background::new(options.runtime.clone())?;
        let (url, connect) = (url.to_owned(), options.connect.clone());
        let connected = runtime.run(async move { forerun_backend::connect(&url, &connect).await }).await?;
        Forerun::new(connected, &options, runtime)
    }

    /// Over a backend that the caller made.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for options that cannot be kept.
    pub fn over(backend: Arc<dyn Backend>, options: Options) -> Result<Forerun> {
        let runtime = Background::new(options.runtime.clone())?;
        Forerun::new(Connected::to(backend), &options, runtime)
    }

    /// Over a backend that the caller made, with a policy that the caller made. [`Options::policy`] does not
    /// matter then, and advice, lists, listings and profiles are not followed.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for options that cannot be kept.
    pub fn with_policy(
        backend: Arc<dyn Backend>,
        options: Options,
        policy: Box<dyn CustomPolicy>,
    ) -> Result<Forerun> {
        let runtime = Background::new(options.runtime.clone())?;
        let engine = Engine::with_policy(Config::new(options.memory_bytes), policy).map_err(invalid)?;
        Forerun::with_engine(engine, Connected::to(backend), &options, runtime)
    }

    fn new(connected: Connected, options: &Options, runtime: Background) -> Result<Forerun> {
        let config = Config { policy: options.policy.into(), ..Config::new(options.memory_bytes) };
        let engine = Engine::new(config).map_err(invalid)?;
        Forerun::with_engine(engine, connected, options, runtime)
    }

    fn with_engine(
        engine: Engine,
        connected: Connected,
        options: &Options,
        runtime: Background,
    ) -> Result<Forerun> {
        let Connected { backend, object, .. } = connected;
        let memory = usize::try_from(options.memory_bytes)
            .map_err(std::io::Error::other)
            .and_then(Memory::new)
            .map_err(|error| no_memory(options.memory_bytes, error))?;
        let learner = options.learn.as_deref().map(Learner::load).transpose()?;
        let handle = runtime.handle().clone();
        let catalog = Catalog::new(Arc::clone(&backend), handle.clone(), options.metadata_ttl);
        let driver = Arc::new(Driver::new(engine, memory, Arc::new(catalog), backend, learner, handle));
        if driver.learner.is_some() {
            runtime.handle().spawn(save_regularly(Arc::downgrade(&driver)));
        }
        Ok(Forerun { shared: Arc::new(Shared { driver, object, runtime }), client: ClientId::default() })
    }
}

/// A reader of the one object that `url` names, with default options and an
/// engine of its own. To read several objects, or a tree, use
/// [`Forerun::connect`].
///
/// # Errors
/// As [`Forerun::connect`]; [`ErrorKind::Invalid`] if `url` names a tree.
pub async fn open(url: &str) -> Result<Reader> {
    let forerun = Forerun::connect(url, Options::default()).await?;
    forerun.open(forerun.single(url)?).await
}

/// Keeps what was learned even if the program is killed.
async fn save_regularly(driver: Weak<Driver>) {
    loop {
        tokio::time::sleep(SAVE_INTERVAL).await;
        let Some(driver) = driver.upgrade() else { return };
        let saved = tokio::task::spawn_blocking(move || driver.learner.as_ref().map(Learner::save_or_warn));
        let _ = saved.await;
    }
}

fn invalid(error: ConfigError) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string()).with_source(error)
}

fn no_memory(bytes: u64, error: std::io::Error) -> Error {
    let message = format!("cannot reserve {bytes} bytes of memory: {error}; choose a smaller budget");
    Error::new(ErrorKind::Invalid, message).with_source(error)
}
