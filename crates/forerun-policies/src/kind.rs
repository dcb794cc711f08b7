//! The names of all policies, and the policies that have them.

use alloc::boxed::Box;
use core::fmt;
use core::str::FromStr;

use forerun_engine::{BLOCK_BYTES, Config, CustomPolicy, PolicyChoice};

use crate::amp::Amp;
use crate::kernel::{Ara, AraTuning, OnDemand, Stock};
use crate::kernel_policy::KernelPolicy;
use crate::rbd::{Eager, Rbd};

/// Which idea decides what to read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PolicyKind {
    /// Nothing is ever read ahead.
    None,
    /// Ceph RBD's readahead: one detector per object, doubling windows.
    Plain,
    /// [`PolicyKind::Plain`] with windows rounded to the object size.
    Aligned,
    /// Ceph RBD's: once triggered, read to the end of the storage object.
    Eager,
    /// Linux 2.6.10 to 2.6.22: two windows per reader.
    Stock,
    /// Linux 2.6.23: on-demand readahead as it began.
    OnDemand2623,
    /// Linux 2.6.31: on-demand readahead with the cache as history.
    Context2631,
    /// Linux 6.12's on-demand readahead, one state per reader.
    OnDemand,
    /// Adaptive readahead of 2006: windows from measured thrashing thresholds.
    Ara,
    /// AMP of 2007: each stream has a degree and a trigger distance, which follow the outcomes of its
    /// readahead.
    Amp,
    /// Several streams per object, windows from measured latency and rate.
    #[default]
    Adaptive,
}

impl PolicyKind {
    /// Every policy, in the order tables show them.
    pub const ALL: [PolicyKind; 11] = [
        PolicyKind::None,
        PolicyKind::Plain,
        PolicyKind::Aligned,
        PolicyKind::Eager,
        PolicyKind::Stock,
        PolicyKind::OnDemand2623,
        PolicyKind::Context2631,
        PolicyKind::OnDemand,
        PolicyKind::Ara,
        PolicyKind::Amp,
        PolicyKind::Adaptive,
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            PolicyKind::None => "none",
            PolicyKind::Plain => "plain",
            PolicyKind::Aligned => "aligned",
            PolicyKind::Eager => "eager",
            PolicyKind::Stock => "stock",
            PolicyKind::OnDemand2623 => "ondemand-2.6.23",
            PolicyKind::Context2631 => "context-2.6.31",
            PolicyKind::OnDemand => "ondemand",
            PolicyKind::Ara => "ara",
            PolicyKind::Amp => "amp",
            PolicyKind::Adaptive => "adaptive",
        }
    }
}

impl From<PolicyKind> for PolicyChoice {
    fn from(kind: PolicyKind) -> PolicyChoice {
        let make: fn(&Config) -> Box<dyn CustomPolicy> = match kind {
            PolicyKind::None => return PolicyChoice::None,
            PolicyKind::Adaptive => return PolicyChoice::Adaptive,
            PolicyKind::Plain => |config| Box::new(Rbd::plain(config.window_bytes_max)),
            PolicyKind::Aligned => {
                |config| Box::new(Rbd::aligned(config.window_bytes_max, config.storage_object_bytes))
            }
            PolicyKind::Eager => |config| Box::new(Eager::new(config.storage_object_bytes)),
            PolicyKind::Stock => |config| Box::new(KernelPolicy::new(Stock::new(pages(config)))),
            PolicyKind::OnDemand2623 => {
                |config| Box::new(KernelPolicy::new(OnDemand::linux_2_6_23(pages(config))))
            }
            PolicyKind::Context2631 => {
                |config| Box::new(KernelPolicy::new(OnDemand::linux_2_6_31(pages(config))))
            }
            PolicyKind::OnDemand => |config| Box::new(KernelPolicy::new(OnDemand::linux_6_12(pages(config)))),
            PolicyKind::Ara => |_| Box::new(KernelPolicy::new(Ara::new(AraTuning::default()))),
            PolicyKind::Amp => |config| Box::new(Amp::new(config.window_bytes_max)),
        };
        PolicyChoice::Made(make)
    }
}

/// The most pages of a window.
fn pages(config: &Config) -> u64 {
    config.window_bytes_max / BLOCK_BYTES
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Takes the name that [`PolicyKind::name`] gives.
impl FromStr for PolicyKind {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<PolicyKind, UnknownPolicy> {
        PolicyKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(UnknownPolicy)
    }
}

/// No policy has that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPolicy;

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no policy has that name; give one of")?;
        PolicyKind::ALL.iter().enumerate().try_for_each(|(place, kind)| {
            let mark = if place == 0 { " " } else { ", " };
            write!(f, "{mark}{kind}")
        })
    }
}

impl core::error::Error for UnknownPolicy {}
