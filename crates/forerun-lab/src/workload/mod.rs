//! A trace as a source of a world. A file is read twice for that: once for the facts that the first
//! access needs, and again, from beginning to end, as time passes. So memory does not grow with its
//! length. Accesses that are replayed very often, and generated ones, are held in memory instead.

mod accesses;
mod found;

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forerun_sim::source::{Pace, Replay, Scan};
use forerun_trace::{Access, Op, ReadOptions, Reader};

use crate::error::Error;
pub use accesses::{Accesses, Failure};
pub use found::{Found, find};

/// Past it, the addresses of many files could not be told any more.
const FILE_BYTES_MAX: u64 = 1 << 50;

/// Linux reads no more bytes in one system call. A replay on real storage holds them in memory.
const READ_BYTES_MAX: u64 = (1 << 31) - 4096;

/// Past it (146 years), times of a replay could not be added any more.
const TIME_NS_MAX: u64 = 1 << 62;

/// A trace that was looked at once.
#[derive(Clone, Debug)]
pub struct Workload {
    name: String,
    path: PathBuf,
    options: ReadOptions,
    scan: Scan,
    /// Its accesses, if they are not read from the file each time.
    held: Option<Arc<[Access]>>,
}

impl Workload {
    /// Looks at all of the trace at `path`.
    ///
    /// # Errors
    /// It cannot be read, or not twice as a pipe. It has no reads, or its files are larger than any device.
    /// A read is longer than any program's, or its times are more than a century.
    pub fn open(path: &Path, options: ReadOptions) -> Result<Workload, Error> {
        let unfit = |reason: String| Error::Unfit { name: path.display().to_string(), reason };
        // The reader reports files that do not exist.
        if std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo()) {
            return Err(unfit("is a pipe, and a recording is read twice; write it to a file first".into()));
        }
        let mut scan = Scan::default();
        for access in Reader::open(path, options)? {
            let access = access?;
            if access.op.has_extent() && access.extent.end() > FILE_BYTES_MAX {
                let number = scan.access_count + 1;
                return Err(unfit(format!(
                    "access {number} ends at byte {}, more than devices hold: is it a recording of accesses?",
                    access.extent.end()
                )));
            }
            if access.op == Op::Read && access.extent.len > READ_BYTES_MAX {
                let number = scan.access_count + 1;
                return Err(unfit(format!(
                    "access {number} reads {} bytes at once, more than a program can: is it a recording of accesses?",
                    access.extent.len
                )));
            }
            if access.time_ns > TIME_NS_MAX {
                let number = scan.access_count + 1;
                return Err(unfit(format!(
                    "access {number} is made after {} s, more than a century: is it a recording of accesses?",
                    access.time_ns / 1_000_000_000
                )));
            }
            scan.add(&access);
        }
        match scan {
            Scan { access_count: 0, .. } => Err(unfit("has no accesses; nothing to replay".into())),
            Scan { read_count: 0, .. } => Err(unfit(format!(
                "has {} accesses, and none is a read; nothing to replay",
                scan.access_count
            ))),
            _ => Ok(Workload {
                name: name_of(path),
                path: path.to_owned(),
                options,
                scan: scan.finish(),
                held: None,
            }),
        }
    }

    /// Accesses that are in no file.
    pub fn held(name: &str, accesses: Vec<Access>) -> Workload {
        Workload {
            name: name.to_owned(),
            path: PathBuf::from(name),
            options: ReadOptions::default(),
            scan: Scan::of(&accesses),
            held: Some(accesses.into()),
        }
    }

    /// Its first `count` accesses, as if it had no more, held in memory.
    ///
    /// # Errors
    /// The file cannot be read any more, or there is no read among them.
    pub fn first(&self, count: u64) -> Result<Workload, Error> {
        let failure = Failure::default();
        let accesses: Vec<Access> =
            self.accesses(&failure).take(usize::try_from(count).unwrap_or(usize::MAX)).collect();
        let first =
            failure.or(Ok(Workload { path: self.path.clone(), ..Workload::held(&self.name, accesses) }))?;
        match first.scan.read_count {
            0 => Err(Error::Unfit {
                name: self.path.display().to_string(),
                reason: format!("has no read among its first {count} accesses; replay more of it"),
            }),
            _ => Ok(first),
        }
    }

    /// Whether `other` does the same at the same times, by whatever name. `false` unless both are held
    /// in memory.
    pub fn repeats(&self, other: &Workload) -> bool {
        let (Some(these), Some(those)) = (&self.held, &other.held) else { return false };
        // How long the recorded device took is not replayed.
        let replayed = |access: &Access| Access { service_ns: None, ..access.clone() };
        these.len() == those.len() && these.iter().zip(those.iter()).all(|(a, b)| replayed(a) == replayed(b))
    }

    /// The file's name without folder and endings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file, or the name of what is in none.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sums over it.
    pub fn scan(&self) -> &Scan {
        &self.scan
    }

    /// Whether some of its accesses wait for others.
    pub fn has_dependencies(&self) -> bool {
        self.scan.dependent_count > 0
    }

    /// One past the last byte that its files need on a device.
    pub fn end_bytes(&self) -> u64 {
        self.scan.objects().last().map_or(0, |placed| placed.address + placed.size)
    }

    /// Its accesses, read from the file again unless they are held. An error of that is told to
    /// `failure`.
    pub fn accesses(&self, failure: &Failure) -> Accesses {
        match &self.held {
            Some(held) => Accesses::held(Arc::clone(held)),
            None => Accesses::of_file(&self.path, self.options, &self.scan, failure),
        }
    }

    /// The accesses as a source.
    pub fn source(&self, pace: Pace, failure: &Failure) -> Replay<Accesses> {
        Replay::new(self.accesses(failure), self.scan.clone(), pace)
    }
}

