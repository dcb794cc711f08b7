//! `forerun serve --memory auto` follows control groups of version 2.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::machine::Machine;
use super::support::others::run;
use super::support::pattern;
use super::support::program::{Ending, own_address};

const MIB: usize = 1 << 20;
/// More than the machine's groups have room for.
const SIZE: usize = 192 * MIB;
const STREAMS: usize = 24;
const READ_BYTES: usize = MIB / 2;
/// A reader that is not answered waits this long.
const PAUSE: Duration = Duration::from_millis(100);
/// How long data may take to follow. An emulated processor that others are busy beside is some ten times as slow as
/// a real one, where they have two seconds.
const FOLLOW_MS_MAX: u64 = 20_000;

/// An image of a file system with the program, the libraries that it needs, and a directory that it serves.
fn write_disk(folder: &Path, bytes: &[u8]) -> PathBuf {
    let (root, disk) = (folder.join("root"), folder.join("disk"));
    for name in ["data", "dev", "proc", "sys", "tmp"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("data/big.bin"), bytes).unwrap();
    let program = env!("CARGO_BIN_EXE_forerun");
    fs::copy(program, root.join("forerun")).unwrap();
    let libraries = run("ldd", &[program]);
    for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
        let copy = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
    run("mkfs.ext4", &["-q", "-d", root.to_str().unwrap(), disk.to_str().unwrap(), "512M"]);
    disk
}

/// An answer with the bytes of the file from `begin` on.
fn ask(address: &str, begin: usize) -> io::Result<BufReader<TcpStream>> {
    let mut stream = BufReader::new(TcpStream::connect(address)?);
    let range = format!("Range: bytes={begin}-");
    write!(stream.get_mut(), "GET /-/data/big.bin HTTP/1.1\r\nHost: {address}\r\n{range}\r\n\r\n")?;
    let head: io::Result<Vec<_>> =
        stream.by_ref().lines().take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).collect();
    let head = head?;
    // QEMU's network resets some connections of those that begin at once.
    let Some(status) = head.first() else { return Err(ErrorKind::ConnectionReset.into()) };
    assert!(status.contains("206"), "{head:?}");
    Ok(stream)
}

/// Reads `bytes` from a server over and over, from `begin` on, and compares them.
fn read(address: &str, bytes: &[u8], mut begin: usize, is_over: &AtomicBool, reads: &AtomicU64) {
    let mut piece = vec![0; READ_BYTES];
    while !is_over.load(Ordering::Relaxed) {
        let Ok(mut stream) = ask(address, begin) else {
            thread::sleep(PAUSE);
            continue;
        };
        for expected in bytes[begin..].chunks(READ_BYTES) {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let piece = &mut piece[..expected.len()];
            stream.read_exact(piece).unwrap();
            assert!(piece == expected, "wrong bytes after {begin}");
            reads.fetch_add(1, Ordering::Relaxed);
        }
        begin = 0;
    }
}

/// Whether data have followed a limit of 128 MiB, by what the machine tells under `name`.
fn check_halved(machine: &mut Machine, name: &str) {
    let told = machine.told(name);
    println!("{name}: {told}");
    let numbers: Vec<u64> = told.split(' ').map(|number| number.parse().unwrap()).collect();
    let [milliseconds, limit, used, current, killed] = numbers[..] else { panic!("{told}") };
    assert!(milliseconds <= FOLLOW_MS_MAX, "data follow {name} after {milliseconds} ms");
    assert!(used <= limit && limit <= 21 * MIB as u64, "{used} of {limit} bytes are used");
    assert!(current <= 128 * MIB as u64, "the group has {current} bytes");
    assert_eq!(killed, 0, "programs of the group were killed");
}

/// Follows the script to its end.
fn check(machine: &mut Machine) {
    for name in ["memory.high", "memory.max"] {
        check_halved(machine, name);
    }
    assert_eq!(machine.told("grown"), "raised");
    check_halved(machine, "memory.max");
    assert_eq!(machine.told("grown"), "again");
    assert_eq!(machine.told("grown"), "others");
    check_halved(machine, "memory.max");
    assert_eq!(machine.told("grown"), "moved");
    assert_eq!(machine.told("share"), SHARE);
    check_halved(machine, "memory.max");
    assert_eq!(machine.told("grown"), "container");
}

/// Eight ninths of what half of 256 MiB leaves after 40 MiB.
const SHARE: &str = "81788928";

#[test]
#[ignore = "needs a virtual machine, which `make memory-guest` makes"]
fn the_memory_follows_control_groups_of_version_2() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = pattern(SIZE, 1);
    let disk = write_disk(folder.path(), &bytes);
    let server = SocketAddr::from((own_address(), 9101));
    let mut machine = Machine::start(include_str!("memory.sh"), &[&disk], Some(server));
    assert_eq!(machine.told("share"), SHARE);
    let (address, is_over, reads) = (server.to_string(), AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        // It ends if an assertion fails, and then no reader waits for it.
        let mut machine = machine;
        // Also if an assertion fails.
        let ending = Ending(&is_over);
        let readers = (0..STREAMS).map(|stream| {
            let begin = stream * (SIZE / STREAMS);
            let (address, bytes, is_over, reads) = (&address, &bytes, &is_over, &reads);
            scope.spawn(move || read(address, bytes, begin, is_over, reads))
        });
        let readers: Vec<_> = readers.collect();
        check(&mut machine);
        drop(ending);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    println!("{} reads", reads.load(Ordering::Relaxed));
}
