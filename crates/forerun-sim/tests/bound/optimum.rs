//! Tiny instances whose optimum is found by trying everything.

use std::collections::HashSet;

use forerun_sim::bound::{Clairvoyance, bounds};
use forerun_sim::device::{Costs, Device, DeviceStats, Notice, Request, Time};
use forerun_sim::source::{Action, Placed};

use super::{Dice, Programs, read};

/// One request after the other, every block in the same time.
struct Unit {
    fetch_ns: u64,
    free: Time,
    waiting: Vec<(Time, Notice)>,
}

impl Device for Unit {
    fn submit(&mut self, now: Time, request: Request) {
        let (id, mut time) = (request.id, self.free.max(now));
        for block in 1..=request.len / 4096 {
            time = Time(time.0 + self.fetch_ns);
            self.waiting.push((time, Notice::Progress { id, bytes: block * 4096 }));
        }
        self.waiting.push((time, Notice::Done { id }));
        self.free = time;
    }

    fn next_time(&self) -> Option<Time> {
        self.waiting.first().map(|(time, _)| *time)
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let due = self.waiting.iter().take_while(|(time, _)| *time <= now).count();
        notices.extend(self.waiting.drain(..due).map(|(_, notice)| notice));
    }

    fn slot_count(&self) -> usize {
        1
    }

    fn stats(&self) -> DeviceStats {
        DeviceStats::default()
    }
}

/// Blocks in the order in which they are read, with the time until each.
struct Instance {
    order: Vec<(u64, u8)>,
    capacity: u32,
    fetch_ns: u64,
}

/// Before `position`, whose think time has `think` left; a bit for each block in
/// memory; the block under way and the time it still takes.
type Point = (u64, usize, u8, Option<(u8, u64)>);

impl Instance {
    fn random(dice: &mut Dice) -> Instance {
        let blocks = 2 + dice.below(5);
        let count = 4 + dice.below(8);
        Instance {
            order: (0..count).map(|_| (dice.below(4), dice.below(blocks) as u8)).collect(),
            capacity: 1 + dice.below(blocks) as u32,
            fetch_ns: 1 + dice.below(4),
        }
    }

    /// Reads all that can be read without waiting.
    fn settle(&self, point: Point) -> Point {
        let (mut think, mut position, cached, fetch) = point;
        while think == 0 && position < self.order.len() && cached >> self.order[position].1 & 1 == 1 {
            position += 1;
            think = self.order.get(position).map_or(0, |(think, _)| *think);
        }
        (think, position, cached, fetch)
    }

    /// The least time: every point that can be reached at each time.
    fn optimum(&self) -> u64 {
        let mut points = HashSet::from([self.settle((self.order[0].0, 0, 0, None))]);
        for time in 0.. {
            if points.iter().any(|(_, position, _, _)| *position == self.order.len()) {
                return time;
            }
            let mut later = HashSet::new();
            for point in &points {
                self.choices(*point, &mut |choice| {
                    later.insert(self.settle(tick(choice)));
                });
            }
            points = later;
        }
        unreachable!("something can always be fetched")
    }

    /// Does nothing, or starts any fetch, with any block given up for it.
    fn choices(&self, point: Point, choose: &mut dyn FnMut(Point)) {
        choose(point);
        let (think, position, cached, None) = point else { return };
        for block in (0..8).filter(|block| cached >> block & 1 == 0) {
            let fetch = Some((block, self.fetch_ns));
            if cached.count_ones() < self.capacity {
                choose((think, position, cached, fetch));
            } else {
                let victims = (0..8).filter(|victim| cached >> victim & 1 == 1);
                victims.for_each(|victim| choose((think, position, cached & !(1 << victim), fetch)));
            }
        }
    }

    fn programs(&self) -> Programs {
        let actions = self
            .order
            .iter()
            .flat_map(|(think, block)| [Action::Pause(*think), read(0, u64::from(*block), 1)]);
        Programs { objects: vec![Placed { address: 0, size: 8 * 4096 }], actions: vec![actions.collect()] }
    }
}

fn tick((think, position, cached, fetch): Point) -> Point {
    let (cached, fetch) = match fetch {
        Some((block, 1)) => (cached | 1 << block, None),
        Some((block, left)) => (cached, Some((block, left - 1))),
        None => (cached, None),
    };
    (think.saturating_sub(1), position, cached, fetch)
}

#[test]
fn the_optimum_of_tiny_instances_is_in_the_bracket() {
    let mut dice = Dice(7);
    let (mut worst, mut sum, mut lower_sum, mut exact) = ((1, 1), 0.0, 0.0, 0);
    const COUNT: u32 = 2000;
    for _ in 0..COUNT {
        let instance = Instance::random(&mut dice);
        let (programs, fetch_ns) = (instance.programs(), instance.fetch_ns);
        let clairvoyance = Clairvoyance {
            memory_bytes: u64::from(instance.capacity) * 4096,
            costs: Costs {
                positioning_ns_min: 0,
                latency_ns_min: 0,
                latency_ns_typical: 0,
                request_interval_ns: 0,
                request_bytes_per_s_max: 4096 * 1_000_000_000 / fetch_ns,
                bytes_per_s_max: 4096 * 1_000_000_000 / fetch_ns,
                slot_count: 1,
                is_disk: false,
            },
            look_ahead: None,
            threads: 1,
        };
        let make_device = || Box::new(Unit { fetch_ns, free: Time(0), waiting: vec![] }) as Box<dyn Device>;
        let bounds = bounds(&|| programs.source(), &make_device, 0, &clairvoyance).unwrap();
        let optimum = instance.optimum();
        let about = format!("{:?}, {} blocks, {fetch_ns} ns", instance.order, instance.capacity);
        assert!(
            bounds.lower_ns <= optimum && optimum <= bounds.clairvoyant_ns,
            "{bounds:?} {optimum}: {about}"
        );
        if bounds.clairvoyant_ns * worst.1 > worst.0 * optimum {
            worst = (bounds.clairvoyant_ns, optimum);
        }
        exact += u32::from(bounds.clairvoyant_ns == optimum);
        sum += bounds.clairvoyant_ns as f64 / optimum as f64;
        lower_sum += bounds.lower_ns as f64 / optimum as f64;
    }
    let count = f64::from(COUNT);
    println!(
        "{COUNT} instances: clairvoyant is the optimum in {exact}, {:.4} times it in the mean, {:.3} at worst; \
         the lower bound is {:.3} of it in the mean",
        sum / count,
        worst.0 as f64 / worst.1 as f64,
        lower_sum / count,
    );
    // In theory it is at most 1 + fetch time / memory, and at most 2.
    assert!(worst.0 * 2 <= worst.1 * 3, "{worst:?}");
}
