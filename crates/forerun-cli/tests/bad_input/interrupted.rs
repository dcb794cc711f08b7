//! Programs that are killed, and mounts that are ended, while a server does not answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::support::program::{DEADLINE, send, unmount};
use crate::support::{Mounted, mount};

/// How long the end of a program may take that ended after minutes, or never.
const AT_ONCE: Duration = Duration::from_secs(10);
/// The limit for the end of a fetch that nobody needs. It is less than the 10 s after which a
/// silent body is asked for again.
const FETCH_ENDS: Duration = Duration::from_secs(7);
const LIST: &str = "<a href=\"one\">one</a><a href=\"two\">two</a>";

/// A server that answers nothing but questions about the size of files.
struct Silent {
    url: String,
    /// Requests that wait for an answer.
    waiting: Receiver<(String, TcpStream)>,
}

impl Silent {
    fn start() -> Silent {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (waits, waiting) = mpsc::channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let waits = waits.clone();
                thread::spawn(move || answer(connection.unwrap(), &waits));
            }
        });
        Silent { url, waiting }
    }

    /// Mounts it, with a mount that believes nothing for long and waits as long as it must.
    fn mount(&self) -> Mounted {
        Mounted::start(mount(&["--metadata-ttl", "0s", "--retry-timeout", "forever", &self.url]))
    }

    /// A request for `path` that waits for an answer.
    fn until_asked_for(&self, path: &str) -> TcpStream {
        loop {
            let (request, connection) =
                self.waiting.recv_timeout(DEADLINE).expect("the mount asks the server");
            if request.split(' ').nth(1) == Some(path) {
                return connection;
            }
        }
    }
}

/// Answers the requests of `connection` until one is not to be answered.
fn answer(mut connection: TcpStream, waits: &Sender<(String, TcpStream)>) {
    let mut requests = BufReader::new(connection.try_clone().unwrap()).lines();
    while let Some(Ok(request)) = requests.next() {
        requests.by_ref().find(|line| line.as_ref().is_ok_and(String::is_empty));
        if !request.starts_with("HEAD ") || request.contains("hidden") {
            // Nobody listens any more once the test is over.
            let _ = waits.send((request, connection));
            return;
        }
        let head =
            "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n\r\n";
        connection.write_all(head.as_bytes()).unwrap();
    }
}

/// Starts `command` with what it says in pipes.
fn start(command: &mut Command) -> Child {
    heed_interrupts();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Tests in the background of a script ignore SIGINT, and so would the programs that they start. A
/// handler is not inherited: with one, programs begin with the default.
fn heed_interrupts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let _context = runtime.enter();
        drop(signal(SignalKind::interrupt()).unwrap());
    });
}

/// The signal that ended `child`, if it ends at once.
fn signal_that_ended(mut child: Child) -> Option<i32> {
    let (ended, end) = mpsc::channel();
    let pid = child.id();
    thread::spawn(move || ended.send(child.wait().unwrap()));
    let status = end.recv_timeout(AT_ONCE).unwrap_or_else(|_| {
        let of = |what: &str| std::fs::read_to_string(format!("/proc/{pid}/{what}")).unwrap_or_default();
        panic!("it still waits: {}\n{}\n{}", of("cmdline"), of("status"), of("stack"));
    });
    status.signal()
}

#[test]
fn a_killed_program_ends_whatever_it_waits_for_and_the_mount_can_be_unmounted() {
    let server = Silent::start();
    let mounted = server.mount();
    let input = |name: &str| format!("if={}", mounted.at(name).display());
    for signal in [Signal::KILL, Signal::INT] {
        let name = |what: &str| format!("{what}-{}", signal.as_raw());
        let (hidden, read, direct) = (name("hidden"), name("read"), name("direct"));
        for (path, command) in [
            ("", Command::new("ls").arg(mounted.directory())),
            (&*hidden, Command::new("stat").arg(mounted.at(&hidden))),
            (&*read, Command::new("cat").arg(mounted.at(&read))),
            // It handles SIGINT, and ends by itself.
            (&*direct, Command::new("dd").args(["iflag=direct", "of=/dev/null"]).arg(input(&direct))),
        ] {
            let child = start(command);
            let mut waiting = server.until_asked_for(&format!("/{path}"));
            send(child.id(), signal);
            assert_eq!(signal_that_ended(child), Some(signal.as_raw()), "{command:?}");
            if [&read, &direct].contains(&&path.to_owned()) {
                // Nobody has the file open any more.
                waiting.set_read_timeout(Some(FETCH_ENDS)).unwrap();
                assert_eq!(waiting.read(&mut [0]).expect("the fetch is cancelled"), 0);
            }
        }
    }
    unmount(mounted.directory());
    mounted.ended();
}

#[test]
fn a_signal_that_a_program_handles_does_not_fail_its_calls() {
    let server = Silent::start();
    let mounted = server.mount();
    // The shell itself lists the directory.
    let script = "trap 'echo caught >&2' USR1; cd \"$1\"; echo ready; echo *";
    let list = |directory: &Mounted| {
        let mut shell = start(Command::new("bash").args(["-c", script, "bash"]).arg(directory.at("")));
        let mut ready = [0; 6];
        shell.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        (shell, server.until_asked_for("/"))
    };

    let (shell, mut waiting) = list(&mounted);
    for _ in 0..3 {
        send(shell.id(), Signal::USR1);
    }
    // As long as an interrupted wait goes on where nobody can tell whether the signal is handled.
    thread::sleep(Duration::from_secs(1));
    let length = LIST.len();
    // Nobody answers further requests on this connection.
    let head = format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{LIST}"
    );
    waiting.write_all(head.as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "one two\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "caught\n");

    // The kernel tells of the first signal only.
    let (shell, _waiting) = list(&mounted);
    send(shell.id(), Signal::USR1);
    send(shell.id(), Signal::KILL);
    assert_eq!(signal_that_ended(shell), Some(Signal::KILL.as_raw()));
    mounted.end();
}

#[test]
fn the_end_of_a_mount_is_an_error_for_all_who_wait() {
    let server = Silent::start();
    let mounted = server.mount();
    let mut reader = start(Command::new("cat").arg(mounted.at("file")));
    let first = server.until_asked_for("/file");
    reader.kill().unwrap();
    reader.wait().unwrap();
    let list = start(Command::new("ls").arg(mounted.at("")));
    let second = server.until_asked_for("/");
    let read = start(Command::new("cat").arg(mounted.at("other")));
    let third = server.until_asked_for("/other");
    // The shell of somebody who is there.
    let mut shell = Command::new("sleep");
    let inside = start(shell.arg("100").current_dir(mounted.directory()));

    let asked = Instant::now();
    let said = mounted.end();
    assert!(asked.elapsed() < AT_ONCE, "it took {:?}: {said}", asked.elapsed());
    assert!(said.contains("was in use"), "{said}");
    // The program that ended the mount knows why.
    assert!(!said.contains("WARN"), "{said}");
    for waiting in [list, read] {
        let output = waiting.wait_with_output().unwrap();
        assert!(output.status.code().is_some_and(|code| code > 0), "{output:?}");
    }
    send(inside.id(), Signal::KILL);
    assert_eq!(signal_that_ended(inside), Some(Signal::KILL.as_raw()));
    drop((first, second, third));
}
