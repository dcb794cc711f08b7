//! A client that sends any number of calls before it takes their replies.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use nfs3_types::mount::{self, dirpath, mountres3};
use nfs3_types::nfs3::{self, *};
use nfs3_types::rpc::{auth_unix, call_body, fragment_header, msg_body, opaque_auth, rpc_msg};
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};

pub(crate) use nfs3::NFS_PROGRAM as Procedure;

/// The parts of the head of a call that a test may get wrong.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) rpc_version: u32,
    pub(crate) program: u32,
    pub(crate) version: u32,
    pub(crate) procedure: u32,
}

pub(crate) const NFS: Head = Head { rpc_version: 2, program: nfs3::PROGRAM, version: 3, procedure: 0 };
pub(crate) const MOUNT: Head = Head { program: mount::PROGRAM, ..NFS };

pub(crate) struct Client {
    pub(crate) socket: TcpStream,
    xid: u32,
    pub(crate) user: auth_unix,
    /// Replies that came before another one that was waited for.
    early: HashMap<u32, Vec<u8>>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Client {
        let socket = TcpStream::connect(address).unwrap();
        // A server that is silent for longer fails the test.
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.set_nodelay(true).unwrap();
        let user = auth_unix { uid: 1000, gid: 1000, ..auth_unix::default() };
        Client { socket, xid: 100, user, early: HashMap::new() }
    }

    /// The record of a call, and its number.
    pub(crate) fn record(&mut self, head: Head, arguments: &impl Pack) -> (u32, Vec<u8>) {
        self.xid += 1;
        let Head { rpc_version: rpcvers, program: prog, version: vers, procedure: proc } = head;
        let (cred, verf) = (opaque_auth::auth_unix(&self.user), opaque_auth::default());
        let body = msg_body::CALL(call_body { rpcvers, prog, vers, proc, cred, verf });
        let mut record = vec![0; 4];
        rpc_msg { xid: self.xid, body }.pack(&mut record).unwrap();
        arguments.pack(&mut record).unwrap();
        let mark = fragment_header::new(record.len() as u32 - 4, true);
        record[..4].copy_from_slice(&mark.into_xdr_buf());
        (self.xid, record)
    }

    /// Sends a call, whose reply may be taken later.
    pub(crate) fn send(&mut self, head: Head, arguments: &impl Pack) -> u32 {
        let (xid, record) = self.record(head, arguments);
        self.socket.write_all(&record).unwrap();
        xid
    }

    pub(crate) fn send_nfs(&mut self, procedure: Procedure, arguments: &impl Pack) -> u32 {
        self.send(Head { procedure: procedure as u32, ..NFS }, arguments)
    }

    /// The next reply: its number, and all behind that.
    ///
    /// # Errors
    /// If the server hangs up before its end.
    pub(crate) fn next(&mut self) -> io::Result<(u32, Vec<u8>)> {
        let mut word = [0; 4];
        self.socket.read_exact(&mut word)?;
        let mark = u32::from_be_bytes(word);
        assert!(mark & fragment_header::EOF_FLAG != 0, "a reply is one fragment");
        let mut reply = vec![0; (mark & fragment_header::MASK) as usize];
        self.socket.read_exact(&mut reply)?;
        let rest = reply.split_off(4);
        Ok((u32::from_be_bytes(reply.try_into().unwrap()), rest))
    }

    /// All of the reply `xid` behind its number.
    pub(crate) fn reply(&mut self, xid: u32) -> Vec<u8> {
        loop {
            if let Some(reply) = self.early.remove(&xid) {
                return reply;
            }
            let (other, reply) = self.next().unwrap();
            assert!(self.early.insert(other, reply).is_none(), "two replies to {other}");
        }
    }

    /// The result of the call `xid`, which has succeeded as a call.
    pub(crate) fn take<T: Unpack>(&mut self, xid: u32) -> T {
        unpack(&self.reply(xid))
    }

    pub(crate) fn call<T: Unpack>(&mut self, procedure: Procedure, arguments: &impl Pack) -> T {
        let xid = self.send_nfs(procedure, arguments);
        self.take(xid)
    }

    pub(crate) fn call_mount<T: Unpack>(&mut self, procedure: u32, arguments: &impl Pack) -> T {
        let xid = self.send(Head { procedure, ..MOUNT }, arguments);
        self.take(xid)
    }

    pub(crate) fn mount(&mut self, path: &str) -> nfs_fh3 {
        match self.call_mount(1, &dirpath(Opaque::borrowed(path.as_bytes()))) {
            mountres3::Ok(mounted) => nfs_fh3 { data: mounted.fhandle.0 },
            mountres3::Err(status) => panic!("{path}: {status}"),
        }
    }

    pub(crate) fn look_up(&mut self, directory: &nfs_fh3, name: &str) -> Result<LOOKUP3resok, nfsstat3> {
        let what = diropargs3 { dir: directory.clone(), name: name.as_bytes().into() };
        result(self.call::<LOOKUP3res>(Procedure::NFSPROC3_LOOKUP, &LOOKUP3args { what }))
    }

    /// The handle of `path` below the export `data`.
    pub(crate) fn open(&mut self, path: &str) -> nfs_fh3 {
        let root = self.mount("/data");
        path.split('/').fold(root, |directory, name| self.look_up(&directory, name).unwrap().object)
    }

    pub(crate) fn attributes(&mut self, object: &nfs_fh3) -> Result<fattr3, nfsstat3> {
        let arguments = GETATTR3args { object: object.clone() };
        result(self.call::<GETATTR3res>(Procedure::NFSPROC3_GETATTR, &arguments)).map(|ok| ok.obj_attributes)
    }

    pub(crate) fn send_read(&mut self, file: &nfs_fh3, offset: u64, count: u32) -> u32 {
        self.send_nfs(Procedure::NFSPROC3_READ, &READ3args { file: file.clone(), offset, count })
    }

    pub(crate) fn take_read(&mut self, xid: u32) -> Result<Vec<u8>, nfsstat3> {
        bytes_of(&self.reply(xid))
    }

    pub(crate) fn read(&mut self, file: &nfs_fh3, offset: u64, count: u32) -> Result<Vec<u8>, nfsstat3> {
        let xid = self.send_read(file, offset, count);
        self.take_read(xid)
    }

    /// Whether the server hangs up, and says nothing before.
    pub(crate) fn is_hung_up(&mut self) -> bool {
        // A socket with bytes that nobody has read resets the connection.
        self.socket
            .read(&mut [0])
            .map_or_else(|error| error.kind() == io::ErrorKind::ConnectionReset, |len| len == 0)
    }
}

/// The bytes that a reply to a READ has.
pub(crate) fn bytes_of(reply: &[u8]) -> Result<Vec<u8>, nfsstat3> {
    result(unpack::<READ3res<'static>>(reply)).map(|read| {
        assert_eq!(read.count as usize, read.data.len());
        read.data.into_owned()
    })
}

pub(crate) fn result<T, E>(result: Nfs3Result<T, E>) -> Result<T, nfsstat3> {
    match result {
        Nfs3Result::Ok(value) => Ok(value),
        Nfs3Result::Err((status, _)) => Err(status),
    }
}

/// The result in a reply behind its number. Nothing comes after it.
pub(crate) fn unpack<T: Unpack>(reply: &[u8]) -> T {
    // A reply, accepted, no verifier, success.
    let head = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(reply[..20], head);
    let mut rest = &reply[20..];
    let (value, len) = T::unpack(&mut rest).unwrap();
    assert_eq!((len, rest.len()), (reply.len() - 20, 0));
    value
}
