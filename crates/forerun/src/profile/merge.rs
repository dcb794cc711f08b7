//! The knowledge of this run, for the next one.

use std::collections::{HashMap, HashSet};

use forerun_engine::Extent;

use super::OBJECTS_MAX;
use super::known::{Profiles, bytes_of};
use crate::driver::Name;

/// Merges the profiles of `known` runs with `run`, that of this one. Its objects are in the order in which
/// they were first read. This run counts for an object, unless it came less than half as far as earlier ones.
/// Of one path, the version that this run read last counts.
///
/// The objects of this run come first, then those that only others have read. If it has read less than
/// half as many objects as are known, it is the other way round.
pub(super) fn merge(known: &Profiles, run: &[(&Name, &[Extent])]) -> Profiles {
    let current: HashMap<&str, &Name> = run.iter().map(|(name, _)| (&*name.path, *name)).collect();
    let is_current = |name: &Name| current.get(&*name.path).is_none_or(|newer| *newer == name);
    // An object that was forgotten and read again is there twice: the longer run of it counts.
    let mut longest: HashMap<&Name, &[Extent]> = HashMap::new();
    for (name, extents) in run.iter().filter(|(name, _)| is_current(name)) {
        let before = longest.entry(*name).or_insert(*extents);
        if bytes_of(extents) > bytes_of(before) {
            *before = *extents;
        }
    }
    let is_whole = 2 * longest.len() >= known.len();
    let ours = run.iter().map(|(name, _)| *name);
    let theirs = known.iter().map(|(name, _)| name);
    let order: Vec<&Name> =
        if is_whole { ours.chain(theirs).collect() } else { theirs.chain(ours).collect() };
    let mut seen: HashSet<&Name> = HashSet::new();
    let mut profiles = Profiles::default();
    for name in order.into_iter().filter(|name| is_current(name) && seen.insert(*name)).take(OBJECTS_MAX) {
        let before = known.get(name).map(|(_, extents)| extents).unwrap_or_default();
        let after = longest.get(name).copied().filter(|now| 2 * bytes_of(now) >= bytes_of(before));
        profiles.put(name.clone(), after.unwrap_or(before).to_vec());
    }
    profiles
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;

    use super::*;

    fn name(path: &str, version: &str) -> Name {
        Name { path: path.into(), version: Version(version.into()), size: 1 << 20 }
    }

    /// The order after a run of `run`, where `known` was known.
    #[track_caller]
    fn check(known: &str, run: &str, expected: &str) {
        let touched = [Extent::new(0, 4096)];
        let names = |paths: &str| -> Vec<Name> { paths.chars().map(|c| name(&c.to_string(), "1")).collect() };
        let mut before = Profiles::default();
        names(known).into_iter().for_each(|name| before.put(name, touched.to_vec()));
        let ours = names(run);
        let ours: Vec<_> = ours.iter().map(|name| (name, &touched[..])).collect();
        let after: String = merge(&before, &ours).iter().map(|(name, _)| &*name.path).collect();
        assert_eq!(after, expected, "{known} and {run}");
    }

    #[test]
    fn the_order_is_that_of_the_last_run_that_went_far() {
        check("", "cab", "cab");
        check("abc", "cab", "cab");
        check("abcd", "ca", "cabd");
        check("abcdefgh", "hxa", "abcdefghx");
        check("ab", "xyz", "xyzab");
    }

    #[test]
    fn an_object_that_was_forgotten_and_read_again_is_there_once() {
        let (once, again) = ([Extent::new(0, 8192)], [Extent::new(0, 4096)]);
        let (a, b) = (name("a", "1"), name("b", "1"));
        let after = merge(&Profiles::default(), &[(&a, &once), (&b, &again), (&a, &again)]);
        assert_eq!(after.get(&a), Some((0, &once[..])));
        assert_eq!(after.len(), 2);
    }
}
