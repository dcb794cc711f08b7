//! A reader that has a place.

use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use forerun_engine::Config;
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

use crate::Reader;
use crate::driver::Wait;
use crate::reader::Started;

/// Reads an object from a place on, for code that takes `std::io` or `tokio::io`.
///
/// [`Read`] blocks as [`Reader::read_at_blocking`] does. [`AsyncRead`] waits on any executor. Seeking
/// asks the backend nothing. Errors are those of [`Reader::read_at`] as an [`io::Error`].
#[derive(Debug)]
pub struct Cursor {
    reader: Reader,
    position: u64,
    /// An asynchronous read at `position`.
    waits: Option<Wait>,
}

impl Cursor {
    /// From the object's start on.
    pub fn new(reader: Reader) -> Cursor {
        Cursor { reader, position: 0, waits: None }
    }

    /// The reader below, which other cursors may share.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn move_to(&mut self, position: u64) {
        self.position = position;
        self.waits = None;
    }
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read_at_blocking(buf, self.position)?;
        self.move_to(self.position + len as u64);
        Ok(len)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
            SeekFrom::End(distance) => self.reader.size().checked_add_signed(distance),
        };
        let position = position.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{to:?} is no offset of a file"))
        })?;
        self.move_to(position);
        Ok(position)
    }
}

impl AsyncRead for Cursor {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        if self.waits.is_none() {
            let handle = &self.reader.handle;
            let extent = handle.clip(self.position, buf.remaining().min(Config::READ_BYTES_MAX as usize));
            let started = handle.start(extent, |lease| lease.slices().for_each(|slice| buf.put_slice(slice)));
            if let Started::Waits(wait) = started? {
                self.waits = Some(wait);
            }
        }
        if let Some(wait) = &mut self.waits {
            let lease = ready!(Pin::new(wait).poll(context));
            self.waits = None;
            // The buffer may be smaller than the one with which the read began.
            for slice in lease?.slices() {
                buf.put_slice(&slice[..slice.len().min(buf.remaining())]);
            }
        }
        self.position += (buf.filled().len() - before) as u64;
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for Cursor {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.seek(to).map(drop)
    }

    fn poll_complete(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.position))
    }
}
