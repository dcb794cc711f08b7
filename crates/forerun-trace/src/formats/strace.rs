//! `strace -f -ttt -T -y`: the system calls of programs.
//!
//! Reads without an offset continue at the descriptor's position. A descriptor that was open before
//! the recording is assumed to be at 0. Only paths to storage count, not pipes, sockets, terminals
//! and the kernel's own files (`/dev/null`, `/proc`). Reads through mapped memory are not recorded.

use std::collections::HashMap;

use super::strace_call::{Call, descriptor, is_made_up, unescape};
use super::strace_descriptors::Descriptors;
use crate::lines::LineDecoder;
use crate::text::{Clock, decimal, number, quoted};
use crate::{Access, Files, Op};

const UNFINISHED: &str = "<unfinished ...>";

/// Whether `line` has the time of `-ttt` and a call.
pub(crate) fn looks_like(line: &str) -> bool {
    CallLine::parse(line).is_ok_and(|line| {
        let name = line.text.split('(').next().unwrap_or("");
        line.text.starts_with("<... ") || line.text.starts_with("+++ ") || line.text.starts_with("--- ") || {
            line.text.contains('(') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }
    })
}

/// `pid seconds text`, `[pid N] seconds text` or `seconds text`.
struct CallLine<'a> {
    process: u64,
    time_ns: u64,
    text: &'a str,
}

impl CallLine<'_> {
    fn parse(line: &str) -> Result<CallLine<'_>, String> {
        let line = line.trim_start();
        let bracket = line.strip_prefix("[pid").and_then(|rest| rest.split_once(']'));
        let (process, rest) = match (bracket, line.split_once(' ')) {
            (Some((process, rest)), _) => (number("the process", process)?, rest),
            (None, Some((first, _))) if first.contains('.') => (0, line),
            (None, Some((first, rest))) => (number("the process", first)?, rest),
            (None, None) => return Err("there is no call".to_owned()),
        };
        let (time, text) = rest.trim_start().split_once(' ').ok_or("there is no call")?;
        if !time.contains('.') {
            return Err(format!("the time is {}; record with strace -ttt", quoted(time)));
        }
        Ok(CallLine { process, time_ns: decimal("the time", time, 9)?, text: text.trim() })
    }
}

/// Reads lines.
#[derive(Default)]
pub(crate) struct Decoder {
    clock: Clock,
    unfinished: HashMap<u64, (u64, String)>,
    descriptors: Descriptors,
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        // strace's own messages, when it writes to a terminal: `strace: Process 7 attached`.
        if line.trim().is_empty() || line.starts_with("strace: ") {
            return Ok(None);
        }
        let CallLine { process, time_ns, text } = CallLine::parse(line)?;
        let time_ns = self.clock.since(time_ns)?;
        if text.starts_with("--- ") {
            return Ok(None);
        }
        if text.starts_with("+++ ") {
            // Another process may get its number.
            self.descriptors.end(process);
            self.unfinished.remove(&process);
            return Ok(None);
        }
        if let Some(begun) = text.strip_suffix(UNFINISHED) {
            self.unfinished.insert(process, (time_ns, begun.to_owned()));
            return Ok(None);
        }
        let Some(resumed) = text.strip_prefix("<... ") else {
            return self.call(process, time_ns, text, files);
        };
        let (_, end) = resumed.split_once(" resumed>").ok_or("a resumed call is not marked as resumed")?;
        // The call began before the recording.
        let Some((begun_ns, begun)) = self.unfinished.remove(&process) else { return Ok(None) };
        self.call(process, begun_ns, &format!("{begun}{end}"), files)
    }

    fn origin_ns(&self) -> Option<u64> {
        self.clock.origin_ns()
    }
}

