//! Procedures and their arguments.

use nfs3_types::mount::{MNTPATHLEN, MOUNT_PROGRAM as MountProcedure};
use nfs3_types::nfs3::{NFS_PROGRAM as Procedure, NFS3_FHSIZE};

use super::reply::padding_after;
use super::{LIST_BYTES_MAX, READ_BYTES_MAX};
use crate::fields::{Fields, TooShort};

/// A procedure of NFS or MOUNT with its arguments, which no longer take part in any limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of RFC 1813")]
pub enum Operation {
    Null,
    GetAttr {
        object: Vec<u8>,
    },
    Lookup {
        directory: Vec<u8>,
        name: Vec<u8>,
    },
    Access {
        object: Vec<u8>,
        asked: u32,
    },
    ReadLink {
        link: Vec<u8>,
    },
    Read {
        file: Vec<u8>,
        offset: u64,
        count: u32,
    },
    /// READDIR, or READDIRPLUS.
    ReadDir {
        directory: Vec<u8>,
        cookie: u64,
        count: u32,
        is_plus: bool,
    },
    FsStat {
        root: Vec<u8>,
    },
    FsInfo {
        root: Vec<u8>,
    },
    PathConf {
        object: Vec<u8>,
    },
    /// A procedure that would change something, and is refused. Its error has this number of optional
    /// attributes behind it.
    Change {
        attribute_count: usize,
    },
    Mount {
        path: Vec<u8>,
    },
    Dump,
    Unmount {
        path: Vec<u8>,
    },
    UnmountAll,
    Export,
}

/// Arguments that are none of the procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Garbage;

impl From<TooShort> for Garbage {
    fn from(_: TooShort) -> Garbage {
        Garbage
    }
}

/// Bytes after their length, at most `len_max`, with padding behind them.
pub(super) fn opaque<'a>(fields: &mut Fields<'a>, len_max: usize) -> Result<&'a [u8], Garbage> {
    let bytes = fields.counted()?;
    fields.bytes(padding_after(bytes.len()))?;
    if bytes.len() > len_max { Err(Garbage) } else { Ok(bytes) }
}

fn handle(fields: &mut Fields<'_>) -> Result<Vec<u8>, Garbage> {
    opaque(fields, NFS3_FHSIZE).map(<[u8]>::to_vec)
}

impl Operation {
    /// The NFS procedure of this number; none if there is no such.
    pub(super) fn of_nfs(procedure: u32, mut fields: Fields<'_>) -> Result<Option<Operation>, Garbage> {
        let Ok(procedure) = Procedure::try_from(procedure) else { return Ok(None) };
        let fields = &mut fields;
        Ok(Some(match procedure {
            Procedure::NFSPROC3_NULL => Operation::Null,
            Procedure::NFSPROC3_GETATTR => Operation::GetAttr { object: handle(fields)? },
            Procedure::NFSPROC3_LOOKUP => {
                Operation::Lookup { directory: handle(fields)?, name: opaque(fields, usize::MAX)?.to_vec() }
            }
            Procedure::NFSPROC3_ACCESS => Operation::Access { object: handle(fields)?, asked: fields.u32()? },
            Procedure::NFSPROC3_READLINK => Operation::ReadLink { link: handle(fields)? },
            Procedure::NFSPROC3_READ => {
                Operation::Read { file: handle(fields)?, offset: fields.u64()?, count: fields.u32()? }
            }
            Procedure::NFSPROC3_READDIR => Operation::read_dir(fields, false)?,
            Procedure::NFSPROC3_READDIRPLUS => Operation::read_dir(fields, true)?,
            Procedure::NFSPROC3_FSSTAT => Operation::FsStat { root: handle(fields)? },
            Procedure::NFSPROC3_FSINFO => Operation::FsInfo { root: handle(fields)? },
            Procedure::NFSPROC3_PATHCONF => Operation::PathConf { object: handle(fields)? },
            Procedure::NFSPROC3_RENAME => Operation::change(fields, 4)?,
            Procedure::NFSPROC3_LINK => Operation::change(fields, 3)?,
            Procedure::NFSPROC3_SETATTR
            | Procedure::NFSPROC3_WRITE
            | Procedure::NFSPROC3_CREATE
            | Procedure::NFSPROC3_MKDIR
            | Procedure::NFSPROC3_SYMLINK
            | Procedure::NFSPROC3_MKNOD
            | Procedure::NFSPROC3_REMOVE
            | Procedure::NFSPROC3_RMDIR
            | Procedure::NFSPROC3_COMMIT => Operation::change(fields, 2)?,
        }))
    }

    /// The MOUNT procedure of this number; none if there is no such.
    pub(super) fn of_mount(procedure: u32, mut fields: Fields<'_>) -> Result<Option<Operation>, Garbage> {
        let Ok(procedure) = MountProcedure::try_from(procedure) else { return Ok(None) };
        let path = |fields: &mut Fields<'_>| opaque(fields, MNTPATHLEN).map(<[u8]>::to_vec);
        Ok(Some(match procedure {
            MountProcedure::MOUNTPROC3_NULL => Operation::Null,
            MountProcedure::MOUNTPROC3_MNT => Operation::Mount { path: path(&mut fields)? },
            MountProcedure::MOUNTPROC3_DUMP => Operation::Dump,
            MountProcedure::MOUNTPROC3_UMNT => Operation::Unmount { path: path(&mut fields)? },
            MountProcedure::MOUNTPROC3_UMNTALL => Operation::UnmountAll,
            MountProcedure::MOUNTPROC3_EXPORT => Operation::Export,
        }))
    }

    fn read_dir(fields: &mut Fields<'_>, is_plus: bool) -> Result<Operation, Garbage> {
        let (directory, cookie) = (handle(fields)?, fields.u64()?);
        // The verifier of the cookie: ours are valid for ever.
        fields.u64()?;
        if is_plus {
            // Bytes of names alone, which the other limit bounds as well.
            fields.u32()?;
        }
        Ok(Operation::ReadDir { directory, cookie, count: fields.u32()?, is_plus })
    }

    /// The rest of the arguments does not matter.
    fn change(fields: &mut Fields<'_>, attribute_count: usize) -> Result<Operation, Garbage> {
        handle(fields)?;
        Ok(Operation::Change { attribute_count })
    }

    /// The bytes that the reply may have, as a connection counts them.
    pub fn weight(&self) -> u32 {
        /// Bytes of a list lie in this program's memory, and those of a read in the engine's.
        const OWN_BYTES: u32 = 16;
        match self {
            Operation::Read { count, .. } => (*count).min(READ_BYTES_MAX),
            Operation::ReadDir { count, .. } => (*count).min(LIST_BYTES_MAX) * OWN_BYTES,
            _ => 0,
        }
    }
}
