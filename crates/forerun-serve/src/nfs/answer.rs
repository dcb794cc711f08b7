//! Calls, from their start to their reply.

use std::net::SocketAddr;
use std::sync::Arc;

use forerun::ClientId;
use nfs3_types::mount::mountres3;
use nfs3_types::nfs3::{
    ACCESS3resfail, FSINFO3resfail, FSSTAT3resfail, LOOKUP3resfail, PATHCONF3resfail, READ3resfail,
    READ3resok, READDIR3resfail, READDIRPLUS3resfail, READLINK3resfail, nfsstat3,
};
use nfs3_types::xdr_codec::{Pack, Void};

use super::protocol::{self, Call, Credential, Operation, padding_after, result, success};
use super::tree::{FileBytes, ReadPart, Tree};
use crate::sending::Outgoing;
use crate::sharers::client_at;

/// The reply to `call` of the client `peer`, and whether it is no error.
pub(super) async fn answer(
    tree: Arc<Tree>,
    peer: Option<SocketAddr>,
    call: Call,
) -> (Outgoing<FileBytes>, bool) {
    let weight = call.operation.weight();
    let Call { xid, credential, operation } = call;
    let (head, is_ok) = match operation {
        Operation::Read { file, offset, count } => {
            return read(&tree, xid, (&credential, client_at(peer)), (&file, offset, count), weight).await;
        }
        Operation::ReadDir { directory, cookie, count, is_plus: false } => {
            let page = tree.read_directory(&directory, cookie, count, &credential).await;
            replied::<_, READDIR3resfail>(xid, page)
        }
        Operation::ReadDir { directory, cookie, count, is_plus: true } => {
            let page = tree.read_directory_plus(&directory, cookie, count, &credential).await;
            replied::<_, READDIRPLUS3resfail>(xid, page)
        }
        Operation::GetAttr { object } => replied::<_, Void>(xid, tree.get_attributes(&object).await),
        Operation::Lookup { directory, name } => {
            replied::<_, LOOKUP3resfail>(xid, tree.look_up(&directory, &name, &credential).await)
        }
        Operation::Access { object, asked } => {
            replied::<_, ACCESS3resfail>(xid, tree.access(&object, asked, &credential).await)
        }
        Operation::ReadLink { link } => replied::<_, READLINK3resfail>(xid, tree.read_link(&link).await),
        Operation::FsStat { root } => replied::<_, FSSTAT3resfail>(xid, tree.space(&root).await),
        Operation::FsInfo { root } => replied::<_, FSINFO3resfail>(xid, tree.information(&root).await),
        Operation::PathConf { object } => {
            replied::<_, PATHCONF3resfail>(xid, tree.path_limits(&object).await)
        }
        Operation::Change { attribute_count } => (protocol::read_only(xid, attribute_count), false),
        Operation::Mount { path } => {
            let mounted = tree.mount(peer, &path).await;
            (success(xid, &mounted), matches!(mounted, mountres3::Ok(_)))
        }
        Operation::Dump => (success(xid, &tree.mounts.dump()), true),
        Operation::Export => (success(xid, &tree.export_list()), true),
        Operation::Unmount { path } => {
            tree.mounts.remove(peer, Some(&path));
            (success(xid, &Void), true)
        }
        Operation::UnmountAll => {
            tree.mounts.remove(peer, None);
            (success(xid, &Void), true)
        }
        Operation::Null => (success(xid, &Void), true),
    };
    (Outgoing::head(head, true, weight), is_ok)
}

/// The NFS call `xid` has ended so, and whether that is no error.
fn replied<T: Pack, E: Pack + Default>(xid: u32, ended: Result<T, nfsstat3>) -> (Vec<u8>, bool) {
    let is_ok = ended.is_ok();
    (result::<T, E>(xid, ended), is_ok)
}

async fn read(
    tree: &Tree,
    xid: u32,
    (credential, client): (&Credential, ClientId),
    (file, offset, count): (&[u8], u64, u32),
    weight: u32,
) -> (Outgoing<FileBytes>, bool) {
    let refuse = |status| result::<READ3resok<'_>, READ3resfail>(xid, Err(status));
    let file = match tree.open(xid, file, credential, client).await {
        Ok(file) => file,
        Err(status) => return (Outgoing::head(refuse(status), true, weight), false),
    };
    match file.first(offset, count).await {
        Ok(ReadPart { offset, len, is_end, lent }) => {
            let head = Outgoing::head(protocol::read(xid, len, is_end), true, weight);
            (head.with_bytes(file, (offset, len), lent).with_padding(padding_after(len as usize)), true)
        }
        Err(status) => (Outgoing::head(refuse(status), true, weight), false),
    }
}
