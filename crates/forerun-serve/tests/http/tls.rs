//! TLS.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use forerun_serve::Limits;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::certificates::Certificates;
use super::client::{Connection, connect};
use super::support::{MIB, Served, pattern};

fn serve(certificates: &Certificates, client_ca: bool, limits: Limits) -> Served {
    let tls = certificates.server(client_ca);
    Served::by(&[("a", pattern(3 * MIB, 1))], "", |server| server.with_limits(limits).with_tls(tls))
}

/// A client that begins TLS with its first bytes.
fn begin(served: &Served, config: ClientConfig) -> StreamOwned<ClientConnection, std::net::TcpStream> {
    let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(connection, connect(served.address))
}

#[test]
fn both_protocols_are_served_over_tls() {
    let certificates = Certificates::new();
    for client_ca in [false, true] {
        let served = serve(&certificates, client_ca, Limits::default());
        let mut client = Connection::over(Box::new(begin(&served, certificates.client(client_ca))));
        for path in ["/bucket/a", "/-/bucket/a"] {
            let reply = client.ask(&format!("GET {path}"));
            assert!(reply.status == 200 && reply.body == pattern(3 * MIB, 1), "{path}");
        }
    }
}

#[test]
fn clients_choose_a_version_of_http() {
    let certificates = Certificates::new();
    let served = serve(&certificates, false, Limits::default());
    for (offered, chosen) in [(&["h2", "http/1.1"][..], "h2"), (&["http/1.1"], "http/1.1")] {
        let mut config = certificates.client(false);
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let mut client = begin(&served, config);
        client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        assert_eq!(client.conn.alpn_protocol(), Some(chosen.as_bytes()));
    }
}

#[test]
fn clients_without_tls_or_a_certificate_are_not_served() {
    let certificates = Certificates::new();
    let served = serve(&certificates, true, Limits::default());
    let mut plain = connect(served.address);
    plain.write_all(b"GET /bucket/a HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let ended = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(!ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "the server is silent");
    let mut unknown = begin(&served, certificates.client(false));
    let sent = unknown.write_all(b"GET /bucket/a HTTP/1.1\r\nHost: test\r\n\r\n");
    let refused = sent.and_then(|()| unknown.read_exact(&mut [0; 4])).unwrap_err();
    assert_ne!(refused.kind(), ErrorKind::WouldBlock, "the server is silent");
    let mut known = Connection::over(Box::new(begin(&served, certificates.client(true))));
    assert_eq!(known.ask("HEAD /bucket/a").status, 200);
}

#[test]
fn a_client_that_does_not_begin_is_cut_off_and_holds_nobody_up() {
    let certificates = Certificates::new();
    let mut served = serve(&certificates, false, Limits::default().with_idle(Duration::from_secs(2)));
    let mut silent = connect(served.address);
    let mut client = Connection::over(Box::new(begin(&served, certificates.client(false))));
    assert_eq!(client.ask("HEAD /bucket/a").status, 200);
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "it is cut off");
    let _other = connect(served.address);
    served.running.stop();
    assert!(served.running.ends_within(Duration::from_secs(10)));
}
