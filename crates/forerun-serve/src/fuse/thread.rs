//! Whether a thread that waits for an answer is about to end.
//!
//! The kernel tells that a signal came, but not which. A signal with a handler must not end a wait.
//! Go programs, for one, are sent signals all the time by their own runtime, and expect no `stat`
//! to fail for it. A thread that is about to die must not wait, nor one whose handler was called to
//! end it.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, test_kill_process};

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A signal asks it to end. It ends, or runs its handler, as soon as it no longer waits.
    Dying,
    /// It continues.
    Living,
    /// It has ended.
    Ended,
    /// This process may not see it.
    Unseen,
}

/// The state of the thread `number`; 0 is in another PID namespace.
pub(super) fn fate(number: u32) -> Fate {
    let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return Fate::Unseen };
    match fs::read_to_string(format!("/proc/{number}/status")) {
        Ok(status) => fate_by(&status),
        // `/proc` may hide the threads of other users (`hidepid`); the system call does not.
        Err(error) if error.kind() == io::ErrorKind::NotFound => match test_kill_process(pid) {
            Err(Errno::SRCH) => Fate::Ended,
            _ => Fate::Unseen,
        },
        Err(error) => {
            tracing::debug!(target: "forerun::mount", "thread {number} cannot be looked at: {error}");
            Fate::Unseen
        }
    }
}

/// The state by its `/proc/N/status`.
fn fate_by(status: &str) -> Fate {
    let field =
        |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
    let signals = |name: &str| u64::from_str_radix(field(name), 16).unwrap_or(0);
    let set_aside = signals("SigBlk:") | signals("SigIgn:") | signals("SigCgt:") & !endings();
    let own = signals("SigPnd:");
    let pending = (own | signals("ShdPnd:")) & !set_aside & !harmless();
    match field("State:").chars().next() {
        Some('Z' | 'X') => Fate::Ended,
        // The kernel turns most other fatal signals into KILL, which cannot be blocked or handled.
        _ if pending | own & bit(Signal::KILL) != 0 => Fate::Dying,
        _ => Fate::Living,
    }
}

/// Signals that people send to end a program, even if it has a handler for them.
fn endings() -> u64 {
    bit(Signal::INT) | bit(Signal::TERM) | bit(Signal::QUIT)
}

/// Signals whose default is not to end the process.
fn harmless() -> u64 {
    [
        Signal::CHILD,
        Signal::CONT,
        Signal::STOP,
        Signal::TSTP,
        Signal::TTIN,
        Signal::TTOU,
        Signal::URG,
        Signal::WINCH,
    ]
    .into_iter()
    .map(bit)
    .sum()
}

fn bit(signal: Signal) -> u64 {
    1 << (signal.as_raw() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: &str, own: u64, shared: u64, caught: u64) -> String {
        format!(
            "Name:\tcat\nState:\t{state}\nSigPnd:\t{own:016x}\nShdPnd:\t{shared:016x}\nSigBlk:\t{:016x}\n\
             SigIgn:\t{:016x}\nSigCgt:\t{caught:016x}\n",
            0, 0
        )
    }

    #[test]
    fn a_signal_that_is_handled_or_harmless_ends_nobody() {
        let urgent = bit(Signal::URG);
        assert_eq!(fate_by(&status("S (sleeping)", 0, 0, 0)), Fate::Living);
        assert_eq!(fate_by(&status("S (sleeping)", urgent, urgent, 0)), Fate::Living);
        let alarm = bit(Signal::ALARM);
        assert_eq!(fate_by(&status("S (sleeping)", 0, alarm, alarm)), Fate::Living);
        assert_eq!(fate_by(&status("T (stopped)", 0, bit(Signal::STOP), 0)), Fate::Living);
    }

    #[test]
    fn a_killed_thread_dies() {
        assert_eq!(fate_by(&status("D (disk sleep)", bit(Signal::KILL), 0, 0)), Fate::Dying);
        assert_eq!(fate_by(&status("D (disk sleep)", 0, bit(Signal::ABORT), 0)), Fate::Dying);
        let interrupt = bit(Signal::INT);
        assert_eq!(fate_by(&status("D (disk sleep)", 0, interrupt, interrupt)), Fate::Dying);
        assert_eq!(fate_by(&status("Z (zombie)", 0, 0, 0)), Fate::Ended);
    }

    #[test]
    fn a_thread_that_is_gone_has_ended_while_its_process_lives() {
        let (number, ends) = std::thread::spawn(|| {
            let link = fs::read_link("/proc/thread-self").unwrap();
            let number = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
            (number, fate(number))
        })
        .join()
        .unwrap();
        assert_eq!(ends, Fate::Living);
        // The kernel releases the number shortly after the thread was joined.
        while fate(number) == Fate::Living {
            std::thread::yield_now();
        }
        assert_eq!(fate(number), Fate::Ended);
    }

    #[test]
    fn this_thread_lives_and_the_thread_of_another_namespace_is_not_seen() {
        assert_eq!(fate(std::process::id()), Fate::Living);
        assert_eq!((fate(0), fate(u32::MAX)), (Fate::Unseen, Fate::Unseen));
    }
}
