//! Which bytes of an export are holes.

use forerun::Result;

use super::super::changes::Changes;
use super::super::disk::Disk;
use super::super::file_holes;
use super::super::protocol::{STATE_HOLE, STATE_ZERO, StatusExtent};
use super::OpenExport;

impl OpenExport {
    /// The states of `len` bytes, from the first on, but not more than one or `count_max` extents.
    pub(in super::super) async fn block_status(
        &self,
        offset: u64,
        len: u32,
        count_max: usize,
    ) -> Result<Vec<StatusExtent>> {
        let Changes::Overlay(overlay) = &self.changes else {
            return self.own_status(offset, len, count_max).await;
        };
        let (mut at, mut extents) = (offset, Vec::<StatusExtent>::new());
        for (len, state) in overlay.block_status(offset, len) {
            if extents.len() >= count_max {
                break;
            }
            match state {
                Some(state) => append(&mut extents, StatusExtent { len, state }),
                None => {
                    let own = self.own_status(at, len, count_max - extents.len()).await?;
                    let told: u32 = own.iter().map(|extent| extent.len).sum();
                    own.into_iter().for_each(|extent| append(&mut extents, extent));
                    if told < len {
                        break;
                    }
                }
            }
            at += u64::from(len);
        }
        Ok(extents)
    }

    /// The states as the object itself has them.
    async fn own_status(&self, offset: u64, len: u32, count_max: usize) -> Result<Vec<StatusExtent>> {
        if let Disk::Image(image) = &self.disk {
            self.check()?;
            let runs = self.noticing(image.holes(offset, u64::from(len), count_max).await)?;
            let state = |is_hole| if is_hole { STATE_HOLE | STATE_ZERO } else { 0 };
            // All lie within `len` bytes.
            let extent = |(len, is_hole)| StatusExtent { len: len as u32, state: state(is_hole) };
            return Ok(runs.into_iter().map(extent).collect());
        }
        let Some(file) = self.file.clone() else {
            return Ok(vec![StatusExtent { len, state: 0 }]);
        };
        let map = tokio::task::spawn_blocking(move || file_holes::map(&file, offset, len, count_max)).await;
        // A file that has changed meanwhile may have bytes where this version had none.
        self.check()?;
        if self.forerun.open_local(&self.entry).await?.is_none() {
            return Err(self.changed());
        }
        match map {
            Ok(Ok(extents)) => Ok(extents),
            // Not every file system tells.
            _ => Ok(vec![StatusExtent { len, state: 0 }]),
        }
    }
}

/// Adds an extent, to the last one if both have one state.
fn append(extents: &mut Vec<StatusExtent>, extent: StatusExtent) {
    match extents.last_mut() {
        Some(last) if last.state == extent.state => last.len += extent.len,
        _ => extents.push(extent),
    }
}
