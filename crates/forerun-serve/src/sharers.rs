//! The clients that share the storage. Each front end names them, and the engine numbers them.
//!
//! A mount has a client for each user, and a disk server one for each export. S3 and HTTP know a client by its credentials,
//! or else by its host, as NFS does.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use forerun::ClientId;

/// The client called `name`, which every engine knows by the same number.
///
/// The name is the number of a user (mounts), or the name of an export (NBD). It is an access key (S3), the user of a
/// password (HTTP), or the address of a host without its port.
pub fn client_of(name: &str) -> ClientId {
    match name.parse() {
        Ok(address) => numbered(&host(address)),
        Err(_) => numbered(&name),
    }
}

/// A host with IPv6 has many addresses: all of a network are one client. Sockets of both families show addresses of IPv4
/// as those of IPv6.
fn host(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

fn numbered<T: Hash>(what: &T) -> ClientId {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    ClientId(hasher.finish())
}

/// The client at `peer`. All clients of a Unix socket are one.
pub(crate) fn client_at(peer: Option<SocketAddr>) -> ClientId {
    peer.map_or_else(ClientId::default, |peer| numbered(&host(peer.ip())))
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
        assert_eq!(at("[2001:db8::1]:700"), at("[2001:db8::ffff:1]:800"));
        assert_eq!(at("[2001:db8::1]:700"), client_of("2001:DB8:0::7"));
        assert_ne!(at("[2001:db8::1]:700"), at("[2001:db8:0:1::1]:700"));
        assert_eq!(client_at(None), ClientId::default());
    }
}
