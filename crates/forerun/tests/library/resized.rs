//! A memory that falls and rises.

use std::sync::Arc;

use forerun::{Forerun, Options};
use forerun_backend::MemoryBackend;

const MIB: usize = 1 << 20;

fn byte(offset: usize) -> u8 {
    (offset / 4096 * 37 + offset % 251) as u8
}

#[test]
fn bytes_stay_right_while_the_memory_falls_and_rises() {
    let bytes: Vec<u8> = (0..48 * MIB).map(byte).collect();
    let backend = MemoryBackend::new();
    backend.replace("a", bytes.clone());
    let options = Options::default().with_memory_bytes(64 << 20);
    let forerun = Forerun::over(Arc::new(backend), options).unwrap();
    let reader = forerun.open_blocking("a").unwrap();
    let lease = reader.lease_blocking(20 * MIB as u64, MIB).unwrap();
    let mut buf = vec![0; 48 * MIB];
    for wanted in [64, 5, 9, 64, 4, 64_u64] {
        forerun.set_memory_bytes(wanted << 20);
        assert_eq!(forerun.memory_bytes_max(), wanted << 20);
        let fell_to = forerun.usage();
        assert!(fell_to.memory_bytes <= (wanted + 1) << 20 && fell_to.memory_bytes_max <= (wanted + 1) << 20);
        buf.fill(0);
        reader.read_at_blocking(&mut buf, 0).unwrap();
        assert!(buf == bytes, "with {wanted} MiB");
        assert!(forerun.memory_bytes() <= forerun.usage().memory_bytes_max);
        assert!(lease.slices().flatten().eq(&bytes[20 * MIB..21 * MIB]), "it changes under a lease");
    }
    drop(lease);
    // Limits are kept.
    forerun.set_memory_bytes(0);
    assert_eq!(forerun.memory_bytes_max(), 4 << 20);
    forerun.set_memory_bytes(u64::MAX);
    assert_eq!((forerun.memory_bytes_max(), forerun.usage().memory_bytes_max), (64 << 20, 64 << 20));
}
