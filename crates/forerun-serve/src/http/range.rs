//! Parts of an object that a request asks for (RFC 9110, section 14).

use forerun::Extent;

/// More parts than any client needs. They cost work at both ends, so that a request for more is refused.
const PARTS_MAX: usize = 64;

/// The bytes that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The whole object: there is no `Range`, or one that a server has to ignore.
    Whole,
    /// These parts, each within the object, in the order of the request. They do not overlap.
    Parts(Vec<Extent>),
    /// None of the parts lies within the object, or there are too many.
    Unsatisfiable,
}

/// The parts that `header`, the text of `Range`, asks for of an object of `size` bytes.
pub(super) fn asked(header: &str, size: u64) -> Asked {
    let Some((unit, list)) = header.split_once('=') else { return Asked::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Asked::Whole;
    }
    let specs: Vec<&str> = list.split(',').map(str::trim).filter(|spec| !spec.is_empty()).collect();
    if specs.len() > PARTS_MAX {
        return Asked::Unsatisfiable;
    }
    let mut parts = Vec::new();
    for spec in &specs {
        match part(spec, size) {
            Some(Some(part)) => parts.push(part),
            Some(None) => {}
            // One bad part makes the header bad, and it is ignored.
            None => return Asked::Whole,
        }
    }
    match parts.is_empty() {
        true if specs.is_empty() => Asked::Whole,
        true => Asked::Unsatisfiable,
        false => Asked::Parts(joined(parts)),
    }
}

/// The part that `spec` names: `None` if it makes no sense, `Some(None)` if the object has none of its bytes.
fn part(spec: &str, size: u64) -> Option<Option<Extent>> {
    let (first, last) = spec.split_once('-')?;
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that is too large lies past every object.
        is_number.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    if first.is_empty() {
        let len = number(last)?.min(size);
        return Some((len > 0).then(|| Extent::new(size - len, len)));
    }
    let first = number(first)?;
    let last = if last.is_empty() { u64::MAX } else { number(last)? };
    if last < first {
        return None;
    }
    Some((first < size).then(|| Extent::between(first, last.saturating_add(1).min(size))))
}

/// The same bytes without overlaps. Parts that overlap or touch become one, where the first of them stands.
fn joined(parts: Vec<Extent>) -> Vec<Extent> {
    let mut joined: Vec<Extent> = Vec::new();
    for mut part in parts {
        let mut place = joined.len();
        while let Some(index) = joined.iter().position(|other| touches(*other, part)) {
            let other = joined.remove(index);
            part = Extent::between(other.offset.min(part.offset), other.end().max(part.end()));
            place = place.min(index);
        }
        joined.insert(place.min(joined.len()), part);
    }
    joined
}

fn touches(one: Extent, other: Extent) -> bool {
    one.offset <= other.end() && other.offset <= one.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(of: &[(u64, u64)]) -> Asked {
        Asked::Parts(of.iter().map(|(first, end)| Extent::between(*first, *end)).collect())
    }

    #[test]
    fn parts_lie_within_the_object() {
        for (header, expected) in [
            ("bytes=0-0", parts(&[(0, 1)])),
            ("bytes=0-", parts(&[(0, 100)])),
            ("bytes=90-200", parts(&[(90, 100)])),
            ("bytes=-5", parts(&[(95, 100)])),
            ("bytes=-500", parts(&[(0, 100)])),
            ("BYTES= 1-2 , 50-50", parts(&[(1, 3), (50, 51)])),
            ("bytes=50-60,100-,0-1", parts(&[(50, 61), (0, 2)])),
            ("bytes=5-99999999999999999999999", parts(&[(5, 100)])),
            ("bytes=100-", Asked::Unsatisfiable),
            ("bytes=-0", Asked::Unsatisfiable),
            ("bytes=99999999999999999999999-", Asked::Unsatisfiable),
        ] {
            assert_eq!(asked(header, 100), expected, "{header}");
        }
        assert_eq!(asked("bytes=0-", 0), Asked::Unsatisfiable);
        assert_eq!(asked("bytes=-1", 0), Asked::Unsatisfiable);
    }

    #[test]
    fn what_makes_no_sense_is_ignored() {
        for header in [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "lines=1-2",
            "bytes=2-1",
            "bytes=a-b",
            "bytes=1",
            "bytes=0-1,x",
            "bytes=+1-2",
        ] {
            assert_eq!(asked(header, 100), Asked::Whole, "{header}");
        }
    }

    #[test]
    fn parts_that_overlap_are_sent_once() {
        assert_eq!(asked("bytes=0-10,5-20", 100), parts(&[(0, 21)]));
        assert_eq!(asked("bytes=50-60,0-10,11-49", 100), parts(&[(0, 61)]));
        assert_eq!(asked("bytes=0-,0-,0-,0-", 100), parts(&[(0, 100)]));
    }

    #[test]
    fn too_many_parts_are_refused() {
        let many =
            |count: u64| (0..count).map(|at| format!("{}-{}", 4 * at, 4 * at)).collect::<Vec<_>>().join(",");
        assert!(
            matches!(asked(&format!("bytes={}", many(64)), 1000), Asked::Parts(parts) if parts.len() == 64)
        );
        assert_eq!(asked(&format!("bytes={}", many(65)), 1000), Asked::Unsatisfiable);
    }
}
