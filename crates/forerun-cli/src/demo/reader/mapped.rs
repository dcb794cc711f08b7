//! Programs that map a file and touch its pages, as databases and linkers do.

use std::time::Instant;

use memmap2::{Advice, Mmap};

use super::reads::List;
use super::verified::{MountedBucket, Tally};

/// Touches the pages of `list`. `is_advised` tells the kernel first that the order is random.
pub(super) fn touch(list: &List, is_advised: bool, mounted: MountedBucket<'_>) -> Result<Tally, String> {
    let failed = |error: std::io::Error| format!("mapping {}: {error}", list.file);
    let file = mounted.open(&list.file)?;
    // SAFETY: nothing writes to a read-only mount, whose files never change their size.
    let pages = unsafe { Mmap::map(file.file()) }.map_err(failed)?;
    if is_advised {
        pages.advise(Advice::Random).map_err(failed)?;
    }
    let mut tally = Tally::default();
    for offset in &list.offsets {
        if Instant::now() >= mounted.until {
            break;
        }
        let start = *offset as usize;
        tally =
            [tally, file.look_at(*offset, &pages[start..start + list.read_bytes as usize])].into_iter().sum();
    }
    Ok(tally)
}
