//! The CSV of the Alibaba block traces: `device_id,opcode,offset,length,timestamp`,
//! bytes and microseconds.

use crate::formats::csv::plain_name;
use crate::lines::LineDecoder;
use crate::text::{Clock, decimal, number, quoted};
use crate::writer::{Encode, Fate};
use crate::{Access, Files, Op};

/// Reads lines; the file's name is the device's number.
#[derive(Default)]
pub(crate) struct Decoder {
    clock: Clock,
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        if line.is_empty() || line.starts_with("device_id") {
            return Ok(None);
        }
        let columns: Vec<&str> = line.split(',').collect();
        let [device, opcode, offset, length, time] = columns[..] else {
            return Err(format!("there are {} columns instead of 5", columns.len()));
        };
        let op = match opcode {
            "R" => Op::Read,
            "W" => Op::Write,
            _ => return Err(format!("opcode is {}, not R or W", quoted(opcode))),
        };
        let time_ns = self.clock.since(decimal("timestamp", time, 3)?)?;
        let (offset, length) = (number("offset", offset)?, number("length", length)?);
        Ok(Some(Access::new(time_ns, op, files.intern(device), offset, length)))
    }

    fn origin_ns(&self) -> Option<u64> {
        self.clock.origin_ns()
    }
}

/// Writes lines.
pub(crate) struct Encoder;

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let opcode = match access.op {
            Op::Read => 'R',
            Op::Write => 'W',
            _ => return Ok(Fate::LeftOut),
        };
        let (name, extent) = (plain_name(files.name(access.file))?, access.extent);
        let time = access.time_ns / 1000;
        let line = format!("{name},{opcode},{},{},{time}\n", extent.offset, extent.len);
        out.extend_from_slice(line.as_bytes());
        Ok(Fate::Written)
    }
}
