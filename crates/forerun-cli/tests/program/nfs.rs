//! `forerun serve --nfs`.

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::Command;

use nfs3_types::nfs3::nfsstat3;

use super::nfs_client::Client;
use super::serve::{files, get};
use super::serving::Serving;
use super::support::{forerun, output, runtime};

/// The address in a greeting.
pub(crate) fn address(serving: &Serving) -> String {
    serving.greeting.split("nfs://").last().unwrap().split(' ').next().unwrap().to_owned()
}

#[test]
fn exports_are_served_beside_buckets_and_handles_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(data.join("sub")).unwrap();
    fs::write(data.join("sub/a.bin"), vec![7; 3_000_000]).unwrap();
    std::os::unix::fs::symlink("sub/a.bin", data.join("link")).unwrap();
    let serve = |nfs: &str, options: &[&str]| {
        let mut command = forerun();
        command
            .args(["serve", "--memory", "16MiB", "--metadata-ttl", "0s", "--nfs", nfs])
            .args(options)
            .arg(&data);
        Serving::start(&mut command)
    };
    let first = serve("127.0.0.1:0", &["--http", "127.0.0.1:0"]);
    for words in [" at http://127.0.0.1:", " and nfs://127.0.0.1:", "(buckets data, "] {
        assert!(first.greeting.contains(words), "{}", first.greeting);
    }
    let at = address(&first);
    let mut client = Client::new(at.parse().unwrap());
    let file = client.open("sub/a.bin");
    let before = client.attributes(&file).unwrap();
    assert_eq!(client.mount("/"), client.mount("/data"), "it is the only export");
    assert_eq!(client.read(&file, 2_999_000, 1 << 20).unwrap(), [7; 1000]);
    drop(client);
    assert_eq!(first.end(), (Some(0), String::new()));

    let second = serve(&at, &[]);
    let mut client = Client::new(at.parse().unwrap());
    assert_eq!(client.read(&file, 0, 4096).unwrap(), [7; 4096]);
    let after = client.attributes(&file).unwrap();
    assert_eq!((after.fileid, after.mtime), (before.fileid, before.mtime));
    fs::write(data.join("sub/a.bin"), b"other").unwrap();
    assert_eq!(client.attributes(&file).unwrap_err(), nfsstat3::NFS3ERR_STALE);
    let file = client.open("sub/a.bin");
    assert_eq!(client.read(&file, 0, 100).unwrap(), b"other");
    assert_eq!(second.end().0, Some(0));
}

/// The service manager names each socket.
#[test]
fn sockets_of_a_service_manager_serve_the_protocol_that_they_are_named_for() {
    let folder = files();
    let [web, nfs] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [at_web, at_nfs] = [&web, &nfs].map(|listener| listener.local_addr().unwrap());
    // The shell puts the sockets where a service manager does, and keeps its process number.
    let script =
        "exec 3<&0 4<&1 </dev/null >/dev/null; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=web:nfs exec \"$@\"";
    let mut command = Command::new("sh");
    command.stdin(OwnedFd::from(web)).stdout(OwnedFd::from(nfs)).env("XDG_RUNTIME_DIR", runtime());
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_forerun"), "serve"]);
    let serving = Serving::start(command.arg(folder.path().join("data")));
    let places = format!(" at http://{at_web} and nfs://{at_nfs} (");
    assert!(serving.greeting.contains(&places), "{}", serving.greeting);
    assert_eq!(get(&at_web.to_string(), "/data/sub/b.txt", "").1, b"hello");
    let mut client = Client::new(at_nfs);
    let file = client.open("sub/b.txt");
    assert_eq!(client.read(&file, 0, 100).unwrap(), b"hello");
    drop(client);
    assert_eq!(serving.end(), (Some(0), String::new()));
}

#[test]
fn other_computers_read_only_if_a_user_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let named = format!("My_Files={}", folder.path().display());
    let said = |arguments: &[&str]| {
        let refused = output(forerun().args(["serve", "--nfs", "0.0.0.0:0"]).args(arguments));
        assert!(!refused.status.success(), "{arguments:?}");
        String::from_utf8(refused.stderr).unwrap()
    };
    assert!(said(&[&named]).contains("NFS has no credentials: give --public"));
    assert!(said(&["--http", "127.0.0.1:0", "--public", &named]).contains("no bucket can be called"));
    let public = Serving::start(forerun().args(["serve", "--nfs", "0.0.0.0:0", "--public", &named]));
    assert!(public.greeting.contains("(buckets My_Files, "), "{}", public.greeting);
    assert_eq!(public.end().0, Some(0));
}
