//! TLS.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use forerun_serve::Tls;
use forerun_serve::nbd::{Exports, Server, Source};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::certificates::Certificates;
use super::client::*;
use super::numbers::*;
use super::support::{MIB, Served, engine, pattern};

const ERR_TLS_REQD: u32 = 1 << 31 | 5;

/// A server that admits clients with a certificate only, if `client_ca`.
fn serve(certificates: &Certificates, client_ca: bool) -> Served {
    let (storage, forerun) = engine(16 << 20, &[("a", pattern(3 * MIB, 1))]);
    let exports = Exports::new(vec![Source::new(forerun.clone(), None)]);
    Served::by(storage, forerun, Server::new(exports).with_tls(certificates.server(client_ca)))
}

/// A socket that the tests use beside the client that has it.
#[derive(Clone)]
struct Shared(Arc<UnixStream>);

impl std::io::Read for Shared {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        (&*self.0).read(buf)
    }
}

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A client before TLS, and its socket.
fn connect(served: &Served) -> (Client, Shared) {
    let socket = Shared(Arc::new(super::client::connect(&served.socket)));
    (Client::greeted(Box::new(socket.clone()), 3), socket)
}

/// A client after TLS has begun.
fn encrypted(served: &Served, config: ClientConfig) -> Client {
    let (mut client, socket) = connect(served);
    assert_eq!(client.option(STARTTLS, &[]), (vec![], ACK));
    let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    client.socket = Box::new(StreamOwned::new(connection, socket));
    client
}

#[test]
fn everything_is_read_and_written_over_tls() {
    let certificates = Certificates::new();
    let bytes = pattern(3 * MIB, 1);
    for client_ca in [false, true] {
        let served = serve(&certificates, client_ca);
        let mut client = encrypted(&served, certificates.client(client_ca)).structured();
        assert_eq!(client.option(STARTTLS, &[]).1, ERR_INVALID, "it has begun");
        assert_eq!(client.option(LIST, &[]).0.len(), 1);
        client.go("a");
        assert!(client.read(0, 3 << 20).unwrap() == bytes);
        for number in 0..50 {
            assert!(client.read(number * 4096, 4096).unwrap() == bytes[number as usize * 4096..][..4096]);
        }
        client.request(DISCONNECT, 0, 0, 0);
        // A connection that is cut is an error of the client's TLS, and this is none.
        assert_eq!(client.socket.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn nothing_is_told_before_tls() {
    let certificates = Certificates::new();
    let served = serve(&certificates, false);
    let (mut client, _) = connect(&served);
    let asked: [(u32, Vec<u8>); 7] = [
        (LIST, vec![]),
        (GO, named("a", &[])),
        (INFO, named("none", &[])),
        (STRUCTURED_REPLY, vec![]),
        (SET_META_CONTEXT, vec![1, 2, 3]),
        (77, vec![]),
        (GO, vec![]),
    ];
    for (option, data) in asked {
        assert_eq!(client.option(option, &data), (vec![], ERR_TLS_REQD), "{option}");
    }
    assert_eq!(client.option(STARTTLS, &[1]).1, ERR_INVALID);
    assert_eq!(client.option(ABORT, &[]), (vec![], ACK));
    assert!(client.is_hung_up());
    let (mut old, _) = connect(&served);
    old.send_option(EXPORT_NAME, b"a");
    assert!(old.is_hung_up());
    // Requests that were sent before do not count as encrypted.
    let (mut early, _) = connect(&served);
    let head = |option: u32| [&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes(), &[0; 4]].concat();
    early.send(&[head(STARTTLS), head(LIST)].concat());
    assert_eq!(early.answer(STARTTLS).0, ACK);
    assert!(early.is_hung_up());
}

#[test]
fn clients_without_a_certificate_are_not_admitted_where_one_is_needed() {
    let certificates = Certificates::new();
    let served = serve(&certificates, true);
    let mut client = encrypted(&served, certificates.client(false));
    // TLS 1.3 tells a client of it after its first bytes.
    let head = [&OPTION_MAGIC.to_be_bytes()[..], &LIST.to_be_bytes(), &[0; 4]].concat();
    let sent = client.socket.write_all(&head);
    let refused = sent.and_then(|()| client.socket.read_exact(&mut [0; 20])).unwrap_err();
    assert_ne!(refused.kind(), ErrorKind::WouldBlock, "the server is silent");
    assert_eq!(encrypted(&served, certificates.client(true)).option(LIST, &[]).0.len(), 1);
}

#[test]
fn files_that_do_not_fit_are_told_by_name() {
    let certificates = Certificates::new();
    let [server, key, other, none] =
        ["server.pem", "server-key.pem", "client-key.pem", "none.pem"].map(|name| certificates.at(name));
    let failures = [
        (&none, &key, None, "none.pem"),
        (&server, &none, None, "none.pem"),
        (&key, &key, None, "no certificate can be read"),
        (&server, &server, None, "no private key can be read"),
        (&server, &other, None, "give both of one server"),
        (&server, &key, Some(&key), "no certificate can be read"),
    ];
    for (certificate, key, client_ca, expected) in failures {
        let error = Tls::load(certificate, key, client_ca.map(PathBuf::as_path)).unwrap_err();
        assert!(error.message.contains(expected), "{error}");
    }
}
