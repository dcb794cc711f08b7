//! `forerun nbd`.

mod full;
mod images;
mod killed;

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Command;

use super::nbd_client::Client;
use super::numbers::{LIST, READ};
use super::serving::Serving;
use super::support::{DEADLINE, forerun, output, runtime};

/// A folder with two images, and a place for a socket.
fn images() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("images")).unwrap();
    fs::write(folder.path().join("images/a.img"), vec![1; 100_000]).unwrap();
    fs::write(folder.path().join("images/b.img"), vec![2; 5000]).unwrap();
    folder
}

fn names(socket: &Path) -> Vec<String> {
    let (answers, _) = Client::unix(socket).option(LIST, &[]);
    answers.into_iter().map(|(_, data)| String::from_utf8(data[4..].to_vec()).unwrap()).collect()
}

#[test]
fn images_are_served_until_a_signal_comes() {
    let folder = images();
    let socket = folder.path().join("nbd");
    let mut command = forerun();
    command.args(["nbd", "--memory", "16MiB", "--listen", "127.0.0.1:0", "--unix"]).arg(&socket);
    let serving = Serving::start(command.arg(folder.path().join("images")));
    for word in ["/images at nbd+unix:///?socket=", " and nbd://127.0.0.1:", "2 exports", "16 MiB"] {
        assert!(serving.greeting.contains(word), "{word} is not in {}", serving.greeting);
    }
    assert_eq!(names(&socket), ["a.img", "b.img"]);
    let mut client = Client::tcp(serving.address("nbd://"));
    assert_eq!(client.go("b.img").0, 5000);
    assert_eq!(client.read(0, 5000).unwrap(), vec![2; 5000]);
    client.request(READ, 0, 0, 5000);
    let (status, said) = serving.end();
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert!(!socket.exists());
}

#[test]
fn urls_have_names_and_share_the_memory() {
    let folder = images();
    let (socket, images) = (folder.path().join("nbd"), folder.path().join("images"));
    let mut command = forerun();
    command.args(["nbd", "--unix"]).arg(&socket);
    command.arg(images.join("b.img")).arg(format!("root={}", images.join("a.img").display()));
    let serving = Serving::start(command.arg(format!("all={}", images.display())));
    assert_eq!(names(&socket), ["b.img", "root", "all/a.img", "all/b.img"]);
    for (name, size) in [("", 5000), ("root", 100_000), ("all/b.img", 5000)] {
        assert_eq!(Client::unix(&socket).go(name).0, size, "{name}");
    }
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn what_is_read_ahead_is_explained() {
    let folder = images();
    let (socket, sockets) = (folder.path().join("nbd"), tempfile::tempdir().unwrap());
    let mut command = forerun();
    command.args(["nbd", "--unix"]).arg(&socket).arg(folder.path().join("images/a.img"));
    let serving = Serving::start(command.env("XDG_RUNTIME_DIR", sockets.path()));
    let mut client = Client::unix(&socket);
    client.go("a.img");
    assert!(client.read(0, 4096).is_ok());
    let pid = serving.child.id().to_string();
    let explained = output(forerun().args(["explain", &pid]).env("XDG_RUNTIME_DIR", sockets.path()));
    let text = String::from_utf8(explained.stdout).unwrap();
    assert!(text.contains("a.img on nbd+unix:///?socket="), "{text} {:?}", explained.stderr);
    assert!(text.contains("policy adaptive"), "{text}");
    drop(serving);
}

#[test]
fn the_service_manager_hands_sockets_over_and_is_told() {
    let folder = images();
    let (socket, notify) = (folder.path().join("nbd"), folder.path().join("notify"));
    let manager = UnixDatagram::bind(&notify).unwrap();
    manager.set_read_timeout(Some(DEADLINE)).unwrap();
    let notice = || {
        let mut bytes = [0; 4096];
        let len = manager.recv(&mut bytes).expect("a notice comes");
        String::from_utf8(bytes[..len].to_vec()).unwrap()
    };
    let listener = UnixListener::bind(&socket).unwrap();
    // The shell puts the socket where a service manager does, and keeps its process number.
    let mut command = Command::new("sh");
    let script = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"";
    command.stdin(OwnedFd::from(listener));
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_forerun"), "nbd"]);
    command.arg(folder.path().join("images/a.img")).env("NOTIFY_SOCKET", &notify);
    command.env("WATCHDOG_USEC", "200000").env("XDG_RUNTIME_DIR", runtime());
    let serving = Serving::start(&mut command);
    assert!(notice().starts_with("READY=1\nSTATUS="));
    assert_eq!(Client::unix(&socket).go("").0, 100_000);
    assert_eq!(notice(), "WATCHDOG=1");
    assert_eq!(serving.end().0, Some(0));
    let last = std::iter::repeat_with(notice).find(|notice| notice != "WATCHDOG=1");
    assert_eq!(last.unwrap(), "STOPPING=1\nSTATUS=answering the last requests");
    assert!(socket.exists(), "it belongs to the service manager");
}

#[test]
fn a_server_that_cannot_work_says_so_in_one_sentence() {
    let folder = images();
    let image = folder.path().join("images/a.img").display().to_string();
    let named = format!("x={image}");
    let images = folder.path().display().to_string();
    let socket = folder.path().join("nbd").display().to_string();
    let failures: [(&[&str], i32, &str); 15] = [
        (&[&image], 1, "give --unix PATH or --listen ADDR"),
        (&["--unix", &socket], 2, "<[NAME=]URL>"),
        (&["--unix", &socket, "=x"], 2, "NAME=URL"),
        (&["--unix", &socket, "/does/not/exist"], 1, "/does/not/exist"),
        (&["--unix", &image, &image], 1, "the socket"),
        (&["--unix", &socket, &named, &named], 1, "two exports are called \"x\""),
        (&["--unix", &socket, "--learn", "f", &image, &images], 1, "--learn has one file"),
        (&["--listen", "no such host", &image], 1, "give HOST or HOST:PORT"),
        (&["--unix", &socket, "--overlay", "o", "--writable", &image], 2, "cannot be used with"),
        (&["--unix", &socket, "--overlay", "o", &image, &named], 1, "--overlay has one file"),
        (&["--unix", &socket, "--overlay", "o", &images], 1, "name one object in it"),
        (&["--unix", &socket, "--overlay", &image, &image], 1, "is no overlay"),
        (&["--unix", &socket, "--writable", &images], 1, "name a local file"),
        (&["--unix", &socket, "--tls-certificate", &image, &image], 2, "--tls-key"),
        (
            &["--unix", &socket, "--tls-certificate", &image, "--tls-key", &image, &image],
            1,
            "no private key can be read",
        ),
    ];
    for (arguments, status, expected) in failures {
        let failed = output(forerun().arg("nbd").args(arguments));
        let said = String::from_utf8(failed.stderr).unwrap();
        assert_eq!(failed.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(status == 2 || said.lines().count() == 1, "{arguments:?}: {said}");
    }
    assert_eq!(fs::read(image).unwrap(), vec![1; 100_000], "no file is taken for a socket");
}
