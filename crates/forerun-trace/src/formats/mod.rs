//! One module for each format. Their types are all called `Decoder` and `Encoder`: code outside
//! names them with the module, as in `csv::Decoder`.

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
mod strace_descriptors;
pub(crate) mod tencent;
pub(crate) mod vscsi;
