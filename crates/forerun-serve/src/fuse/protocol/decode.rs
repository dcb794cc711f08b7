//! Decoding the kernel's messages.

use super::Malformed;
use super::fields::{Fields, TooShort};
use super::request::{Forgets, Message, Operation, Request, Which};

/// The flag of an ioctl on a directory.
const IOCTL_DIRECTORY: u32 = 1 << 4;

impl<'a> Message<'a> {
    /// Decodes `bytes`.
    ///
    /// # Errors
    /// [`Malformed`] if they are no message; it has the number to answer to.
    pub fn decode(bytes: &'a [u8]) -> Result<Message<'a>, Malformed> {
        let mut fields = Fields(bytes);
        let head = Head::decode(&mut fields).map_err(|TooShort| Malformed { unique: None })?;
        let malformed = |TooShort| Malformed { unique: Some(head.unique) };
        if head.len as usize != bytes.len() {
            return Err(malformed(TooShort));
        }
        head.message(fields).map_err(malformed)
    }
}

struct Head {
    len: u32,
    opcode: u32,
    unique: u64,
    inode: u64,
    user: u32,
    thread: u32,
}

impl Head {
    fn decode(fields: &mut Fields<'_>) -> Result<Head, TooShort> {
        let (len, opcode) = (fields.u32()?, fields.u32()?);
        let (unique, inode) = (fields.u64()?, fields.u64()?);
        // User and group. The kernel has checked their rights.
        let (user, _) = (fields.u32()?, fields.u32()?);
        let thread = fields.u32()?;
        fields.bytes(4)?;
        Ok(Head { len, opcode, unique, inode, user, thread })
    }

    fn message<'a>(&self, mut fields: Fields<'a>) -> Result<Message<'a>, TooShort> {
        let Head { unique, inode, user, thread, .. } = *self;
        Ok(match self.opcode {
            2 => Message::Forget(Forgets(Which::One(inode, fields.u64()?))),
            42 => {
                let count = fields.u32()? as usize;
                fields.bytes(4)?;
                let pairs = fields.bytes(count.checked_mul(16).ok_or(TooShort)?)?;
                Message::Forget(Forgets(Which::Many(Fields(pairs))))
            }
            36 => Message::Interrupt(fields.u64()?),
            38 => Message::Destroy(unique),
            opcode => {
                let operation = operation(opcode, fields)?;
                Message::Request(Request { unique, inode, user, thread, operation })
            }
        })
    }
}

