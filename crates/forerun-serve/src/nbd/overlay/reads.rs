//! Reads of an overlay and its base.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use forerun::Result;

use super::super::changes::{file_error, on_disk};
use super::super::disk::Disk;
use super::super::protocol::{STATE_HOLE, STATE_ZERO};
use super::Overlay;
use super::layout::{Layout, start_of};
use super::states::State;

/// Bytes of one state.
type Part = (Range<u64>, State);

impl Overlay {
    /// The `len` bytes from `offset` on, or none if all of them are the base's.
    pub(in super::super) async fn read(
        self: &Arc<Overlay>,
        base: &Disk,
        offset: u64,
        len: u32,
    ) -> Result<Option<Vec<u8>>> {
        let parts = self.parts(offset, u64::from(len));
        let is_base = |part: &&Part| part.1 == State::Base;
        if parts.iter().all(|part| is_base(&part)) {
            return Ok(None);
        }
        let mut bytes = vec![0; len as usize];
        let at = |place: u64| (place - offset) as usize;
        // The base is read at once, with the bytes between: one read costs less than many.
        let (first, last) = (parts.iter().find(is_base), parts.iter().rfind(is_base));
        if let (Some((first, _)), Some((last, _))) = (first, last) {
            let span = first.start..last.end;
            base.read_at(&mut bytes[at(span.start)..at(span.end)], span.start).await?;
        }
        let overlay = Arc::clone(self);
        on_disk(move || {
            for (part, state) in parts {
                let bytes = &mut bytes[(part.start - offset) as usize..(part.end - offset) as usize];
                match state {
                    State::Base => {}
                    State::Zero => bytes.fill(0),
                    State::Data => overlay.read_data(bytes, part.start)?,
                }
            }
            Ok(Some(bytes))
        })
        .await
    }

    /// The states of the bytes as far as the overlay decides; none for those of the base.
    pub(in super::super) fn block_status(&self, offset: u64, len: u32) -> Vec<(u32, Option<u32>)> {
        let state = |state| match state {
            State::Base => None,
            State::Data => Some(0),
            State::Zero => Some(STATE_HOLE | STATE_ZERO),
        };
        let parts = self.parts(offset, u64::from(len)).into_iter();
        parts.map(|(part, found)| ((part.end - part.start) as u32, state(found))).collect()
    }

    /// The parts of the bytes, in order.
    fn parts(&self, offset: u64, len: u64) -> Vec<Part> {
        let mut parts = self.marks.lock().runs(Layout::touched(offset, len));
        for (part, _) in &mut parts {
            *part = start_of(part.start).max(offset)..start_of(part.end).min(offset + len);
        }
        parts
    }

    fn read_data(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let read = self.file.read_exact_at(bytes, self.layout.data_offset(offset));
        read.map_err(|error| file_error(&self.path, "the overlay cannot be read", error))
    }
}
