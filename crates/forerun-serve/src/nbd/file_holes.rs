//! Holes of a local file.

use std::fs::File;

use rustix::fs::SeekFrom;
use rustix::io::{Errno, Result};

use super::protocol::{STATE_HOLE, STATE_ZERO, StatusExtent};

/// The holes among `len` bytes of `file` from `offset` on, and the bytes between. At most `count_max`
/// extents; the rest is not looked at.
///
/// # Errors
/// If the file system does not tell.
pub(super) fn map(file: &File, offset: u64, len: u32, count_max: usize) -> Result<Vec<StatusExtent>> {
    let (mut at, end) = (offset, offset + u64::from(len));
    let mut extents = Vec::new();
    while at < end && extents.len() < count_max {
        let (state, next) = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) if data > at => (STATE_HOLE | STATE_ZERO, data),
            Ok(_) => (0, rustix::fs::seek(file, SeekFrom::Hole(at))?),
            // No data up to the end of the file.
            Err(Errno::NXIO) => (STATE_HOLE | STATE_ZERO, end),
            Err(errno) => return Err(errno),
        };
        let next = next.clamp(at + 1, end);
        // Both lie within `len` bytes.
        extents.push(StatusExtent { len: (next - at) as u32, state });
        at = next;
    }
    Ok(extents)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    #[test]
    fn holes_and_data_alternate_and_end_where_asked() {
        const HOLE: u32 = STATE_HOLE | STATE_ZERO;
        const MIB: u32 = 1 << 20;
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(4 << 20).unwrap();
        file.seek(SeekFrom::Start(1 << 20)).unwrap();
        file.write_all(&vec![1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        let states = |offset, len, count_max| -> Vec<(u32, u32)> {
            let extents = map(&file, offset, len, count_max).unwrap();
            extents.iter().map(|extent| (extent.len, extent.state)).collect()
        };
        assert_eq!(states(0, 4 * MIB, 9), [(MIB, HOLE), (MIB, 0), (2 * MIB, HOLE)]);
        assert_eq!(states(0, 4 * MIB, 1), [(MIB, HOLE)]);
        assert_eq!(states(1 << 20, 5, 9), [(5, 0)]);
        assert_eq!(states((2 << 20) - 1, 2, 9), [(1, 0), (1, HOLE)]);
    }
}
