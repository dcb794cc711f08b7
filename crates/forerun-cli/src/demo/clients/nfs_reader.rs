//! A client of NFS 3 that has several reads of one file in flight.

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use nfs3_types::mount::{self, dirpath, mountres3};
use nfs3_types::nfs3::{
    self, LOOKUP3args, LOOKUP3res, NFS_PROGRAM, Nfs3Option, Nfs3Result, READ3args, diropargs3, nfs_fh3,
    nfsstat3, post_op_attr,
};
use nfs3_types::rpc::{auth_unix, call_body, fragment_header, msg_body, opaque_auth, rpc_msg};
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};

const NFS_VERSION: u32 = 3;
const RPC_VERSION: u32 = 2;
/// The procedure of the mount protocol that opens an export.
const MOUNT_EXPORT: u32 = 1;
/// The head of a reply behind its number: a reply, accepted, no verifier, success.
const ACCEPTED: [u8; 20] = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// An open file.
pub(super) struct NfsReader {
    socket: TcpStream,
    xid: u32,
    file: nfs_fh3,
    pub(super) size: u64,
}

impl NfsReader {
    /// Opens the file `name` of the export `export` at `address`.
    pub(super) fn open(address: &str, export: &str, name: &str) -> Result<NfsReader, Box<dyn Error>> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        let mut reader = NfsReader { socket, xid: 0, file: nfs_fh3::default(), size: 0 };
        let path = format!("/{export}");
        reader.call(mount::PROGRAM, MOUNT_EXPORT, &dirpath(Opaque::borrowed(path.as_bytes())))?;
        let mountres3::Ok(mounted) = mountres3::unpack(&mut reader.result()?.1.as_ref())?.0 else {
            return Err(format!("{path} cannot be mounted").into());
        };
        let what = diropargs3 { dir: nfs_fh3 { data: mounted.fhandle.0 }, name: name.as_bytes().into() };
        reader.call(nfs3::PROGRAM, NFS_PROGRAM::NFSPROC3_LOOKUP as u32, &LOOKUP3args { what })?;
        let Nfs3Result::Ok(found) = LOOKUP3res::unpack(&mut reader.result()?.1.as_ref())?.0 else {
            return Err(format!("{path} has no {name}").into());
        };
        let Nfs3Option::Some(attributes) = found.obj_attributes else {
            return Err(format!("the server does not tell the size of {name}").into());
        };
        (reader.file, reader.size) = (found.object, attributes.size);
        Ok(reader)
    }

    /// Reads `len` bytes at each of `offsets`, `count` of them at a time.
    pub(super) fn read_all(
        &mut self,
        offsets: &[u64],
        len: u32,
        count: usize,
    ) -> Result<Vec<Bytes>, Box<dyn Error>> {
        let mut pieces = vec![Bytes::new(); offsets.len()];
        let mut places = HashMap::new();
        for (place, offset) in offsets.iter().enumerate() {
            if places.len() == count {
                self.take(&mut places, &mut pieces)?;
            }
            let read = READ3args { file: self.file.clone(), offset: *offset, count: len };
            self.call(nfs3::PROGRAM, NFS_PROGRAM::NFSPROC3_READ as u32, &read)?;
            places.insert(self.xid, place);
        }
        while !places.is_empty() {
            self.take(&mut places, &mut pieces)?;
        }
        Ok(pieces)
    }

    /// Takes one reply, and puts its bytes where they belong.
    fn take(&mut self, places: &mut HashMap<u32, usize>, pieces: &mut [Bytes]) -> Result<(), Box<dyn Error>> {
        let (xid, reply) = self.result()?;
        let place = places.remove(&xid).ok_or("a reply to no call")?;
        pieces[place] = bytes_of(reply)?;
        Ok(())
    }

    fn call(&mut self, prog: u32, proc: u32, arguments: &impl Pack) -> Result<(), Box<dyn Error>> {
        self.xid += 1;
        let (cred, verf) = (opaque_auth::auth_unix(&auth_unix::default()), opaque_auth::default());
        let call = call_body { rpcvers: RPC_VERSION, prog, vers: NFS_VERSION, proc, cred, verf };
        let mut record = vec![0; 4];
        rpc_msg { xid: self.xid, body: msg_body::CALL(call) }.pack(&mut record)?;
        arguments.pack(&mut record)?;
        let mark = fragment_header::new(record.len() as u32 - 4, true);
        record[..4].copy_from_slice(&mark.into_xdr_buf());
        Ok(self.socket.write_all(&record)?)
    }

    /// The number of the next reply, and its result.
    fn result(&mut self) -> io::Result<(u32, Bytes)> {
        let mut words = [0; 8];
        self.socket.read_exact(&mut words)?;
        let [mark, xid] = [0, 4].map(|at| u32::from_be_bytes([0, 1, 2, 3].map(|byte| words[at + byte])));
        let len = (mark & fragment_header::MASK) as usize;
        let mut reply = Vec::with_capacity(len);
        Read::by_ref(&mut self.socket).take(len.saturating_sub(4) as u64).read_to_end(&mut reply)?;
        if !reply.starts_with(&ACCEPTED) {
            return Err(io::Error::other("the server refuses a call"));
        }
        Ok((xid, Bytes::from(reply).slice(ACCEPTED.len()..)))
    }
}

/// The bytes in the result of a READ, without a copy.
fn bytes_of(result: Bytes) -> Result<Bytes, Box<dyn Error>> {
    let mut rest = result.as_ref();
    let status = nfsstat3::unpack(&mut rest)?.0;
    if status != nfsstat3::NFS3_OK {
        return Err(format!("a read failed: {status}").into());
    }
    post_op_attr::unpack(&mut rest)?;
    // The count and the end of the file, before the length of the bytes.
    let (_count, _is_end) = (u32::unpack(&mut rest)?, bool::unpack(&mut rest)?);
    let len = u32::unpack(&mut rest)?.0 as usize;
    let from = result.len() - rest.len();
    Ok(result.slice(from..from + len))
}
