//! One run of a program, in a process of its own, until it ends or its time is over.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// The time for the interpreter's start, its imports, and checksums after the reading.
const BESIDES_MAX: Duration = Duration::from_secs(20);

/// The limit for a killed program to end, and the interval for checking it.
const GONE_MAX: Duration = Duration::from_secs(10);
const GONE_POLL: Duration = Duration::from_millis(10);

/// A program's report of its reading.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadingReport {
    pub(super) seconds: f64,
    /// Processor seconds of the program and its children.
    pub(super) processor: f64,
    /// Bytes that it asked for.
    pub(super) touched: u64,
    /// The checksum of all bytes that it read.
    pub(super) checksum: String,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ran {
    Read(ReadingReport),
    /// It was killed.
    TooSlow,
    /// The machine lacks something.
    Unavailable(String),
}

/// Runs `program`, which reads for at most `time_max`.
///
/// # Errors
/// It failed, or its output is malformed.
pub(super) async fn run(mut program: Command, time_max: Duration) -> Result<Ran, String> {
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = program
        .spawn()
        .map_err(|error| format!("{} does not start: {error}", program.as_std().get_program().display()))?;
    let mut group = ProcessGroup::of(&child);
    let Ok(output) = timeout(time_max + BESIDES_MAX, child.wait_with_output()).await else {
        group.end().await;
        return Ok(Ran::TooSlow);
    };
    let output = output.map_err(|error| format!("waiting for a program: {error}"))?;
    group.leader = None;
    if !output.status.success() {
        return Err(format!("a program failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    match parse(&String::from_utf8_lossy(&output.stdout))? {
        Ran::Read(reading) if reading.seconds > time_max.as_secs_f64() => Ok(Ran::TooSlow),
        ran => Ok(ran),
    }
}

/// A program and the processes that it started. Dropping it kills them.
struct ProcessGroup {
    leader: Option<Pid>,
}

impl ProcessGroup {
    fn of(child: &Child) -> ProcessGroup {
        ProcessGroup { leader: child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) }
    }
}

impl ProcessGroup {
    /// Kills them, and waits until the last of them has ended: until then, the mount is in use.
    async fn end(&self) {
        self.kill();
        let gone = async {
            while self.leader.is_some_and(|leader| test_kill_process_group(leader).is_ok()) {
                sleep(GONE_POLL).await;
            }
        };
        // A process that waits for the mount may stay; the unmount then reports it.
        let _ = timeout(GONE_MAX, gone).await;
    }

    fn kill(&self) {
        if let Some(leader) = self.leader {
            // As long as a process of the group exists, the number is the group's.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Parses the figures that a program prints, one for each line.
fn parse(output: &str) -> Result<Ran, String> {
    let value = |name: &str| {
        output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::trim)
    };
    if let Some(lack) = value("unavailable") {
        return Ok(Ran::Unavailable(lack.to_owned()));
    }
    let reading = || {
        Some(ReadingReport {
            seconds: value("seconds")?.parse().ok()?,
            processor: value("processor")?.parse().ok()?,
            touched: value("touched")?.parse().ok()?,
            checksum: value("checksum")?.to_owned(),
        })
    };
    reading().map(Ran::Read).ok_or_else(|| format!("a program printed `{}`", output.trim()))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const FIGURES: &str = "seconds 1.5\nprocessor 0.25\ntouched 4096\nchecksum 00ab\n";

    fn reading() -> ReadingReport {
        ReadingReport { seconds: 1.5, processor: 0.25, touched: 4096, checksum: "00ab".to_owned() }
    }

    #[test]
    fn understands_what_programs_print() {
        assert_eq!(parse(FIGURES), Ok(Ran::Read(reading())));
        assert_eq!(parse("unavailable no erofs\n"), Ok(Ran::Unavailable("no erofs".to_owned())));
        assert!(
            parse("seconds 1\nprocessor x\ntouched 1\nchecksum 0\n").unwrap_err().contains("processor x")
        );
        assert!(parse("").is_err());
    }

    #[tokio::test]
    async fn runs_a_program_and_tells_its_failure() {
        let ran = run(shell(&format!("printf '{FIGURES}'")), Duration::from_secs(60)).await;
        assert_eq!(ran, Ok(Ran::Read(reading())));
        let too_slow = run(shell(&format!("printf '{FIGURES}'")), Duration::from_secs(1)).await;
        assert_eq!(too_slow, Ok(Ran::TooSlow));
        let error = run(shell("echo no module >&2; exit 1"), Duration::from_secs(60)).await.unwrap_err();
        assert!(error.contains("no module"), "{error}");
        let error = run(Command::new("/absent/python"), Duration::from_secs(60)).await.unwrap_err();
        assert!(error.contains("/absent/python"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_has_a_time_limit() {
        assert_eq!(run(shell("sleep 1000"), Duration::from_secs(60)).await, Ok(Ran::TooSlow));
    }

    #[tokio::test]
    async fn a_program_is_ended_with_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let script = format!("exec 3>{}; echo started >&3; sleep 1000 & sleep 1000", pipe.display());
        let child = shell(&script).process_group(0).spawn().unwrap();
        let group = ProcessGroup::of(&child);
        let mut pipe = File::open(pipe).unwrap();
        pipe.read_exact(&mut [0; 8]).unwrap();
        drop(child);
        group.end().await;
        // The pipe closes when the last process that may write to it has ended.
        assert_eq!(pipe.read(&mut [0; 8]).unwrap(), 0);
    }
}
