//! A cache that servers of Forerun share: nginx, as docs/scale.md configures it.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::{end, installed_server, start_listener};
use crate::scratch::scratch;

/// The configuration, with gaps for two addresses.
const CONFIGURATION: &str = include_str!("../../../programs/cache.conf");

/// nginx. Its folder goes when it ends.
#[derive(Debug)]
pub(crate) struct CacheProcess {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl CacheProcess {
    /// Starts an empty cache of the store at `origin`.
    ///
    /// # Errors
    /// The reason why it does not listen.
    pub(crate) async fn start(origin: SocketAddr) -> Result<CacheProcess, String> {
        let folder = scratch()?;
        let address =
            prepare(folder.path(), origin).map_err(|error| format!("preparing a cache: {error}"))?;
        let mut command = Command::new(installed_server("nginx"));
        command.args(["-g", "daemon off;", "-e", "stderr", "-c", "cache.conf", "-p"]).arg(folder.path());
        command.process_group(0);
        let listens = async || TcpStream::connect(address).await.is_ok();
        let child = start_listener(command, &folder.path().join("log"), listens).await;
        let child = child.map_err(|error| format!("nginx: {error}"))?;
        Ok(CacheProcess { child, address, _folder: folder })
    }

    /// The address for servers of Forerun.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The ids of its processes.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let Some(id) = self.child.id() else { return Vec::new() };
        let workers = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        std::iter::once(id).chain(workers.split_whitespace().filter_map(|id| id.parse().ok())).collect()
    }

    /// Ends it.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        end(&mut self.child).await.map_err(|error| format!("nginx {error}"))
    }
}

impl Drop for CacheProcess {
    /// Ends all of its processes after an interrupt.
    fn drop(&mut self) {
        let leader = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
    }
}

/// Writes the configuration into `folder`. Returns the address at which the cache will listen.
fn prepare(folder: &Path, origin: SocketAddr) -> std::io::Result<SocketAddr> {
    // Root's nginx has processes of another user, who must reach the slices.
    fs::set_permissions(folder, Permissions::from_mode(0o711))?;
    // nginx cannot choose a free port by itself.
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let text = CONFIGURATION.replace("@ORIGIN@", &origin.to_string());
    fs::write(folder.join("cache.conf"), text.replace("@LISTEN@", &address.to_string()))?;
    Ok(address)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::START_MAX;
    use super::*;

    #[test]
    fn the_documentation_shows_the_configuration() {
        let shown = CONFIGURATION.replace("@ORIGIN@", "store.example.org:9000").replace("@LISTEN@", "9200");
        assert!(include_str!("../../../../../docs/scale.md").contains(&shown), "copy it:\n{shown}");
    }

    #[tokio::test]
    async fn a_cache_starts_with_its_configuration_and_ends_with_its_processes() {
        let mut cache = CacheProcess::start(([127, 0, 0, 1], 9).into()).await.unwrap();
        let folder = cache._folder.path().to_owned();
        // nginx listens before it starts its workers.
        let mut ids = cache.ids();
        let limit = Instant::now() + START_MAX;
        while ids.len() == 1 && Instant::now() < limit {
            tokio::task::yield_now().await;
            ids = cache.ids();
        }
        assert!(ids.len() > 1, "nginx starts no worker: {ids:?}");
        cache.stop().await.unwrap();
        assert!(ids.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists()), "{ids:?}");
        drop(cache);
        assert!(!folder.exists());
    }
}
