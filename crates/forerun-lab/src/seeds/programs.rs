//! The programs of the experiments, as clients.

use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Placed, Source, place};

/// The size of a read of programs of that time.
pub(super) const READ_BYTES: u64 = 4096;

/// Extents of `len` bytes from the beginning to the end of an object of `size`.
pub(crate) fn forward(size: u64, len: u64) -> impl Iterator<Item = Extent> {
    (0..size).step_by(len as usize).map(move |at| Extent::between(at, (at + len).min(size)))
}

/// The same extents from the end to the beginning.
pub(super) fn backward(size: u64, len: u64) -> impl Iterator<Item = Extent> {
    (0..size.div_ceil(len)).rev().map(move |at| Extent::between(at * len, ((at + 1) * len).min(size)))
}

/// One client that reads `extents` of one object.
pub(super) fn read_all(placed: Placed, extents: impl Iterator<Item = Extent> + 'static) -> Clients<'static> {
    let reads = extents.map(|extent| Action::read(ObjectId(0), extent));
    Clients::new(vec![placed], vec![Box::new(reads)])
}

/// `dd`: one object from its beginning to its end.
pub(super) fn dd(placed: Placed) -> Box<dyn Source> {
    Box::new(read_all(placed, forward(placed.size, READ_BYTES)))
}

/// `diff`: two objects in lock step.
pub(super) fn diff(two: [Placed; 2]) -> Clients<'static> {
    let client: Box<dyn Client> = Box::new(lock_step(ObjectId(0), ObjectId(1), two[0].size.min(two[1].size)));
    Clients::new(two.to_vec(), vec![client])
}

/// A page of the one, then the same page of the other.
pub(super) fn lock_step(one: ObjectId, other: ObjectId, size: u64) -> impl Iterator<Item = Action> {
    forward(size, READ_BYTES).flat_map(move |extent| [Action::read(one, extent), Action::read(other, extent)])
}

/// Objects of these sizes one behind the other, and their copies, which begin `apart`
/// bytes behind them.
pub(super) fn with_copies(sizes: &[u64], apart: u64) -> Vec<Placed> {
    let originals = place(sizes.iter().copied(), 4096);
    let copies = originals.iter().map(|one| Placed { address: one.address + apart, size: one.size });
    originals.iter().copied().chain(copies).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backward_is_forward_from_the_end() {
        let mut extents: Vec<Extent> = backward(10_000, 4096).collect();
        extents.reverse();
        assert_eq!(extents, forward(10_000, 4096).collect::<Vec<_>>());
    }
}
