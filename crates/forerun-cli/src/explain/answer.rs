//! The mount's side: a socket that answers what is read ahead and why.
//!
//! A connection is one question, a line with one word, and one answer, all there is until
//! the end: `who` is answered with the URL as it was given, the URL, the directory, the bytes of
//! memory in use, those allowed, and the seconds since it was mounted, a line each; `words` and `json` with what [`super::words`] and [`super::json`] make.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use forerun::Forerun;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::{json, place, words};

/// How long whoever connects may take to say what it wants, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest question.
const QUESTION_BYTES_MAX: u64 = 64;

/// The mount that is asked about.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) forerun: Forerun,
    /// As the user gave it, without secrets.
    pub(crate) url: String,
    pub(crate) directory: PathBuf,
    pub(crate) policy: String,
    pub(crate) memory_bytes_max: u64,
    pub(crate) since: Instant,
}

/// The socket; gone from its folder when dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    listener: UnixListener,
}

impl Socket {
    /// Called within a runtime.
    ///
    /// # Errors
    /// If there is no folder for it.
    pub(crate) fn new() -> io::Result<Socket> {
        let path = place::socket(&place::folder()?, std::process::id());
        // Of an earlier process of that number.
        let _ = fs::remove_file(&path);
        Ok(Socket { listener: UnixListener::bind(&path)?, path })
    }

    /// Answers all who ask, for ever.
    pub(crate) async fn answer(self, subject: Subject) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let subject = subject.clone();
                    tokio::spawn(async move {
                        let _ = tokio::time::timeout(PATIENCE, subject.tell(stream)).await;
                    });
                }
                // Too many open files, say: others may close some.
                Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Subject {
    async fn tell(&self, mut stream: UnixStream) -> io::Result<()> {
        let mut question = String::new();
        BufReader::new(&mut stream).take(QUESTION_BYTES_MAX).read_line(&mut question).await?;
        let answer = match question.trim_end() {
            "who" => format!(
                "{}\n{}\n{}\n{}\n{}\n{}\n",
                self.url,
                self.forerun.url(),
                self.directory.display(),
                self.forerun.memory_bytes(),
                self.memory_bytes_max,
                self.since.elapsed().as_secs()
            ),
            "words" => words::all(self),
            "json" => json::all(self),
            _ => return Ok(()),
        };
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    }
}
