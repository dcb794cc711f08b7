//! One file per format.

pub(crate) mod alibaba;
pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod compact;
pub(crate) mod compact_write;
pub(crate) mod csv;
pub(crate) mod ftrace;
pub(crate) mod iolog;
pub(crate) mod msr;
pub(crate) mod rbd_replay;
pub(crate) mod rbd_replay_write;
pub(crate) mod strace;
mod strace_call;
pub(crate) mod tencent;
pub(crate) mod vscsi;
