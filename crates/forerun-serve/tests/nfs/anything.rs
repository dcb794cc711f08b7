//! The promises of the protocol of NFS for any bytes of a client. Nothing panics, and no more is kept than a
//! limit. A conversation does not depend on how its bytes are cut. A refusal is one record that names its call.

use super::protocol::{Broken, Calls, Incoming, LIST_BYTES_MAX, READ_BYTES_MAX, RECORD_BYTES_MAX};
use bytes::BytesMut;

/// The mark of a fragment.
const MARK_BYTES: usize = 4;
/// The weight of the longest list.
const WEIGHT_MAX: u32 = LIST_BYTES_MAX * 16;

/// Sends `bytes` as calls.
pub(crate) fn calls(bytes: &[u8]) {
    let whole = call(bytes, bytes.len().max(1));
    let cut = call(bytes, 1 + bytes.len() % 29);
    assert_eq!(whole, cut, "calls depend on how they are cut");
}

fn call(bytes: &[u8], step: usize) -> (Vec<Incoming>, Option<Broken>) {
    let (mut calls, mut input, mut seen) = (Calls::default(), BytesMut::new(), Vec::new());
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        loop {
            match calls.next(&mut input) {
                Ok(Some(incoming)) => {
                    check(&incoming);
                    seen.push(incoming);
                }
                Ok(None) => break,
                Err(broken) => return (seen, Some(broken)),
            }
        }
        assert!(input.len() < RECORD_BYTES_MAX + MARK_BYTES, "{} bytes are kept", input.len());
    }
    (seen, None)
}

fn check(incoming: &Incoming) {
    match incoming {
        Incoming::Call(call) => assert!(call.operation.weight() <= WEIGHT_MAX.max(READ_BYTES_MAX)),
        Incoming::Refused(reply) => {
            let mark = u32::from_be_bytes(reply[..MARK_BYTES].try_into().expect("it has a mark"));
            assert_eq!(mark as usize, 1 << 31 | (reply.len() - MARK_BYTES));
            // A number, the kind of a reply, and no success.
            assert!(reply.len() >= 20 && reply[8..12] == [0, 0, 0, 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_keep_the_promises() {
        calls(&[]);
        let null = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86, 0xA3, 0, 0, 0, 3, 0, 0, 0, 0];
        let call = [&null[..], &[0; 16]].concat();
        let record = [&[0x80, 0, 0, 40][..], &call].concat();
        let halves = [&[0, 0, 0, 20][..], &call[..20], &[0x80, 0, 0, 20], &call[20..]].concat();
        for bytes in [&record, &halves] {
            let mut input = BytesMut::from(&bytes[..]);
            let seen = Calls::default().next(&mut input).unwrap();
            assert!(matches!(seen, Some(Incoming::Call(call)) if call.xid == 7));
        }
        for at in 0..record.len() {
            for byte in [0, 1, 2, 0x7F, 0x80, 0xFF] {
                let mut changed = [record.clone(), halves.clone(), record.clone()].concat();
                changed[record.len() + at] = byte;
                calls(&changed);
                calls(&changed[..record.len() + at]);
            }
        }
    }
}
