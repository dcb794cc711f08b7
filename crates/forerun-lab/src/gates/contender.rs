//! The policies that are compared.

use forerun_policies::PolicyKind;

/// The purpose of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// It is what the gates are about.
    Itself,
    /// It must not be harmed.
    Nothing,
    /// It must not be better.
    Peer,
}

/// A policy with a window.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// Its name in tables and files.
    pub name: &'static str,
    /// The policy.
    pub policy: PolicyKind,
    /// The ceiling of its window in bytes, where it has one.
    pub window_bytes_max: Option<u64>,
    /// Its purpose.
    pub against: Against,
}

const KIB: u64 = 1 << 10;

/// All of them; [`Against::Itself`] is the first, [`Against::Nothing`] the second.
pub const CONTENDERS: [Contender; 7] = [
    Contender {
        name: "adaptive",
        policy: PolicyKind::Adaptive,
        window_bytes_max: None,
        against: Against::Itself,
    },
    Contender { name: "none", policy: PolicyKind::None, window_bytes_max: None, against: Against::Nothing },
    peer("ondemand-128K", PolicyKind::OnDemand, 128),
    peer("ondemand-1M", PolicyKind::OnDemand, 1024),
    peer("ondemand-4M", PolicyKind::OnDemand, 4096),
    peer("plain-4M", PolicyKind::Plain, 4096),
    peer("amp", PolicyKind::Amp, 4096),
];

const fn peer(name: &'static str, policy: PolicyKind, window_kib: u64) -> Contender {
    Contender { name, policy, window_bytes_max: Some(window_kib * KIB), against: Against::Peer }
}
