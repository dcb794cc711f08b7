//! A web server of any number of objects.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

const OBJECT_BYTES: usize = 4096;
/// The number of objects in a directory.
const DIRECTORY_OBJECTS: u64 = 1000;

/// The path of object number `index`.
pub(super) fn name(index: u64) -> String {
    format!("{:05}/{:03}", index / DIRECTORY_OBJECTS, index % DIRECTORY_OBJECTS)
}

/// The content of object number `index`.
pub(super) fn bytes(index: u64) -> Vec<u8> {
    let word = |at: u64| (index * OBJECT_BYTES as u64 + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..OBJECT_BYTES as u64 / 8).flat_map(|at| word(at).to_le_bytes()).collect()
}

/// Serves until this process ends.
///
/// # Errors
/// If no port is free.
pub(super) fn start() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up ends its connection with an error; nothing else does.
            thread::spawn(|| serve(stream));
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(request) = lines.next() {
        let request = request?;
        // Reads all headers, so that the next line is the next request.
        let headers: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let is_part = headers.iter().any(|line| line.to_ascii_lowercase().starts_with("range:"));
        stream.write_all(&answer(&request, is_part))?;
    }
    Ok(())
}

/// An object is smaller than one request of the mount.
fn answer(request: &str, is_part: bool) -> Vec<u8> {
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let (kind, body) = match index_of(path) {
        Some(index) => ("application/octet-stream", bytes(index)),
        None if path.ends_with('/') => ("text/html", b"<html></html>".to_vec()),
        None => return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    };
    let len = body.len();
    let status = match is_part && method == "GET" {
        true => format!("206 Partial Content\r\nContent-Range: bytes 0-{}/{len}", len - 1),
        false => "200 OK".to_owned(),
    };
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nAccept-Ranges: bytes\r\nETag: \"1\"\r\nContent-Type: {kind}\r\n\
         Content-Length: {len}\r\n\r\n"
    )
    .into_bytes();
    if method != "HEAD" {
        answer.extend(body);
    }
    answer
}

fn index_of(path: &str) -> Option<u64> {
    let (directory, object) = path.strip_prefix('/')?.split_once('/')?;
    let (directory, object) = (directory.parse::<u64>().ok()?, object.parse::<u64>().ok()?);
    Some(directory * DIRECTORY_OBJECTS + object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_objects() {
        for index in [0, 999, 1000, 999_999] {
            assert_eq!(index_of(&format!("/{}", name(index))), Some(index));
        }
        assert_eq!(index_of("/00001/"), None);
        assert_ne!(bytes(1), bytes(2));
    }
}
