//! The mount's side of `forerun explain`: a socket that answers questions.
//!
//! A connection carries one question, a line with one word, and one answer, which ends with the
//! connection.
//! * `who`: one line each for the URL as given, the URL, the directory, the bytes of memory in use,
//!   those allowed, and the seconds since the mount
//! * `words`: the text of [`super::words`]
//! * `json`: the text of [`super::json`]

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use forerun::Forerun;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::{json, place, words};

/// The limit for a client to send its question and to receive the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest question.
const QUESTION_BYTES_MAX: u64 = 64;

/// The mount that is explained.
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

/// The socket, which is removed when dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    listener: UnixListener,
}

impl Socket {
    /// Binds a new socket. Needs a runtime.
    ///
    /// # Errors
    /// If there is no folder for it.
    pub(crate) fn new() -> io::Result<Socket> {
        let path = place::socket(&place::folder()?, std::process::id());
        // The socket of an earlier process of that number.
        let _ = fs::remove_file(&path);
        Ok(Socket { listener: UnixListener::bind(&path)?, path })
    }

    /// Answers all clients, for ever.
    pub(crate) async fn answer(self, subject: Subject) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let subject = subject.clone();
                    tokio::spawn(async move {
                        let _ = tokio::time::timeout(PATIENCE, subject.tell(stream)).await;
                    });
                }
                // Too many open files, for example: others may close some.
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
