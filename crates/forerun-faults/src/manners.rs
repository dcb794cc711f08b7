//! The permanent behaviour of a server.

use std::time::Duration;

use crate::random::Random;
use crate::site::Version;

/// The header that tells versions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validator {
    Strong,
    Weak,
    Modified,
    Nothing,
}

#[derive(Clone, Debug)]
pub(crate) struct Manners {
    pub(crate) is_bucket: bool,
    pub(crate) validator: Validator,
    /// Whether the server itself refuses a version that is gone.
    pub(crate) honours_conditions: bool,
    pub(crate) refuses_head: bool,
    pub(crate) ignores_range: bool,
    /// Whether parts lack Content-Length.
    pub(crate) is_chunked: bool,
    /// Entries of a page of a listing.
    pub(crate) page_entries: usize,
    /// The size of the pieces of a body, and the wait before each of them.
    pub(crate) piece: (usize, Duration),
    pub(crate) latency: Duration,
}

impl Manners {
    pub(crate) fn new(random: &mut Random) -> Manners {
        use Validator::{Modified, Nothing, Strong, Weak};
        let is_bucket = random.chance(500);
        let validators: &[Validator] =
            if is_bucket { &[Strong, Strong, Modified] } else { &[Strong, Strong, Weak, Modified, Nothing] };
        Manners {
            is_bucket,
            validator: random.pick(validators),
            honours_conditions: random.chance(500),
            refuses_head: !is_bucket && random.chance(200),
            ignores_range: !is_bucket && random.chance(50),
            is_chunked: !is_bucket && random.chance(300),
            page_entries: random.pick(&[1, 2, 1000]),
            piece: (
                random.pick(&[1000, 16 << 10, 64 << 10]),
                Duration::from_millis(random.pick(&[0, 0, 1, 3, 20])),
            ),
            latency: Duration::from_millis(random.pick(&[1, 5, 40, 200])),
        }
    }

    pub(crate) fn etag(&self, version: &Version) -> Option<String> {
        let weak = if self.validator == Validator::Weak { "W/" } else { "" };
        let has_tags = matches!(self.validator, Validator::Strong | Validator::Weak);
        has_tags.then(|| format!("{weak}\"v{}\"", version.number))
    }
}
