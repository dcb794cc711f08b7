//! Programs of others, which tests run.

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use super::program::output_within;

/// How long one may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A process that is killed when dropped.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program, which must succeed; what it printed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let done = output_within(DEADLINE, Command::new(program).args(arguments));
    let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{program} {arguments:?}: {out}{err}");
    out
}

#[track_caller]
pub(crate) fn assert_same(a: &Path, b: &Path) {
    let [a, b] = [a, b].map(|path| path.to_str().unwrap());
    run("cmp", &[a, b]);
}
