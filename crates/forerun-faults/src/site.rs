//! The stored objects, at each moment of virtual time.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;

use crate::random::Random;

const POOL_BYTES: usize = 24 << 20;
/// More than the smallest memory of an engine: reading such an object evicts.
const SIZE_MAX: u64 = 5 << 20;

/// The bytes of every version are a slice of this pool, at an offset of its own. So versions differ
/// nearly everywhere, and cost nothing to make.
static POOL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random::new(0);
    (0..POOL_BYTES / 8).flat_map(|_| random.next().to_le_bytes()).collect()
});

/// One version of an object.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    /// Unique among the versions of a site.
    pub(crate) number: u64,
    pub(crate) size: u64,
    place: usize,
}

impl Version {
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::from_static(&POOL[self.place..][..self.size as usize])
    }

    /// Seconds since 1970.
    pub(crate) fn modified_s(&self) -> u64 {
        1_700_000_000 + 7 * self.number
    }
}

/// The history of one object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) path: String,
    /// The versions and the times of their begin, in order; none from a removal on.
    pub(crate) states: Vec<(Duration, Option<Version>)>,
}

impl Object {
    /// The states during a span of time.
    pub(crate) fn between(&self, from: Duration, to: Duration) -> impl Iterator<Item = Option<&Version>> {
        let ends = self.states.iter().skip(1).map(|(since, _)| *since).chain([Duration::MAX]);
        let spans = self.states.iter().zip(ends);
        spans
            .filter(move |((since, _), end)| *since <= to && *end > from)
            .map(|((_, version), _)| version.as_ref())
    }

    pub(crate) fn at(&self, now: Duration) -> Option<&Version> {
        self.states.iter().rfind(|(since, _)| *since <= now)?.1.as_ref()
    }

    /// Every version until `now`.
    pub(crate) fn versions(&self, now: Duration) -> impl Iterator<Item = &Version> {
        let began = self.states.iter().filter(move |(since, _)| *since <= now);
        began.filter_map(|(_, version)| version.as_ref())
    }

    pub(crate) fn has_changed(&self, now: Duration) -> bool {
        self.states.get(1).is_some_and(|(since, _)| *since <= now)
    }
}

/// All objects.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) objects: Vec<Object>,
}

impl Site {
    /// A few objects in a few directories, some of which change if `may_change`.
    pub(crate) fn new(random: &mut Random, may_change: bool) -> Site {
        let mut number = 0;
        let mut version = |random: &mut Random, other: Option<u64>| {
            number += 1;
            let size = match (other, random.within(0..8)) {
                (Some(size), 0..4) => size,
                (_, 0) => random.within(0..2),
                (_, 1) => 4096 * random.within(1..4) - 1 + random.within(0..3),
                (_, 2..5) => random.within(1..200_000),
                (_, 5..7) => random.within(1..1_500_000),
                (_, _) => random.within(1..SIZE_MAX),
            };
            let place = random.within(0..POOL_BYTES as u64 - SIZE_MAX) as usize;
            Version { number, size, place }
        };
        let count = random.within(1..7);
        let objects = (0..count).map(|index| {
            let directory = random.pick(&["", "", "d0/", "d0/", "d1/", "d1/deep/"]);
            let first = version(random, None);
            let mut size = first.size;
            let mut states = vec![(Duration::ZERO, Some(first))];
            let mut since = Duration::from_millis(random.within(1..3000));
            while may_change && states.len() < 6 && random.chance(500) {
                let next = (!random.chance(150)).then(|| version(random, Some(size)));
                size = next.as_ref().map_or(size, |next| next.size);
                states.push((since, next));
                since += Duration::from_millis(random.pick(&[1, 50, 500, 5000, 60_000]));
            }
            Object { path: format!("{directory}f{index}"), states }
        });
        Site { objects: objects.collect() }
    }

    pub(crate) fn find(&self, path: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.path == path)
    }

    /// Whether `path` is a directory. Directories never change, even when empty.
    pub(crate) fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || self.objects.iter().any(|object| below(path, &object.path).is_some())
    }

    /// Names of the entries of the directory `path` at `now`; those of directories end in a slash.
    pub(crate) fn list(&self, path: &str, now: Duration) -> BTreeSet<String> {
        let names = self.objects.iter().filter_map(|object| {
            let rest = below(path, &object.path)?;
            match rest.split_once('/') {
                Some((directory, _)) => Some(format!("{directory}/")),
                None => object.at(now).map(|_| rest.to_owned()),
            }
        });
        names.collect()
    }
}

/// The part of `path` below `directory`.
pub(crate) fn below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory)?.strip_prefix('/')
}
