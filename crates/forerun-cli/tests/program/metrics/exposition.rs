//! The text format of Prometheus, version 0.0.4, as strictly as it is specified.

use std::collections::{BTreeMap, BTreeSet};

type Labels = BTreeMap<String, String>;

/// One answer to a scrape.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    /// The type of each family.
    pub(crate) types: BTreeMap<String, String>,
    /// The names of the labels of each family, without `le`.
    pub(crate) labels: BTreeMap<String, BTreeSet<String>>,
    samples: BTreeMap<(String, Labels), f64>,
}

impl Exposition {
    /// Reads `text`.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Exposition {
        assert!(text.ends_with('\n'), "the last line has no end");
        let (mut found, mut family, mut helped) = (Exposition::default(), String::new(), String::new());
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, said) = help.split_once(' ').expect("a name and a text");
                assert!(is_name(name, true) && said.ends_with('.'), "{line}");
                helped = name.to_owned();
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("a name and a type");
                assert_eq!(name, helped, "its help is right before it");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(found.types.insert(name.to_owned(), kind.to_owned()), None, "{name} comes twice");
                family = name.to_owned();
            } else {
                found.sample(&family, line);
            }
        }
        found.check_histograms();
        found
    }

    fn sample(&mut self, family: &str, line: &str) {
        let (series, value) = line.rsplit_once(' ').expect("a series and a value");
        let (name, labels) = match series.split_once('{') {
            None => (series, Labels::new()),
            Some((name, labels)) => (name, labels_of(labels.strip_suffix('}').expect("a brace"))),
        };
        let suffixes: &[&str] =
            if self.types[family] == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        let suffix = name.strip_prefix(family).expect("it stands below the type of its family");
        assert!(is_name(name, true) && suffixes.contains(&suffix), "{line}");
        assert_eq!(labels.contains_key("le"), suffix == "_bucket", "{line}");
        let names = labels.keys().filter(|label| *label != "le").cloned();
        self.labels.entry(family.to_owned()).or_default().extend(names);
        let value: f64 = value.parse().expect("a number");
        assert!(value >= 0.0, "{line}");
        assert_eq!(self.samples.insert((name.to_owned(), labels), value), None, "{line} comes twice");
    }

    /// Buckets are cumulative, and the last has all.
    fn check_histograms(&self) {
        for family in self.types.iter().filter(|(_, kind)| *kind == "histogram").map(|(name, _)| name) {
            let mut series = BTreeMap::<Labels, Vec<(f64, f64)>>::new();
            for ((_, labels), count) in self.of(&format!("{family}_bucket")) {
                let mut labels = labels.clone();
                let le: f64 = labels.remove("le").unwrap().parse().expect("a bound");
                series.entry(labels).or_default().push((le, *count));
            }
            for (labels, mut buckets) in series {
                buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
                assert!(buckets.is_sorted_by(|a, b| a.1 <= b.1), "{family} {labels:?}: {buckets:?}");
                let all = self.samples[&(format!("{family}_count"), labels.clone())];
                assert_eq!(buckets.last(), Some(&(f64::INFINITY, all)), "{family} {labels:?}");
                assert!(self.samples.contains_key(&(format!("{family}_sum"), labels)));
            }
        }
    }

    fn of(&self, name: &str) -> impl Iterator<Item = (&(String, Labels), &f64)> {
        self.samples.iter().filter(move |((other, _), _)| other == name)
    }

    /// The sum of the samples of `name` that have the label `with`, or of all.
    #[track_caller]
    pub(crate) fn sum(&self, name: &str, with: Option<(&str, &str)>) -> u64 {
        let has = |labels: &Labels| {
            with.is_none_or(|(label, value)| labels.get(label).is_some_and(|own| own == value))
        };
        let found: Vec<f64> =
            self.of(name).filter(|((_, labels), _)| has(labels)).map(|(_, value)| *value).collect();
        assert!(!found.is_empty(), "there is no {name} with {with:?}");
        found.iter().sum::<f64>() as u64
    }

    /// The samples of `name` that are not 0, by their one label.
    pub(crate) fn by_label(&self, name: &str) -> BTreeMap<String, u64> {
        let samples = self.of(name).filter(|(_, value)| **value > 0.0);
        samples.map(|((_, labels), value)| (labels.values().next().unwrap().clone(), *value as u64)).collect()
    }
}

fn is_name(name: &str, may_have_colons: bool) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || may_have_colons && c == ':';
    name.chars().all(is_fine) && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// The labels in `text`, as in `a="b",c="d\"e"`.
fn labels_of(text: &str) -> Labels {
    let (mut labels, mut rest) = (Labels::new(), text);
    while !rest.is_empty() {
        let (name, quoted) = rest.split_once("=\"").expect("a name and a value");
        assert!(is_name(name, false), "{text}");
        let (mut value, mut characters) = (String::new(), quoted.chars());
        loop {
            match characters.next().expect("a quote at the end") {
                '"' => break,
                '\\' => match characters.next() {
                    Some('n') => value.push('\n'),
                    Some(escaped @ ('"' | '\\')) => value.push(escaped),
                    other => panic!("{text}: \\{other:?}"),
                },
                other => value.push(other),
            }
        }
        assert_eq!(labels.insert(name.to_owned(), value), None, "{name} comes twice in {text}");
        rest = characters.as_str();
        assert!(rest.is_empty() || rest.starts_with(','), "{text}");
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    labels
}
