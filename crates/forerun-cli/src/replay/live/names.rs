//! The objects of a recording's files.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use forerun::{Forerun, PolicyKind};
use forerun_lab::workload::Workload;
use forerun_trace::{Op, ReadOptions, Reader};

use super::LiveOptions;

/// Enough memory for metadata requests.
const MEMORY_BYTES: u64 = 4 << 20;

/// An object that a recording reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    /// The end of its last read.
    pub(super) bytes: u64,
}

/// The object of each file of a recording; none for a file without reads.
pub(super) type Names = Vec<Option<Wanted>>;

impl LiveOptions {
    /// The objects of a recording, which are created if the options ask for it.
    ///
    /// # Errors
    /// A recording of several files if only one object is named, or an object that cannot be
    /// created.
    pub(super) fn names(
        &self,
        url: &str,
        workload: &Workload,
        read: ReadOptions,
    ) -> Result<Names, Box<dyn Error>> {
        let mut reader = Reader::open(workload.path(), read)?;
        let mut sizes: Vec<u64> = vec![0; workload.scan().objects().len()];
        for access in reader.by_ref() {
            let access = access?;
            if let (Op::Read, Some(size)) = (access.op, sizes.get_mut(access.file.0 as usize)) {
                *size = access.extent.end().max(*size);
            }
        }
        let read_count = sizes.iter().filter(|size| **size > 0).count();
        let single = match &self.live_object {
            Some(name) => Some(name.clone()),
            None => Forerun::connect_blocking(url, self.options(PolicyKind::None, MEMORY_BYTES))?
                .object()
                .map(str::to_owned),
        };
        if single.is_some() && read_count > 1 {
            return Err(format!(
                "{} reads {read_count} files, and only one object is named; name a directory that has them all",
                workload.path().display()
            )
            .into());
        }
        let named = |(file, bytes): (&str, u64)| {
            let own = || file.trim_start_matches('/').to_owned();
            (bytes > 0).then(|| Wanted { name: single.clone().unwrap_or_else(own), bytes })
        };
        let names: Names = reader.files().iter().zip(sizes).map(named).collect();
        if self.live_create {
            let directory = directory_of(url)?;
            names.iter().flatten().try_for_each(|wanted| create(&directory, &wanted.name, wanted.bytes))?;
        }
        Ok(names)
    }
}

/// The directory that `url` names.
fn directory_of(url: &str) -> Result<PathBuf, String> {
    match url.strip_prefix("file://") {
        Some(path) => Ok(PathBuf::from(path)),
        None if url.contains("://") => Err(format!(
            "--live-create: {} is not a local directory; create the objects there by other means",
            forerun::without_secrets(url)
        )),
        None => Ok(PathBuf::from(url)),
    }
}

/// Creates a file of at least `size` bytes; new bytes are zeros.
fn create(directory: &Path, name: &str, size: u64) -> Result<(), String> {
    let path = directory.join(name);
    let failed = |error: std::io::Error| format!("creating {}: {error}", path.display());
    if Path::new(name).components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(format!(
            "the recording's file name {name:?} cannot be created below a directory; use --live-object"
        ));
    }
    fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(failed)?;
    let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
    let has = file.metadata().map_err(failed)?.len();
    if has < size { file.set_len(size).map_err(failed) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_created_or_grow_and_never_shrink() {
        let directory = tempfile::tempdir().unwrap();
        let size = |name: &str| fs::metadata(directory.path().join(name)).unwrap().len();
        create(directory.path(), "a/b", 5000).unwrap();
        create(directory.path(), "a/b", 10).unwrap();
        assert_eq!(size("a/b"), 5000);
        create(directory.path(), "a/b", 6000).unwrap();
        assert_eq!(size("a/b"), 6000);
        assert!(create(directory.path(), "../c", 1).unwrap_err().contains("--live-object"));
    }

    #[test]
    fn only_local_directories_can_be_filled() {
        assert_eq!(directory_of("file:///a/b"), Ok("/a/b".into()));
        assert_eq!(directory_of("a/b"), Ok("a/b".into()));
        assert!(directory_of("s3://bucket").unwrap_err().contains("not a local directory"));
    }
}
