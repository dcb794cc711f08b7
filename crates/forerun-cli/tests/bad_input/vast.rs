//! A file as large as file systems can say.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::thread;

use crate::support::{Mounted, mount};

const SIZE: u64 = i64::MAX as u64;
const PAGE_BYTES: u64 = 4096;

fn byte(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// Answers requests for a file of [`SIZE`] bytes until the client closes the connection.
fn serve(stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut stream = stream;
    while let Some(request) = lines.next() {
        let is_head = request?.starts_with("HEAD");
        let mut range = None;
        for line in lines.by_ref() {
            let line = line?.to_ascii_lowercase();
            if let Some((first, last)) = line.strip_prefix("range: bytes=").and_then(|it| it.split_once('-'))
            {
                range = Some((first.parse::<u64>().unwrap(), last.parse::<u64>().unwrap()));
            }
            if line.is_empty() {
                break;
            }
        }
        let common = "Accept-Ranges: bytes\r\nETag: \"vast\"\r\n";
        let (first, last) = range.filter(|_| !is_head).unwrap_or((0, SIZE - 1));
        let (len, total) = (last - first + 1, SIZE);
        match range {
            Some(_) if !is_head => write!(
                stream,
                "HTTP/1.1 206 Part\r\n{common}Content-Range: bytes {first}-{last}/{total}\r\nContent-Length: {len}\r\n\r\n"
            )?,
            _ => write!(stream, "HTTP/1.1 200 OK\r\n{common}Content-Length: {len}\r\n\r\n")?,
        }
        for start in (first..=last).step_by(1 << 16).take_while(|_| !is_head) {
            let piece: Vec<u8> = (start..=last.min(start + 0xffff)).map(byte).collect();
            stream.write_all(&piece)?;
        }
    }
    Ok(())
}

/// The URL of a server that runs as long as this process.
fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        // A client that goes away ends its connection with an error, and nothing else.
        listener.incoming().flatten().for_each(|stream| _ = thread::spawn(|| serve(stream)));
    });
    format!("http://{address}/vast")
}

#[test]
fn the_largest_file_is_read_to_its_end() {
    let mounted = Mounted::start(mount(&["--memory", "16MiB", &start()]));
    let file = File::open(mounted.at("vast")).unwrap();
    assert_eq!(file.metadata().unwrap().size(), SIZE);
    let last_page = SIZE / PAGE_BYTES;
    let check = |offset: u64, len: usize| {
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, offset).unwrap();
        let wanted: Vec<u8> = (offset..offset + len as u64).map(byte).collect();
        assert!(bytes == wanted, "{len} bytes at {offset} differ");
    };
    for middle in [1 << 62, 1 << 61, 1 << 32] {
        (0..64).for_each(|page| check(middle - 32 * PAGE_BYTES + page * PAGE_BYTES, PAGE_BYTES as usize));
    }
    // Up to the end, down from it, and in steps.
    (1..=64).rev().for_each(|page| check((last_page - page) * PAGE_BYTES, PAGE_BYTES as usize));
    check(last_page * PAGE_BYTES, PAGE_BYTES as usize - 1);
    (100..=164).for_each(|page| check((last_page - page) * PAGE_BYTES, PAGE_BYTES as usize));
    (1..=16).rev().for_each(|step| check(SIZE - step * (1 << 20), 100));
    (1..=8).for_each(|step| check(SIZE - step * (1 << 59), 100));
    check(SIZE - 1, 1);
}
