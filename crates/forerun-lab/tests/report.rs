//! The page of a real run: well formed, complete, self-contained, and always the same.

use forerun_engine::{Config, Time};
use forerun_lab::outcome::Outcome;
use forerun_lab::report::{Imprint, Report, html};
use forerun_lab::timeline::Timeline;
use forerun_policies::PolicyKind;
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
    let config = Config { policy: policy.into(), events_max: 1 << 16, ..Config::new(MEMORY_BYTES) };
    let device = Preset::from_name("s3").expect("there is such a device").build(seed);
    let mut timeline = Timeline::default();
    let world = World::new(config, device).expect("a configuration that works");
    let world = world.observe(|event| timeline.observe(event));
    let mut source = Replay::new(accesses.iter().cloned(), Scan::of(accesses), Pace::Closed);
    let run = world.run(&mut source).expect("a run that ends");
    timeline.finish(Time(run.elapsed_ns));
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
    let imprint = Imprint {
        date: "Thu, 26 Nov 2026 12:00:00 GMT".to_owned(),
        version: "1.2.3".to_owned(),
        command: "forerun replay '<a>'".to_owned(),
    };
    report.parameter("Pace", "closed <loop>").imprint(imprint).html()
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
fn the_page_says_when_and_how_it_was_made() {
    let made = "Made on Thu, 26 Nov 2026 12:00:00 GMT by version 1.2.3 of Forerun with \
        <code>forerun replay &#39;&lt;a&gt;&#39;</code>";
    assert!(small().contains(made));
    assert!(!html("no imprint", &[], &[]).contains("Made on"));
}

#[test]
fn charts_have_the_totals_and_the_time_of_the_summary() {
    let accesses = plan(vec![Pattern::Sequential, Pattern::Random], 16, 64, None);
    let (outcomes, timelines) = shown(&[("w", accesses)], 1);
    let page = html("totals", &outcomes, &timelines);
    let (mut rows, mut any_waste) = (0, false);
    for (outcome, (label, timeline)) in outcomes.iter().zip(&timelines) {
        let (run, totals) = (&outcome.runs[0], timeline.totals());
        assert_eq!(
            [totals.hit_bytes, totals.late_bytes, totals.miss_bytes, totals.wasted_bytes],
            [run.hit_bytes, run.late_bytes, run.miss_bytes, run.wasted_bytes],
            "{label}"
        );
        any_waste |= run.wasted_bytes > 0;
        let name = format!("<th scope=\"row\">{}</th>", outcome.policy);
        let row = page.lines().find(|line| line.contains(&name)).expect("a row of the summary");
        let cells: Vec<&str> =
            row.split("<td>").skip(1).map(|cell| &cell[..cell.find('<').unwrap()]).collect();
        let [time, _, _, read, fetched, hit, late, miss, wasted, ..] = cells[..] else { panic!("{row}") };
        let totals = format!(
            "{read} MB read: {hit} hit, {late} late, {miss} miss; {fetched} fetched, {wasted} wasted"
        );
        let caption = format!("<figcaption>{}, {time}</figcaption>", outcome.policy);
        assert!(
            page.contains(&format!("{caption}\n<p class=\"totals\">{totals}"))
                || page.contains(&format!("{caption}<p class=\"totals\">{totals}")),
            "{caption} {totals}"
        );
        rows += 1;
    }
    assert!(rows > 5 && any_waste);
}

#[test]
fn writes_after_the_last_read_are_marked() {
    let accesses = plan(vec![Pattern::Sequential], 1, 64, None);
    let (outcomes, mut timelines) = shown(&[("w", accesses)], 1);
    timelines.truncate(1);
    let ends_with_reads = html("quiet", &outcomes[..1], &timelines);
    assert!(!ends_with_reads.contains("class=\"quiet\""));
    let end = timelines[0].1.end();
    timelines[0].1.finish(Time(end.0 * 2));
    let page = html("quiet", &outcomes[..1], &timelines);
    assert!(page.contains("class=\"quiet\"") && page.contains(">no reads</text>"));
}

#[test]
fn contenders_can_be_told_apart_without_colour() {
    let page = small();
    for (at, policy) in PolicyKind::ALL.into_iter().enumerate() {
        let letter = char::from(b'A' + at as u8);
        assert!(
            page.contains(&format!("<b>{letter}</b> {}", policy.name())),
            "no letter of {}",
            policy.name()
        );
        assert!(page.contains(&format!(">{letter}</text>")), "no {letter} on a line");
    }
    let sheet = include_str!("../src/report/style.css");
    let dashes: Vec<&str> = (0..12)
        .map(|at| {
            let rule = sheet.split(&format!(".l{at} {{")).nth(1).expect("a style").split('}').next().unwrap();
            rule.split("stroke-dasharray:").nth(1).map_or("solid", |rest| rest.split(';').next().unwrap())
        })
        .collect();
    for (at, dash) in dashes.iter().enumerate() {
        assert!(!dashes[..at].contains(dash), "two lines have the dashes {dash:?}");
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
