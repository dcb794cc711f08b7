//! The mount protocol: clients ask for the handle of a directory once, by its path.

use std::collections::VecDeque;
use std::net::SocketAddr;

use forerun::{ErrorKind, Kind};
use nfs3_types::mount::{
    dirpath, export_node, exports, fhandle3, mountbody, mountlist, mountres3, mountres3_ok, mountstat3,
    name as host_name,
};
use nfs3_types::rpc::auth_flavor;
use nfs3_types::xdr_codec::{List, Opaque};
use parking_lot::Mutex;

use super::{Export, Tree};

/// Mounts that DUMP tells of. Clients that end without a word are forgotten first.
const MOUNTS_MAX: usize = 1024;

/// The clients and directories of mounts, as far as clients tell.
#[derive(Debug, Default)]
pub(in super::super) struct MountTable {
    /// The latest last.
    mounts: Mutex<VecDeque<(String, String)>>,
}

impl MountTable {
    fn add(&self, host: String, path: String) {
        let mut mounts = self.mounts.lock();
        mounts.retain(|mount| mount.0 != host || mount.1 != path);
        if mounts.len() >= MOUNTS_MAX {
            mounts.pop_front();
        }
        mounts.push_back((host, path));
    }

    /// UMNT of `path` by the client `peer`, or UMNTALL.
    pub(in super::super) fn remove(&self, peer: Option<SocketAddr>, path: Option<&[u8]>) {
        let (host, path) = (host_of(peer), path.map(shown_path));
        self.mounts
            .lock()
            .retain(|mount| mount.0 != host || path.as_ref().is_some_and(|path| mount.1 != *path));
    }

    /// DUMP.
    pub(in super::super) fn dump(&self) -> mountlist<'static, 'static> {
        let body = |(host, path): &(String, String)| mountbody {
            ml_hostname: host_name(Opaque::owned(host.clone().into_bytes())),
            ml_directory: dirpath(Opaque::owned(path.clone().into_bytes())),
        };
        List(self.mounts.lock().iter().map(body).collect())
    }
}

impl Tree {
    /// MNT of `path` by the client `peer`.
    pub(in super::super) async fn mount(&self, peer: Option<SocketAddr>, path: &[u8]) -> mountres3<'static> {
        let shown = shown_path(path);
        match self.root(&shown).await {
            Ok(handle) => {
                tracing::info!(target: "forerun::nfs", "{} mounts {shown:?}", host_of(peer));
                self.mounts.add(host_of(peer), shown);
                let auth_flavors = vec![auth_flavor::AUTH_UNIX as u32, auth_flavor::AUTH_NULL as u32];
                mountres3::Ok(mountres3_ok { fhandle: fhandle3(handle), auth_flavors })
            }
            Err(status) => {
                tracing::info!(target: "forerun::nfs", "{} cannot mount {shown:?}: {status}", host_of(peer));
                mountres3::Err(status)
            }
        }
    }

    /// The handle of the directory `/EXPORT/PATH`. The only export may also be called `/`.
    async fn root(&self, path: &str) -> Result<Opaque<'static>, mountstat3> {
        let (name, below) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        let export = match &self.exports[..] {
            [only] if name.is_empty() => Some(only),
            all => all.iter().find(|export| export.bucket.name == name),
        };
        let export = export.ok_or(mountstat3::MNT3ERR_NOENT)?;
        match export.bucket.entry(below).await {
            Ok(entry) if entry.kind == Kind::Directory => Ok(self.handle(export, &entry).data),
            Ok(_) => Err(mountstat3::MNT3ERR_NOTDIR),
            Err(error) if error.kind == ErrorKind::NotFound => Err(mountstat3::MNT3ERR_NOENT),
            Err(error) => {
                tracing::warn!(target: "forerun::nfs", "{error}");
                Err(if error.kind == ErrorKind::Denied {
                    mountstat3::MNT3ERR_ACCES
                } else {
                    mountstat3::MNT3ERR_IO
                })
            }
        }
    }

    /// EXPORT. Everybody may mount each.
    pub(in super::super) fn export_list(&self) -> exports<'static, 'static> {
        let node = |export: &Export| export_node {
            ex_dir: dirpath(Opaque::owned(format!("/{}", export.bucket.name).into_bytes())),
            ex_groups: List::default(),
        };
        List(self.exports.iter().map(node).collect())
    }
}

/// A path with one `/` before it and none behind it.
fn shown_path(path: &[u8]) -> String {
    format!("/{}", String::from_utf8_lossy(path).trim_matches('/'))
}

fn host_of(peer: Option<SocketAddr>) -> String {
    peer.map_or_else(|| "localhost".to_owned(), |peer| peer.ip().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_latest_mounts_of_each_client() {
        let table = MountTable::default();
        let shown =
            || table.mounts.lock().iter().map(|(host, path)| format!("{host}{path}")).collect::<Vec<_>>();
        let peer = |number: u8| Some(SocketAddr::from(([127, 0, 0, number], 700)));
        for (number, path) in [(1, "/a"), (1, "/b"), (2, "/a"), (1, "/a")] {
            table.add(host_of(peer(number)), path.to_owned());
        }
        assert_eq!(shown(), ["127.0.0.1/b", "127.0.0.2/a", "127.0.0.1/a"]);
        table.remove(peer(1), Some(b"/a/"));
        assert_eq!(shown(), ["127.0.0.1/b", "127.0.0.2/a"]);
        table.remove(peer(2), None);
        assert_eq!(shown(), ["127.0.0.1/b"]);
        (0..MOUNTS_MAX + 5).for_each(|number| table.add("host".to_owned(), format!("/{number}")));
        assert_eq!(table.mounts.lock().len(), MOUNTS_MAX);
    }
}
