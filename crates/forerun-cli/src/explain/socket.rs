//! The mount's side of `forerun explain`: a socket that answers questions.
//!
//! A connection carries one question, a line with one word, and one answer, which ends with the
//! connection.
//! * `who`: a line for the URL as given, the URL, the directory, and the bytes of memory in use. Two more
//!   are for the bytes allowed, and the seconds since the mount
//! * `words`: the text of [`super::words`]
//! * `json`: the text of [`super::json`]

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::subject::Subject;
use super::{json, socket_folder, words};

/// The limit for a client to send its question and to receive the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest question.
const QUESTION_BYTES_MAX: u64 = 64;

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
        let path = socket_folder::socket(&socket_folder::folder()?, std::process::id());
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
                        let _ = tokio::time::timeout(PATIENCE, answer(&subject, stream)).await;
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

/// Reads one question from `stream`, and answers it.
async fn answer(subject: &Subject, mut stream: UnixStream) -> io::Result<()> {
    let mut question = String::new();
    BufReader::new(&mut stream).take(QUESTION_BYTES_MAX).read_line(&mut question).await?;
    let answer = match question.trim_end() {
        "who" => format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n",
            subject.url,
            subject.forerun.url(),
            subject.directory.display(),
            subject.forerun.memory_bytes(),
            subject.forerun.memory_bytes_max(),
            subject.since.elapsed().as_secs()
        ),
        "words" => words::all(subject),
        "json" => json::all(subject),
        _ => return Ok(()),
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}
