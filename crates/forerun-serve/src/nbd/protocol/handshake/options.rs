//! Options of the handshake, from bytes.

use std::str;

use super::super::STRING_BYTES_MAX;
use super::answer::Problem;
use crate::fields::{Fields, TooShort};

pub(super) const EXPORT_NAME: u32 = 1;
pub(super) const ABORT: u32 = 2;
pub(super) const LIST: u32 = 3;
pub(super) const STARTTLS: u32 = 5;
pub(super) const INFO: u32 = 6;
pub(super) const GO: u32 = 7;
pub(super) const STRUCTURED_REPLY: u32 = 8;
pub(super) const LIST_META_CONTEXT: u32 = 9;
pub(super) const SET_META_CONTEXT: u32 = 10;

/// The one kind of block status that there is.
pub(super) const ALLOCATION: &str = "base:allocation";
/// A query for all kinds that the specification defines.
const BASE: &str = "base:";

/// The information that a client requests by INFO or GO, besides the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: bool,
    pub(super) description: bool,
    pub(super) block_sizes: bool,
}

const INFO_NAME: u16 = 1;
const INFO_DESCRIPTION: u16 = 2;
const INFO_BLOCK_SIZES: u16 = 3;

/// An option as a client sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// GO or INFO.
    Export {
        name: String,
        wanted: Wanted,
    },
    /// Block status for the export `name`. `is_met` if a query names what there is.
    Contexts {
        name: String,
        is_met: bool,
    },
    List,
    StartTls,
    StructuredReply,
    Abort,
}

impl Choice {
    /// The option `option` with `data`; EXPORT_NAME, which has an answer of its own, is none of them.
    pub(super) fn parse(option: u32, data: &[u8]) -> Result<Choice, Problem> {
        let alone = |choice| if data.is_empty() { Ok(choice) } else { Err(Problem::Invalid) };
        match option {
            INFO | GO => export(data),
            LIST_META_CONTEXT | SET_META_CONTEXT => contexts(data, option == LIST_META_CONTEXT),
            LIST => alone(Choice::List),
            STARTTLS => alone(Choice::StartTls),
            STRUCTURED_REPLY => alone(Choice::StructuredReply),
            // A client that wants to leave may.
            ABORT => Ok(Choice::Abort),
            _ => Err(Problem::Unsupported),
        }
    }
}

fn export(data: &[u8]) -> Result<Choice, Problem> {
    let mut fields = Fields(data);
    let name = name(fields.counted()?)?;
    let mut wanted = Wanted::default();
    for _ in 0..fields.u16()? {
        match fields.u16()? {
            INFO_NAME => wanted.name = true,
            INFO_DESCRIPTION => wanted.description = true,
            INFO_BLOCK_SIZES => wanted.block_sizes = true,
            // The size is always told, and the rest is unknown here.
            _ => {}
        }
    }
    if fields.0.is_empty() { Ok(Choice::Export { name, wanted }) } else { Err(Problem::Invalid) }
}

fn contexts(data: &[u8], is_list: bool) -> Result<Choice, Problem> {
    let mut fields = Fields(data);
    let name = name(fields.counted()?)?;
    let count = fields.u32()?;
    // A list of everything is asked for by no query.
    let mut is_met = is_list && count == 0;
    for _ in 0..count {
        let query = text(fields.counted()?)?;
        is_met |= query == ALLOCATION || is_list && query == BASE;
    }
    if fields.0.is_empty() { Ok(Choice::Contexts { name, is_met }) } else { Err(Problem::Invalid) }
}

/// The name of an export.
pub(super) fn name(bytes: &[u8]) -> Result<String, Problem> {
    text(bytes).map(str::to_owned)
}

fn text(bytes: &[u8]) -> Result<&str, Problem> {
    if bytes.len() > STRING_BYTES_MAX {
        return Err(Problem::TooBig);
    }
    match str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Problem::Invalid),
    }
}

impl From<TooShort> for Problem {
    fn from(_: TooShort) -> Problem {
        Problem::Invalid
    }
}
