//! The state of an object, as a server's headers describe it.

use reqwest::header::{ETAG, HeaderMap, HeaderName, IF_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED};

use crate::Version;

/// One state of an object, as far as the server tells states apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The size of the whole object in bytes.
    pub(super) size: u64,
    validator: Validator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Validator {
    /// A strong ETag, quotes included.
    Strong(String),
    /// A weak ETag without its `W/`.
    Weak(String),
    /// A Last-Modified date, verbatim.
    Modified(String),
    /// The server sends nothing but the size.
    Size,
}

impl State {
    /// The state in the headers of an answer about an object of `size` bytes.
    pub(super) fn of(headers: &HeaderMap, size: u64) -> State {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let validator = match (text(ETAG), text(LAST_MODIFIED)) {
            (Some(etag), _) if !etag.is_empty() => match etag.strip_prefix("W/") {
                Some(weak) => Validator::Weak(weak.to_owned()),
                None => Validator::Strong(etag.to_owned()),
            },
            (_, Some(modified)) if !modified.is_empty() => Validator::Modified(modified.to_owned()),
            _ => Validator::Size,
        };
        State { size, validator }
    }

    /// A state that no server describes.
    pub(super) fn unknown() -> State {
        State { size: 0, validator: Validator::Size }
    }

    pub(super) fn version(&self) -> Version {
        let (kind, value) = match &self.validator {
            Validator::Strong(value) => ("etag", value.as_str()),
            Validator::Weak(value) => ("weak", value.as_str()),
            Validator::Modified(value) => ("modified", value.as_str()),
            Validator::Size => ("size", ""),
        };
        Version(format!("{} {kind} {value}", self.size).into())
    }

    /// Parses a version that [`State::version`] wrote.
    pub(super) fn parse(version: &Version) -> Option<State> {
        let mut parts = version.0.splitn(3, ' ');
        let (size, kind, value) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?.to_owned());
        let validator = match kind {
            "etag" => Validator::Strong(value),
            "weak" => Validator::Weak(value),
            "modified" => Validator::Modified(value),
            "size" => Validator::Size,
            _ => return None,
        };
        Some(State { size, validator })
    }

    /// The header that makes the server refuse another state. A weak ETag never satisfies If-Match,
    /// so its answer has to be compared.
    pub(super) fn condition(&self) -> Option<(HeaderName, &str)> {
        match &self.validator {
            Validator::Strong(etag) => Some((IF_MATCH, etag)),
            Validator::Modified(date) => Some((IF_UNMODIFIED_SINCE, date)),
            Validator::Weak(_) | Validator::Size => None,
        }
    }

    /// Whether `answer` describes this state. A server may send a fresh file's ETag as weak at
    /// first and as strong later: that is no change.
    pub(super) fn matches(&self, answer: &State) -> bool {
        let same = match (&self.validator, &answer.validator) {
            (Validator::Weak(known), Validator::Strong(now)) => known == now,
            (known, now) => known == now,
        };
        same && self.size == answer.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(headers: &[(&'static str, &str)], size: u64) -> State {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        State::of(&headers.collect(), size)
    }

    #[test]
    fn versions_are_read_back() {
        let date = ("last-modified", "Sat, 21 Nov 2026 10:00:00 GMT");
        for headers in [&[("etag", "\"a b\""), date][..], &[("etag", "W/\"x\"")], &[date], &[]] {
            let state = state(headers, 7);
            assert_eq!(State::parse(&state.version()), Some(state));
        }
        assert_eq!(State::parse(&Version("another version".into())), None);
    }

    #[test]
    fn only_a_strong_state_is_a_condition_and_every_state_is_compared() {
        let (strong, weak) = (state(&[("etag", "\"1\"")], 7), state(&[("etag", "W/\"1\"")], 7));
        assert_eq!(strong.condition(), Some((IF_MATCH, "\"1\"")));
        assert_eq!(weak.condition(), None);
        assert!(weak.matches(&strong) && weak.matches(&weak) && !strong.matches(&weak));
        assert!(!strong.matches(&state(&[("etag", "\"2\"")], 7)) && !strong.matches(&state(&[], 7)));
        assert!(!strong.matches(&state(&[("etag", "\"1\"")], 8)));
    }
}
