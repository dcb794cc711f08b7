//! The server of HTTP and S3, and its promises for anything that a client sends.

#[allow(dead_code, reason = "each program uses its part")]
#[path = "../../crates/forerun-serve/tests/http/client.rs"]
mod client;
#[path = "../../crates/forerun-serve/tests/http/anything.rs"]
pub(crate) mod clients;
#[path = "../../crates/forerun-serve/src/http/range.rs"]
mod range;

use range::{Asked, asked};

/// More parts than this are refused.
const PARTS_MAX: usize = 64;

/// Takes all bytes but two for a `Range`, and those for the size of the object.
pub(crate) fn ranges(bytes: &[u8]) {
    let Some((size, header)) = bytes.split_first_chunk() else { return };
    let (size, Ok(header)) = (u64::from(u16::from_be_bytes(*size)), str::from_utf8(header)) else { return };
    let Asked::Parts(parts) = asked(header, size) else { return };
    assert!((1..=PARTS_MAX).contains(&parts.len()), "{parts:?}");
    for (index, part) in parts.iter().enumerate() {
        assert!(part.len > 0 && part.end() <= size, "{part:?} of {size} bytes");
        let mut others = parts[..index].iter();
        assert!(others.all(|other| other.end() < part.offset || part.end() < other.offset), "{parts:?}");
    }
    let specs: Vec<_> = parts.iter().map(|part| format!("{}-{}", part.offset, part.end() - 1)).collect();
    assert_eq!(asked(&format!("bytes={}", specs.join(",")), size), Asked::Parts(parts));
}
