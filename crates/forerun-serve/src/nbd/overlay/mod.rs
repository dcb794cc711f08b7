//! An overlay: the writes to an export whose base stays as it is.
//!
//! The file has a head, a map and the data. Each block of 4 KiB has a state in the map: its bytes are the
//! base's, those of the file, or zeros. The place of a block in the data is its place in the export, so the
//! file is sparse.
//!
//! # Invariants
//! 1. A block is marked in memory after its bytes were written to the file. So no reader finds a marked block
//!    without its bytes.
//! 2. A flush takes the marks first, then waits for the data, then writes the marks, and waits for
//!    them. So the file never has a mark whose bytes could be missing after a crash.
//! 3. A page of the map has two slots, and a flush writes the older one. Each has a checksum. So a torn write
//!    leaves the marks of the last flush.
//! 4. One write at a time changes a block ([`Claims`]). A write of a part of a block takes the rest from
//!    the base, and nobody else may change the block meanwhile.
//! 5. A lock on the file keeps other servers away.

mod create;
mod head;
mod layout;
mod marks;
#[cfg(test)]
mod power_failure;
mod reads;
mod slots;
mod states;
mod writes;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forerun::{Entry, Error, ErrorKind, Result};
use parking_lot::Mutex;

use super::changes::{ChangedFile, Claims, Flushes, file_error};
use head::Base;
use layout::Layout;
use marks::Marks;

/// Writes beside their base, in a file.
#[derive(Debug)]
pub struct Overlay {
    file: ChangedFile,
    path: PathBuf,
    base: Base,
    layout: Layout,
    marks: Mutex<Marks>,
    claims: Arc<Claims>,
    flushes: Arc<Flushes>,
}

impl Overlay {
    /// The overlay in the file `path` over `base`. It is created if the file does not exist.
    ///
    /// # Errors
    /// If it belongs to another base, if another server has it, or if it cannot be used.
    pub fn open(path: &Path, base: &Entry) -> Result<Overlay> {
        let base = Base::of(base);
        create::unless_there(path, &base)?;
        let file = File::options().read(true).write(true).open(path);
        let file = file.map_err(|error| file_error(path, "the overlay cannot be opened", error))?;
        if let Err(error) = file.try_lock() {
            let message = format!(
                "{}: the overlay cannot be locked: {error}; end the server that has it, or name another file",
                path.display()
            );
            return Err(Error::new(ErrorKind::Denied, message));
        }
        let found = head::read(&file, path)?;
        if found != base {
            let message = format!(
                "{}: the overlay belongs to {found}, but the base is {base}; serve the base that it was made \
                 for, or name another file",
                path.display()
            );
            return Err(Error::new(ErrorKind::Changed, message));
        }
        let layout = Layout::new(base.size);
        let marks = Mutex::new(slots::load(&file, path, &layout)?);
        let file = ChangedFile::new(file);
        let (path, claims, flushes) = (path.to_owned(), Arc::default(), Flushes::new(path.to_owned()));
        Ok(Overlay { file, path, base, layout, marks, claims, flushes })
    }

    /// Fails if `entry` is not the base.
    pub(super) fn check_base(&self, entry: &Entry) -> Result<()> {
        let found = Base::of(entry);
        if found == self.base {
            return Ok(());
        }
        let message = format!(
            "the base of the overlay {} has changed: it is {found} now, and was {}; its writes are kept, and \
             fit no other base",
            self.path.display(),
            self.base
        );
        Err(Error::new(ErrorKind::Changed, message))
    }
}
