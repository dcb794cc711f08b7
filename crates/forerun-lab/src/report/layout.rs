//! Timelines of the same workload beside one another, on the same axis of offsets.

use std::collections::BTreeMap;

use forerun_engine::{Extent, ObjectId};

use crate::timeline::Timeline;

use super::axis::Axis;
use super::number;

/// Timelines with labels of the same beginning.
#[derive(Clone, Debug)]
pub(super) struct Group<'a> {
    /// The common part of their labels: all up to the last slash.
    pub(super) name: &'a str,
    /// Each with the rest of its label.
    pub(super) timelines: Vec<(&'a str, &'a Timeline)>,
    /// Where each object begins if they lie one behind the other.
    bases: BTreeMap<ObjectId, u64>,
    end_bytes: u64,
}

/// The groups, in the order of their first timelines.
pub(super) fn groups(timelines: &[(String, Timeline)]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (label, timeline) in timelines {
        let (name, rest) = label.rsplit_once('/').unwrap_or((label, ""));
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.timelines.push((rest, timeline)),
            None => groups.push(Group {
                name,
                timelines: vec![(rest, timeline)],
                bases: BTreeMap::new(),
                end_bytes: 0,
            }),
        }
    }
    groups.iter_mut().for_each(Group::measure);
    groups
}

/// The axis of a timeline's time. Each has its own: on that of the slowest, the others
/// would be a stroke.
pub(super) fn time(timeline: &Timeline) -> Axis {
    Axis::time("time", timeline.end().0 as f64)
}

/// A policy's name, and how long its timeline is.
pub(super) fn caption(policy: &str, timeline: &Timeline) -> String {
    format!("{policy}, {}", number::duration(timeline.end().0 as f64))
}

impl Group<'_> {
    fn measure(&mut self) {
        let mut sizes: BTreeMap<ObjectId, u64> = BTreeMap::new();
        for (_, timeline) in &self.timelines {
            let reads = timeline.reads().map(|read| (read.object, read.extent));
            let fetches = timeline.fetches().map(|fetch| (fetch.object, fetch.extent));
            for (object, extent) in reads.chain(fetches) {
                let size = sizes.entry(object).or_default();
                *size = (*size).max(extent.end());
            }
        }
        for (object, size) in sizes {
            self.bases.insert(object, self.end_bytes);
            self.end_bytes = self.end_bytes.saturating_add(size);
        }
    }

    /// Where an extent of an object is drawn: its first byte and one past its last.
    pub(super) fn place(&self, object: ObjectId, extent: Extent) -> (f64, f64) {
        let base = self.bases.get(&object).copied().unwrap_or(0);
        (base as f64 + extent.offset as f64, base as f64 + extent.end() as f64)
    }

    /// Where objects begin, but for the first.
    pub(super) fn borders(&self) -> impl Iterator<Item = u64> {
        self.bases.values().copied().skip(1)
    }

    /// The axis of offsets.
    pub(super) fn offset(&self) -> Axis {
        let title = match self.bases.len() {
            0 | 1 => "offset".to_owned(),
            count => format!("offset in {count} files"),
        };
        Axis::size(&title, self.end_bytes as f64)
    }
}
