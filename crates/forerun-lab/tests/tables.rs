//! The tables of a recording that comes with the repository: the same each time, and as
//! they were when somebody last looked at them. `UPDATE_SNAPSHOTS=1` writes them anew.

mod snapshot;

use std::path::Path;

use forerun_lab::outcome::Outcome;
use forerun_lab::replay::{Plan, Settings};
use forerun_lab::report::html;
use forerun_lab::workload::Workload;
use forerun_lab::{export, show};
use forerun_sim::device::Preset;
use forerun_trace::ReadOptions;
use forerun_trace::generate::{self, Pattern};

const POLICIES: [&str; 6] = ["none", "plain", "aligned", "eager", "ondemand", "adaptive"];

fn plan(trace: &str, devices: &[&str]) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(trace);
    Plan {
        workloads: vec![Workload::open(&path, ReadOptions::default()).unwrap()],
        devices: devices.iter().map(|name| Preset::from_name(name).unwrap()).collect(),
        memory_bytes: vec![64 << 20],
        policies: POLICIES.iter().filter_map(|name| name.parse().ok()).collect(),
        learned: false,
        settings: Settings { repeat: 3, ..Settings::default() },
    }
}

fn text(plan: &Plan, outcomes: &[Outcome]) -> String {
    show::tables(outcomes, |outcome| plan.caption(outcome)) + "\n" + &show::legend(3)
}

#[test]
fn a_boot_gives_the_table_of_the_snapshot() {
    let plan = plan("boot-virtio.frt.gz", &["demo", "s3"]);
    let outcomes = plan.run(|_, _| ()).unwrap();
    snapshot::check("boot-virtio.txt", &text(&plan, &outcomes));
}

#[test]
fn a_page_shows_the_streams_of_the_snapshot() {
    let mix = generate::Plan {
        patterns: vec![
            Pattern::Sequential,
            Pattern::Backward,
            Pattern::Strided { stride: 1 << 20 },
            Pattern::Interleaved { streams: 4 },
        ],
        file_bytes: 32 << 20,
        request_bytes: 64 << 10,
        think_ns: 1_000_000,
        ..generate::Plan::default()
    };
    let mix = Workload::held("mix", mix.generate().unwrap().collect());
    let mut plan = Plan { workloads: vec![mix], ..plan("nfs4-two-32k-w8.frt.gz", &["s3"]) };
    plan.policies.retain(|policy| ["none", "plain", "adaptive"].contains(&policy.name()));
    let (outcomes, timelines) = (plan.run(|_, _| ()).unwrap(), plan.timelines(|_, _| ()).unwrap());
    let page = html("streams", &outcomes, &timelines);
    let start = page.find("<section id=\"streams\">").unwrap();
    let section = &page[start..][..page[start..].find("</section>").unwrap()];
    snapshot::check("streams.txt", &words(section));
    let json = export::json(&outcomes, &plan.settings, &timelines);
    for part in [
        "\"class\": \"backward\"",
        "\"in_time_bytes\": ",
        "\"label\": \"mix/plain\"",
        "\"why\": \"first-window\"",
    ] {
        assert!(json.contains(part), "{part} is not in {json}");
    }
}

/// The words of a part of a page: a line for each row, list entry and heading.
fn words(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<').skip(1) {
        let (tag, content) = part.split_once('>').unwrap();
        match tag {
            "/tr" | "/p" | "/li" | "/h2" | "/summary" | "/figcaption" => text.push('\n'),
            "/th" | "/td" => text.push_str(" | "),
            _ => {}
        }
        text.push_str(content);
    }
    let lines = text.lines().map(|line| line.trim_end_matches([' ', '|']).trim_start());
    lines.filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

#[test]
fn two_runs_give_the_same_tables_and_files() {
    let plan = plan("nfs4-two-32k-w8.frt.gz", &["s3"]);
    let all = || {
        let outcomes = plan.run(|_, _| ()).unwrap();
        let (json, csv) = (
            export::json(&outcomes, &plan.settings, &plan.timelines(|_, _| ()).unwrap()),
            export::csv(&outcomes, &plan.settings),
        );
        [text(&plan, &outcomes), json, csv]
    };
    let first = all();
    assert_eq!(first, all());
    assert_eq!(first[2].lines().count(), 1 + POLICIES.len() * 3);
    // Not one luck for all.
    let times: Vec<&str> =
        first[2].lines().skip(1).take(3).map(|line| line.split(',').nth(7).unwrap()).collect();
    assert!(times[0] != times[1] && times[1] != times[2], "{times:?}");
}
