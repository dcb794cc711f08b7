//! Answers to options, as bytes.

use super::super::{ALLOCATION_ID, Export, Session};
use super::options::{ALLOCATION, Wanted};

/// Begins every answer to an option.
const MAGIC: u64 = 0x0003_e889_0455_65a9;

const ACK: u32 = 1;
const SERVER: u32 = 2;
const INFO: u32 = 3;
const META_CONTEXT: u32 = 4;
const ERROR: u32 = 1 << 31;

const INFO_EXPORT: u16 = 0;
const INFO_NAME: u16 = 1;
const INFO_DESCRIPTION: u16 = 2;
const INFO_BLOCK_SIZES: u16 = 3;

/// Why an option is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Unsupported,
    Policy,
    Invalid,
    TlsRequired,
    Unknown,
    TooBig,
}

impl Problem {
    fn kind(self) -> u32 {
        ERROR
            + match self {
                Problem::Unsupported => 1,
                Problem::Policy => 2,
                Problem::Invalid => 3,
                Problem::TlsRequired => 5,
                Problem::Unknown => 6,
                Problem::TooBig => 9,
            }
    }

    /// For a person who reads what the client says.
    fn message(self) -> &'static str {
        match self {
            Problem::Unsupported => "this server does not have the option",
            Problem::Policy => "this server does not list its exports now; name one",
            Problem::Invalid => "the option cannot be understood",
            Problem::TlsRequired => "this server needs TLS; begin it first",
            Problem::Unknown => "there is no such export; list them, as with `nbdinfo --list`",
            Problem::TooBig => "the option or a name in it is too long",
        }
    }
}

/// Answers one option.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) option: u32,
    pub(super) output: &'a mut Vec<u8>,
}

impl Answer<'_> {
    fn send(&mut self, kind: u32, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.output.extend_from_slice(&MAGIC.to_be_bytes());
        self.output.extend_from_slice(&self.option.to_be_bytes());
        self.output.extend_from_slice(&kind.to_be_bytes());
        self.output.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
        parts.iter().for_each(|part| self.output.extend_from_slice(part));
    }

    pub(super) fn ack(&mut self) {
        self.send(ACK, &[]);
    }

    pub(super) fn refuse(&mut self, problem: Problem) {
        self.send(problem.kind(), &[problem.message().as_bytes()]);
    }

    /// One export of a list.
    pub(super) fn server(&mut self, name: &str) {
        let len = u32::try_from(name.len()).unwrap_or(u32::MAX);
        self.send(SERVER, &[&len.to_be_bytes(), name.as_bytes()]);
    }

    /// Everything that was asked for of `export`, the size first.
    pub(super) fn info(&mut self, export: &Export, wanted: Wanted, session: Session) {
        let flags = export.flags_for(session).to_be_bytes();
        self.send(INFO, &[&INFO_EXPORT.to_be_bytes(), &export.size.to_be_bytes(), &flags]);
        if wanted.name {
            self.send(INFO, &[&INFO_NAME.to_be_bytes(), export.name.as_bytes()]);
        }
        if wanted.description {
            self.send(INFO, &[&INFO_DESCRIPTION.to_be_bytes(), export.description.as_bytes()]);
        }
        if wanted.block_sizes {
            let sizes = export.block_sizes;
            let [min, preferred, max] = [sizes.min, sizes.preferred, sizes.max].map(u32::to_be_bytes);
            self.send(INFO, &[&INFO_BLOCK_SIZES.to_be_bytes(), &min, &preferred, &max]);
        }
    }

    /// The one kind of block status; a list has no numbers.
    pub(super) fn context(&mut self, is_list: bool) {
        let id = if is_list { 0 } else { ALLOCATION_ID };
        self.send(META_CONTEXT, &[&id.to_be_bytes(), ALLOCATION.as_bytes()]);
    }
}
