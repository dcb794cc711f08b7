//! Plain CSV: `ts_us,op,file_or_dev,offset,length`, and more columns where a header names them.
//!
//! `op` is `R`, `W`, `F` (flush), `D` (discard), `O` and `OR` (open, open for reading),
//! `C` (close), `S` and `E` (a thread starts, ends). Times are kept as they are.

use crate::lines::LineDecoder;
use crate::text::{decimal, microseconds, number, quoted};
use crate::writer::{Encode, Fate};
use crate::{Access, FileId, Files, Op};

const PLAIN: &str = "ts_us,op,file_or_dev,offset,length";
const FULL: &str = "ts_us,op,file_or_dev,offset,length,asked,service_us,thread,blocking";

const OPS: &[(&str, Op)] = &[
    ("R", Op::Read),
    ("W", Op::Write),
    ("F", Op::Flush),
    ("D", Op::Discard),
    ("O", Op::Open { read_only: false }),
    ("OR", Op::Open { read_only: true }),
    ("C", Op::Close),
    ("S", Op::Start),
    ("E", Op::Stop),
];

/// Whether `line` names the columns.
pub(crate) fn is_header(line: &str) -> bool {
    line.starts_with("ts_us,")
}

/// Reads lines. Unknown columns, such as `note`, are skipped.
#[derive(Default)]
pub(crate) struct Decoder {
    /// Known after the first line.
    columns: Vec<String>,
}

impl LineDecoder for Decoder {
    fn line(&mut self, line: &str, files: &mut Files) -> Result<Option<Access>, String> {
        if self.columns.is_empty() {
            let header = if is_header(line) { line } else { PLAIN };
            self.columns = header.split(',').map(|name| name.trim().to_owned()).collect();
            if let Some(missing) = PLAIN.split(',').find(|name| !self.columns.iter().any(|have| have == name))
            {
                return Err(format!("the header has no column {missing}"));
            }
            if is_header(line) {
                return Ok(None);
            }
        }
        if line.is_empty() {
            return Ok(None);
        }
        let values: Vec<&str> = line.split(',').collect();
        if values.len() != self.columns.len() {
            return Err(format!("there are {} columns instead of {}", values.len(), self.columns.len()));
        }
        self.access(&values, files).map(Some)
    }
}

impl Decoder {
    fn access(&self, values: &[&str], files: &mut Files) -> Result<Access, String> {
        let mut access = Access::new(0, Op::Read, FileId::default(), 0, 0);
        for (column, value) in self.columns.iter().zip(values) {
            match column.as_str() {
                "ts_us" => access.time_ns = decimal(column, value, 3)?,
                "op" => {
                    let op = OPS.iter().find(|(name, _)| name == value).map(|(_, op)| *op);
                    access.op = op.ok_or_else(|| format!("op is {}, not R, W, F or D", quoted(value)))?;
                }
                "file_or_dev" => access.file = files.intern(value),
                "offset" => access.extent.offset = number(column, value)?,
                "length" => access.extent.len = number(column, value)?,
                // Blank for accesses without this field.
                _ if value.is_empty() => {}
                "asked" => access.asked = Some(number(column, value)?),
                "service_us" => access.service_ns = Some(decimal(column, value, 3)?),
                "thread" => access.thread = number(column, value)?,
                "blocking" => access.blocking = number::<u8>(column, value)? != 0,
                _ => {}
            }
        }
        access.asked = access.asked.filter(|asked| *asked != access.extent.len);
        Ok(access)
    }
}

/// Writes lines.
pub(crate) struct Encoder {
    full: bool,
    begun: bool,
}

impl Encoder {
    /// Writes the five columns, or all if `full`.
    pub(crate) fn new(full: bool) -> Encoder {
        Encoder { full, begun: false }
    }

    fn header(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(if self.full { FULL } else { PLAIN }.as_bytes());
            out.push(b'\n');
        }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let name = plain_name(files.name(access.file))?;
        self.header(out);
        let op = OPS.iter().find(|(_, op)| *op == access.op).map_or("", |(name, _)| name);
        let (time, extent) = (microseconds(access.time_ns), access.extent);
        let mut line = format!("{time},{op},{name},{},{}", extent.offset, extent.len);
        if self.full {
            let asked = access.asked.map(|asked| asked.to_string()).unwrap_or_default();
            let service = access.service_ns.map(microseconds).unwrap_or_default();
            line += &format!(",{asked},{service},{},{}", access.thread, u8::from(access.blocking));
        }
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
        Ok(Fate::Written)
    }

    fn finish(&mut self, _: &Files, out: &mut Vec<u8>) {
        self.header(out);
    }
}

/// `name`, if it can be a column's value.
pub(crate) fn plain_name(name: &str) -> Result<&str, String> {
    match name.contains([',', '\n', '\r', '"']) {
        true => Err(format!("the name {} cannot stand in a column of a CSV file", quoted(name))),
        false => Ok(name),
    }
}
