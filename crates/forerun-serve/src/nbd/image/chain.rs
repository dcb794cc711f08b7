//! Opens an image and its backing files.

use forerun::{ClientId, Entry, Error, ErrorKind, Forerun, Kind, Result};

use super::header::{BackingName, HEADER_BYTES_MAX, Header};
use super::names::{folder_of, resolve};
use super::tables::Tables;
use super::{Image, Images, Layer, refused};

/// Files in a chain. Each read of bytes that no file has asks all of them.
const LAYERS_MAX: usize = 16;

/// A file that is to be opened.
struct Next {
    forerun: Forerun,
    entry: Entry,
    is_raw: bool,
    /// The image whose backing file it is.
    of: Option<String>,
}

impl Image {
    /// Opens the image `entry` of `forerun` for `client`.
    ///
    /// # Errors
    /// If it cannot be read, or makes no sense, or if its backing file is not allowed.
    pub(in super::super) async fn open(
        entry: &Entry,
        forerun: &Forerun,
        client: ClientId,
        images: &Images,
    ) -> Result<Image> {
        let mut layers: Vec<Layer> = Vec::new();
        let mut next = Some(Next { forerun: forerun.clone(), entry: entry.clone(), is_raw: false, of: None });
        while let Some(file) = next.take() {
            if layers.len() == LAYERS_MAX {
                let why = format!("its chain of backing files is longer than {LAYERS_MAX}");
                return Err(refused(&entry.path, why));
            }
            let opened = open_layer(&file, client, images).await.inspect_err(|error| {
                if error.kind == ErrorKind::Changed {
                    // The next client asks the storage again.
                    file.forerun.invalidate_metadata(&file.entry.path);
                }
            });
            let (layer, backing) = opened?;
            layers.push(layer);
            if let Some(backing) = backing {
                // Names count from the allowed directory, not from where the first image is.
                let folder = if layers.len() == 1 { "" } else { folder_of(&file.entry.path) };
                let found = images.find_backing(&file.entry.path, folder, &backing).await?;
                if layers[1..].iter().any(|layer| layer.reader.entry().path == found.entry.path) {
                    let why = format!("the chain of its backing files comes back to {:?}", found.entry.path);
                    return Err(refused(&entry.path, why));
                }
                next = Some(found);
            }
        }
        Ok(Image { layers })
    }
}

async fn open_layer(file: &Next, client: ClientId, images: &Images) -> Result<(Layer, Option<BackingName>)> {
    let (forerun, entry) = (file.forerun.for_client(client), &file.entry);
    let reader = forerun.reader_of(entry);
    if file.is_raw {
        return Ok((Layer { forerun, reader, tables: None, size: entry.size }, None));
    }
    let mut first = vec![0; entry.size.min(HEADER_BYTES_MAX as u64) as usize];
    let own = forerun.reader_of(entry);
    let count = own.read_at(&mut first, 0).await?;
    first.truncate(count);
    if !Header::is_in(&first) {
        let advice = match &file.of {
            None => "serve it with --format raw".to_owned(),
            Some(of) => format!(
                "if it is a raw disk, the image {of:?} has to say so: `qemu-img rebase -u -b NAME -F raw IMAGE`"
            ),
        };
        return Err(refused(&entry.path, format!("it is no qcow2 image; {advice}")));
    }
    let header = Header::parse(&first, entry.size).map_err(|why| refused(&entry.path, why))?;
    let tables = Tables::open(own, first, &header, images).await?;
    Ok((Layer { forerun, reader, tables: Some(tables.into()), size: header.size }, header.backing))
}

impl Images {
    /// The backing file `backing` of the image `of`, whose names count from `folder`.
    async fn find_backing(&self, of: &str, folder: &str, backing: &BackingName) -> Result<Next> {
        let name = &backing.name;
        let Some(forerun) = &self.backing else {
            let why = format!("it needs its backing file {name:?}; give the directory of that by --backing");
            return Err(refused(of, why));
        };
        let path = resolve(folder, name).map_err(|why| {
            let why = format!(
                "its backing file {name:?} is not opened: {why}; give it a name below the directory of \
                 --backing, with `qemu-img rebase -u -b NAME -F FORMAT IMAGE`"
            );
            refused(of, why)
        })?;
        let is_raw = match backing.format.as_deref() {
            Some("raw") => true,
            Some("qcow2") => false,
            Some(other) => {
                let why =
                    format!("its backing file {name:?} has the format {other:?}; qcow2 and raw are known");
                return Err(refused(of, why));
            }
            None => {
                let why = format!(
                    "it does not say which format its backing file {name:?} has; add that with \
                     `qemu-img rebase -u -b NAME -F FORMAT IMAGE`"
                );
                return Err(refused(of, why));
            }
        };
        let entry = forerun.stat(&path).await.map_err(|error| {
            let message = format!("the backing file {name:?} of the image {of:?} cannot be opened: {error}");
            Error::new(error.kind, message)
        })?;
        if entry.kind != Kind::File {
            return Err(refused(of, format!("its backing file {name:?} is no file")));
        }
        Ok(Next { forerun: forerun.clone(), entry, is_raw, of: Some(of.to_owned()) })
    }
}
