//! Writing accesses in any format that has a writer.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;

use crate::formats::{
    alibaba, blkparse, blktrace, compact_write, csv, iolog, msr, rbd_replay_write, tencent, vscsi,
};
use crate::{Access, Error, Files, Format, Result};

/// An encoder of one format.
pub(crate) trait Encode: Send {
    /// Appends `access` to `out`, or reports that the format cannot express it.
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String>;

    /// Appends the end of the file.
    fn finish(&mut self, _files: &Files, _out: &mut Vec<u8>) {}
}

/// The outcome of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Written,
    LeftOut,
}

/// Counts of a written file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Accesses in the file.
    pub written: u64,
    /// Accesses left out because the format lacks their operation.
    pub left_out: u64,
}

/// A trace file that is being written.
///
/// A file on disk gets its name once it is complete: until then the name ends in `.partial`.
pub struct Writer {
    name: String,
    out: Sink,
    encode: Box<dyn Encode>,
    scratch: Vec<u8>,
    count: Written,
    partial: Option<Partial>,
}

impl Writer {
    /// Creates the file `path`, compressed if its name ends in `.gz` or `.bz2`. Its format is
    /// `format`, or the one that its name tells.
    ///
    /// # Errors
    /// If it cannot be created, or if the format is unknown or can only be read.
    pub fn create(path: &Path, format: Option<Format>) -> Result<Writer> {
        let name = path.display().to_string();
        let format = format.or_else(|| Format::of_name(path)).ok_or_else(|| Error::UnknownFormat {
            name: name.clone(),
            reason: format!("its name does not tell its format; name one of {}", Format::list(true)),
        })?;
        let encode = encoder(format, &name)?;
        let partial = Partial::of(path);
        let file = File::create(partial.as_ref().map_or(path, |partial| &partial.path))
            .map_err(|source| Error::Io { name: name.clone(), doing: "create it", source })?;
        let file: Box<dyn Write + Send> = Box::new(BufWriter::new(file));
        let out = match path.extension().map(|end| end.to_ascii_lowercase()) {
            Some(end) if end == "gz" => Sink::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some(end) if end == "bz2" => Sink::Bzip2(BzEncoder::new(file, bzip2::Compression::default())),
            _ => Sink::Plain(file),
        };
        Ok(Writer { name, out, encode, scratch: Vec::new(), count: Written::default(), partial })
    }

    /// Writes to `out`, called `name` in errors, without compression.
    ///
    /// # Errors
    /// If the format can only be read.
    pub fn new(out: impl Write + Send + 'static, name: &str, format: Format) -> Result<Writer> {
        let (name, encode) = (name.to_owned(), encoder(format, name)?);
        let out = Sink::Plain(Box::new(out));
        Ok(Writer { name, out, encode, scratch: Vec::new(), count: Written::default(), partial: None })
    }

    /// Writes `access`, whose file is one of `files`.
    ///
    /// # Errors
    /// If the format cannot express its extent or name, or if writing failed.
    pub fn write(&mut self, access: &Access, files: &Files) -> Result<()> {
        self.scratch.clear();
        match self.encode.encode(access, files, &mut self.scratch) {
            Ok(Fate::Written) => self.count.written += 1,
            Ok(Fate::LeftOut) => self.count.left_out += 1,
            Err(reason) => {
                let number = self.count.written + self.count.left_out + 1;
                return Err(Error::Unwritable { name: self.name.clone(), number, reason });
            }
        }
        let done = self.out.write_all(&self.scratch);
        done.map_err(|source| self.failed(source))
    }

    /// Completes the file; without this call no file remains.
    ///
    /// # Errors
    /// If writing failed.
    pub fn finish(mut self, files: &Files) -> Result<Written> {
        self.scratch.clear();
        self.encode.finish(files, &mut self.scratch);
        let done = self.out.write_all(&self.scratch).and_then(|()| self.out.finish());
        let done = done.and_then(|()| self.partial.take().map_or(Ok(()), Partial::complete));
        done.map_err(|source| self.failed(source)).map(|()| self.count)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Io { name: self.name.clone(), doing: "write it", source }
    }
}

/// A file without its final name.
struct Partial {
    path: PathBuf,
    whole: PathBuf,
}

impl Partial {
    /// None if `whole` is no file, such as a pipe.
    fn of(whole: &Path) -> Option<Partial> {
        if whole.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return None;
        }
        let mut path = whole.as_os_str().to_owned();
        path.push(".partial");
        Some(Partial { path: path.into(), whole: whole.to_owned() })
    }

    fn complete(self) -> io::Result<()> {
        std::fs::rename(&self.path, &self.whole)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // A completed file is gone from here. If it cannot be removed, its name shows that it is
        // partial.
        let _ = std::fs::remove_file(&self.path);
    }
}

enum Sink {
    Plain(Box<dyn Write + Send>),
    Gzip(GzEncoder<Box<dyn Write + Send>>),
    Bzip2(BzEncoder<Box<dyn Write + Send>>),
}

impl Sink {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Plain(out) => out.write_all(bytes),
            Sink::Gzip(out) => out.write_all(bytes),
            Sink::Bzip2(out) => out.write_all(bytes),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(out) => out.flush(),
            Sink::Gzip(out) => out.try_finish().and_then(|()| out.get_mut().flush()),
            Sink::Bzip2(out) => out.try_finish().and_then(|()| out.get_mut().flush()),
        }
    }
}

fn encoder(format: Format, name: &str) -> Result<Box<dyn Encode>> {
    Ok(match format {
        Format::Csv => Box::new(csv::Encoder::new(false)),
        Format::CsvFull => Box::new(csv::Encoder::new(true)),
        Format::RbdReplay => Box::new(rbd_replay_write::Encoder::default()),
        Format::Blkparse => Box::new(blkparse::Encoder::default()),
        Format::Blktrace => Box::new(blktrace::Encoder::default()),
        Format::FioV2 => Box::new(iolog::Encoder::new(false)),
        Format::FioV3 => Box::new(iolog::Encoder::new(true)),
        Format::Msr => Box::new(msr::Encoder),
        Format::VscsiV1 => Box::new(vscsi::Encoder::new(false)),
        Format::VscsiV2 => Box::new(vscsi::Encoder::new(true)),
        Format::Alibaba => Box::new(alibaba::Encoder),
        Format::Tencent => Box::new(tencent::Encoder),
        Format::Compact => Box::new(compact_write::Encoder::default()),
        Format::RbdReplayV0 | Format::Ftrace | Format::Strace => {
            let reason = format!("{format} can only be read; write one of {}", Format::list(true));
            return Err(Error::UnknownFormat { name: name.to_owned(), reason });
        }
    })
}
