//! Device models do what their parameters say.

mod devices_support;

use std::cell::RefCell;
use std::rc::Rc;

use devices_support::*;
use forerun_sim::device::{
    Device, DeviceStats, Direction, Level, Notice, Preset, Raid, Request, RequestId, Time,
};

#[test]
fn every_preset_is_the_same_twice_and_never_beats_its_costs() {
    for name in Preset::ALL {
        let preset = Preset::from_name(name).unwrap();
        let run = |seed| {
            let mut requests = random(300, preset.capacity_bytes());
            let last = requests.len() as u64;
            requests.extend((0..300).map(|at| read(last + at, at * 256 * KIB, 256 * KIB)));
            closed_loop(&mut *preset.build(seed), &requests, 8)
        };
        let (took, end) = run(1);
        assert_eq!((&took, end), (&run(1).0, run(1).1), "{name}");
        let costs = preset.costs();
        let bytes = 300 * (4 + 256) * KIB;
        let least = u128::from(bytes) * 1_000_000_000 / u128::from(costs.bytes_per_s_max);
        assert!(u128::from(end) >= least, "{name}: {end} ns for {bytes} bytes, not less than {least}");
        assert!(took.iter().min().unwrap() >= &costs.latency_ns_min, "{name}: {took:?}");
        let alone = closed_loop(&mut *preset.build(1), &sequential(1, MIB), 1).1;
        let least = costs.latency_ns_min + MIB * 1_000_000_000 / costs.request_bytes_per_s_max;
        assert!(alone >= least, "{name}: 1 MiB takes {alone} ns, not less than {least}");
    }
}

#[test]
fn unknown_devices_are_refused_by_name() {
    let error = Preset::from_name("floppy").unwrap_err();
    assert!(error.contains("\"floppy\"") && error.contains("ide-2006"), "{error}");
}

#[test]
fn network_takes_latency_and_its_connection() {
    let (took, _) = closed_loop(&mut *preset("demo"), &sequential(1, 8 * MIB), 1);
    assert_near(took[0], 10 * MS + 8 * MIB * 1000 / 80, 1);
}

#[test]
fn network_is_shared_fairly_and_fully() {
    let (took, end) = closed_loop(&mut *preset("demo"), &sequential(20, 8 * MIB), 20);
    assert_near(end - 10 * MS, 20 * 8 * MIB * 1000 / 400, 1);
    let (first, last) = (took.iter().min().unwrap(), took.iter().max().unwrap());
    assert_near(*first, *last, 2);
}

#[test]
fn network_reports_packets_in_order() {
    let mut device = preset("demo");
    device.submit(Time(0), read(0, 0, 200_000));
    let mut notices = Vec::new();
    while let Some(now) = device.next_time() {
        device.advance(now, &mut notices);
    }
    let id = RequestId(0);
    let progress = |bytes| Notice::Progress { id, bytes };
    let expected =
        [progress(65_536), progress(131_072), progress(196_608), progress(200_000), Notice::Done { id }];
    assert_eq!(notices, expected);
}

#[test]
fn network_has_so_many_connections_and_throttles() {
    let name = "network:latency=10ms,connection=80MB/s,total=400MB/s,connections=2";
    let (_, end) = closed_loop(&mut *preset(name), &sequential(10, 4096), 10);
    assert_near(end, 5 * 10_051_200, 1);
    let name = "network:latency=10ms,total=400MB/s,requests=100/s,connections=1000";
    let (_, end) = closed_loop(&mut *preset(name), &sequential(101, 4096), 101);
    assert_near(end, 1_010 * MS, 1);
}

#[test]
fn network_cancels() {
    let mut device = preset("network:latency=1ms,connection=80MB/s,connections=1");
    device.submit(Time(0), read(0, 0, 80 * MIB));
    device.submit(Time(0), read(1, 0, 65_536));
    device.submit(Time(0), read(2, 0, 65_536));
    let mut notices = Vec::new();
    while notices.is_empty() {
        device.advance(device.next_time().unwrap(), &mut notices);
    }
    let now = Time(1_819_200);
    assert_eq!(notices, [Notice::Progress { id: RequestId(0), bytes: 65_536 }]);
    assert!(device.cancel(now, RequestId(1)), "it waits");
    assert!(device.cancel(now, RequestId(0)), "it is under way");
    assert!(!device.cancel(now, RequestId(0)), "it is gone");
    notices.clear();
    let mut end = now;
    while let Some(time) = device.next_time() {
        device.advance(time, &mut notices);
        end = time;
    }
    let id = RequestId(2);
    assert_eq!(notices, [Notice::Progress { id, bytes: 65_536 }, Notice::Done { id }]);
    assert_near(end.0, now.0 + MS + 819_200, 1);
    assert!(device.stats().read_bytes <= 4 * 65_536);
}

#[test]
fn luck_belongs_to_the_request() {
    let first = closed_loop(&mut *preset("s3"), &sequential(50, 4096), 1).0;
    let other = closed_loop(&mut *preset("s3"), &sequential(50, 4096), 1).0;
    let slower = closed_loop(&mut *preset("s3"), &sequential(50, 65_536), 1).0;
    assert_eq!(first, other);
    assert!(first.iter().zip(&slower).all(|(first, slower)| slower - first < MS), "the same latencies");
    assert!(first.iter().any(|took| took.abs_diff(first[0]) > MS), "different ones");
}

#[test]
fn nvme_is_as_measured() {
    for (len, us) in [(4, 83), (16, 116), (32, 142), (128, 199), (1024, 891)] {
        let mut requests = sequential(2000, len * KIB);
        requests.iter_mut().for_each(|request| request.address *= 7);
        let (took, _) = closed_loop(&mut *preset("nvme"), &requests, 1);
        assert_near(median(&took), us * US, 20);
    }
}

