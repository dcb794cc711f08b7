//! A web server whose answers a test writes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// An empty directory.
pub(crate) const EMPTY_PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n";

/// Starts a server that answers each request, given as the lines of its head, with what `answer` makes
/// of it. Returns its address.
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

fn serve_connection(mut connection: TcpStream, answer: impl Fn(&str) -> String) {
    let mut head = String::new();
    for line in BufReader::new(connection.try_clone().unwrap()).lines() {
        let Ok(line) = line else { break };
        if !line.is_empty() {
            head += &format!("{line}\n");
        } else if connection.write_all(answer(&std::mem::take(&mut head)).as_bytes()).is_err() {
            break;
        }
    }
}
