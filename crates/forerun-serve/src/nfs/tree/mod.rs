//! The exports as clients see them: handles, attributes, directories and files.

mod attributes;
mod caller;
mod directories;
mod failure;
mod handles;
mod lists;
mod mounts;
mod reads;

use std::sync::Arc;

use forerun::{Entry, Kind};
use nfs3_types::nfs3::{
    ACCESS3_EXECUTE, ACCESS3_LOOKUP, ACCESS3_READ, ACCESS3resok, FSF3_HOMOGENEOUS, FSF3_SYMLINK,
    FSINFO3resok, FSSTAT3resok, GETATTR3resok, LOOKUP3resok, PATHCONF3resok, READLINK3resok, fattr3, nfs_fh3,
    nfsstat3, nfstime3, post_op_attr,
};

use super::protocol::{Credential, LIST_BYTES_MAX, NAME_BYTES_MAX, READ_BYTES_MAX, WRITE_BYTES_MAX};
use crate::Buckets;
use crate::served::{Bucket, Defaults, child_path, is_name, parent_of};
use attributes::attributes;
use caller::{Caller, EXECUTE, READ};
use failure::{status_of, status_of_handle};
use handles::{ExportId, FileHandle, HandlePath, LongPaths, VersionTag};
use lists::RecentLists;
pub(super) use mounts::MountTable;
pub(super) use reads::{FileBytes, ReadPart};

/// Sizes that clients may choose are multiples of it.
const BLOCK_BYTES: u32 = 4096;
/// The largest size of a file: offsets are signed.
const FILE_BYTES_MAX: u64 = i64::MAX as u64;

/// All exports.
#[derive(Debug)]
pub(super) struct Tree {
    exports: Vec<Export>,
    defaults: Defaults,
    long_paths: LongPaths,
    lists: RecentLists,
    pub(super) mounts: MountTable,
}

/// A bucket.
#[derive(Clone, Debug)]
struct Export {
    id: ExportId,
    bucket: Arc<Bucket>,
}

/// The object of a handle, as it is now.
#[derive(Debug)]
struct Found<'a> {
    export: &'a Export,
    entry: Entry,
}

/// The result of a call.
type Outcome<T> = Result<T, nfsstat3>;

impl Tree {
    /// The exports of `buckets`.
    pub(super) fn new(buckets: &Buckets) -> Tree {
        let export =
            |bucket: &Arc<Bucket>| Export { id: ExportId::of(&bucket.name), bucket: Arc::clone(bucket) };
        Tree {
            exports: buckets.iter().map(export).collect(),
            defaults: Defaults::now(),
            long_paths: LongPaths::default(),
            lists: RecentLists::default(),
            mounts: MountTable::default(),
        }
    }

    /// The export, the path and the version of `handle`.
    async fn locate(&self, handle: &[u8]) -> Outcome<(&Export, String, VersionTag)> {
        let handle = FileHandle::parse(handle).ok_or(nfsstat3::NFS3ERR_STALE)?;
        let export = self.exports.iter().find(|export| export.id == handle.export);
        let export = export.ok_or(nfsstat3::NFS3ERR_STALE)?;
        let path = match handle.path {
            HandlePath::Whole(path) => path,
            HandlePath::Hashed(hashed) => {
                let path = self.long_paths.find(&export.bucket, &hashed).await;
                let path = path.map_err(|error| status_of_handle(&error))?;
                path.ok_or(nfsstat3::NFS3ERR_STALE)?.to_string()
            }
        };
        Ok((export, path, handle.version))
    }

