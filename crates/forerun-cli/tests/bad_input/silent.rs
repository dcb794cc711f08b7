//! A server that says nothing.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::program::DEADLINE;
use crate::support::{Mounted, mount};

/// Starts a server that tells the size of its files and never sends a byte. Returns its URL, and a
/// receiver that gets the waiting connection of each GET.
fn serve() -> (String, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (waiting, waits) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let waiting = waiting.clone();
            thread::spawn(move || answer_heads(connection.unwrap(), &waiting));
        }
    });
    (url, waits)
}

/// Answers the requests of `connection` until one wants more than a head.
fn answer_heads(connection: TcpStream, waiting: &Sender<TcpStream>) {
    let mut requests = BufReader::new(connection.try_clone().unwrap()).lines();
    while let Some(Ok(request)) = requests.next() {
        // The headers end with an empty line.
        requests.by_ref().find(|line| line.as_ref().is_ok_and(String::is_empty));
        if !request.starts_with("HEAD ") {
            // Nobody listens any more once the test is over.
            let _ = waiting.send(connection);
            return;
        }
        let head =
            "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n\r\n";
        (&connection).write_all(head.as_bytes()).unwrap();
    }
}

#[test]
fn a_mount_ends_at_once_although_a_reader_waits() {
    let (url, waits) = serve();
    let mounted = Mounted::start(mount(&[&url]));
    let mut cat = Command::new("cat");
    let cat = cat.arg(mounted.at("file")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let waiting = waits.recv_timeout(DEADLINE).expect("the mount asks for the bytes that cat reads");

    let began = Instant::now();
    mounted.end();
    assert!(began.elapsed() < Duration::from_secs(10), "it took {:?}", began.elapsed());
    let cat = cat.wait_with_output().unwrap();
    assert!(!cat.status.success(), "{cat:?}");
    drop(waiting);
}
