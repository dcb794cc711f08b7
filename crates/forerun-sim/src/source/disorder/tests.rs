use super::super::{Action, Clients, place};
use super::*;

#[test]
fn all_is_read_once_and_nearly_in_order() {
    let size = 1_000_000;
    let reads = (0..size).step_by(4096);
    let mut actions: Vec<_> =
        reads.map(|at| Action::read(ObjectId(0), Extent::between(at, (at + 4096).min(size)))).collect();
    actions.push(Action::close(ObjectId(0)));
    let clients = Clients::new(place([size], 4096), vec![Box::new(actions.into_iter())]);
    let disorder =
        Disorder { request_bytes: 8192, worker_count: 4, ahead_count: 16, displacement: 4, seed: 1 };
    let mut source = Disordered::new(clients, disorder);
    let (mut numbers, mut working, mut closed) = (Vec::new(), VecDeque::new(), false);
    for now in 0.. {
        match source.next(Time(now)) {
            Next::Step(step) => {
                closed |= step.deed == Deed::Close;
                numbers.extend((step.deed != Deed::Close).then_some(step.extent.offset / 8192));
                working.push_back(step.token);
            }
            Next::End => break,
            _ => source.done(Time(now), working.pop_front().expect("somebody works")),
        }
        assert!(working.len() <= 4);
    }
    assert!(closed);
    assert!(!numbers.is_sorted());
    assert!(numbers.iter().enumerate().all(|(at, number)| (at as u64).abs_diff(*number) <= 8));
    numbers.sort_unstable();
    assert_eq!(numbers, (0..size.div_ceil(8192)).collect::<Vec<_>>());
}
