//! The learner: records this run, and keeps its file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forerun_backend::Result;
use forerun_engine::{Extent, ObjectId, Time};
use parking_lot::Mutex;

use super::run::RunRecord;
use super::{Profile, file, update};
use crate::driver::Name;

/// The profile of earlier runs, and the record of this one.
///
/// It has a lock of its own, which is never held together with the driver's, nor while a file is read or
/// written.
#[derive(Debug)]
pub(crate) struct Learner {
    path: PathBuf,
    /// Of earlier runs.
    known: Arc<Profile>,
    state: Mutex<Learned>,
    /// Held while the file is written, so that nothing newer is written over.
    saving: Mutex<()>,
}

#[derive(Debug, Default)]
struct Learned {
    /// Of this run.
    run: RunRecord<ObjectId>,
    /// The time of the first read.
    began: Option<Time>,
    /// Something was recorded since it was saved.
    is_changed: bool,
    /// It could not be saved the last time, and somebody was told so.
    has_failed: bool,
}

impl Learner {
    /// Loads the file at `path`, or makes it if it is not there. A symbolic link stands for the file that it
    /// points to.
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
                file::write(&path, &Profile::default())?;
                Profile::default()
            }
        };
        let (known, state) = (Arc::new(known), Mutex::default());
        Ok(Learner { path, known, state, saving: Mutex::new(()) })
    }

    /// The profiles of earlier runs.
    pub(crate) fn known(&self) -> Arc<Profile> {
        Arc::clone(&self.known)
    }

    /// Somebody reads `extent` at `now`.
    pub(crate) fn note(&self, now: Time, id: ObjectId, name: &Name, extent: Extent) {
        let mut state = self.state.lock();
        let Learned { run, began, is_changed, .. } = &mut *state;
        let time_ms = now.since(*began.get_or_insert(now)) / 1_000_000;
        *is_changed |=
            run.enter(id, name) && run.record(&id, extent, u32::try_from(time_ms).unwrap_or(u32::MAX));
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
            update::update(&self.known, state.run.objects())
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
            tracing::warn!(target: "forerun::read", "{error}");
        }
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

    fn plan(learner: &Learner, version: &str) -> Option<Vec<Extent>> {
        learner.known().get(&name(version)).map(|(_, touched)| touched.extents().to_vec())
    }

    fn read(learner: &Learner, version: &str, extents: &[Extent]) {
        extents.iter().for_each(|extent| learner.note(Time(0), ObjectId(1), &name(version), *extent));
        learner.save().unwrap();
    }

    #[test]
    fn the_last_run_counts_unless_it_was_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (Extent::new(65536, 65536), Extent::new(0, 40960));
        read(&learner(folder.path()), "1", &[first]);
        assert_eq!(plan(&learner(folder.path()), "1"), Some(vec![first]));
        read(&learner(folder.path()), "1", &[second]);
        assert_eq!(plan(&learner(folder.path()), "1"), Some(vec![second]));
        read(&learner(folder.path()), "1", &[Extent::new(0, 4096)]);
        assert_eq!(plan(&learner(folder.path()), "1"), Some(vec![second]));
    }

    #[test]
    fn a_link_stays_a_link_to_what_is_learned() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("profile", &link).unwrap();
        learner(folder.path());
        read(&Learner::load(&link).unwrap(), "1", &[Extent::new(0, 4096)]);
        assert!(link.is_symlink());
        assert!(plan(&learner(folder.path()), "1").is_some());
    }

    #[test]
    fn another_version_is_another_object_and_drops_the_older() {
        let folder = tempfile::tempdir().unwrap();
        read(&learner(folder.path()), "1", &[Extent::new(0, 4096)]);
        assert_eq!(plan(&learner(folder.path()), "2"), None);
        read(&learner(folder.path()), "2", &[Extent::new(8192, 4096)]);
        let learner = learner(folder.path());
        assert_eq!(plan(&learner, "1"), None);
        assert_eq!(plan(&learner, "2"), Some(vec![Extent::new(8192, 4096)]));
    }
}
