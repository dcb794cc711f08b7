//! The CSV of the Tencent block storage traces: `Timestamp,Offset,Size,IOType,VolumeID`,
//! whole seconds, sectors of 512 bytes, 0 for a read and 1 for a write.

use crate::block::{sectors, to_sectors};
use crate::formats::csv::plain_name;
use crate::lines::LineDecoder;
use crate::text::{Clock, decimal, number, quoted};
use crate::writer::{Encode, Fate};
use crate::{Access, Files, Op};

/// Reads lines; the file's name is the volume's number.
#[derive(Default)]
pub(crate) struct Decoder {
    clock: Clock,
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        if line.is_empty() || line.starts_with("Timestamp") {
            return Ok(None);
        }
        let columns: Vec<&str> = line.split(',').collect();
        let [time, offset, size, kind, volume] = columns[..] else {
            return Err(format!("there are {} columns instead of 5", columns.len()));
        };
        let op = match kind {
            "0" => Op::Read,
            "1" => Op::Write,
            _ => return Err(format!("IOType is {}, not 0 or 1", quoted(kind))),
        };
        let time_ns = self.clock.since(decimal("Timestamp", time, 9)?)?;
        let extent = sectors(number("Offset", offset)?, number("Size", size)?)?;
        Ok(Some(Access::new(time_ns, op, files.intern(volume), extent.offset, extent.len)))
    }

    fn origin_ns(&self) -> Option<u64> {
        self.clock.origin_ns()
    }
}

/// Writes lines.
pub(crate) struct Encoder;

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let kind = match access.op {
            Op::Read => 0,
            Op::Write => 1,
            _ => return Ok(Fate::LeftOut),
        };
        let name = plain_name(files.name(access.file))?;
        let (sector, count) = to_sectors(access.extent)?;
        let line = format!("{},{sector},{count},{kind},{name}\n", access.time_ns / 1_000_000_000);
        out.extend_from_slice(line.as_bytes());
        Ok(Fate::Written)
    }
}
