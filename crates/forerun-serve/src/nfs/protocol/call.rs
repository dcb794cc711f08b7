//! Calls, from records.

use bytes::BytesMut;
use nfs3_types::rpc::{accept_stat_data, auth_stat, rejected_reply};
use nfs3_types::{mount, nfs3};

use super::Broken;
use super::operation::{Garbage, Operation, opaque};
use super::record::Records;
use super::reply::{denied, refused};
use crate::fields::{Fields, TooShort};

/// The version of the protocol of calls.
const RPC_VERSION: u32 = 2;
/// The kind of a message that is a call.
const CALL: u32 = 0;

/// The longest credential (RFC 5531, section 8.2).
const AUTH_BYTES_MAX: usize = 400;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;
/// Limits of AUTH_SYS (RFC 5531, appendix A).
const MACHINE_BYTES_MAX: usize = 255;
const GROUPS_MAX: u32 = 16;

/// A call that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Names the call in its reply.
    pub xid: u32,
    /// The user, as the client tells it.
    pub credential: Credential,
    /// The procedure and its arguments.
    pub operation: Operation,
}

/// The user of a call, as the client tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Nobody is named (AUTH_NONE).
    None,
    /// A user and its groups (AUTH_SYS), of which the first is its own.
    System {
        /// The user.
        user: u32,
        /// Its groups.
        groups: Vec<u32>,
    },
}

/// The next message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A call to be answered.
    Call(Call),
    /// A call that is refused by this reply.
    Refused(Vec<u8>),
}

/// Cuts the bytes of a client into calls. No more is kept than one record.
#[derive(Debug, Default)]
pub struct Calls {
    records: Records,
}

impl Calls {
    /// The next call of `input`, once all of it is there.
    ///
    /// # Errors
    /// If the client has lost the protocol: nothing can be told from the bytes that follow.
    pub fn next(&mut self, input: &mut BytesMut) -> Result<Option<Incoming>, Broken> {
        match self.records.next(input)? {
            Some(record) => parse(&record).map(Some),
            None => Ok(None),
        }
    }
}

impl From<TooShort> for Broken {
    fn from(_: TooShort) -> Broken {
        Broken::CallTooShort
    }
}

fn parse(record: &[u8]) -> Result<Incoming, Broken> {
    let mut fields = Fields(record);
    let (xid, kind) = (fields.u32()?, fields.u32()?);
    if kind != CALL {
        return Err(Broken::NotACall(kind));
    }
    let deny = |reply| Ok(Incoming::Refused(denied(xid, reply)));
    if fields.u32()? != RPC_VERSION {
        return deny(rejected_reply::rpc_mismatch(RPC_VERSION, RPC_VERSION));
    }
    let (program, version, procedure) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let [credential, verifier] = [auth(&mut fields)?, auth(&mut fields)?];
    if verifier.1.len() > AUTH_BYTES_MAX {
        return deny(rejected_reply::auth_error(auth_stat::AUTH_BADVERF));
    }
    let Some(credential) = Credential::parse(credential) else {
        return deny(rejected_reply::auth_error(auth_stat::AUTH_BADCRED));
    };
    let refuse = |reason| Ok(Incoming::Refused(refused(xid, reason)));
    let operation = match (program, version) {
        (nfs3::PROGRAM, nfs3::VERSION) => Operation::of_nfs(procedure, fields),
        (mount::PROGRAM, mount::VERSION) => Operation::of_mount(procedure, fields),
        (nfs3::PROGRAM | mount::PROGRAM, _) => {
            return refuse(accept_stat_data::PROG_MISMATCH { low: nfs3::VERSION, high: nfs3::VERSION });
        }
        _ => return refuse(accept_stat_data::PROG_UNAVAIL),
    };
    match operation {
        Ok(Some(operation)) => Ok(Incoming::Call(Call { xid, credential, operation })),
        Ok(None) => refuse(accept_stat_data::PROC_UNAVAIL),
        Err(Garbage) => refuse(accept_stat_data::GARBAGE_ARGS),
    }
}

/// A credential or verifier: its flavor, and its bytes.
fn auth<'a>(fields: &mut Fields<'a>) -> Result<(u32, &'a [u8]), Broken> {
    let flavor = fields.u32()?;
    let bytes = opaque(fields, usize::MAX).map_err(|Garbage| Broken::CallTooShort)?;
    Ok((flavor, bytes))
}

impl Credential {
    fn parse((flavor, bytes): (u32, &[u8])) -> Option<Credential> {
        match flavor {
            _ if bytes.len() > AUTH_BYTES_MAX => None,
            AUTH_NONE => Some(Credential::None),
            AUTH_SYS => Credential::system(Fields(bytes)).ok(),
            _ => None,
        }
    }

    fn system(mut fields: Fields<'_>) -> Result<Credential, Garbage> {
        fields.u32()?;
        opaque(&mut fields, MACHINE_BYTES_MAX)?;
        let (user, group, count) = (fields.u32()?, fields.u32()?, fields.u32()?);
        if count > GROUPS_MAX {
            return Err(Garbage);
        }
        let others = (0..count).map(|_| fields.u32()).collect::<Result<Vec<_>, _>>()?;
        Ok(Credential::System { user, groups: [vec![group], others].concat() })
    }
}
