//! The CSV of the MSR-Cambridge traces:
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, times in 100 ns since 1601.

use crate::formats::csv::plain_name;
use crate::lines::LineDecoder;
use crate::text::{Clock, number, quoted};
use crate::writer::{Encode, Fate};
use crate::{Access, Files, Op};

/// Time 0 of written files: 2007-02-22, when the traces were recorded.
const ORIGIN_TICKS: u64 = 128_166_372_000_000_000;

/// Reads lines; the file's name is `Hostname.DiskNumber`.
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
        let [time, host, disk, kind, offset, size, response] = columns[..] else {
            return Err(format!("there are {} columns instead of 7", columns.len()));
        };
        let op = match kind {
            "Read" => Op::Read,
            "Write" => Op::Write,
            _ => return Err(format!("Type is {}, not Read or Write", quoted(kind))),
        };
        let ticks: u64 = number("Timestamp", time)?;
        let origin = self.clock.origin_ns().unwrap_or(ticks);
        // The clock counts ticks here: 1601 in nanoseconds does not fit 64 bits.
        let time_ns = self.clock.since(ticks)?.checked_mul(100);
        let time_ns = time_ns.ok_or_else(|| format!("Timestamp {ticks} is centuries after {origin}"))?;
        let disk: u32 = number("DiskNumber", disk)?;
        let file = files.intern(&format!("{host}.{disk}"));
        let mut access = Access::new(time_ns, op, file, number("Offset", offset)?, number("Size", size)?);
        access.service_ns = Some(number::<u64>("ResponseTime", response)?.saturating_mul(100));
        Ok(Some(access))
    }
}

/// Writes lines.
pub(crate) struct Encoder;

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let kind = match access.op {
            Op::Read => "Read",
            Op::Write => "Write",
            _ => return Ok(Fate::LeftOut),
        };
        let name = plain_name(files.name(access.file))?;
        let (host, disk) = name
            .rsplit_once('.')
            .and_then(|(host, disk)| Some((host, disk.parse::<u32>().ok()?)))
            .unwrap_or((name, 0));
        let time = ORIGIN_TICKS.saturating_add(access.time_ns / 100);
        let response = access.service_ns.unwrap_or(0) / 100;
        let extent = access.extent;
        let line = format!("{time},{host},{disk},{kind},{},{},{response}\n", extent.offset, extent.len);
        out.extend_from_slice(line.as_bytes());
        Ok(Fate::Written)
    }
}
