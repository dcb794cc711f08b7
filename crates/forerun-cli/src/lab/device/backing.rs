//! The bytes of the device.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::units::show_size;

/// The default size of a device.
const SIZE_DEFAULT: u64 = 1 << 30;

/// A file with the device's bytes, sparse where nothing was written.
#[derive(Debug)]
pub(super) struct Backing {
    file: File,
    size: u64,
}

impl Backing {
    /// The backing at `path`: a file, which is kept, or a directory for a file that disappears with
    /// this process. Without `path` the directory is the temporary one. Its size is `size`, or that
    /// of the file, or a default.
    ///
    /// # Errors
    /// The reason why `path` or `size` is unusable, and the remedy.
    pub(super) fn open(path: Option<&Path>, size: Option<u64>) -> Result<Backing, String> {
        if size == Some(0) {
            return Err("a device of size 0 holds nothing: give a --size such as 1GiB".to_owned());
        }
        match path {
            Some(path) if !path.is_dir() => Backing::kept(path, size),
            Some(directory) => Backing::temporary(directory, size.unwrap_or(SIZE_DEFAULT)),
            None => Backing::temporary(&std::env::temp_dir(), size.unwrap_or(SIZE_DEFAULT)),
        }
    }

    fn kept(path: &Path, size: Option<u64>) -> Result<Backing, String> {
        let shown = path.display();
        let failed = |error: io::Error| {
            format!(
                "the backing file {shown} cannot be used: {error}; name a file or directory you may write"
            )
        };
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = open.map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let size = size.unwrap_or(if len == 0 { SIZE_DEFAULT } else { len });
        if size < len {
            return Err(format!(
                "the backing file {shown} has {}: leave --size out, or give at least that",
                show_size(len)
            ));
        }
        file.set_len(size).map_err(failed)?;
        Ok(Backing { file, size })
    }

    fn temporary(directory: &Path, size: u64) -> Result<Backing, String> {
        let path = directory.join(format!("forerun-lab-device-{}", std::process::id()));
        let failed = |error: io::Error| {
            let shown = directory.display();
            format!("no file can be made in {shown}: {error}; name a directory you may write with --backing")
        };
        let open = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = open.map_err(failed)?;
        // The file exists as long as it is open: nothing remains, however this process ends.
        fs::remove_file(&path).map_err(failed)?;
        file.set_len(size).map_err(failed)?;
        Ok(Backing { file, size })
    }

    /// Bytes of the device.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// How many of `len` bytes at `offset` are on the device.
    pub(super) fn len_within(&self, offset: u64, len: usize) -> usize {
        let left = self.size.saturating_sub(offset);
        usize::try_from(left).map_or(len, |left| left.min(len))
    }

    /// `len` bytes at `offset`, all on the device.
    pub(super) fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Writes `bytes` at `offset`, all on the device.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_files() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("disk");
        fs::write(&file, [7; 5000]).unwrap();
        let kept = Backing::open(Some(&file), None).unwrap();
        assert_eq!((kept.size(), kept.read(4999, 1).unwrap()), (5000, vec![7]));
        assert_eq!((kept.len_within(4999, 9), kept.len_within(5000, 9), kept.len_within(9000, 9)), (1, 0, 0));
        let grown = Backing::open(Some(&file), Some(9000)).unwrap();
        assert_eq!(grown.read(4999, 2).unwrap(), [7, 0]);
        let error = Backing::open(Some(&file), Some(4096)).unwrap_err();
        assert!(error.contains("leave --size out"), "{error}");

        let gone = Backing::open(Some(temp.path()), Some(1 << 40)).unwrap();
        gone.write((1 << 40) - 1, &[9]).unwrap();
        assert_eq!(gone.read((1 << 40) - 1, 1).unwrap(), [9]);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
        let error = Backing::open(Some(&temp.path().join("no/disk")), None).unwrap_err();
        assert!(error.contains("name a file or directory"), "{error}");
        assert!(Backing::open(None, Some(0)).unwrap_err().contains("--size"));
    }
}