#[test]
fn fibre_channel_is_as_in_the_trace() {
    let took = |len| closed_loop(&mut *preset("fc-2010"), &sequential(1, len), 1).1;
    assert_near(took(512 * KIB), 3_100 * US, 2);
    assert_near(took(MIB), 4_400 * US, 2);
}

#[test]
fn ceph_is_as_calibrated() {
    let took = |len| mean(&closed_loop(&mut *preset("rbd-2014"), &sequential(500, len), 1).0);
    assert_near(took(4096), 800 * US, 5);
    assert_near(took(24_000), 960 * US, 5);
    // 130 MB/s more for what is larger, and the link if several are under way.
    assert_near(took(4 * MIB) - took(MIB), 3 * MIB * 1000 / 130, 3);
    let (_, end) = closed_loop(&mut *preset("rbd-2014"), &sequential(100, 4 * MIB), 16);
    assert_near(end, 400 * MIB * 1000 / 200, 3);
}

#[test]
fn volume_sells_operations_and_bytes() {
    let capacity = Preset::from_name("ebs-gp3").unwrap().capacity_bytes();
    let (_, end) = closed_loop(&mut *preset("ebs-gp3"), &random(6000, capacity), 64);
    assert_near(end, 2_000 * MS, 2);
    // 16 KiB in sequence count as a sixteenth each, so that bytes limit them.
    let (_, end) = closed_loop(&mut *preset("ebs-gp3"), &sequential(16_000, 16 * KIB), 64);
    assert_near(end, 2_000 * MS, 2);
}

/// The requests of members: which member, direction, address, length.
type Asked = Vec<(usize, Direction, u64, u64)>;

/// Notes what it is asked for, and is soon done.
#[derive(Default)]
struct Member {
    log: Rc<RefCell<Asked>>,
    index: usize,
    done: Vec<(Time, RequestId)>,
}

impl Device for Member {
    fn submit(&mut self, now: Time, request: Request) {
        self.log.borrow_mut().push((self.index, request.direction, request.address, request.len));
        // Earlier members are slower.
        self.done.push((Time(now.0 + 100 - self.index as u64), request.id));
    }

    fn next_time(&self) -> Option<Time> {
        self.done.iter().map(|(time, _)| *time).min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let (done, left) = self.done.drain(..).partition(|(time, _)| *time <= now);
        self.done = left;
        notices.extend(Vec::into_iter(done).map(|(_, id)| Notice::Done { id }));
    }

    fn slot_count(&self) -> usize {
        1
    }

    fn stats(&self) -> DeviceStats {
        DeviceStats::default()
    }
}

/// The requests of an array of `count` members with chunks of 10 bytes for `request`, and the time when it
/// is done.
fn raid(level: Level, count: usize, request: Request) -> (Asked, u64) {
    let log = Rc::default();
    let member =
        |index| Box::new(Member { log: Rc::clone(&log), index, ..Member::default() }) as Box<dyn Device>;
    let mut raid = Raid::new(level, 10, (0..count).map(member).collect());
    let done = open_loop(&mut raid, &[(0, request)])[0];
    let log = log.borrow().clone();
    (log, done)
}

#[test]
fn raid_0_takes_turns_and_waits_for_the_slowest() {
    let is = Direction::Read;
    let (log, done) = raid(Level::Raid0, 3, read(0, 5, 35));
    assert_eq!(log, [(0, is, 5, 15), (1, is, 0, 10), (2, is, 0, 10)]);
    assert_eq!(done, 100);
}

#[test]
fn raid_5_skips_parity() {
    // Left-symmetric: rows of 4 members are 0 1 2 P, 4 5 P 3, 8 P 6 7, P 9 10 11.
    let is = Direction::Read;
    let at = |chunk: u64| raid(Level::Raid5, 4, read(0, chunk * 10, 10)).0;
    let members: Vec<_> = (0..12).map(|chunk| (at(chunk)[0].0, at(chunk)[0].2 / 10)).collect();
    let row = |row, members: [usize; 3]| members.map(|member| (member, row));
    let expected = [row(0, [0, 1, 2]), row(1, [3, 0, 1]), row(2, [2, 3, 0]), row(3, [1, 2, 3])].concat();
    assert_eq!(members, expected);
    let (log, _) = raid(Level::Raid5, 4, read(0, 0, 60));
    assert_eq!(log, [(0, is, 0, 20), (1, is, 0, 20), (2, is, 0, 10), (3, is, 10, 10)]);
}

#[test]
fn raid_5_reads_before_it_writes_less_than_a_row() {
    let (r, w) = (Direction::Read, Direction::Write);
    let (log, done) = raid(Level::Raid5, 4, write(0, 0, 10));
    assert_eq!(log, [(0, r, 0, 10), (3, r, 0, 10), (0, w, 0, 10), (3, w, 0, 10)]);
    assert_eq!(done, 200);
    let (log, done) = raid(Level::Raid5, 4, write(0, 0, 30));
    assert_eq!(log, [(0, w, 0, 10), (1, w, 0, 10), (2, w, 0, 10), (3, w, 0, 10)]);
    assert_eq!(done, 100);
}

#[test]
fn arrays_of_disks_read_on_all_of_them() {
    let rate = |name: &str, depth| {
        let (_, end) = closed_loop(&mut *preset(name), &sequential(256, MIB), depth);
        256 * MIB * 1000 / end
    };
    let one = rate("ide-2006", 4);
    assert_near(rate("raid0-7", 8), 7 * one, 15);
    assert!(rate("raid5", 8) > 3 * one, "{} of {one} MB/s", rate("raid5", 8));
}
