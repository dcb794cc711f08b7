//! Text formats: one line after the other.

use std::io::{BufRead, Read};

use crate::error::{Fault, Position};
use crate::input::Input;
use crate::reader::Decode;
use crate::{Access, Files, Result};

/// No format has longer lines: fio stops at 4096, and strace cuts strings at 32 by default.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Decodes the lines of a format.
pub(crate) trait LineDecoder: Send {
    /// The access that `line` describes or completes, if any, or the fault in it.
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String>;

    /// Returns accesses that remain after the last line, one for each call.
    fn rest(&mut self) -> Option<Access> {
        None
    }

    /// The recorder's clock at time 0.
    fn origin_ns(&self) -> Option<u64> {
        None
    }
}

/// A text file with its decoder.
pub(crate) struct Lines<D> {
    input: Input,
    decoder: D,
    number: u64,
    buffer: Vec<u8>,
}

impl<D: LineDecoder> Lines<D> {
    pub(crate) fn new(input: Input, decoder: D) -> Lines<D> {
        Lines { input, decoder, number: 0, buffer: Vec::new() }
    }

    fn step(&mut self, files: &mut Files) -> Result<Option<Option<Access>>, Fault> {
        self.buffer.clear();
        self.number += 1;
        let bytes = (&mut self.input.read).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.buffer)?;
        if bytes == 0 {
            return Ok(None);
        }
        if self.buffer.pop() != Some(b'\n') {
            let reason = match bytes as u64 == LINE_BYTES_MAX {
                true => "the line is longer than 1 MiB: this is not a text trace",
                false => "the line does not end: the file was cut; if it is whole, add a line feed",
            };
            return Err(reason.into());
        }
        let line = std::str::from_utf8(&self.buffer).map_err(|_| "the line is not UTF-8 text".to_owned())?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        Ok(Some(self.decoder.line(line, files)?))
    }
}

impl<D: LineDecoder> Decode for Lines<D> {
    fn next(&mut self, files: &mut Files) -> Result<Option<Access>> {
        loop {
            match self.step(files) {
                Ok(Some(None)) => {}
                Ok(Some(access)) => return Ok(access),
                Ok(None) => return Ok(self.decoder.rest()),
                Err(fault) => return Err(fault.at(&self.input.name, Position::Line(self.number))),
            }
        }
    }

    fn origin_ns(&self) -> Option<u64> {
        self.decoder.origin_ns()
    }
}
