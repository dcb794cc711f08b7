//! What waits and bytes are worth on a device, in bytes.

use crate::device::{MOVES_OF_A_RETURN, TURN_MOVES};
use crate::policy::View;
use crate::policy::adaptive::fill::Price;
use crate::policy::balance::waiters;
use crate::types::BLOCK_BYTES;

/// What a wait is worth at least as long as it is not known how fast bytes come.
const WAIT_BYTES_GUESS_MIN: u64 = 64 << 10;
/// What is read through between two extents at most, where a request may take the time in which
/// one of so many bytes that are in flight at once comes.
const GAP_BYTES_MAX: u64 = 64 << 10;
const PIPE_SHARE: u64 = 64;

/// What one wait saved is worth to who bets on a first read: nothing where others wait
/// for what is fetched in vain.
pub(crate) fn bet_bytes(view: &View<'_>) -> u64 {
    if view.device.turn_bytes().is_some() { 0 } else { wait_bytes(view) }
}

/// What a wait is worth at least. Small reads alone do not show how fast bytes come, nor do those that come
/// all at once.
pub(super) fn wait_bytes_min(view: &View<'_>) -> u64 {
    if view.device.knows_bandwidth() { BLOCK_BYTES } else { WAIT_BYTES_GUESS_MIN }
}

/// Bytes that arrive in the time that a reader waits for one fetch.
fn saved_bytes(view: &View<'_>) -> u64 {
    match view.device.turn_bytes() {
        // Who reads on where the head is does not wait for it to move.
        Some(turn) => turn / TURN_MOVES / 4,
        None => view.device.wait_bytes(),
    }
}

/// The same for who comes soon to what lies near what was read lately.
pub(crate) fn near_bytes(view: &View<'_>) -> u64 {
    // As long as nobody has come back: a head that goes on elsewhere comes and goes, too.
    let least = || saved_bytes(view) * if view.device.turn_bytes().is_some() { MOVES_OF_A_RETURN } else { 1 };
    view.device.near_bytes().unwrap_or_else(least)
}

/// Those for streams, whose waits are worth something at least.
pub(crate) fn wait_bytes(view: &View<'_>) -> u64 {
    let least = if view.device.turn_bytes().is_some() { 0 } else { wait_bytes_min(view) };
    saved_bytes(view).max(least)
}

/// What filling costs, and may take, and what it saves at a read that is worth `hit_bytes` to who
/// need not wait.
pub(crate) fn fill_price(hit_bytes: u64, view: &View<'_>) -> Price {
    // Beside the turns of others a head comes and goes for each.
    let moves = if view.is_contended && view.device.turn_bytes().is_some() { MOVES_OF_A_RETURN } else { 1 };
    // Those who wait side by side wait for what is filled as well, if the link is full.
    let sharers = if view.device.is_full() { waiters(view) } else { 1 };
    let wait_bytes = moves * view.device.fill_bytes().max(wait_bytes_min(view)) / sharers;
    Price {
        wait_bytes,
        // Over a long way it does not matter where he comes from.
        hit_bytes: if view.device.is_far_link() { wait_bytes } else { (moves * hit_bytes).min(wait_bytes) },
        memory_bytes: view.config.memory_bytes_max,
        unread_bytes: view.cache.unread_bytes_all(),
        is_far: view.device.is_far(),
    }
}

/// What is read through rather than left out: what could be fetched in the time that one more
/// request takes where many are under way at once, or that a head moves.
pub(crate) fn gap_bytes(view: &View<'_>) -> u64 {
    match view.device.turn_bytes() {
        Some(turn) => turn / TURN_MOVES,
        None => (view.device.pipe_bytes() / PIPE_SHARE).min(GAP_BYTES_MAX),
    }
}
