use std::sync::Mutex;

use forerun_sim::source::{Action, Clients, Pace, Replay, Scan, place};
use forerun_trace::{Access, Dependency, FileId, Moment, Op};

use super::*;

/// Answers on other threads, but for one read; remembers what was asked, in order.
#[derive(Default)]
struct Threads {
    asked: Mutex<Vec<(u32, Extent)>>,
    fails_at: Option<u64>,
}

impl Storage for Threads {
    fn read(&self, client: u32, _: ObjectId, extent: Extent, done: Done) {
        self.asked.lock().unwrap().push((client, extent));
        let result = match self.fails_at {
            Some(offset) if offset == extent.offset => Err(format!("no bytes at {offset}")),
            _ => Ok(()),
        };
        std::thread::spawn(move || done.finish(result));
    }

    fn close(&self, _: u32, _: ObjectId) {}
}

fn access(id: u64, time_ns: u64, op: Op, after: &[(u64, Moment)]) -> Access {
    let extent = forerun_trace::Extent { offset: id * 4096, len: 4096 };
    let dependency = |(id, moment): &(u64, Moment)| Dependency { id: *id, moment: *moment, delta_ns: 0 };
    Access {
        id,
        time_ns,
        thread: id % 2,
        op,
        file: FileId(0),
        extent,
        asked: None,
        blocking: false,
        after: after.iter().map(dependency).collect(),
        service_ns: None,
    }
}

#[test]
fn a_closed_loop_waits_for_each_answer() {
    let reads =
        |client: u64| (0..100).map(move |n| Action::read(ObjectId(0), Extent::new(n * 10 + client, 5)));
    let mut source = Clients::new(place([1 << 20], 4096), vec![Box::new(reads(0)), Box::new(reads(1))]);
    let storage = Threads::default();
    let live = play(&mut source, &storage).unwrap();
    assert_eq!((live.run.read_count, live.run.read_bytes), (200, 1000));
    assert_eq!(live.faith.lateness.count(), 200);
    assert!(live.run.clients.iter().all(|client| client.read_bytes == 500 && client.waited_ns > 0));
    for client in 0..2 {
        let asked = storage.asked.lock().unwrap();
        assert!(asked.iter().filter(|(who, _)| *who == client).is_sorted_by_key(|(_, extent)| extent.offset));
    }
}

#[test]
fn recorded_times_are_not_run_ahead_of_and_writes_are_counted() {
    let accesses = [
        access(0, 0, Op::Read, &[]),
        access(1, 3_000_000, Op::Write, &[]),
        access(2, 20_000_000, Op::Read, &[]),
    ];
    let mut source = Replay::new(accesses.clone().into_iter(), Scan::of(&accesses), Pace::Recorded);
    let live = play(&mut source, &Threads::default()).unwrap();
    assert!(live.run.elapsed_ns >= 20_000_000);
    assert_eq!((live.run.read_count, live.faith.write_count), (2, 1));
}

#[test]
fn dependencies_are_kept() {
    let accesses: Vec<Access> = (0..50)
        .map(|id| match id {
            0 => access(0, 0, Op::Read, &[]),
            _ => access(id, 0, Op::Read, &[(id - 1, Moment::Completed)]),
        })
        .collect();
    let pace = Pace::Dependencies { think_percent: 100 };
    let storage = Threads::default();
    play(&mut Replay::new(accesses.iter().cloned(), Scan::of(&accesses), pace), &storage).unwrap();
    let asked = storage.asked.into_inner().unwrap();
    assert!(asked.len() == 50 && asked.is_sorted_by_key(|(_, extent)| extent.offset));
}

#[test]
fn the_first_failure_ends_it() {
    let reads = (0..10).map(|n| Action::read(ObjectId(0), Extent::new(n * 10, 5)));
    let mut source = Clients::new(place([1 << 20], 4096), vec![Box::new(reads)]);
    let storage = Threads { fails_at: Some(30), ..Threads::default() };
    assert_eq!(play(&mut source, &storage).unwrap_err(), "no bytes at 30");
    assert_eq!(storage.asked.into_inner().unwrap().len(), 4);
}
