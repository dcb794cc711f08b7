//! The processes between the store and the program.

use std::ffi::OsString;
use std::net::SocketAddr;

use super::contender::{Contender, MEMORY, Source};
use super::folder::Folder;
use crate::demo::process::{CacheProcess, HeardProcess, MountProcess, RcloneProcess, ServeProcess};
use crate::demo::processors::seconds_of;
use crate::demo::store::BUCKET;

/// The processes between the store and the program.
#[derive(Debug)]
pub(super) enum Between {
    Mount(MountProcess),
    Servers(NodeServers),
    Rclone(RcloneProcess),
}

/// The servers of one or more nodes, and the cache that they share.
#[derive(Debug)]
pub(super) struct NodeServers {
    each: Vec<ServeProcess>,
    cache: Option<CacheProcess>,
}

impl Between {
    /// Mounts or serves `source` as `contender` does. `folder` has the programs that it needs.
    ///
    /// # Errors
    /// The step that failed.
    pub(super) async fn start(
        contender: Contender,
        source: Source<'_>,
        folder: &Folder,
    ) -> Result<Option<Between>, String> {
        if let (Contender::RcloneNfs, Source::Store(address)) = (contender, source) {
            let served = RcloneProcess::start(&folder.rclone(), address).await?;
            return Ok(Some(Between::Rclone(served)));
        }
        if let (Some(nodes), Source::Store(address)) = (contender.nodes(), source) {
            return NodeServers::start(address, nodes, contender.has_cache()).await.map(Some);
        }
        match contender.mount(source)? {
            Some((program, ready)) => Ok(Some(Between::Mount(MountProcess::run(program, ready).await?))),
            None => Ok(None),
        }
    }

    /// The directory, or the URLs of the servers with commas between.
    pub(super) fn place(&self) -> OsString {
        match self {
            Between::Mount(mount) => mount.directory().into(),
            Between::Servers(NodeServers { each, .. }) => {
                each.iter().map(ServeProcess::http).collect::<Vec<_>>().join(",").into()
            }
            Between::Rclone(served) => format!("nfs://{}", served.nfs()).into(),
        }
    }

    /// The address of the first server for clients of NFS, and the path of its export, as in `127.0.0.1:2049/demo`.
    pub(super) fn nfs(&self) -> Option<String> {
        match self {
            Between::Mount(_) => None,
            Between::Servers(NodeServers { each, .. }) => {
                each.first().map(|first| format!("{}/{BUCKET}", first.nfs()))
            }
            Between::Rclone(served) => Some(format!("{}/", served.nfs())),
        }
    }

    /// The ids of all processes.
    pub(super) fn ids(&self) -> Vec<u32> {
        let cache = match self {
            Between::Mount(_) | Between::Rclone(_) => None,
            Between::Servers(NodeServers { cache, .. }) => cache.as_ref(),
        };
        let own = self.processes().into_iter().filter_map(HeardProcess::id);
        own.chain(cache.map(CacheProcess::ids).unwrap_or_default()).collect()
    }

    /// The processor seconds of all processes.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.ids().into_iter().map(seconds_of).sum()
    }

    /// The sum of the peaks of the processes without the cache.
    pub(super) fn memory_peak_bytes(&self) -> Result<u64, String> {
        self.processes().into_iter().map(HeardProcess::memory_peak_bytes).sum()
    }

    fn processes(&self) -> Vec<&HeardProcess> {
        match self {
            Between::Mount(mount) => vec![mount.process()],
            Between::Servers(NodeServers { each, .. }) => each.iter().map(ServeProcess::process).collect(),
            Between::Rclone(served) => vec![served.process()],
        }
    }

    /// Ends all processes.
    pub(super) async fn stop(&mut self) -> Result<(), String> {
        match self {
            Between::Mount(mount) => mount.stop().await,
            Between::Servers(servers) => servers.stop().await,
            Between::Rclone(served) => served.stop().await,
        }
    }
}

impl NodeServers {
    async fn start(origin: SocketAddr, nodes: usize, has_cache: bool) -> Result<Between, String> {
        let cache = if has_cache { Some(CacheProcess::start(origin).await?) } else { None };
        let source = cache.as_ref().map_or(origin, CacheProcess::address);
        let mut each = Vec::new();
        for _ in 0..nodes {
            each.push(ServeProcess::start(source, MEMORY).await?);
        }
        Ok(Between::Servers(NodeServers { each, cache }))
    }

    async fn stop(&mut self) -> Result<(), String> {
        let mut ended = Ok(());
        for server in &mut self.each {
            ended = ended.and(server.stop().await);
        }
        match &mut self.cache {
            Some(cache) => ended.and(cache.stop().await),
            None => ended,
        }
    }
}