/// Gives workloads of the same name their paths as names.
///
/// # Errors
/// A file is named twice.
pub fn tell_apart(workloads: &mut [Workload]) -> Result<(), Error> {
    let names: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
    for (at, workload) in workloads.iter_mut().enumerate() {
        if names.iter().enumerate().any(|(other, name)| other != at && *name == names[at]) {
            workload.name = workload.path.display().to_string();
        }
    }
    for (at, workload) in workloads.iter().enumerate() {
        if workloads[..at].iter().any(|before| before.name == workload.name) {
            let reason = "is named twice; name each trace once".to_owned();
            return Err(Error::Unfit { name: workload.name.clone(), reason });
        }
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let name = [".gz", ".bz2"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        for (path, name) in [
            ("a/boot-ide.csv.gz", "boot-ide"),
            ("random4k.blktrace.0", "random4k.blktrace"),
            ("ooo.blktrace.0.bz2", "ooo.blktrace"),
            ("x/trace", "trace"),
            (".csv", ".csv"),
        ] {
            assert_eq!(name_of(Path::new(path)), name);
        }
    }

    #[test]
    fn recordings_that_cannot_be_replayed_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        for (row, reason) in [
            ("", "has no accesses"),
            ("0,W,a,0,512", "none is a read"),
            ("0,R,a,9223372036854770000,4096", "more than devices hold"),
            ("0,R,a,0,2147483648", "more than a program can"),
            ("18446744073709551,R,a,0,512", "more than a century"),
        ] {
            std::fs::write(&path, format!("ts_us,op,file_or_dev,offset,length\n{row}\n")).unwrap();
            let error = Workload::open(&path, ReadOptions::default()).unwrap_err().to_string();
            assert!(error.contains(reason), "{row}: {error}");
        }
    }

    #[test]
    fn a_recording_that_changes_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        let write = |rows: &str| {
            std::fs::write(&path, format!("ts_us,op,file_or_dev,offset,length\n{rows}")).unwrap();
        };
        let whole = "0,R,a,0,512\n1,R,a,512,512\n";
        write(whole);
        let workload = Workload::open(&path, ReadOptions::default()).unwrap();
        let again = || {
            let failure = Failure::default();
            let count = workload.accesses(&failure).count();
            failure.or(Ok(count)).map_err(|error| error.to_string())
        };
        assert_eq!(again(), Ok(2));
        write(&format!("{whole}2,R,a,9999,512\n"));
        assert_eq!(again(), Ok(2));
        for (rows, reason) in [
            ("0,R,a,0,512\n", "changed while it was replayed"),
            ("0,R,a,0,512\n1,R,a,9999,512\n", "changed while it was replayed"),
            ("0,R,a,0,512\n1,R,b,0,512\n", "changed while it was replayed"),
            ("0,R,a,0,512\n1,R,a,512,x\n", "line 3"),
        ] {
            write(rows);
            let error = again().unwrap_err();
            assert!(error.contains(reason), "{rows}: {error}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(again().unwrap_err().contains("cannot open it"));
    }
}
