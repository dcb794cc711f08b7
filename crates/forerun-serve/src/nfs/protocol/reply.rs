//! Replies, as bytes. Each function makes one record, or the part of it before the bytes of a file.

use nfs3_types::nfs3::{Nfs3Result, nfsstat3, post_op_attr};
use nfs3_types::rpc::{
    accept_stat_data, accepted_reply, msg_body, opaque_auth, rejected_reply, reply_body, rpc_msg,
};
use nfs3_types::xdr_codec::Pack;

use super::record::LAST_FRAGMENT;

/// The zeros behind `len` bytes, which fill the last word of four.
pub(in super::super) fn padding_after(len: usize) -> usize {
    len.wrapping_neg() % 4
}

/// The call `xid` has succeeded.
pub(in super::super) fn success(xid: u32, result: &impl Pack) -> Vec<u8> {
    let mut reply = accepted(xid, accept_stat_data::SUCCESS);
    put(&mut reply, result);
    finish(reply, 0)
}

/// The NFS call `xid` has ended so.
pub(in super::super) fn result<T: Pack, E: Pack + Default>(xid: u32, result: Result<T, nfsstat3>) -> Vec<u8> {
    match result {
        Ok(value) => success(xid, &Nfs3Result::<T, E>::Ok(value)),
        Err(status) => success(xid, &Nfs3Result::<T, E>::Err((status, E::default()))),
    }
}

/// The head of `count` bytes of a file, which follow it with padding behind them.
///
/// It has no attributes: they would let a client believe for longer that the file is unchanged.
pub(in super::super) fn read(xid: u32, count: u32, is_end: bool) -> Vec<u8> {
    let mut reply = accepted(xid, accept_stat_data::SUCCESS);
    put(&mut reply, &nfsstat3::NFS3_OK);
    put(&mut reply, &post_op_attr::None);
    put(&mut reply, &count);
    put(&mut reply, &is_end);
    put(&mut reply, &count);
    finish(reply, count as usize + padding_after(count as usize))
}

/// The call `xid` would have changed something.
pub(in super::super) fn read_only(xid: u32, attribute_count: usize) -> Vec<u8> {
    let mut reply = accepted(xid, accept_stat_data::SUCCESS);
    put(&mut reply, &nfsstat3::NFS3ERR_ROFS);
    (0..attribute_count).for_each(|_| put(&mut reply, &post_op_attr::None));
    finish(reply, 0)
}

/// The call `xid` is understood, and cannot be answered.
pub(super) fn refused(xid: u32, reason: accept_stat_data) -> Vec<u8> {
    finish(accepted(xid, reason), 0)
}

/// The call `xid` is not looked at.
pub(super) fn denied(xid: u32, reply: rejected_reply) -> Vec<u8> {
    finish(message(xid, reply_body::MSG_DENIED(reply)), 0)
}

fn accepted(xid: u32, reply_data: accept_stat_data) -> Vec<u8> {
    message(xid, reply_body::MSG_ACCEPTED(accepted_reply { verf: opaque_auth::default(), reply_data }))
}

/// A record without its mark and its end.
fn message(xid: u32, body: reply_body<'_>) -> Vec<u8> {
    // Most replies have attributes of an object.
    let mut reply = Vec::with_capacity(160);
    put(&mut reply, &0_u32);
    put(&mut reply, &rpc_msg { xid, body: msg_body::REPLY(body) });
    reply
}

/// Marks the record, which `rest` bytes follow.
fn finish(mut reply: Vec<u8>, rest: usize) -> Vec<u8> {
    let (mark, body) = reply.split_at_mut(4);
    let len = u32::try_from(body.len() + rest).unwrap_or(LAST_FRAGMENT - 1);
    mark.copy_from_slice(&(LAST_FRAGMENT | len).to_be_bytes());
    reply
}

fn put(reply: &mut Vec<u8>, value: &impl Pack) {
    // Only a text of more than 4 GiB would fail.
    value.pack(reply).expect("memory takes a reply");
}
