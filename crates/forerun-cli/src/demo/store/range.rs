//! The `Range` header.

/// The part of an object that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedPart {
    /// The whole object: no `Range`, or one that is ignored.
    Whole,
    /// `from..to`, not empty and within the object.
    Part { from: u64, to: u64 },
    /// A range outside the object.
    Unsatisfiable,
}

/// The part that `header` asks for, of an object of `size` bytes. As in S3, several ranges and
/// units other than bytes mean the whole object.
pub(crate) fn asked(header: Option<&str>, size: u64) -> RequestedPart {
    let range =
        header.and_then(|header| header.trim().strip_prefix("bytes=")).and_then(|set| set.split_once('-'));
    match range {
        Some(("", last)) => {
            last.parse().map_or(RequestedPart::Whole, |last| part(size.saturating_sub(last), size, size))
        }
        Some((first, "")) => first.parse().map_or(RequestedPart::Whole, |first| part(first, size, size)),
        Some((first, last)) => match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) if first <= last => part(first, last.saturating_add(1), size),
            _ => RequestedPart::Whole,
        },
        None => RequestedPart::Whole,
    }
}

fn part(from: u64, to: u64, size: u64) -> RequestedPart {
    let to = to.min(size);
    if from < to { RequestedPart::Part { from, to } } else { RequestedPart::Unsatisfiable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let table = [
            (None, RequestedPart::Whole),
            (Some("bytes=0-0"), RequestedPart::Part { from: 0, to: 1 }),
            (Some("bytes=10-19"), RequestedPart::Part { from: 10, to: 20 }),
            (Some("bytes=90-1000"), RequestedPart::Part { from: 90, to: 100 }),
            (Some("bytes=90-"), RequestedPart::Part { from: 90, to: 100 }),
            (Some("bytes=-30"), RequestedPart::Part { from: 70, to: 100 }),
            (Some("bytes=-1000"), RequestedPart::Part { from: 0, to: 100 }),
            (Some("bytes=100-"), RequestedPart::Unsatisfiable),
            (Some("bytes=100-200"), RequestedPart::Unsatisfiable),
            (Some("bytes=-0"), RequestedPart::Unsatisfiable),
            (Some("bytes=5-4"), RequestedPart::Whole),
            (Some("bytes=1-2,4-5"), RequestedPart::Whole),
            (Some("lines=1-2"), RequestedPart::Whole),
            (Some("bytes=-"), RequestedPart::Whole),
        ];
        for (header, expected) in table {
            assert_eq!(asked(header, 100), expected, "{header:?}");
        }
    }
}
