//! Parts of the page that readers may fold away, and those that are folded at first.

use crate::timeline::Timeline;

use super::layout::Group;
use super::svg::{Node, el, text};

/// Timelines of a group that are open at first, if there are more: those of the fastest.
const OPEN_MAX: usize = 4;

/// Groups that are open at first.
const OPEN_GROUPS_MAX: usize = 3;

/// A picture or table for each timeline of each group.
pub(super) fn groups(
    groups: &[Group<'_>],
    class: &str,
    show: impl Fn(&Group<'_>, &str, &Timeline) -> Node,
) -> Vec<Node> {
    let part = |(at, group): (usize, &Group<'_>)| {
        let block = |timelines: Vec<(&str, &Timeline)>| {
            let nodes = timelines.into_iter().map(|(policy, timeline)| show(group, policy, timeline));
            el("div").class(class).with_all(nodes)
        };
        let (open, slower) = split(&group.timelines);
        let part = details(group.name, at < OPEN_GROUPS_MAX).with(block(open));
        if slower.is_empty() {
            return part;
        }
        let names: Vec<&str> = slower.iter().map(|(policy, _)| *policy).collect();
        part.with(details(&format!("Slower: {}", names.join(", ")), false).with(block(slower)))
    };
    groups.iter().enumerate().map(part).collect()
}

fn details(name: &str, is_open: bool) -> Node {
    let details = el("details");
    let details = if is_open { details.set("open", "open") } else { details };
    details.with(text("summary", name))
}

type Labelled<'a> = (&'a str, &'a Timeline);

/// The timelines to show at once and the others, both in their order.
fn split<'a>(timelines: &[Labelled<'a>]) -> (Vec<Labelled<'a>>, Vec<Labelled<'a>>) {
    let mut ends: Vec<_> = timelines.iter().map(|(_, timeline)| timeline.end()).collect();
    ends.sort_unstable();
    let Some(last) = ends.get(OPEN_MAX - 1).filter(|_| ends.len() > OPEN_MAX) else {
        return (timelines.to_vec(), Vec::new());
    };
    let mut room = OPEN_MAX;
    timelines.iter().partition(|(_, timeline)| {
        let is_shown = timeline.end() <= *last && room > 0;
        room -= usize::from(is_shown);
        is_shown
    })
}

#[cfg(test)]
mod tests {
    use forerun_engine::{Event, Extent, ObjectId, ReaderId, Time};

    use super::*;

    fn lasting(ns: u64) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.observe(&Event::Read {
            time: Time(ns),
            object: ObjectId(1),
            reader: ReaderId(1),
            extent: Extent::new(0, 4096),
            late_bytes: 0,
            missing_bytes: 0,
            ahead: None,
        });
        timeline
    }

    #[test]
    fn the_slower_of_many_policies_are_folded() {
        let timelines = [9, 1, 8, 2, 2, 2].map(lasting);
        let labelled: Vec<Labelled<'_>> =
            ["a", "b", "c", "d", "e", "f"].into_iter().zip(&timelines).collect();
        let names = |part: Vec<Labelled<'_>>| part.iter().map(|(name, _)| *name).collect::<String>();
        let (open, slower) = split(&labelled);
        assert_eq!((names(open), names(slower)), ("bdef".to_owned(), "ac".to_owned()));
        let (open, slower) = split(&labelled[..4]);
        assert_eq!((names(open), names(slower)), ("abcd".to_owned(), String::new()));
    }
}
