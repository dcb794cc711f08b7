//! A trace file, which is decompressed while it is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use crate::error::{Fault, Position};
use crate::{Error, Result};

/// Enough of a file to detect its format.
const HEAD_BYTES: usize = 4096;
const BUFFER_BYTES: usize = 64 << 10;

/// A trace file that is being read.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) read: Box<dyn BufRead + Send>,
    /// The first bytes, which `read` returns again.
    pub(crate) head: Vec<u8>,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Input> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Input::new(name, file),
            Err(source) => Err(Error::Io { name, doing: "open it", source }),
        }
    }

    pub(crate) fn new(name: String, read: impl Read + Send + 'static) -> Result<Input> {
        let (magic, read) = peek(BufReader::with_capacity(BUFFER_BYTES, read), 3, &name)?;
        let read: Box<dyn BufRead + Send> = match magic.as_slice() {
            [0x1f, 0x8b, ..] => unpacked(MultiGzDecoder::new(read)),
            b"BZh" => unpacked(MultiBzDecoder::new(read)),
            _ => read,
        };
        let (head, read) = peek(read, HEAD_BYTES, &name)?;
        Ok(Input { name, read, head })
    }
}

fn unpacked(read: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, read))
}

/// The first `bytes` of `read`, and a reader that returns them again.
fn peek(
    mut read: impl BufRead + Send + 'static,
    bytes: usize,
    name: &str,
) -> Result<(Vec<u8>, Box<dyn BufRead + Send>)> {
    let mut head = Vec::new();
    let failed = |error: io::Error| Fault::Io(error).at(name, Position::Record { number: 1, byte: 0 });
    read.by_ref().take(bytes as u64).read_to_end(&mut head).map_err(failed)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(read))))
}
