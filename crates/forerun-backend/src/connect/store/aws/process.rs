//! Credentials that another program prints.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::renewal::Obtained;
use crate::{Error, ErrorKind, Result};

/// The longest time for the program, which may ask its user.
const TIME_MAX: Duration = Duration::from_secs(50);

/// The credentials that the program `command` prints: the `credential_process` of a profile.
pub(super) async fn run(command: &str) -> Result<Obtained> {
    const PARTY: &str = "the program in credential_process";
    let failed = |why: String| Error::new(ErrorKind::Denied, format!("{PARTY} {why}"));
    let program =
        Command::new("/bin/sh").arg("-c").arg(command).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(TIME_MAX, program).await;
    let output = output.map_err(|_| failed(format!("did not end in {} s", TIME_MAX.as_secs())))?;
    let output = output.map_err(|error| failed(format!("cannot be started: {error}")).with_source(error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("without a message");
        return Err(failed(format!("failed ({}): {said}", output.status)));
    }
    Obtained::of_json(PARTY, &String::from_utf8_lossy(&output.stdout), "SessionToken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_program_that_does_not_end_is_given_up() {
        let error = run("sleep 1000").await.unwrap_err();
        assert!(error.message.contains("did not end in 50 s"), "{error}");
    }
}
