//! The kernels that read for slow readers, and what is known of them.

use forerun_policies::kernel::{Algorithm, OnDemand};

use super::steady::Steady;
use crate::seeds::scene::stock;
use crate::slow_readers::careful;

/// A kernel, and what is known of its amplification for each of [`super::STREAMS`] from an earlier
/// simulation with a page cache without a reserve. It knows of stock readahead with 1.03 requests
/// per page. A window of 32 pages makes that many if each page is lost and read again alone.
/// Windows that shrink make fewer.
pub(super) struct Kernel {
    pub(super) name: &'static str,
    pub(super) algorithm: fn() -> Box<dyn Algorithm>,
    pub(super) expected: [Option<f64>; 6],
}

const fn known(at: [f64; 5]) -> [Option<f64>; 6] {
    [Some(at[0]), None, Some(at[1]), Some(at[2]), Some(at[3]), Some(at[4])]
}

const STOCK_128K: [Option<f64>; 6] = known([1.00, 1.00, 1.96, 1.99, 2.00]);
const STOCK_1M: [Option<f64>; 6] = known([1.87, 1.95, 1.98, 1.99, 2.00]);

pub(super) const KERNELS: [Kernel; 11] = [
    Kernel { name: "stock 128K", algorithm: || stock(128 << 10), expected: STOCK_128K },
    Kernel { name: "stock 1M", algorithm: || stock(1 << 20), expected: STOCK_1M },
    Kernel {
        name: "stock 128K, never shrinks",
        algorithm: || Box::new(Steady::new(128 << 10)),
        expected: STOCK_128K,
    },
    Kernel {
        name: "stock 1M, never shrinks",
        algorithm: || Box::new(Steady::new(1 << 20)),
        expected: STOCK_1M,
    },
    Kernel {
        name: "2.6.23 128K",
        algorithm: || Box::new(OnDemand::linux_2_6_23(32)),
        expected: known([1.00, 1.00, 2.39, 2.94, 3.89]),
    },
    Kernel {
        name: "2.6.23 1M",
        algorithm: || Box::new(OnDemand::linux_2_6_23(256)),
        expected: known([2.17, 2.72, 3.16, 6.99, 9.46]),
    },
    Kernel {
        name: "6.12 128K",
        algorithm: || Box::new(OnDemand::linux_6_12(32)),
        expected: known([1.00, 1.00, 2.30, 2.48, 3.56]),
    },
    Kernel {
        name: "6.12 1M",
        algorithm: || Box::new(OnDemand::linux_6_12(256)),
        expected: known([2.11, 2.32, 3.16, 6.52, 8.02]),
    },
    Kernel {
        name: "6.12 8M",
        algorithm: || Box::new(OnDemand::linux_6_12(2048)),
        expected: known([6.3, 5.3, 10.5, 7.1, 8.0]),
    },
    Kernel {
        name: "adaptive, ratio 50",
        algorithm: || Box::new(careful(50)),
        expected: known([1.01, 1.02, 1.02, 1.02, 1.02]),
    },
    Kernel {
        name: "adaptive, ratio 30",
        algorithm: || Box::new(careful(30)),
        expected: known([1.00, 1.02, 1.02, 1.01, 1.02]),
    },
];
