//! A web server with answers that a test writes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts a server that passes each request, as its head, an empty line and its body, to `answer`.
/// Returns its address.
pub(crate) fn serve(answer: impl Fn(&str) -> String + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (connection, answer) = (connection.unwrap(), answer.clone());
            thread::spawn(move || serve_connection(connection, answer));
        }
    });
    address.to_string()
}

fn serve_connection(mut connection: TcpStream, answer: impl Fn(&str) -> String) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    loop {
        let (mut request, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|len| *len > 0)?;
            request += &line.replace('\r', "");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        request += &String::from_utf8_lossy(&body);
        connection.write_all(answer(&request).as_bytes()).ok()?;
    }
}

/// An answer with a body.
pub(crate) fn reply(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}
