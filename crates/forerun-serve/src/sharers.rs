//! The clients that share the storage. Each front end names them, and the engine numbers them.
//!
//! A mount has a client for each user, and a disk server one for each export. S3 and HTTP know a client by its credentials,
//! or else by its host, as NFS does.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use forerun::ClientId;

/// The client called `name`, which every engine knows by the same number.
///
/// The name is the number of a user (mounts), or the name of an export (NBD). It is an access key (S3), the user of a
/// password (HTTP), or the address of a host without its port.
pub fn client_of(name: &str) -> ClientId {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    ClientId(hasher.finish())
}

/// The client at `peer`. All clients of a Unix socket are one.
pub(crate) fn client_at(peer: Option<SocketAddr>) -> ClientId {
    // A socket of both families shows addresses of IPv4 as those of IPv6.
    peer.map_or_else(ClientId::default, |peer| client_of(&peer.ip().to_canonical().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_one_client_whatever_its_port_and_family() {
        let at = |peer: &str| client_at(Some(peer.parse().unwrap()));
        assert_eq!(at("192.0.2.1:700"), at("[::ffff:192.0.2.1]:800"));
        assert_eq!(at("192.0.2.1:700"), client_of("192.0.2.1"));
        assert_ne!(at("192.0.2.1:700"), at("192.0.2.2:700"));
        assert_eq!(client_at(None), ClientId::default());
    }
}