    /// The object of `handle`, which has not changed.
    async fn find(&self, handle: &[u8]) -> Outcome<Found<'_>> {
        let (export, path, version) = self.locate(handle).await?;
        let entry = export.bucket.entry(&path).await.map_err(|error| status_of_handle(&error))?;
        if VersionTag::of(&entry) != version {
            return Err(nfsstat3::NFS3ERR_STALE);
        }
        Ok(Found { export, entry })
    }

    /// The directory of `handle`, on which `caller` has one of the rights `bits`.
    async fn find_directory(&self, handle: &[u8], caller: &Caller, bits: u32) -> Outcome<Found<'_>> {
        let found = self.find(handle).await?;
        if found.entry.kind != Kind::Directory {
            return Err(nfsstat3::NFS3ERR_NOTDIR);
        }
        if !caller.may(bits, &self.defaults.shown(&found.entry)) {
            return Err(nfsstat3::NFS3ERR_ACCES);
        }
        Ok(found)
    }

    fn handle(&self, export: &Export, entry: &Entry) -> nfs_fh3 {
        let handle = FileHandle::of(export.id, entry);
        if let HandlePath::Hashed(hashed) = &handle.path {
            self.long_paths.remember(hashed, &entry.path);
        }
        nfs_fh3 { data: handle.to_bytes().into() }
    }

    fn attributes(&self, export: &Export, entry: &Entry) -> fattr3 {
        attributes(export.id, entry, &self.defaults)
    }

    /// GETATTR.
    pub(super) async fn get_attributes(&self, object: &[u8]) -> Outcome<GETATTR3resok> {
        let found = self.find(object).await?;
        Ok(GETATTR3resok { obj_attributes: self.attributes(found.export, &found.entry) })
    }

    /// LOOKUP.
    pub(super) async fn look_up(
        &self,
        directory: &[u8],
        name: &[u8],
        credential: &Credential,
    ) -> Outcome<LOOKUP3resok> {
        let found = self.find_directory(directory, &Caller::of(credential), EXECUTE).await?;
        let parent = &found.entry.path;
        let path = match str::from_utf8(name) {
            Ok(".") => parent.clone(),
            Ok("..") => parent_of(parent).to_owned(),
            Ok(name) if is_name(name, NAME_BYTES_MAX as usize) => child_path(parent, name),
            _ if name.len() > NAME_BYTES_MAX as usize => return Err(nfsstat3::NFS3ERR_NAMETOOLONG),
            _ => return Err(nfsstat3::NFS3ERR_NOENT),
        };
        let entry = found.export.bucket.entry(&path).await.map_err(|error| status_of(&error))?;
        Ok(LOOKUP3resok {
            object: self.handle(found.export, &entry),
            obj_attributes: post_op_attr::Some(self.attributes(found.export, &entry)),
            dir_attributes: post_op_attr::None,
        })
    }

    /// ACCESS. Nobody may change anything.
    pub(super) async fn access(
        &self,
        object: &[u8],
        asked: u32,
        credential: &Credential,
    ) -> Outcome<ACCESS3resok> {
        let found = self.find(object).await?;
        let (caller, shown) = (Caller::of(credential), self.defaults.shown(&found.entry));
        let executes = if found.entry.kind == Kind::Directory { ACCESS3_LOOKUP } else { ACCESS3_EXECUTE };
        let granted = [(READ, ACCESS3_READ), (EXECUTE, executes)];
        let granted = granted.iter().filter(|(bits, _)| caller.may(*bits, &shown)).map(|(_, right)| right);
        Ok(ACCESS3resok {
            obj_attributes: post_op_attr::Some(self.attributes(found.export, &found.entry)),
            access: granted.sum::<u32>() & asked,
        })
    }

    /// READLINK.
    pub(super) async fn read_link(&self, link: &[u8]) -> Outcome<READLINK3resok<'static>> {
        let found = self.find(link).await?;
        if found.entry.kind != Kind::Symlink {
            return Err(nfsstat3::NFS3ERR_INVAL);
        }
        let target = found.export.bucket.forerun.read_link(&found.entry.path).await;
        let target = target.map_err(|error| status_of_handle(&error))?;
        Ok(READLINK3resok { symlink_attributes: post_op_attr::None, data: target.into() })
    }

    /// FSSTAT. The size and the free space of a store are unknown, and of no use to a reader.
    pub(super) async fn space(&self, root: &[u8]) -> Outcome<FSSTAT3resok> {
        self.find(root).await?;
        let obj_attributes = post_op_attr::None;
        let [tbytes, fbytes, abytes, tfiles, ffiles, afiles] = [0; 6];
        Ok(FSSTAT3resok { obj_attributes, tbytes, fbytes, abytes, tfiles, ffiles, afiles, invarsec: 0 })
    }

    /// FSINFO.
    pub(super) async fn information(&self, root: &[u8]) -> Outcome<FSINFO3resok> {
        self.find(root).await?;
        Ok(FSINFO3resok {
            obj_attributes: post_op_attr::None,
            rtmax: READ_BYTES_MAX,
            rtpref: READ_BYTES_MAX,
            rtmult: BLOCK_BYTES,
            wtmax: WRITE_BYTES_MAX,
            wtpref: WRITE_BYTES_MAX,
            wtmult: BLOCK_BYTES,
            dtpref: LIST_BYTES_MAX,
            maxfilesize: FILE_BYTES_MAX,
            time_delta: nfstime3 { seconds: 0, nseconds: 1 },
            properties: FSF3_SYMLINK | FSF3_HOMOGENEOUS,
        })
    }

    /// PATHCONF.
    pub(super) async fn path_limits(&self, object: &[u8]) -> Outcome<PATHCONF3resok> {
        self.find(object).await?;
        Ok(PATHCONF3resok {
            obj_attributes: post_op_attr::None,
            linkmax: 1,
            name_max: NAME_BYTES_MAX,
            no_trunc: true,
            chown_restricted: true,
            case_insensitive: false,
            case_preserving: true,
        })
    }
}
