//! Outcomes as files for other programs: every run with all its numbers, in whole nanoseconds and
//! bytes. A reader can compute the tables from them.

mod figures;
pub mod json;

use forerun_engine::{ByClass, Class, ClassCounters, End, Time, Why};
use forerun_sim::run::Run;

use crate::outcome::Outcome;
use crate::replay::Settings;
use crate::timeline::{StreamPoint, Timeline};
pub use figures::{Figure, figures_csv, figures_json};
use json::Json;

/// A number of a run, and what it is called.
type Field = (&'static str, fn(&Run) -> u64);

/// In the order of columns and keys.
const FIELDS: &[Field] = &[
    ("elapsed_ns", |run| run.elapsed_ns),
    ("read_count", |run| run.read_count),
    ("read_bytes", |run| run.read_bytes),
    ("hit_bytes", |run| run.hit_bytes),
    ("late_bytes", |run| run.late_bytes),
    ("miss_bytes", |run| run.miss_bytes),
    ("demand_count", |run| run.demand_count),
    ("demand_bytes", |run| run.demand_bytes),
    ("readahead_count", |run| run.readahead_count),
    ("readahead_bytes", |run| run.readahead_bytes),
    ("wasted_bytes", |run| run.wasted_bytes),
    ("memory_bytes_peak", |run| run.memory_bytes_peak),
    ("waited_ns", |run| run.clients.iter().map(|client| client.waited_ns).sum()),
    ("wait_median_ns", |run| run.waits.quantile(500)),
    ("wait_p99_ns", |run| run.waits.quantile(990)),
    ("device_read_count", |run| run.device.read_count),
    ("device_read_bytes", |run| run.device.read_bytes),
    ("device_write_count", |run| run.device.write_count),
    ("device_write_bytes", |run| run.device.write_bytes),
    ("device_busy_ns", |run| run.device.busy_ns),
];

/// A line of column names, and a line for each run. Unknown bounds are empty.
pub fn csv(outcomes: &[Outcome], settings: &Settings) -> String {
    let mut text = String::from("workload,device,memory_bytes,policy,seed,lower_bound_ns,clairvoyant_ns");
    FIELDS.iter().for_each(|(name, _)| {
        text.push(',');
        text.push_str(name);
    });
    text.push('\n');
    for outcome in outcomes {
        let bounds = [outcome.bounds.lower_ns, outcome.bounds.clairvoyant_ns];
        let bounds = bounds.map(|ns| if ns == 0 { String::new() } else { ns.to_string() });
        for (seed, run) in (settings.seed..).zip(&outcome.runs) {
            let mut cells = vec![
                quoted(&outcome.workload),
                quoted(&outcome.device),
                outcome.memory_bytes.to_string(),
                quoted(&outcome.policy),
                seed.to_string(),
            ];
            cells.extend(bounds.clone());
            cells.extend(FIELDS.iter().map(|(_, of)| of(run).to_string()));
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    text
}

/// One object: what was replayed how, the outcomes with their runs, and the streams of
/// `timelines`, each with its label.
pub fn json(outcomes: &[Outcome], settings: &Settings, timelines: &[(String, Timeline)]) -> String {
    let mut json = Json::default();
    json.object(|json| {
        json.key("forerun").text(env!("CARGO_PKG_VERSION"));
        json.key("repeat").number(settings.repeat);
        json.key("seed").number(settings.seed);
        json.key("read_cost_ns").number(settings.read_cost_ns);
        json.key("window_bytes_max").maybe(settings.window_bytes_max);
        json.key("outcomes").array(outcomes, |json, outcome| one(json, outcome, settings));
        json.key("timelines").array(timelines, |json, (label, timeline)| {
            json.object(|json| {
                json.key("label").text(label);
                json.key("stream_count").number(timeline.stream_count());
                let served: Vec<_> = timeline.served().collect();
                json.key("reads").array(&served, |json, (ahead, served)| {
                    json.object(|json| {
                        json.key("ahead").text(ahead.map_or("", Class::name));
                        json.key("hit_count").number(served.hit_count);
                        json.key("late_count").number(served.late_count);
                        json.key("miss_count").number(served.miss_count);
                    });
                });
                let streams: Vec<&StreamPoint> = timeline.streams().collect();
                json.key("streams").array(&streams, |json, one| stream(json, one));
            });
        });
    });
    json.finish()
}

/// The outcome of the readahead of each class.
pub fn by_class(json: &mut Json, by_class: &ByClass) {
    let classes: Vec<(Class, ClassCounters)> = by_class.iter().collect();
    json.array(&classes, |json, (class, counters)| {
        json.object(|json| {
            json.key("class").text(class.name());
            json.key("in_time_bytes").number(counters.in_time_bytes);
            json.key("late_bytes").number(counters.late_bytes);
            json.key("wasted_bytes").number(counters.wasted_bytes);
        });
    });
}

fn stream(json: &mut Json, stream: &StreamPoint) {
    let moment = |json: &mut Json, (time, why): (Time, Why)| {
        json.object(|json| {
            json.key("time_ns").number(time.0);
            json.key("why").text(why.name());
        });
    };
    json.object(|json| {
        json.key("class").text(stream.class.name());
        json.key("object").maybe(stream.object.map(|object| object.0));
        json.key("offset").number(stream.span.offset);
        json.key("end").number(stream.span.end());
        json.key("window_count").number(stream.window_count);
        json.key("window_bytes").number(stream.window_bytes);
        json.key("window_bytes_max").number(stream.window_bytes_max);
        moment(json.key("first"), stream.first);
        moment(json.key("last"), stream.last);
        json.key("ended").text(stream.end.map_or("", End::name));
    });
}

fn one(json: &mut Json, outcome: &Outcome, settings: &Settings) {
    json.object(|json| {
        json.key("workload").text(&outcome.workload);
        json.key("device").text(&outcome.device);
        json.key("memory_bytes").number(outcome.memory_bytes);
        json.key("policy").text(&outcome.policy);
        let known = |ns: u64| Some(ns).filter(|ns| *ns > 0);
        json.key("lower_bound_ns").maybe(known(outcome.bounds.lower_ns));
        json.key("clairvoyant_ns").maybe(known(outcome.bounds.clairvoyant_ns));
        let runs: Vec<(u64, &Run)> = (settings.seed..).zip(&outcome.runs).collect();
        json.key("runs").array(&runs, |json, (seed, run)| {
            json.object(|json| {
                json.key("seed").number(*seed);
                FIELDS.iter().for_each(|(name, of)| json.key(name).number(of(run)));
                by_class(json.key("readahead"), &run.readahead);
            });
        });
    });
}

/// A cell of a CSV file, in quotes if it needs them.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use forerun_sim::bound::Bounds;

    use super::*;

    fn outcomes() -> Vec<Outcome> {
        vec![Outcome {
            workload: "a \"b\", c".into(),
            policy: "none".into(),
            device: "demo".into(),
            memory_bytes: 7,
            runs: vec![Run { elapsed_ns: 5, ..Run::default() }, Run { elapsed_ns: 6, ..Run::default() }],
            bounds: Bounds { lower_ns: 3, ..Bounds::default() },
        }]
    }

    #[test]
    fn a_line_for_each_run() {
        let text = csv(&outcomes(), &Settings { seed: 40, ..Settings::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(
            "workload,device,memory_bytes,policy,seed,lower_bound_ns,clairvoyant_ns,elapsed_ns,"
        ));
        assert!(lines[1].starts_with("\"a \"\"b\"\", c\",demo,7,none,40,3,,5,0,"));
        assert!(lines[2].starts_with("\"a \"\"b\"\", c\",demo,7,none,41,3,,6,0,"));
        let columns = lines[0].split(',').count();
        assert_eq!(lines[1].replace("\", c\"", "").split(',').count(), columns);
    }

    #[test]
    fn an_object_of_outcomes() {
        let text = json(&outcomes(), &Settings::default(), &[]);
        assert!(text.starts_with("{\n  \"forerun\": \""), "{text}");
        assert!(text.contains("\"workload\": \"a \\\"b\\\", c\""), "{text}");
        assert!(text.contains("\"clairvoyant_ns\": null"), "{text}");
        assert!(text.contains("\"seed\": 2,\n"), "{text}");
        assert!(text.ends_with("}\n"), "{text}");
    }
}