/// Opcodes and layouts as in the kernel's `include/uapi/linux/fuse.h`, version 7.23 and later.
fn operation(opcode: u32, mut fields: Fields<'_>) -> Result<Operation<'_>, TooShort> {
    Ok(match opcode {
        1 => Operation::Lookup { name: fields.name()? },
        3 => Operation::Getattr,
        4 => Operation::Setattr,
        5 => Operation::Readlink,
        14 => Operation::Open { flags: fields.u32()? },
        15 => {
            let (handle, offset, size) = (fields.u64()?, fields.u64()?, fields.u32()?);
            // The flags of the read, and the owner of a lock.
            fields.bytes(12)?;
            Operation::Read { handle, offset, size, flags: fields.u32()? }
        }
        16 => {
            fields.bytes(8)?;
            let (offset, size) = (fields.u64()?, fields.u32()?);
            fields.bytes(20)?;
            Operation::Write { offset, data: fields.bytes(size as usize)? }
        }
        17 => Operation::Statfs,
        18 => Operation::Release { handle: fields.u64()? },
        20 => Operation::Fsync,
        21 => {
            let size = fields.u32()?;
            fields.bytes(4)?;
            Operation::Setxattr { name: fields.name()?, value: fields.bytes(size as usize)? }
        }
        22 => {
            let room = fields.u32()?;
            fields.bytes(4)?;
            Operation::Getxattr { name: fields.name()?, room }
        }
        23 => Operation::Listxattr { room: fields.u32()? },
        24 => Operation::Removexattr { name: fields.name()? },
        27 => Operation::Opendir,
        28 => {
            let (handle, offset, size) = (fields.u64()?, fields.u64()?, fields.u32()?);
            Operation::Readdir { handle, offset, size }
        }
        44 => {
            let (handle, offset, size) = (fields.u64()?, fields.u64()?, fields.u32()?);
            Operation::Readdirplus { handle, offset, size }
        }
        29 => Operation::Releasedir { handle: fields.u64()? },
        39 => {
            let (handle, flags, command) = (fields.u64()?, fields.u32()?, fields.u32()?);
            fields.bytes(8)?;
            let size = fields.u32()?;
            fields.bytes(4)?;
            let data = fields.bytes(size as usize)?;
            Operation::Ioctl { handle, is_directory: flags & IOCTL_DIRECTORY != 0, command, data }
        }
        // Symlink, mknod, mkdir, unlink, rmdir, rename, link, create, fallocate, rename2.
        6 | 8..=13 | 35 | 43 | 45 => Operation::Change,
        _ => Operation::Other,
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn message(opcode: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = (40 + body.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(opcode.to_ne_bytes());
        [7_u64, 9].iter().for_each(|number| bytes.extend(number.to_ne_bytes()));
        [1000_u32, 1000, 4321, 0].iter().for_each(|number| bytes.extend(number.to_ne_bytes()));
        bytes.extend(body);
        bytes
    }

    fn asked(opcode: u32, body: &[u8]) -> Result<Operation<'static>, Malformed> {
        match Message::decode(message(opcode, body).leak())? {
            Message::Request(Request { unique: 7, inode: 9, user: 1000, thread: 4321, operation }) => {
                Ok(operation)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_read_is_decoded() {
        let mut body = [3_u64, 1 << 40].map(u64::to_ne_bytes).concat();
        body.extend([4096_u32, 0, 0, 0, 0o40000, 0].map(u32::to_ne_bytes).concat());
        let read = Operation::Read { handle: 3, offset: 1 << 40, size: 4096, flags: 0o40000 };
        assert_eq!(asked(15, &body), Ok(read));
    }

    #[test]
    fn names_and_data_follow_their_numbers() {
        assert_eq!(asked(1, b"a b\0"), Ok(Operation::Lookup { name: OsStr::new("a b") }));
        let value = Operation::Setxattr { name: OsStr::new("user.x"), value: b"yes" };
        assert_eq!(asked(21, &[&[3, 0, 0, 0, 0, 0, 0, 0], &b"user.x\0yes"[..]].concat()), Ok(value));
    }

    #[test]
    fn forgotten_inodes_are_counted() {
        let bytes = message(2, &5_u64.to_ne_bytes());
        let Ok(Message::Forget(one)) = Message::decode(&bytes) else { panic!("no forget") };
        assert_eq!(one.collect::<Vec<_>>(), [(9, 5)]);
        let pairs = [2_u64, 1, 3, 4].map(u64::to_ne_bytes).concat();
        let bytes = message(42, &[&[2, 0, 0, 0, 0, 0, 0, 0], &pairs[..]].concat());
        let Ok(Message::Forget(many)) = Message::decode(&bytes) else { panic!("no forget") };
        assert_eq!(many.collect::<Vec<_>>(), [(2, 1), (3, 4)]);
    }

    #[test]
    fn no_byte_string_is_more_than_malformed() {
        let malformed = Malformed { unique: Some(7) };
        assert_eq!(asked(1, b"no end"), Err(malformed));
        assert_eq!(asked(42, &[0xFF; 8]).unwrap_err(), malformed);
        assert_eq!(Message::decode(&[0; 39]).unwrap_err(), Malformed { unique: None });
        // The length field disagrees with the message.
        assert_eq!(Message::decode(&message(3, &[])[..40].repeat(2)).unwrap_err(), malformed);
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        for _ in 0..200_000 {
            let body: Vec<u8> = (0..random() % 64).map(|_| (random() % 5) as u8 * 63).collect();
            if let Ok(Message::Forget(forgets)) = Message::decode(&message(random() % 60, &body)) {
                assert!(forgets.count() <= body.len() / 8);
            }
        }
    }
}
