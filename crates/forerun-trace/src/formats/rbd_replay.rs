//! The format of `rbd-replay-prep`.
//!
//! * Version 1: a banner, then little-endian records. Each has a header with version, compatible
//!   version and length.
//! * Version 0: no banner, no headers, big-endian, and two more counts in each record.
//!
//! The ids of actions are even, and those of their completions the next odd number; here an access
//! has half its action's id. There are no times. An access is issued when its dependencies are
//! fulfilled, so its time here is that on a device which answers at once.

use std::collections::HashMap;
use std::io::Read;

use crate::bytes::{Bytes, Fields, RecordDecoder, Step, cut};
use crate::error::Fault;
use crate::recent::Recent;
use crate::{Access, Dependency, FileId, Files, Moment, Op};

pub(crate) const BANNER: &[u8; 16] = b"rbd-replay-trace";

/// Larger records do not occur.
const RECORD_BYTES_MAX: u32 = 4 << 20;
const DEPENDENCIES_MAX: u32 = 1 << 16;
const NAME_BYTES_MAX: u32 = 1 << 12;

/// Whether `head` begins with two records of version 0, the first a thread's start without
/// dependencies.
pub(crate) fn looks_like_v0(head: Fields<'_>) -> bool {
    const START: usize = 25;
    head.bytes.len() > START
        && head.bytes[0] == 0
        && head.u32(1).is_multiple_of(2)
        && head.u32(21) == 0
        && head.u32(13) < DEPENDENCIES_MAX
        && head.u32(17) < DEPENDENCIES_MAX
        && head.bytes[START] <= 11
}

/// Reads records.
pub(crate) struct Decoder {
    first_version: bool,
    begun: bool,
    images: HashMap<u64, FileId>,
    /// The times at which the remembered accesses were issued.
    issued: Recent<u64>,
    /// The time of each thread's last action.
    threads: HashMap<u64, u64>,
}

impl Decoder {
    /// Version 0 if `zero`, otherwise version 1.
    pub(crate) fn new(zero: bool) -> Decoder {
        Decoder {
            first_version: !zero,
            begun: zero,
            images: HashMap::new(),
            issued: Recent::default(),
            threads: HashMap::new(),
        }
    }

    fn access(&mut self, action: Action, files: &mut Files) -> Result<Access, Fault> {
        let (op, blocking) = operation(&action)?;
        if !action.id.is_multiple_of(2) {
            return Err(format!("its id {} is odd, which means a completion", action.id).into());
        }
        let file = match (action.image, &action.open) {
            (Some(image), Some(open)) => {
                let file = files.intern(&open.name);
                self.images.insert(image, file);
                file
            }
            (Some(image), None) => {
                let file = self.images.get(&image).copied();
                file.ok_or_else(|| format!("image {image} is used before it is opened"))?
            }
            (None, _) => FileId::default(),
        };
        action.offset.checked_add(action.length).ok_or("its extent is beyond 2^64 bytes")?;
        let fired = action.after.iter().filter_map(|dependency| {
            // An access that is no longer remembered was long ago.
            Some(self.issued.get(dependency.id)?.saturating_add(dependency.delta_ns))
        });
        let own = self.threads.get(&action.thread).copied().unwrap_or(0);
        let time_ns = fired.fold(own, u64::max);
        let id = u64::from(action.id / 2);
        self.issued.insert(id, time_ns);
        self.threads.insert(action.thread, time_ns);
        let access = Access::new(time_ns, op, file, action.offset, action.length);
        Ok(Access { id, thread: action.thread, blocking, after: action.after, ..access })
    }
}

impl RecordDecoder for Decoder {
    fn record(&mut self, bytes: &mut Bytes, files: &mut Files) -> Result<Step, Fault> {
        if !std::mem::replace(&mut self.begun, true) && bytes.array_or_end::<16>()?.as_ref() != Some(BANNER) {
            return Err("the file does not begin with rbd-replay's banner".into());
        }
        let action = if self.first_version { first_version(bytes)? } else { Action::read(bytes, true)? };
        match action {
            Some(action) => Ok(Step::Access(self.access(action, files)?)),
            None => Ok(Step::End),
        }
    }
}

