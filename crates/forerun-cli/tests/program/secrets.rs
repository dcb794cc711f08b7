//! Passwords and signatures in URLs are shown nowhere.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Instant;

use rustix::process::{PidfdFlags, Signal, pidfd_open};

use super::answers::{reply, serve};
use super::daemon::{Leftovers, daemon_of, wait_for_end};
use super::explain::{folders, in_runtime, run, start};
use super::support::{DEADLINE, Foreground, cat, forerun, output, unmount};

/// The command line of `process`, as other users see it.
fn title(process: u32) -> String {
    String::from_utf8(fs::read(format!("/proc/{process}/cmdline")).unwrap()).unwrap()
}

/// Waits until `process` has hidden its secret: between its start and that, other users may see it.
fn check_title(process: u32) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let title = title(process);
        if title.contains("http://127.0.0.1") && !title.contains("secret") {
            break;
        }
        assert!(Instant::now() < deadline, "{title:?}");
    }
}

#[test]
fn passwords_are_shown_nowhere() {
    let [runtime, _, directory] = folders();
    let runtime = runtime.path();
    let address = serve(|_| reply("200 OK", "text/html", ""));
    let url = format!("http://user:secret@{address}/");
    let mount = start(runtime, Path::new(&url), directory.path());
    let place = directory.path().to_str().unwrap();
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let other = format!("http://user:secret@{address}/other/");
    let said = [&[place][..], &["--json", place], &[&url], &["elsewhere"], &[&other]]
        .map(|target| run(runtime, target));
    assert!(said[..3].iter().all(|(code, ..)| *code == Some(0)), "{said:?}");
    assert!(said[0].1.contains(&format!("http://{address}/")), "{said:?}");
    let title = title(mount.id());
    let arguments: Vec<&str> = title.split_terminator('\0').collect();
    assert_eq!(arguments[1..], ["mount", &format!("{:1$}", format!("http://{address}/"), url.len()), place]);
    mount.signal(Signal::TERM);
    let (_, log) = mount.end();
    for text in [mounts, log, format!("{said:?}")] {
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn signatures_are_not_even_in_the_whole_log() {
    let [runtime, _, directory] = folders();
    let signed = "X-Amz-Signature=secret";
    let address = serve(move |head| match head.split(' ').nth(1).unwrap() {
        "/object?X-Amz-Signature=secret" => {
            format!("HTTP/1.1 302 Found\r\nLocation: /there?{signed}\r\nContent-Length: 0\r\n\r\n")
        }
        "/there?X-Amz-Signature=secret" if head.contains("range: bytes=1-1") => {
            "HTTP/1.1 206 Partial\r\nContent-Range: bytes 1-1/2\r\nContent-Length: 1\r\n\r\ny".to_owned()
        }
        "/there?X-Amz-Signature=secret" if head.starts_with("HEAD") => {
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_owned()
        }
        "/there?X-Amz-Signature=secret" => {
            "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-1/2\r\nContent-Length: 2\r\n\r\nxy".to_owned()
        }
        _ => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
    });
    let url = format!("http://{address}/object?{signed}");
    let log = runtime.path().join("log");
    let mut command = in_runtime(runtime.path());
    command.args(["mount", "-vvv", "--log"]).arg(&log).arg(&url).arg(directory.path());
    let mount = Foreground::start(&mut command, directory.path());
    assert_eq!(cat(&directory.path().join("object")), b"xy");
    let shown = title(mount.id());
    mount.signal(Signal::TERM);
    let (_, said) = mount.end();
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("DEBUG"), "{log}");
    for text in [log, said, shown] {
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn neither_a_daemon_nor_the_command_that_waits_for_it_shows_the_password() {
    let directory = tempfile::tempdir().unwrap();
    let (release, released) = mpsc::channel::<()>();
    let released = std::sync::Arc::new(std::sync::Mutex::new(released));
    let address = serve(move |_| {
        // Until the test has seen the command: it waits for the daemon, which waits for this.
        let _ = released.lock().unwrap().recv();
        reply("200 OK", "text/html", "")
    });
    let _leftovers = Leftovers(directory.path());
    let mut command = forerun();
    command.args(["mount", "--daemon", &format!("http://user:secret@{address}/")]).arg(directory.path());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    check_title(child.id());
    drop(release);
    let output = child.wait().unwrap();
    assert!(output.success(), "{output:?}");
    let daemon = daemon_of(directory.path());
    check_title(daemon.as_raw_nonzero().get() as u32);
    let process = pidfd_open(daemon, PidfdFlags::empty()).unwrap();
    unmount(directory.path());
    wait_for_end(&process);
}

#[test]
fn complaints_about_arguments_repeat_them_without_the_password() {
    let url = "http://user:secret@host/";
    for (arguments, complaint) in [
        (&[url, "/mnt"][..], "unrecognized subcommand 'http://host/'"),
        (&["mount", url, "/mnt", url], "unexpected argument 'http://host/'"),
        (&["mount", "--memory", url, url, "/mnt"], "invalid value 'http://host/'"),
    ] {
        let output = output(forerun().args(arguments));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(complaint) && !said.contains("secret"), "{said}");
    }
}
