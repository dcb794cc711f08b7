//! Numbers of the NBD protocol.

pub(crate) const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");
pub(crate) const REQUEST_MAGIC: u32 = 0x2560_9513;

pub(crate) const ACK: u32 = 1;
pub(crate) const ERR_UNSUP: u32 = 1 << 31 | 1;
pub(crate) const ERR_INVALID: u32 = 1 << 31 | 3;
pub(crate) const ERR_UNKNOWN: u32 = 1 << 31 | 6;
pub(crate) const ERR_TOO_BIG: u32 = 1 << 31 | 9;

pub(crate) const EXPORT_NAME: u32 = 1;
pub(crate) const ABORT: u32 = 2;
pub(crate) const LIST: u32 = 3;
pub(crate) const STARTTLS: u32 = 5;
pub(crate) const INFO: u32 = 6;
pub(crate) const GO: u32 = 7;
pub(crate) const STRUCTURED_REPLY: u32 = 8;
pub(crate) const LIST_META_CONTEXT: u32 = 9;
pub(crate) const SET_META_CONTEXT: u32 = 10;

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const DISCONNECT: u16 = 2;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const CACHE: u16 = 5;
pub(crate) const WRITE_ZEROES: u16 = 6;
pub(crate) const BLOCK_STATUS: u16 = 7;

pub(crate) const FLAG_FUA: u16 = 1 << 0;
pub(crate) const FLAG_NO_HOLE: u16 = 1 << 1;
pub(crate) const FLAG_DF: u16 = 1 << 2;
pub(crate) const FLAG_ONE: u16 = 1 << 3;
pub(crate) const FLAG_FAST_ZERO: u16 = 1 << 4;

pub(crate) const EPERM: u32 = 1;
pub(crate) const EIO: u32 = 5;
pub(crate) const EINVAL: u32 = 22;
pub(crate) const ENOSPC: u32 = 28;
pub(crate) const EOVERFLOW: u32 = 75;
pub(crate) const ESHUTDOWN: u32 = 108;