fn first_version(bytes: &mut Bytes) -> Result<Option<Action>, Fault> {
    let Some(header) = bytes.array_or_end::<6>()? else { return Ok(None) };
    if header[1] > 1 {
        return Err(format!("it needs a reader of version {}, this one is of version 1", header[1]).into());
    }
    let len = Fields { bytes: &header, big: false }.u32(2);
    if len > RECORD_BYTES_MAX {
        return Err(format!("it claims to have {len} bytes, more than any action has").into());
    }
    let payload = bytes.vec(len as usize)?;
    // Later versions may append fields.
    match Action::read(&mut payload.as_slice(), false) {
        Ok(Some(action)) => Ok(Some(action)),
        Ok(None) | Err(Fault::Io(_)) => Err("its fields do not fit the length it claims".into()),
        Err(fault) => Err(fault),
    }
}

struct Open {
    name: String,
    read_only: bool,
}

struct Action {
    kind: u8,
    id: u32,
    thread: u64,
    after: Vec<Dependency>,
    image: Option<u64>,
    open: Option<Open>,
    offset: u64,
    length: u64,
}

impl Action {
    fn read(source: &mut impl Read, zero: bool) -> Result<Option<Action>, Fault> {
        let mut kind = [0];
        if source.read(&mut kind)? == 0 {
            return Ok(None);
        }
        let mut scalars = Scalars { source, big: zero };
        let (id, thread) = (scalars.u32()?, scalars.u64()?);
        if zero {
            // The numbers of accesses that wait for it and for its completion: those name it, too.
            scalars.array::<8>()?;
        }
        let count = scalars.u32()?;
        if count > DEPENDENCIES_MAX {
            return Err(format!("it claims to have {count} dependencies, more than any action has").into());
        }
        let after = (0..count).map(|_| scalars.dependency()).collect::<Result<_, Fault>>()?;
        let mut action =
            Action { kind: kind[0], id, thread, after, image: None, open: None, offset: 0, length: 0 };
        if !matches!(action.kind, 0 | 1) {
            action.image = Some(scalars.u64()?);
        }
        if matches!(action.kind, 2..=5 | 10 | 11) {
            (action.offset, action.length) = (scalars.u64()?, scalars.u64()?);
        }
        if matches!(action.kind, 6 | 8) {
            let (image, snapshot) = (scalars.string()?, scalars.string()?);
            let name = if snapshot.is_empty() { image } else { format!("{image}@{snapshot}") };
            action.open = Some(Open { name, read_only: scalars.array::<1>()? != [0] });
        }
        Ok(Some(action))
    }
}

fn operation(action: &Action) -> Result<(Op, bool), String> {
    let read_only = action.open.as_ref().is_some_and(|open| open.read_only);
    Ok(match action.kind {
        0 => (Op::Start, false),
        1 => (Op::Stop, false),
        2 => (Op::Read, true),
        3 => (Op::Write, true),
        4 => (Op::Read, false),
        5 => (Op::Write, false),
        6 => (Op::Open { read_only }, true),
        7 => (Op::Close, true),
        8 => (Op::Open { read_only }, false),
        9 => (Op::Close, false),
        10 => (Op::Discard, true),
        11 => (Op::Discard, false),
        kind => return Err(format!("{kind} is not an action")),
    })
}

struct Scalars<'a, R> {
    source: &'a mut R,
    big: bool,
}

impl<R: Read> Scalars<'_, R> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        self.source.read_exact(&mut array).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => cut(),
            _ => error.into(),
        })?;
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.array::<4>()?;
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        let bytes = self.array::<8>()?;
        Ok(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn dependency(&mut self) -> Result<Dependency, Fault> {
        let (id, delta_ns) = (self.u32()?, self.u64()?);
        let moment = if id.is_multiple_of(2) { Moment::Submitted } else { Moment::Completed };
        Ok(Dependency { id: u64::from(id / 2), moment, delta_ns })
    }

    fn string(&mut self) -> Result<String, Fault> {
        let len = self.u32()?;
        if len > NAME_BYTES_MAX {
            return Err(format!("it claims to have a name of {len} bytes").into());
        }
        let mut bytes = Vec::new();
        self.source.by_ref().take(len.into()).read_to_end(&mut bytes)?;
        if bytes.len() < len as usize {
            return Err(cut());
        }
        String::from_utf8(bytes).map_err(|_| "its name is not UTF-8 text".into())
    }
}
