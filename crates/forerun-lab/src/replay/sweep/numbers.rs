//! The parts of a result as lines of numbers, which come back exactly.

use std::fmt::Write;

use forerun_engine::{ByClass, Class, ClassCounters};
use forerun_sim::bound::Bounds;
use forerun_sim::device::DeviceStats;
use forerun_sim::run::{ClientRun, Run};

use super::super::cell::Part;

/// A line of bounds, or some lines for each run.
pub(super) fn write(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Bounds(bounds) => {
                let Bounds { lower_ns, clairvoyant_ns, batch_blocks } = *bounds;
                line(&mut text, "bounds", [lower_ns, clairvoyant_ns, batch_blocks]);
            }
            Part::Run(run) => write_run(&mut text, run),
        }
    }
    text
}

/// The parts of a text that [`write()`] made.
pub(super) fn read(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "run" {
            parts.push(Part::Run(Box::new(totals(numbers(rest)?.try_into().ok()?))));
        } else if word == "bounds" {
            let [lower_ns, clairvoyant_ns, batch_blocks] = numbers(rest)?.try_into().ok()?;
            parts.push(Part::Bounds(Bounds { lower_ns, clairvoyant_ns, batch_blocks }));
        } else {
            // A line that goes on with a run.
            let Some(Part::Run(run)) = parts.last_mut() else { return None };
            go_on(run, word, rest)?;
        }
    }
    Some(parts)
}

fn line(text: &mut String, word: &str, numbers: impl IntoIterator<Item = u64>) {
    text.push_str(word);
    for number in numbers {
        write!(text, " {number}").expect("a string takes all text");
    }
    text.push('\n');
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}

fn write_run(text: &mut String, run: &Run) {
    let Run {
        elapsed_ns,
        read_count,
        read_bytes,
        hit_bytes,
        late_bytes,
        miss_bytes,
        demand_count,
        demand_bytes,
        readahead_count,
        readahead_bytes,
        wasted_bytes,
        readahead,
        memory_bytes_peak,
        waits,
        clients,
        device,
        thrash_count,
    } = run;
    let reads = [*read_count, *read_bytes, *hit_bytes, *late_bytes, *miss_bytes];
    let fetches = [*demand_count, *demand_bytes, *readahead_count, *readahead_bytes, *wasted_bytes];
    let rest = [*memory_bytes_peak, *thrash_count];
    line(text, "run", [*elapsed_ns].into_iter().chain(reads).chain(fetches).chain(rest));
    let DeviceStats { read_count, read_bytes, write_count, write_bytes, busy_ns } = *device;
    line(text, "device", [read_count, read_bytes, write_count, write_bytes, busy_ns]);
    for (class, ClassCounters { in_time_bytes, late_bytes, wasted_bytes, .. }) in readahead.iter() {
        let word = format!("readahead {}", class.name());
        line(text, &word, [in_time_bytes, late_bytes, wasted_bytes]);
    }
    line(text, "waits", waits.buckets().flat_map(|(ns, count)| [ns, count]));
    for ClientRun { finished_ns, read_bytes, write_bytes, waited_ns } in clients {
        line(text, "client", [*finished_ns, *read_bytes, *write_bytes, *waited_ns]);
    }
}

fn totals(numbers: [u64; 13]) -> Run {
    let [
        elapsed_ns,
        read_count,
        read_bytes,
        hit_bytes,
        late_bytes,
        miss_bytes,
        demand_count,
        demand_bytes,
        readahead_count,
        readahead_bytes,
        wasted_bytes,
        memory_bytes_peak,
        thrash_count,
    ] = numbers;
    Run {
        elapsed_ns,
        read_count,
        read_bytes,
        hit_bytes,
        late_bytes,
        miss_bytes,
        demand_count,
        demand_bytes,
        readahead_count,
        readahead_bytes,
        wasted_bytes,
        memory_bytes_peak,
        thrash_count,
        ..Run::default()
    }
}

/// Adds the line of `word` to `run`.
fn go_on(run: &mut Run, word: &str, rest: &str) -> Option<()> {
    match word {
        "device" => {
            let [read_count, read_bytes, write_count, write_bytes, busy_ns] =
                numbers(rest)?.try_into().ok()?;
            run.device = DeviceStats { read_count, read_bytes, write_count, write_bytes, busy_ns };
        }
        "readahead" => {
            let (name, rest) = rest.split_once(' ')?;
            let class = Class::ALL.into_iter().find(|class| class.name() == name)?;
            let mut counters = ClassCounters::default();
            [counters.in_time_bytes, counters.late_bytes, counters.wasted_bytes] =
                numbers(rest)?.try_into().ok()?;
            run.readahead = run.readahead.iter().chain([(class, counters)]).collect::<ByClass>();
        }
        "waits" => {
            let numbers = numbers(rest)?;
            let (pairs, []) = numbers.as_chunks::<2>() else { return None };
            run.waits = pairs.iter().map(|[ns, count]| (*ns, *count)).collect();
        }
        "client" => {
            let [finished_ns, read_bytes, write_bytes, waited_ns] = numbers(rest)?.try_into().ok()?;
            run.clients.push(ClientRun { finished_ns, read_bytes, write_bytes, waited_ns });
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run all of whose numbers differ.
    fn run() -> Run {
        let mut run = totals(std::array::from_fn(|at| at as u64 + 1));
        run.device =
            DeviceStats { read_count: 20, read_bytes: 21, write_count: 22, write_bytes: 23, busy_ns: 24 };
        for class in [Class::Walk, Class::Forward] {
            let mut counters = ClassCounters::default();
            (counters.in_time_bytes, counters.late_bytes, counters.wasted_bytes) =
                (30 + class as u64, 40, 50);
            run.readahead = run.readahead.iter().chain([(class, counters)]).collect();
        }
        run.waits = [(0, 3), (15, 1), (1 << 40, 2)].into_iter().collect();
        run.clients = vec![
            ClientRun { finished_ns: 60, read_bytes: 61, write_bytes: 62, waited_ns: 63 },
            ClientRun::default(),
        ];
        run
    }

    #[test]
    fn parts_come_back() {
        let bounds = Bounds { lower_ns: 1, clairvoyant_ns: u64::MAX, batch_blocks: 3 };
        let text = write(&[Part::Bounds(bounds)]);
        let read_bounds = read(&text).unwrap().pop().and_then(Part::bounds);
        assert_eq!(read_bounds, Some(bounds));
        let runs = [run(), Run::default()];
        let parts = read(&write(&runs.clone().map(|run| Part::Run(Box::new(run))))).unwrap();
        assert_eq!(parts.into_iter().filter_map(Part::run).collect::<Vec<_>>(), runs);
    }

    #[test]
    fn other_lines_are_refused() {
        for text in ["device 1 2 3 4 5", "bounds 1 2", "bounds 1 2 x", "run 1", "rum"] {
            assert!(read(text).is_none(), "{text}");
        }
        let text = write(&[Part::Run(Box::new(run()))]);
        for (line, wrong) in
            [("waits 0 3", "waits 0"), ("readahead walk", "readahead run"), ("client 60", "client")]
        {
            assert!(text.contains(line) && read(&text.replace(line, wrong)).is_none(), "{line}");
        }
    }
}
