use forerun_trace::{Dependency, FileId, Moment};

use super::*;

fn access(id: u64, time_ns: u64, thread: u64, after: &[(u64, Moment, u64)]) -> Access {
    let after = after.iter().map(|&(id, moment, delta_ns)| Dependency { id, moment, delta_ns }).collect();
    Access { id, thread, after, ..Access::new(time_ns, Op::Read, FileId(0), id * 10, 10) }
}

/// Every step with the time it was made at, if each takes `service_ns`.
fn play(accesses: &[Access], pace: Pace, service_ns: u64) -> Vec<(u64, u64)> {
    let mut replay = Replay::new(accesses.iter().cloned(), Scan::of(accesses), pace);
    let mut made = Vec::new();
    let mut under_way: VecDeque<(u64, u64)> = VecDeque::new();
    let mut now = 0;
    loop {
        let later = match replay.next(Time(now)) {
            Next::Step(step) => {
                made.push((now, step.extent.offset / 10));
                under_way.push_back((now + service_ns, step.token));
                continue;
            }
            Next::Later(time) => Some(time.0),
            Next::Blocked => None,
            Next::End => return made,
        };
        let done = under_way.front().map(|(time, _)| *time);
        now = later.into_iter().chain(done).min().expect("something happens next");
        if done == Some(now) {
            let (_, token) = under_way.pop_front().expect("it was looked at");
            replay.done(Time(now), token);
        }
    }
}

#[test]
fn an_open_loop_keeps_the_recorded_times() {
    let accesses = [access(0, 0, 0, &[]), access(1, 5, 0, &[]), access(2, 7, 1, &[])];
    assert_eq!(play(&accesses, Pace::Recorded, 100), [(0, 0), (5, 1), (7, 2)]);
}

#[test]
fn a_closed_loop_has_one_access_per_thread_under_way() {
    let accesses = [access(0, 0, 0, &[]), access(1, 5, 0, &[]), access(2, 7, 1, &[]), access(3, 8, 1, &[])];
    assert_eq!(play(&accesses, Pace::Closed, 100), [(0, 0), (0, 2), (100, 1), (100, 3)]);
}

#[test]
fn dependencies_hold_across_threads_with_their_think_time() {
    let accesses = [
        access(0, 0, 0, &[]),
        access(1, 0, 0, &[]),
        access(2, 0, 1, &[(1, Moment::Completed, 40)]),
        access(3, 0, 1, &[(2, Moment::Submitted, 10)]),
        access(4, 0, 0, &[(3, Moment::Completed, 0)]),
    ];
    let recorded = play(&accesses, Pace::Dependencies { think_percent: 100 }, 100);
    assert_eq!(recorded, [(0, 0), (0, 1), (140, 2), (150, 3), (250, 4)]);
    let at_once = play(&accesses, Pace::Dependencies { think_percent: 0 }, 100);
    assert_eq!(at_once, [(0, 0), (0, 1), (100, 2), (100, 3), (200, 4)]);
}

#[test]
fn a_dependency_that_the_trace_does_not_have_is_no_dependency() {
    let accesses = [access(5, 0, 0, &[(1, Moment::Completed, 40)])];
    assert_eq!(play(&accesses, Pace::Dependencies { think_percent: 100 }, 1), [(0, 5)]);
    // Each waits for the other.
    let circle =
        [access(0, 0, 0, &[(1, Moment::Completed, 0)]), access(1, 0, 1, &[(0, Moment::Completed, 0)])];
    assert_eq!(play(&circle, Pace::Dependencies { think_percent: 100 }, 1).len(), 2);
}

#[test]
fn opens_and_flushes_take_no_time() {
    let mut open = access(0, 0, 0, &[]);
    open.op = Op::Open { read_only: true };
    let accesses = [open, access(1, 0, 0, &[(0, Moment::Completed, 7)])];
    assert_eq!(play(&accesses, Pace::Dependencies { think_percent: 100 }, 1), [(7, 1)]);
    assert_eq!(play(&accesses, Pace::Closed, 1), [(0, 1)]);
}
