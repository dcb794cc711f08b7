//! How windows begin and grow in every Linux from 2.6.10 to 6.12.
//= linux 6.12 mm/readahead.c

/// The first window for a request of `request` pages.
pub(super) fn initial_size(request: u64, max: u64) -> u64 {
    let size = request.next_power_of_two();
    if size <= max / 32 {
        size * 4
    } else if size <= max / 4 {
        size * 2
    } else {
        max
    }
}

/// The window after one of `size` pages.
pub(super) fn next_size(size: u64, max: u64) -> u64 {
    let factor = if size < max / 16 { 4 } else { 2 };
    (size * factor).min(max)
}
