//! Very many clients of one server.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::serve::{address, files, get};
use super::serving::Serving;
use super::support::{DEADLINE, own_address, runtime};

const CROWD: usize = 10_000;
/// The most memory for a client that takes no answer (docs/serve.md).
const CLIENT_KIB_MAX: usize = 64;

/// Serves `data` to clients of which each is an open file, of which the process is started with few.
fn serve(options: &[&str], data: &Path) -> Serving {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 500; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_forerun"), "serve"]);
    command.args(["--memory", "16MiB", "--http", &format!("{}:0", own_address())]).args(options).arg(data);
    Serving::start(command.env("XDG_RUNTIME_DIR", runtime()))
}

/// The memory of the server, in KiB.
fn resident_kib(serving: &Serving) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", serving.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn ten_thousand_clients_hold_little_memory_and_hold_up_nobody() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let files_max = limit.maximum.unwrap_or(u64::MAX) as usize;
    assert!(files_max > CROWD + 500, "the system allows {files_max} open files: raise it with `ulimit -Hn`");
    let folder = files();
    let data = folder.path().join("data");
    fs::write(data.join("big"), vec![3; 12 << 20]).unwrap();
    let serving = serve(&["--connections", "20000", "--idle", "600s"], &data);
    let at = address(&serving);
    assert_eq!(get(&at, "/data/big", "").1.len(), 12 << 20);
    let before = resident_kib(&serving);
    let clients: Vec<TcpStream> = (0..CROWD)
        .map(|number| {
            let mut client = TcpStream::connect(&at).unwrap();
            // Some say nothing, some begin, and some take nothing of a large answer.
            let said = ["", "GET /data/big HTTP/1.1\r\nX: ", "GET /data/big HTTP/1.1\r\nHost: a\r\n\r\n"]
                [number % 3];
            client.write_all(said.as_bytes()).unwrap();
            client
        })
        .collect();
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(get(&at, "/-/data/sub/b.txt", "").1, b"hello");
    }
    assert!(began.elapsed() < DEADLINE, "it took {:?}", began.elapsed());
    let grown = resident_kib(&serving).saturating_sub(before);
    assert!(grown < CROWD * CLIENT_KIB_MAX, "{grown} KiB for {CROWD} clients");
    println!("{grown} KiB for {CROWD} clients");
    drop(clients);
    assert_eq!(get(&at, "/data/sub/b.txt", "").1, b"hello");
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn clients_above_the_limit_wait_until_others_are_given_up() {
    let folder = files();
    let serving = serve(&["--connections", "50", "--idle", "1s"], &folder.path().join("data"));
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
