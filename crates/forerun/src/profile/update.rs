//! The knowledge of this run, for the next one.

use std::collections::{HashMap, HashSet};

use super::Profile;
use super::run::OBJECTS_MAX;
use super::touched::Touched;
use crate::driver::Name;

/// The profile of `known` runs, updated with `run`, the record of this one. Its objects are in the order in which
/// they were first read. This run counts for an object, unless it came less than half as far as earlier ones.
/// Of one path, the version that this run read last counts.
///
/// The objects of this run come first, then those that only others have read. If it has read less than
/// half as many objects as are known, it is the other way round.
pub(super) fn update(known: &Profile, run: Vec<(&Name, Touched)>) -> Profile {
    let current: HashMap<&str, &Name> = run.iter().map(|(name, _)| (&*name.path, *name)).collect();
    let is_current = |name: &Name| current.get(&*name.path).is_none_or(|newer| *newer == name);
    // An object that was forgotten and read again is there twice: the longer run of it counts.
    let ours: Vec<&Name> = run.iter().map(|(name, _)| *name).collect();
    let mut longest: HashMap<&Name, Touched> = HashMap::new();
    for (name, touched) in run.into_iter().filter(|(name, _)| is_current(name)) {
        let longer = longest.entry(name).or_default();
        if touched.bytes() > longer.bytes() {
            *longer = touched;
        }
    }
    let is_whole = 2 * longest.len() >= known.len();
    let ours = ours.into_iter();
    let theirs = known.iter().map(|(name, _)| name);
    let order: Vec<&Name> =
        if is_whole { ours.chain(theirs).collect() } else { theirs.chain(ours).collect() };
    let mut seen: HashSet<&Name> = HashSet::new();
    let mut profile = Profile::default();
    for name in order.into_iter().filter(|name| is_current(name) && seen.insert(*name)).take(OBJECTS_MAX) {
        let before = known.get(name).map(|(_, touched)| touched);
        let after = longest.remove(name);
        let is_far = |after: &Touched| 2 * after.bytes() >= before.map_or(0, Touched::bytes);
        let touched = after.filter(is_far).or_else(|| before.cloned()).unwrap_or_default();
        profile.put(name.clone(), touched);
    }
    profile
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;
    use forerun_engine::Extent;

    use super::*;

    fn name(path: &str, version: &str) -> Name {
        Name { path: path.into(), version: Version(version.into()), size: 1 << 20 }
    }

    /// The order after a run of `run`, where `known` was known.
    #[track_caller]
    fn check(known: &str, run: &str, expected: &str) {
        let touched = || Touched::from_iter([(Extent::new(0, 4096), 0)]);
        let names = |paths: &str| -> Vec<Name> { paths.chars().map(|c| name(&c.to_string(), "1")).collect() };
        let mut before = Profile::default();
        names(known).into_iter().for_each(|name| before.put(name, touched()));
        let ours = names(run);
        let ours: Vec<_> = ours.iter().map(|name| (name, touched())).collect();
        let after: String = update(&before, ours).iter().map(|(name, _)| &*name.path).collect();
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
        let of = |bytes| Touched::from_iter([(Extent::new(0, bytes), 0)]);
        let (a, b) = (name("a", "1"), name("b", "1"));
        let after = update(&Profile::default(), vec![(&a, of(8192)), (&b, of(4096)), (&a, of(4096))]);
        assert_eq!(after.get(&a), Some((0, &of(8192))));
        assert_eq!(after.len(), 2);
    }
}
