//! Traces in memory.
#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod recorded;
pub(crate) mod valid;

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use forerun_trace::{Access, Error, Files, Format, ReadOptions, Reader, Writer, Written};

/// All accesses in `bytes`.
pub(crate) fn read(
    bytes: impl Into<Vec<u8>>,
    format: Option<Format>,
) -> Result<(Vec<Access>, Reader), Error> {
    let mut reader = open(bytes, ReadOptions::default().with_format(format))?;
    let accesses = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((accesses, reader))
}

pub(crate) fn open(bytes: impl Into<Vec<u8>>, options: ReadOptions) -> Result<Reader, Error> {
    Reader::new(Cursor::new(bytes.into()), "given", options)
}

/// The bytes of a file with `accesses`.
pub(crate) fn write(accesses: &[Access], files: &Files, format: Format) -> Result<(Vec<u8>, Written), Error> {
    let out = Shared::default();
    let mut writer = Writer::new(out.clone(), "made", format)?;
    for access in accesses {
        writer.write(access, files)?;
    }
    let written = writer.finish(files)?;
    let bytes = std::mem::take(&mut *out.0.lock().unwrap());
    Ok((bytes, written))
}

/// Each access as a line: time in ns, thread, operation, file, extent.
pub(crate) fn lines(accesses: &[Access], files: &Files) -> Vec<String> {
    let line = |access: &Access| {
        let Access { time_ns, thread, op, extent, .. } = access;
        let file = files.name(access.file);
        let mut line = format!("{time_ns} {thread} {} {file} {}+{}", op.name(), extent.offset, extent.len);
        if let Some(asked) = access.asked {
            line += &format!(" of {asked}");
        }
        if let Some(service_ns) = access.service_ns {
            line += &format!(" took {service_ns}");
        }
        line
    };
    accesses.iter().map(line).collect()
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
