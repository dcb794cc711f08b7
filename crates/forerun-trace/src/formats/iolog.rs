//! fio's iologs.
//!
//! * Version 2: `file action` or `file action offset length`.
//! * Version 3: the same after the microseconds since the start.
//!
//! In version 2, `file wait N 0` means: until N milliseconds after the start, whatever fio's manual
//! says.

use std::collections::HashSet;

use crate::lines::LineDecoder;
use crate::text::{number, quoted};
use crate::writer::{Encode, Fate};
use crate::{Access, FileId, Files, Op};

pub(crate) const BANNER_V2: &str = "fio version 2 iolog";
pub(crate) const BANNER_V3: &str = "fio version 3 iolog";

/// fio reads names with `%256s`.
const NAME_BYTES_MAX: usize = 255;

fn banner(third: bool) -> &'static str {
    if third { BANNER_V3 } else { BANNER_V2 }
}

/// Reads lines.
pub(crate) struct Decoder {
    third: bool,
    begun: bool,
    time_ns: u64,
}

impl Decoder {
    /// Version 3 if `third`, otherwise version 2.
    pub(crate) fn new(third: bool) -> Decoder {
        Decoder { third, begun: false, time_ns: 0 }
    }
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        if !std::mem::replace(&mut self.begun, true) {
            return match line == banner(self.third) {
                true => Ok(None),
                false => Err(format!("the first line is {}, not {:?}", quoted(line), banner(self.third))),
            };
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = match &words[..] {
            [] => return Ok(None),
            [time, rest @ ..] if self.third => {
                let time_us: u64 = number("time", time)?;
                self.time_ns = time_us.checked_mul(1000).ok_or("the time is beyond 2^64 nanoseconds")?;
                rest
            }
            words => words,
        };
        let (name, action, offset, length): (_, _, u64, u64) = match words {
            [name, action] => (name, *action, 0, 0),
            [name, action, offset, length] => {
                (name, *action, number("offset", offset)?, number("length", length)?)
            }
            _ => {
                return Err(format!(
                    "there are {} words instead of file, action, offset, length",
                    words.len()
                ));
            }
        };
        let op = match (action, words.len()) {
            ("add", 2) => {
                files.intern(name);
                return Ok(None);
            }
            ("wait", 4) if !self.third => {
                self.time_ns = offset.checked_mul(1_000_000).ok_or("the wait is beyond 2^64 nanoseconds")?;
                return Ok(None);
            }
            ("open", 2) => Op::Open { read_only: false },
            ("close", 2) => Op::Close,
            ("read", 4) => Op::Read,
            ("write", 4) => Op::Write,
            ("sync" | "datasync", 4) => Op::Flush,
            ("trim", 4) => Op::Discard,
            _ => return Err(format!("{} is not an action with {} words", quoted(action), words.len())),
        };
        Ok(Some(Access::new(self.time_ns, op, files.intern(name), offset, length)))
    }
}

/// Writes lines. Adds `add`, `open` and `close` lines, which fio requires, if the accesses lack
/// them.
pub(crate) struct Encoder {
    third: bool,
    begun: bool,
    time_ns: u64,
    added: HashSet<FileId>,
    /// The files in the order in which they were opened.
    open: Vec<FileId>,
}

impl Encoder {
    /// Version 3 if `third`, otherwise version 2.
    pub(crate) fn new(third: bool) -> Encoder {
        Encoder { third, begun: false, time_ns: 0, added: HashSet::new(), open: Vec::new() }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(banner(self.third).as_bytes());
            out.push(b'\n');
        }
    }

    fn line(&self, out: &mut Vec<u8>, text: &str) {
        if self.third {
            out.extend_from_slice(format!("{} ", self.time_ns / 1000).as_bytes());
        }
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
    }

    fn advance(&mut self, out: &mut Vec<u8>, name: &str, time_ns: u64) {
        let milliseconds = time_ns / 1_000_000;
        if !self.third && milliseconds > self.time_ns / 1_000_000 {
            self.line(out, &format!("{name} wait {milliseconds} 0"));
        }
        self.time_ns = time_ns.max(self.time_ns);
    }

    fn ensure_open(&mut self, out: &mut Vec<u8>, name: &str, file: FileId) {
        if self.added.insert(file) {
            self.line(out, &format!("{name} add"));
        }
        if !self.open.contains(&file) {
            self.open.push(file);
            self.line(out, &format!("{name} open"));
        }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        if matches!(access.op, Op::Start | Op::Stop) {
            return Ok(Fate::LeftOut);
        }
        let (file, name) = (access.file, files.name(access.file));
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains(char::is_whitespace) {
            return Err(format!("fio cannot read the name {}: too long, empty or with blanks", quoted(name)));
        }
        self.begin(out);
        self.advance(out, name, access.time_ns);
        let action = match access.op {
            Op::Open { .. } => {
                self.ensure_open(out, name, file);
                return Ok(Fate::Written);
            }
            Op::Close => {
                self.ensure_open(out, name, file);
                self.open.retain(|open| *open != file);
                self.line(out, &format!("{name} close"));
                return Ok(Fate::Written);
            }
            Op::Write => "write",
            Op::Flush => "sync",
            Op::Discard => "trim",
            _ => "read",
        };
        self.ensure_open(out, name, file);
        self.line(out, &format!("{name} {action} {} {}", access.extent.offset, access.extent.len));
        Ok(Fate::Written)
    }

    fn finish(&mut self, files: &Files, out: &mut Vec<u8>) {
        self.begin(out);
        for file in std::mem::take(&mut self.open) {
            self.line(out, &format!("{} close", files.name(file)));
        }
    }
}