impl Decoder {
    fn call(
        &mut self,
        process: u64,
        time_ns: u64,
        text: &str,
        files: &mut Files,
    ) -> Result<Option<Access>, String> {
        let call = Call::parse(text)?;
        let Some(result) = call.result else { return Ok(None) };
        let made = match call.name {
            "open" | "openat" | "openat2" | "creat" => self.opened(process, &call, result, files)?,
            "close" => self.closed(process, &call, files)?,
            "lseek" | "_llseek" => {
                if let Some(open) = self.descriptors.find(process, call.argument(0)?, files) {
                    self.descriptors.files[open].position = result;
                }
                None
            }
            "dup" | "dup2" | "dup3" => {
                if let Some(open) = self.descriptors.find(process, call.argument(0)?, files) {
                    self.descriptors.table(process).insert(result, open);
                }
                None
            }
            "clone" | "clone3" | "fork" | "vfork" => {
                self.descriptors.clone_to(process, result, text);
                None
            }
            "fsync" | "fdatasync" => {
                let open = self.descriptors.find(process, call.argument(0)?, files);
                open.map(|open| Access::new(0, Op::Flush, self.descriptors.files[open].file, 0, 0))
            }
            _ => self.moved(process, &call, result, files)?,
        };
        Ok(made.map(|access| Access {
            time_ns,
            thread: process,
            blocking: true,
            service_ns: call.duration_ns,
            ..access
        }))
    }

    fn opened(
        &mut self,
        process: u64,
        call: &Call<'_>,
        result: u64,
        files: &mut Files,
    ) -> Result<Option<Access>, String> {
        let (path, flags) = match call.name {
            "creat" => (0, ""),
            "open" => (0, call.argument(1)?),
            _ => (1, call.argument(2)?),
        };
        let path = call.result_path.unwrap_or(call.argument(path)?.trim_matches('"'));
        if is_made_up(path) {
            self.descriptors.table(process).remove(&result);
            return Ok(None);
        }
        let file = files.intern(&unescape(path));
        self.descriptors.open(process, result, file);
        let read_only = flags.contains("O_RDONLY");
        Ok(Some(Access::new(0, Op::Open { read_only }, file, 0, 0)))
    }

    fn closed(&mut self, process: u64, call: &Call<'_>, files: &mut Files) -> Result<Option<Access>, String> {
        let Some(open) = self.descriptors.find(process, call.argument(0)?, files) else { return Ok(None) };
        if let Some((number, _)) = descriptor(call.argument(0)?) {
            self.descriptors.table(process).remove(&number);
        }
        Ok(Some(Access::new(0, Op::Close, self.descriptors.files[open].file, 0, 0)))
    }

    /// Handles reads and writes; none for every other call.
    fn moved(
        &mut self,
        process: u64,
        call: &Call<'_>,
        result: u64,
        files: &mut Files,
    ) -> Result<Option<Access>, String> {
        let op = match call.name {
            "read" | "readv" | "pread64" | "preadv" | "preadv2" => Op::Read,
            "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" => Op::Write,
            _ => return Ok(None),
        };
        let Some(open) = self.descriptors.find(process, call.argument(0)?, files) else { return Ok(None) };
        let asked = match call.name.contains('v') {
            true => vector_len(call.argument(1)?),
            false => Some(number("the length", call.argument(2)?)?),
        };
        let open = &mut self.descriptors.files[open];
        let offset = match call.name.starts_with('p') {
            true => number("the offset", call.argument(3)?)?,
            false => open.position,
        };
        let end = offset.checked_add(result).ok_or("the extent is beyond 2^64 bytes")?;
        if !call.name.starts_with('p') {
            open.position = end;
        }
        let access = Access::new(0, op, open.file, offset, result);
        Ok(Some(Access { asked: asked.filter(|asked| *asked != result), ..access }))
    }
}

/// The length of `[{iov_base=…, iov_len=N}, …]` in bytes; unknown if strace cut the list.
fn vector_len(text: &str) -> Option<u64> {
    if text.ends_with("...]") {
        return None;
    }
    let mut lens = text.match_indices("iov_len=").map(|(at, name)| {
        let digits = &text[at + name.len()..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<u64>().ok()
    });
    lens.try_fold(0_u64, |sum, len| sum.checked_add(len?))
}
