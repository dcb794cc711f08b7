//! The demo's own requests to its store.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The store is on this machine: an answer that takes longer never comes.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    /// The status line and headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Sends one request, on a connection of its own. `headers` is empty, or lines that end in CR LF.
///
/// # Errors
/// If the connection fails or the answer is not HTTP.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &str,
) -> io::Result<HttpAnswer> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let text = format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(text.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    parse(answer)
        .ok_or_else(|| io::Error::other(format!("{address} does not answer {method} {target} in HTTP")))
}

fn parse(mut answer: Vec<u8>) -> Option<HttpAnswer> {
    let head_len = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let body = answer.split_off(head_len + 4);
    answer.truncate(head_len);
    let head = String::from_utf8(answer).ok()?.to_ascii_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(HttpAnswer { status, head, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let answer = parse(b"HTTP/1.1 206 Partial Content\r\nETag: \"A\"\r\n\r\n\r\n\r\nx".to_vec()).unwrap();
        assert_eq!(answer.status, 206);
        assert_eq!(answer.head, "http/1.1 206 partial content\r\netag: \"a\"");
        assert_eq!(answer.body, b"\r\n\r\nx");
        assert!(parse(b"SSH-2.0-OpenSSH\r\n".to_vec()).is_none());
        assert!(parse(Vec::new()).is_none());
    }
}
