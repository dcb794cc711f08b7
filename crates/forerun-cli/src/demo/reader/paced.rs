//! Players: each asks for its next piece when it has played the last one.

use std::time::{Duration, Instant};

use super::on_threads;
use super::reads::List;
use super::verified::{MountedBucket, Tally};

const BYTES_PER_S: u64 = 1_000_000;
/// A longer wait of a player counts as late. No store that needs readahead answers as soon, and a
/// busy machine seldom keeps a thread waiting for as long.
const WAIT_MAX: Duration = Duration::from_millis(8);
/// The first reads cannot be read ahead.
const GRACE: Duration = Duration::from_secs(1);
/// The request size of a steady reader.
const STEADY_BYTES: u64 = 1 << 20;

/// Plays all of `lists` at once. Their first reads are spread over the time of one piece.
pub(super) fn play(lists: &[List], mounted: MountedBucket<'_>) -> Result<Tally, String> {
    let start = Instant::now();
    on_threads(lists.len(), |index| {
        let list = &lists[index];
        let piece = Duration::from_nanos(list.read_bytes * 1_000_000_000 / BYTES_PER_S);
        let begin = start + piece * index as u32 / lists.len() as u32;
        let file = mounted.open(&list.file)?;
        let mut tally = Tally::default();
        for (offset, turn) in list.offsets.iter().zip(0..) {
            // A player asks when it has played its piece: sleeping until then is its work.
            std::thread::sleep((begin + piece * turn).saturating_duration_since(Instant::now()));
            let asked = Instant::now();
            let one = file.read_all([*offset], list.read_bytes as usize)?;
            let waited = asked.elapsed() > WAIT_MAX && asked > start + GRACE;
            tally = [tally, Tally { late_reads: u64::from(waited), ..one }].into_iter().sum();
        }
        Ok(tally)
    })
}

/// Reads `name` in order from its begin, again and again, at `bytes_per_s`. The time of a wait is
/// lost: later reads are not faster.
///
/// # Errors
/// The read that failed.
pub(crate) fn play_steadily(
    name: &str,
    bytes_per_s: u64,
    mounted: MountedBucket<'_>,
) -> Result<Tally, String> {
    let file = mounted.open(name)?;
    let size = mounted.size_of(name)?;
    let piece = Duration::from_nanos(STEADY_BYTES * 1_000_000_000 / bytes_per_s);
    let mut due = Instant::now();
    let mut tally = Tally::default();
    for offset in (0..size).step_by(STEADY_BYTES as usize).cycle() {
        // The reader is slower than the store: sleeping is its work.
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let one = file.read_all([offset], STEADY_BYTES as usize)?;
        if one.bytes == 0 {
            break;
        }
        tally = [tally, one].into_iter().sum();
        due = (due + piece).max(Instant::now());
    }
    Ok(tally)
}
