//! The page of a real run: well formed, complete, self-contained, and always the same.

use forerun_engine::{Config, PolicyKind};
use forerun_lab::outcome::Outcome;
use forerun_lab::report::{Report, html};
use forerun_lab::timeline::Timeline;
use forerun_sim::bound::Bounds;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Pace, Replay, Scan};
use forerun_sim::world::World;
use forerun_trace::Access;
use forerun_trace::generate::{Pattern, Plan};

const MEMORY_BYTES: u64 = 16 << 20;

/// A name that breaks what is not escaped.
const NAME: &str = "a<b>&\"c'</svg>";

fn plan(patterns: Vec<Pattern>, file_mib: u64, request_kib: u64, count: Option<u64>) -> Vec<Access> {
    let plan = Plan {
        patterns,
        file_bytes: file_mib << 20,
        request_bytes: request_kib << 10,
        count,
        think_ns: 200_000,
        ..Plan::default()
    };
    plan.generate().expect("the plan makes sense").collect()
}

fn run(accesses: &[Access], policy: PolicyKind, seed: u64) -> (Run, Timeline) {
    let config = Config { policy, events_max: 1 << 16, ..Config::new(MEMORY_BYTES) };
    let device = Preset::from_name("s3").expect("there is such a device").build(seed);
    let mut timeline = Timeline::default();
    let world = World::new(config, device).expect("a configuration that works");
    let world = world.observe(|event| timeline.observe(event));
    let mut source = Replay::new(accesses.iter().cloned(), Scan::of(accesses), Pace::Closed);
    let run = world.run(&mut source).expect("a run that ends");
    (run, timeline)
}

type Shown = (Vec<Outcome>, Vec<(String, Timeline)>);

fn shown(workloads: &[(&str, Vec<Access>)], seeds: u64) -> Shown {
    let mut shown = Shown::default();
    for (workload, accesses) in workloads {
        for policy in PolicyKind::ALL {
            let (runs, mut timelines): (Vec<Run>, Vec<Timeline>) =
                (1..=seeds).map(|seed| run(accesses, policy, seed)).unzip();
            shown.1.push((format!("{workload}/{}", policy.name()), timelines.swap_remove(0)));
            let fastest = runs.iter().map(|run| run.elapsed_ns).min().unwrap_or(0);
            shown.0.push(Outcome {
                workload: (*workload).to_owned(),
                policy: policy.name().to_owned(),
                device: "s3".to_owned(),
                memory_bytes: MEMORY_BYTES,
                runs,
                bounds: Bounds {
                    lower_ns: fastest / 2,
                    clairvoyant_ns: fastest / 2 + fastest / 10,
                    batch_blocks: 1,
                },
            });
        }
    }
    shown
}

/// Two small workloads; a page of them.
fn small() -> String {
    let streams = vec![Pattern::Sequential, Pattern::Sequential, Pattern::Backward];
    let (outcomes, timelines) = shown(
        &[(NAME, plan(streams, 4, 64, None)), ("random", plan(vec![Pattern::Random], 64, 4, Some(300)))],
        2,
    );
    let report = Report::new("A <title> & more", &outcomes, &timelines);
    report.parameter("Pace", "closed <loop>").html()
}

/// # Panics
/// If an element is not closed, or closed where it was not open.
fn check_tags(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (before, rest) = page.split_once("<style>").expect("a style sheet");
    let (_, after) = rest.split_once("</style>").expect("the style sheet's end");
    for part in before.split('<').skip(2).chain(after.split('<').skip(1)) {
        let (tag, content) = part.split_once('>').expect("a tag that ends");
        assert!(!content.contains('>'), "an unescaped > in {content:?}");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag:?}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closed in the wrong place");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new(), "still open");
}

fn check_page(page: &str) {
    check_tags(page);
    assert!(page.starts_with("<!DOCTYPE html>"));
    for outside in ["http://", "https://", "src=", "url(", "@import", "<script", "NaN", "inf\"", "inf,"] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
}

#[test]
fn the_page_is_complete_and_well_formed() {
    let page = small();
    check_page(&page);
    let escaped = "a&lt;b&gt;&amp;&quot;c&#39;&lt;/svg&gt;";
    for name in
        PolicyKind::ALL.map(PolicyKind::name).into_iter().chain([escaped, "random", "closed &lt;loop&gt;"])
    {
        assert!(page.contains(name), "{name} is not in the page");
    }
    assert!(!page.contains(NAME));
    assert!(page.contains(" forward") && page.contains("<title>hit: "), "what was read ahead for hits");
    for class in ["hit", "late", "miss", "wasted", "ahead"] {
        assert!(page.contains(&format!("<path class=\"{class}\"")), "nothing is {class}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(small(), small());
}

#[test]
fn nothing_to_show_is_no_problem() {
    check_page(&html("empty", &[], &[]));
    check_page(&html("no events", &[], &[("w/p".to_owned(), Timeline::default())]));
    let outcome = Outcome {
        workload: String::new(),
        policy: String::new(),
        device: String::new(),
        memory_bytes: 0,
        runs: vec![Run::default()],
        bounds: Bounds::default(),
    };
    check_page(&html("zeros", std::slice::from_ref(&outcome), &[]));
    check_page(&html("no runs", &[Outcome { runs: Vec::new(), ..outcome }], &[]));
}

#[test]
fn many_dense_timelines_stay_small() {
    let random = plan(vec![Pattern::Random, Pattern::Sequential], 64, 4, Some(6000));
    let (outcomes, timelines) = shown(&[("dense", random)], 1);
    let many: Vec<(String, Timeline)> = (0..4).flat_map(|_| timelines.iter().cloned()).collect();
    let page = html("many", &outcomes, &many);
    check_page(&page);
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}
