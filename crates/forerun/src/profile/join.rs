//! Several profiles as one.

use std::collections::HashMap;
use std::sync::Arc;

use forerun_backend::{Error, ErrorKind, Result};

use super::Profile;
use super::run::RunRecord;
use crate::driver::Name;

/// Joins profiles of several runs that read the same objects.
///
/// The result is what one run would leave that reads as the first one does, then as the second one, and so on.
/// So each byte is there once, in the place that the first run gives it which read it. It keeps its time of
/// that run. The result is bounded like any profile.
#[derive(Debug, Default)]
pub struct ProfileMerge {
    run: RunRecord<Name>,
    names: HashMap<Arc<str>, Name>,
}

impl ProfileMerge {
    /// Adds the next run.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if it read another version of an object than a run before it. Nothing of it is
    /// added then.
    pub fn add(&mut self, profile: &Profile) -> Result<()> {
        for (name, _) in profile.iter() {
            if let Some(before) = self.names.get(&name.path).filter(|before| *before != name) {
                return Err(other_version(before, name));
            }
        }
        for (name, touched) in profile.iter() {
            self.names.insert(Arc::clone(&name.path), name.clone());
            self.run.enter(name.clone(), name);
            for (extent, time_ms) in touched.iter() {
                self.run.record(name, extent, time_ms);
            }
        }
        Ok(())
    }

    /// Whether a bound of profiles is reached, so that bytes may be missing.
    pub fn is_full(&self) -> bool {
        self.run.is_full()
    }

    /// The profile of all runs.
    pub fn finish(self) -> Profile {
        let mut profile = Profile::default();
        self.run.objects().into_iter().for_each(|(name, touched)| profile.put(name.clone(), touched));
        profile
    }
}

fn other_version(before: &Name, name: &Name) -> Error {
    let of = |name: &Name| format!("version {:?} of {} bytes", &*name.version.0, name.size);
    let message = format!(
        "{} was read in {}, and in {} by the runs before it; merge profiles of the same versions, or learn anew",
        name.path,
        of(name),
        of(before)
    );
    Error::new(ErrorKind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;
    use forerun_engine::Extent;

    use super::*;

    /// Objects with blocks and their times, as in `a 5@0 6@2, b 1@3`.
    fn profile(text: &str) -> Profile {
        let mut profile = Profile::default();
        for object in text.split(", ") {
            let mut words = object.split(' ');
            let path = words.next().unwrap();
            let block = |word: &str| {
                let (block, time_ms) = word.split_once('@').unwrap();
                (Extent::new(block.parse::<u64>().unwrap() * 4096, 4096), time_ms.parse().unwrap())
            };
            let name = Name { path: path.into(), version: Version("1".into()), size: 1 << 30 };
            profile.put(name, words.map(block).collect());
        }
        profile
    }

    #[track_caller]
    fn check(runs: &[&str], expected: &str) {
        let mut merge = ProfileMerge::default();
        runs.iter().for_each(|run| merge.add(&profile(run)).unwrap());
        assert!(!merge.is_full());
        assert_eq!(merge.finish(), profile(expected), "{runs:?}");
    }

    #[test]
    fn each_range_is_there_once_where_the_first_run_has_it() {
        check(&["a 5@0 9@2", "a 7@0 5@1 3@4"], "a 5@0 9@2 7@0 3@4");
        check(&["a 5@0, b 2@3", "c 1@0, a 5@1 1@2"], "a 5@0 1@2, b 2@3, c 1@0");
        check(&["a 5@0, b 2@3", "a 5@0, b 2@3"], "a 5@0, b 2@3");
    }

    #[test]
    fn another_version_is_refused_and_adds_nothing() {
        let mut merge = ProfileMerge::default();
        merge.add(&profile("a 5@0")).unwrap();
        let mut other = profile("b 1@0");
        other.put(Name { path: "a".into(), version: Version("2".into()), size: 7 }, Default::default());
        let error = merge.add(&other).unwrap_err().to_string();
        for words in ["a was read in version \"2\" of 7 bytes", "in version \"1\" of 1073741824 bytes by"] {
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(merge.finish(), profile("a 5@0"));
    }
}
