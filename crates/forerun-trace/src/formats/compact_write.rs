//! Writing Forerun's own format.

use super::compact::{
    AFTER, ASKED, BLOCKING, Before, END, ID, MAGIC, MORE, NAME, OPS, OTHER_FILE, OTHER_THREAD, RECORDS,
    SERVICE, VERSION, checksum,
};
use crate::writer::{Encode, Fate};
use crate::{Access, Extent, FileId, Files, Moment};

const BLOCK_BYTES: usize = 64 << 10;

/// Writes records.
#[derive(Default)]
pub(crate) struct Encoder {
    begun: bool,
    before: Before,
    named: usize,
    block: Vec<u8>,
    count: u64,
}

impl Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(MAGIC);
            out.extend_from_slice(&VERSION.to_le_bytes());
        }
    }

    fn flush(&mut self, kind: u32, out: &mut Vec<u8>) {
        for value in [kind, self.block.len() as u32, checksum(kind, &self.block)] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.append(&mut self.block);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.block.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.block.push(value as u8);
    }

    fn names(&mut self, files: &Files) {
        while self.named < files.len() {
            let name = files.name(FileId(self.named as u32));
            self.block.push(NAME);
            self.varint(name.len() as u64);
            self.block.extend_from_slice(name.as_bytes());
            self.named += 1;
        }
    }

    fn access(&mut self, access: &Access, op: u8) {
        let Extent { offset, len } = access.extent;
        let other_file = access.file.0 != self.before.file;
        let other_thread = access.thread != self.before.thread;
        let more = flag(access.asked.is_some(), ASKED)
            | flag(access.service_ns.is_some(), SERVICE)
            | flag(!access.after.is_empty(), AFTER)
            | flag(access.id != self.before.id(), ID);
        let head = flag(access.blocking, BLOCKING)
            | flag(other_file, OTHER_FILE)
            | flag(other_thread, OTHER_THREAD)
            | flag(more != 0, MORE);
        self.block.push(op | head);
        if more != 0 {
            self.block.push(more);
        }
        if other_file {
            self.varint(access.file.0.into());
        }
        if other_thread {
            self.varint(access.thread);
        }
        self.varint(zigzag(access.time_ns.wrapping_sub(self.before.time_ns)));
        let end = *self.before.end(access.file.0);
        self.varint(zigzag(offset.wrapping_sub(end)));
        self.varint(len);
        if more & ID != 0 {
            self.varint(zigzag(access.id.wrapping_sub(self.before.id())));
        }
        access.asked.into_iter().chain(access.service_ns).for_each(|value| self.varint(value));
        if more & AFTER != 0 {
            self.varint(access.after.len() as u64);
            for dependency in &access.after {
                let back = zigzag(access.id.wrapping_sub(dependency.id)) << 1;
                self.varint(back | u64::from(dependency.moment == Moment::Completed));
                self.varint(dependency.delta_ns);
            }
        }
        self.before.remember(access);
    }
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        self.begin(out);
        self.names(files);
        if access.after.iter().any(|dependency| access.id.abs_diff(dependency.id) >> 61 != 0) {
            return Err("its dependencies are more than 2^61 ids away".to_owned());
        }
        let op = OPS.iter().position(|op| *op == access.op).expect("every operation has a number");
        self.access(access, op as u8);
        self.count += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.flush(RECORDS, out);
        }
        Ok(Fate::Written)
    }

    fn finish(&mut self, _: &Files, out: &mut Vec<u8>) {
        self.begin(out);
        if !self.block.is_empty() {
            self.flush(RECORDS, out);
        }
        self.varint(self.count);
        self.flush(END, out);
    }
}

fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

/// Small for small differences of either sign.
fn zigzag(difference: u64) -> u64 {
    let signed = difference as i64;
    ((signed << 1) ^ (signed >> 63)) as u64
}
