//! Very many clients of one server.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;

use super::nfs;
use super::nfs_client::Client;
use super::serve::{address, files, get};
use super::serving::Serving;
use super::support::{DEADLINE, own_address, runtime};

const CROWD: usize = 10_000;
/// A file, of which a socket holds a part.
const BIG_BYTES: usize = 12 << 20;
/// The most memory for a client that takes no answer (docs/serve.md).
const CLIENT_KIB_MAX: usize = 64;

/// Serves `data` over `protocol` to clients of which each is an open file, of which the process is started
/// with few.
fn serve(protocol: &str, options: &[&str], data: &Path) -> Serving {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 500; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_forerun"), "serve"]);
    command.args(["--memory", "16MiB", protocol, &format!("{}:0", own_address())]).args(options).arg(data);
    Serving::start(command.env("XDG_RUNTIME_DIR", runtime()))
}

/// The memory of the server, in KiB.
fn resident_kib(serving: &Serving) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", serving.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A folder with `data/big`, and a server of it over `protocol` that lets a crowd in.
fn serve_crowd(protocol: &str) -> (TempDir, Serving) {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let files_max = limit.maximum.unwrap_or(u64::MAX) as usize;
    assert!(files_max > CROWD + 500, "the system allows {files_max} open files: raise it with `ulimit -Hn`");
    let folder = files();
    let data = folder.path().join("data");
    fs::write(data.join("big"), vec![3; BIG_BYTES]).unwrap();
    let serving = serve(protocol, &["--connections", "20000", "--idle", "600s"], &data);
    (folder, serving)
}

/// Lets a crowd in, of which client `number` is what `enter` makes. It must hold little memory, and `is_served`
/// must be true beside it.
fn crowd<C>(serving: &Serving, enter: impl FnMut(usize) -> C, is_served: impl Fn() -> bool) {
    let before = resident_kib(serving);
    let clients: Vec<C> = (0..CROWD).map(enter).collect();
    let began = Instant::now();
    assert!((0..10).all(|_| is_served()));
    assert!(began.elapsed() < DEADLINE, "it took {:?}", began.elapsed());
    let grown = resident_kib(serving).saturating_sub(before);
    assert!(grown < CROWD * CLIENT_KIB_MAX, "{grown} KiB for {CROWD} clients");
    println!("{grown} KiB for {CROWD} clients");
    drop(clients);
    assert!(is_served());
}

#[test]
fn ten_thousand_clients_hold_little_memory_and_hold_up_nobody() {
    let (_folder, serving) = serve_crowd("--http");
    let at = address(&serving);
    assert_eq!(get(&at, "/data/big", "").1.len(), BIG_BYTES);
    let enter = |number: usize| {
        let mut client = TcpStream::connect(&at).unwrap();
        // Some say nothing, some begin, and some take nothing of a large answer.
        let said =
            ["", "GET /data/big HTTP/1.1\r\nX: ", "GET /data/big HTTP/1.1\r\nHost: a\r\n\r\n"][number % 3];
        client.write_all(said.as_bytes()).unwrap();
        client
    };
    crowd(&serving, enter, || get(&at, "/-/data/sub/b.txt", "").1 == b"hello");
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn ten_thousand_clients_of_nfs_hold_little_memory_and_hold_up_nobody() {
    let (_folder, serving) = serve_crowd("--nfs");
    let at: SocketAddr = nfs::address(&serving).parse().unwrap();
    let big = Client::new(at).open("big");
    // So that it is in memory when the crowd comes.
    let mut client = Client::new(at);
    (0..BIG_BYTES as u64)
        .step_by(1 << 20)
        .for_each(|offset| assert!(client.read(&big, offset, 1 << 20).is_ok()));
    let enter = |number: usize| {
        let mut client = Client::new(at);
        match number % 3 {
            0 => {}
            // A part of the length of a call.
            1 => client.socket.write_all(&[0x80, 0]).unwrap(),
            _ => (0..12).for_each(|mib| {
                client.send_read(&big, mib << 20, 1 << 20);
            }),
        }
        client
    };
    crowd(&serving, enter, || {
        let mut client = Client::new(at);
        let file = client.open("sub/b.txt");
        client.read(&file, 0, 100).unwrap() == b"hello"
    });
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn clients_above_the_limit_wait_until_others_are_given_up() {
    let folder = files();
    let serving = serve("--http", &["--connections", "50", "--idle", "1s"], &folder.path().join("data"));
    let at = address(&serving);
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&at).unwrap()).collect();
    let began = Instant::now();
    assert_eq!(get(&at, "/data/sub/b.txt", "").1, b"hello");
    assert!(began.elapsed() < DEADLINE, "it took {:?}", began.elapsed());
    let mut first = &silent[0];
    first.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let read = first.read(&mut [0]);
    assert!(!read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "it was given up");
    assert_eq!(serving.end().0, Some(0));
}
