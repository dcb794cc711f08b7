//! What was read of each object in earlier runs, and is in this one.
//!
//! It has a lock of its own, which is never held together with the driver's, nor while
//! a file is read or written.

mod file;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forerun_backend::Result;
use forerun_engine::profile::Recorder;
use forerun_engine::{Extent, ObjectId};
use parking_lot::Mutex;

use crate::driver::Name;

/// Objects, and extents of all of them, that are kept: some tens of MiB, besides the budget.
const OBJECTS_MAX: usize = 16_384;
const EXTENTS_MAX: usize = 1 << 19;

/// What was touched first of each object, in that order.
pub(crate) type Profiles = HashMap<Name, Vec<Extent>>;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Learner {
    path: PathBuf,
    state: Mutex<State>,
    /// Held while the file is written, so that nothing newer is written over.
    saving: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Of earlier runs.
    known: Profiles,
    /// Of this run.
    recorded: HashMap<ObjectId, (Name, Recorder)>,
    extent_count: usize,
    /// Something was recorded since it was saved.
    is_changed: bool,
    /// It could not be saved the last time, and somebody was told so.
    has_failed: bool,
}

impl Learner {
    /// What the file at `path` knows; a file that is not there is made. Of a symbolic link
    /// it is the file that it points to.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if it is no profile, or cannot be read or written.
    pub(crate) fn load(path: &Path) -> Result<Learner> {
        let whole = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        let path = whole.unwrap_or_else(|_| path.to_owned());
        let known = match file::read(&path)? {
            Some(known) => {
                // Better said now than after a day of learning.
                file::check_writable(&path)?;
                known
            }
            None => {
                file::write(&path, &Profiles::new())?;
                Profiles::new()
            }
        };
        let state = State { known, ..State::default() };
        Ok(Learner { path, state: Mutex::new(state), saving: Mutex::new(()) })
    }

    /// What earlier runs touched first of this version of an object.
    pub(crate) fn plan(&self, name: &Name) -> Option<Vec<Extent>> {
        self.state.lock().known.get(name).cloned()
    }

    /// Somebody reads `extent`.
    pub(crate) fn note(&self, id: ObjectId, name: &Name, extent: Extent) {
        let mut state = self.state.lock();
        let State { recorded, extent_count, is_changed, .. } = &mut *state;
        if !recorded.contains_key(&id) && recorded.len() == OBJECTS_MAX {
            return;
        }
        let (_, recorder) = recorded.entry(id).or_insert_with(|| (name.clone(), Recorder::new()));
        let (count, bytes) = (recorder.extents().len(), recorder.bytes());
        if *extent_count < EXTENTS_MAX {
            recorder.note(extent);
        }
        *extent_count += recorder.extents().len() - count;
        *is_changed |= recorder.bytes() > bytes;
    }

    /// Writes what is known now to the file, as a whole or not at all.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`](crate::ErrorKind::Permanent) if it cannot be written; what was recorded is kept.
    pub(crate) fn save(&self) -> Result<()> {
        let _saving = self.saving.lock();
        let profiles = {
            let mut state = self.state.lock();
            if !std::mem::take(&mut state.is_changed) {
                return Ok(());
            }
            state.merged()
        };
        let written = file::write(&self.path, &profiles);
        let mut state = self.state.lock();
        state.has_failed = written.is_err();
        state.is_changed |= state.has_failed;
        written
    }

    /// As [`Learner::save`], and warns of the first failure in a row.
    pub(crate) fn save_or_warn(&self) {
        let was_told = self.state.lock().has_failed;
        if let Err(error) = self.save()
            && !was_told
        {
            tracing::warn!("{error}");
        }
    }
}

impl State {
    /// What the next run should know: of each object what this run touched, or what
    /// earlier ones did if this one has not come half as far. Of one path, this run's
    /// version counts.
    fn merged(&self) -> Profiles {
        let mut runs: Vec<_> = self.recorded.iter().collect();
        // Later versions have larger numbers; one that was forgotten and opened again
        // has two, and the longer run of it counts.
        runs.sort_by_key(|(id, _)| **id);
        let current: HashMap<&str, &Name> = runs.iter().map(|(_, (name, _))| (&*name.path, name)).collect();
        let is_current = |name: &Name| current.get(&*name.path).is_none_or(|newer| *newer == name);
        runs.sort_by_key(|(_, (_, recorder))| recorder.bytes());
        let mut profiles: Profiles = self.known.clone();
        profiles.retain(|name, _| is_current(name));
        for (_, (name, recorder)) in runs.into_iter().filter(|(_, (name, _))| is_current(name)) {
            let known = profiles.get(name);
            let before = known.map_or(0, |extents| extents.iter().map(|extent| extent.len).sum::<u64>());
            if 2 * recorder.bytes() >= before && (known.is_some() || profiles.len() < OBJECTS_MAX) {
                profiles.insert(name.clone(), recorder.extents().to_vec());
            }
        }
        profiles
    }
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;

    use super::*;

    fn name(version: &str) -> Name {
        Name { path: "a".into(), version: Version(version.into()), size: 1 << 20 }
    }

    fn learner(folder: &Path) -> Learner {
        Learner::load(&folder.join("profile")).unwrap()
    }

    fn read(learner: &Learner, version: &str, extents: &[Extent]) {
        extents.iter().for_each(|extent| learner.note(ObjectId(1), &name(version), *extent));
        learner.save().unwrap();
    }

    #[test]
    fn the_last_run_counts_unless_it_was_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (Extent::new(65536, 65536), Extent::new(0, 40960));
        read(&learner(folder.path()), "1", &[first]);
        assert_eq!(learner(folder.path()).plan(&name("1")), Some(vec![first]));
        read(&learner(folder.path()), "1", &[second]);
        assert_eq!(learner(folder.path()).plan(&name("1")), Some(vec![second]));
        read(&learner(folder.path()), "1", &[Extent::new(0, 4096)]);
        assert_eq!(learner(folder.path()).plan(&name("1")), Some(vec![second]));
    }

    #[test]
    fn a_link_stays_a_link_to_what_is_learned() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("profile", &link).unwrap();
        learner(folder.path());
        read(&Learner::load(&link).unwrap(), "1", &[Extent::new(0, 4096)]);
        assert!(link.is_symlink());
        assert!(learner(folder.path()).plan(&name("1")).is_some());
    }

    #[test]
    fn another_version_is_another_object_and_drops_the_older() {
        let folder = tempfile::tempdir().unwrap();
        read(&learner(folder.path()), "1", &[Extent::new(0, 4096)]);
        assert_eq!(learner(folder.path()).plan(&name("2")), None);
        read(&learner(folder.path()), "2", &[Extent::new(8192, 4096)]);
        let learner = learner(folder.path());
        assert_eq!(learner.plan(&name("1")), None);
        assert_eq!(learner.plan(&name("2")), Some(vec![Extent::new(8192, 4096)]));
    }
}
