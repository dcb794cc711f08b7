//! Reading any format as an iterator of accesses.

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::block::Events;
use crate::bytes::Records;
use crate::formats::{alibaba, blkparse, blktrace, compact, csv, ftrace, iolog, msr, rbd_replay, strace};
use crate::formats::{tencent, vscsi};
use crate::input::Input;
use crate::lines::Lines;
use crate::{Access, Error, Files, Format, Result, detect};

/// A decoder of one format.
pub(crate) trait Decode: Send {
    /// The next access, or none after the last.
    fn next(&mut self, files: &mut Files) -> Result<Option<Access>>;

    /// The recorder's clock at time 0.
    fn origin_ns(&self) -> Option<u64>;
}

/// Options for reading a trace: `ReadOptions::default().with_format(Format::Csv)`.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format; detected from content and name if not given.
    pub format: Option<Format>,
    /// Whether to read a block layer trace as requests dispatched to the device, with service
    /// times, not as requests queued by programs. Accesses then come in the order of completion.
    pub dispatched: bool,
}

/// The same with one choice made.
impl ReadOptions {
    /// With [`ReadOptions::format`].
    #[must_use]
    pub fn with_format(self, format: impl Into<Option<Format>>) -> ReadOptions {
        ReadOptions { format: format.into(), ..self }
    }

    /// With [`ReadOptions::dispatched`].
    #[must_use]
    pub fn with_dispatched(self, dispatched: bool) -> ReadOptions {
        ReadOptions { dispatched, ..self }
    }
}

/// The accesses of a trace, in the order of the file. It ends after the first error.
pub struct Reader {
    format: Format,
    decode: Box<dyn Decode>,
    files: Files,
    count: u64,
    ended: bool,
}

impl Reader {
    /// Reads the file at `path`, which may be compressed with gzip or bzip2.
    ///
    /// # Errors
    /// If it cannot be opened, or its format is unknown.
    pub fn open(path: &Path, options: ReadOptions) -> Result<Reader> {
        Reader::of(Input::open(path)?, options)
    }

    /// Reads a trace from `read`, called `name` in errors, which may be compressed with gzip or
    /// bzip2.
    ///
    /// # Errors
    /// If its beginning cannot be read, or its format is unknown.
    pub fn new(read: impl Read + Send + 'static, name: &str, options: ReadOptions) -> Result<Reader> {
        Reader::of(Input::new(name.to_owned(), read)?, options)
    }

    fn of(input: Input, options: ReadOptions) -> Result<Reader> {
        let detected = || detect::of_content(&input.head).or_else(|| Format::of_name(Path::new(&input.name)));
        let Some(format) = options.format.or_else(detected) else {
            let reason = match input.head.is_empty() {
                true => "the file is empty".to_owned(),
                false => {
                    format!(
                        "neither its content nor its name tells its format; if it is a recording, add --format with one of {}",
                        Format::list(false)
                    )
                }
            };
            return Err(Error::UnknownFormat { name: input.name, reason });
        };
        let decode = decoder(format, input, Events::new(options.dispatched));
        Ok(Reader { format, decode, files: Files::default(), count: 0, ended: false })
    }

    /// The format that is read.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The names so far.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The recorder's clock at time 0, in nanoseconds: known after the first access, if the format
    /// has it.
    pub fn origin_ns(&self) -> Option<u64> {
        self.decode.origin_ns()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("format", &self.format)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Iterator for Reader {
    type Item = Result<Access>;

    fn next(&mut self) -> Option<Result<Access>> {
        if self.ended {
            return None;
        }
        let mut next = self.decode.next(&mut self.files).transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        if let Some(Ok(access)) = &mut next {
            if !matches!(self.format, Format::RbdReplay | Format::RbdReplayV0 | Format::Compact) {
                access.id = self.count;
            }
            self.count += 1;
        }
        next
    }
}

fn decoder(format: Format, input: Input, events: Events) -> Box<dyn Decode> {
    match format {
        Format::Csv | Format::CsvFull => Box::new(Lines::new(input, csv::Decoder::default())),
        Format::RbdReplay => Box::new(Records::new(input, rbd_replay::Decoder::new(false))),
        Format::RbdReplayV0 => Box::new(Records::new(input, rbd_replay::Decoder::new(true))),
        Format::Blkparse => Box::new(Lines::new(input, blkparse::Decoder::new(events))),
        Format::Blktrace => Box::new(Records::new(input, blktrace::Decoder::new(events))),
        Format::Ftrace => Box::new(Lines::new(input, ftrace::Decoder::new(events))),
        Format::FioV2 => Box::new(Lines::new(input, iolog::Decoder::new(false))),
        Format::FioV3 => Box::new(Lines::new(input, iolog::Decoder::new(true))),
        Format::Strace => Box::new(Lines::new(input, strace::Decoder::default())),
        Format::Msr => Box::new(Lines::new(input, msr::Decoder::default())),
        Format::VscsiV1 => Box::new(Records::new(input, vscsi::Decoder::new(false))),
        Format::VscsiV2 => Box::new(Records::new(input, vscsi::Decoder::new(true))),
        Format::Alibaba => Box::new(Lines::new(input, alibaba::Decoder::default())),
        Format::Tencent => Box::new(Lines::new(input, tencent::Decoder::default())),
        Format::Compact => Box::new(Records::new(input, compact::Decoder::default())),
    }
}
