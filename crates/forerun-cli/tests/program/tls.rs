//! Servers over TLS.

use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;

use rustix::process::Signal;
use rustls::{ClientConnection, StreamOwned};

use super::certificates::Certificates;
use super::serve::{files, get_over, serve};
use super::service::notice;
use super::serving::Serving;
use super::support::send;

/// A connection of a client that believes the authority of `certificates`.
fn begin(at: &str, certificates: &Certificates) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let config = Arc::new(certificates.client(false));
    let mut connection = ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let mut stream = TcpStream::connect(at)?;
    connection.complete_io(&mut stream)?;
    Ok(StreamOwned::new(connection, stream))
}

#[test]
fn a_hangup_has_the_certificate_read_again_and_a_broken_one_changes_nothing() {
    let [old, new] = [(); 2].map(|()| Certificates::new());
    let folder = files();
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    let [certificate, key] = ["server.pem", "server-key.pem"].map(|name| old.at(name));
    let options = ["--tls-certificate", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let data = folder.path().join("data");
    let mut command = serve(&options, &[data.to_str().unwrap()]);
    let serving = Serving::start(command.env("NOTIFY_SOCKET", &socket));
    let at = serving.greeting.split("https://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(notice(&manager).starts_with("READY=1\n"));
    let hang_up = || {
        send(serving.child.id(), Signal::HUP);
        assert_eq!(notice(&manager), "RELOADING=1\nSTATUS=reading the certificate");
        assert!(notice(&manager).starts_with("READY=1\n"));
    };
    let read = |certificates: &Certificates| {
        let stream = begin(&at, certificates)?;
        assert_eq!(get_over(stream, &at, "/data/sub/b.txt", "").1, b"hello");
        io::Result::Ok(())
    };
    read(&old).unwrap();

    // A certificate whose key is not there yet.
    fs::copy(new.at("server.pem"), &certificate).unwrap();
    hang_up();
    read(&old).unwrap();
    assert!(read(&new).is_err(), "it has no key");

    let begun = begin(&at, &old).unwrap();
    fs::copy(new.at("server-key.pem"), &key).unwrap();
    hang_up();
    read(&new).unwrap();
    assert!(read(&old).is_err(), "it was replaced");
    assert_eq!(get_over(begun, &at, "/data/sub/b.txt", "").1, b"hello");

    let (status, said) = serving.end();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((status, lines.len()), (Some(0), 2), "{said}");
    assert!(lines[0].contains("the old certificate stays: the certificate "), "{said}");
    assert!(lines[1].contains("the certificate is read again"), "{said}");
}
