//! Calls, from their start to their reply.

use std::net::SocketAddr;
use std::sync::Arc;

use nfs3_types::nfs3::{
    ACCESS3resfail, FSINFO3resfail, FSSTAT3resfail, LOOKUP3resfail, PATHCONF3resfail, READ3resfail,
    READ3resok, READDIR3resfail, READDIRPLUS3resfail, READLINK3resfail,
};
use nfs3_types::xdr_codec::Void;

use super::protocol::{self, Call, Credential, Operation, padding_after, result, success};
use super::tree::{FileBytes, ReadPart, Tree};
use crate::sending::Outgoing;

/// The reply to `call` of the client `peer`.
pub(super) async fn answer(tree: Arc<Tree>, peer: Option<SocketAddr>, call: Call) -> Outgoing<FileBytes> {
    let weight = call.operation.weight();
    let Call { xid, credential, operation } = call;
    let head = match operation {
        Operation::Read { file, offset, count } => {
            return read(&tree, xid, &credential, (&file, offset, count), weight).await;
        }
        Operation::ReadDir { directory, cookie, count, is_plus: false } => {
            let page = tree.read_directory(&directory, cookie, count, &credential).await;
            result::<_, READDIR3resfail>(xid, page)
        }
        Operation::ReadDir { directory, cookie, count, is_plus: true } => {
            let page = tree.read_directory_plus(&directory, cookie, count, &credential).await;
            result::<_, READDIRPLUS3resfail>(xid, page)
        }
        Operation::GetAttr { object } => result::<_, Void>(xid, tree.get_attributes(&object).await),
        Operation::Lookup { directory, name } => {
            result::<_, LOOKUP3resfail>(xid, tree.look_up(&directory, &name, &credential).await)
        }
        Operation::Access { object, asked } => {
            result::<_, ACCESS3resfail>(xid, tree.access(&object, asked, &credential).await)
        }
        Operation::ReadLink { link } => result::<_, READLINK3resfail>(xid, tree.read_link(&link).await),
        Operation::FsStat { root } => result::<_, FSSTAT3resfail>(xid, tree.space(&root).await),
        Operation::FsInfo { root } => result::<_, FSINFO3resfail>(xid, tree.information(&root).await),
        Operation::PathConf { object } => result::<_, PATHCONF3resfail>(xid, tree.path_limits(&object).await),
        Operation::Change { attribute_count } => protocol::read_only(xid, attribute_count),
        Operation::Mount { path } => success(xid, &tree.mount(peer, &path).await),
        Operation::Dump => success(xid, &tree.mounts.dump()),
        Operation::Export => success(xid, &tree.export_list()),
        Operation::Unmount { path } => {
            tree.mounts.remove(peer, Some(&path));
            success(xid, &Void)
        }
        Operation::UnmountAll => {
            tree.mounts.remove(peer, None);
            success(xid, &Void)
        }
        Operation::Null => success(xid, &Void),
    };
    Outgoing::head(head, true, weight)
}

async fn read(
    tree: &Tree,
    xid: u32,
    credential: &Credential,
    (file, offset, count): (&[u8], u64, u32),
    weight: u32,
) -> Outgoing<FileBytes> {
    let refuse = |status| result::<READ3resok<'_>, READ3resfail>(xid, Err(status));
    let file = match tree.open(xid, file, credential).await {
        Ok(file) => file,
        Err(status) => return Outgoing::head(refuse(status), true, weight),
    };
    match file.first(offset, count).await {
        Ok(ReadPart { offset, len, is_end, lent }) => {
            let head = Outgoing::head(protocol::read(xid, len, is_end), true, weight);
            head.with_bytes(file, (offset, len), lent).with_padding(padding_after(len as usize))
        }
        Err(status) => Outgoing::head(refuse(status), true, weight),
    }
}
