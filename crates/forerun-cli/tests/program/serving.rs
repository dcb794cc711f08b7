//! A server of the program.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::Signal;

use super::support::send;

/// A server. Killed when dropped.
pub(crate) struct Serving {
    pub(crate) child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) greeting: String,
}

impl Serving {
    /// Starts `command`, and waits until it says that it serves.
    pub(crate) fn start(command: &mut Command) -> Serving {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut greeting = String::new();
        stderr.read_line(&mut greeting).unwrap();
        let serving = Serving { child, stderr, greeting };
        assert!(serving.greeting.starts_with("forerun: serves "), "{}", serving.greeting);
        serving
    }

    /// The address after `scheme` in its greeting, as in `127.0.0.1:40000`.
    pub(crate) fn address(&self, scheme: &str) -> &str {
        let (_, rest) = self.greeting.split_once(scheme).unwrap_or_else(|| panic!("{}", self.greeting));
        rest.split([' ', ',', '/']).next().unwrap()
    }

    /// Asks it to end: its status, and what it said after its greeting.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        send(self.child.id(), Signal::TERM);
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
