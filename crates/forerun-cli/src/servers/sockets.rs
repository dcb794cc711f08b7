//! The sockets that a server listens at.

use std::env;
use std::error::Error;
use std::iter;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;

use forerun_serve::{Listener, Place};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::mount::place::inherit;

/// The first of the sockets that a service manager hands over (sd_listen_fds(3)).
const FIRST_INHERITED: RawFd = 3;

/// A socket that a service manager has opened.
pub(crate) struct Inherited {
    socket: OwnedFd,
    /// Its `FileDescriptorName`. A service manager that gives none leaves it empty.
    pub(crate) name: String,
}

/// The sockets that a service manager has opened. Called before this program opens any descriptor.
///
/// # Errors
/// If one is not there.
pub(crate) fn inherited() -> Result<Vec<Inherited>, Box<dyn Error>> {
    let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names = names.split(':').chain(iter::repeat(""));
    let numbers = FIRST_INHERITED..FIRST_INHERITED + inherited_count();
    numbers
        .zip(names)
        .map(|(number, name)| Ok(Inherited { socket: inherit(number)?, name: name.to_owned() }))
        .collect()
}

/// Lets this process open as many files as the system allows it. Each client is one.
pub(crate) fn allow_many_clients() {
    let limit = getrlimit(Resource::Nofile);
    // Where the system refuses, clients wait until others have left.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The name of a socket to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketName<'a> {
    Path(&'a Path),
    /// An address, and its port unless it names one.
    Tcp(&'a str, u16),
}

impl SocketName<'_> {
    /// Whether its address is known here.
    ///
    /// # Errors
    /// The form of an address.
    pub(super) fn check(self) -> Result<(), String> {
        match self {
            SocketName::Path(_) => Ok(()),
            SocketName::Tcp(text, port) => resolve(text, port).map(drop),
        }
    }
}

/// The socket that `text` names: `unix:PATH`, or a TCP address with `port` unless it has one.
pub(crate) fn at(text: &str, port: u16) -> SocketName<'_> {
    match text.strip_prefix("unix:") {
        Some(path) => SocketName::Path(Path::new(path)),
        None => SocketName::Tcp(text, port),
    }
}

/// The place of a server that `scheme` names in a URL, for users.
pub(crate) fn shown(scheme: &str, place: &Place) -> String {
    match place {
        Place::Tcp(address) => format!("{scheme}://{address}"),
        Place::Unix(path) => format!("unix:{}", path.display()),
    }
}

/// The `inherited` sockets, and those that are `wanted`. Called within a runtime.
///
/// # Errors
/// If one cannot be used.
pub(crate) async fn listeners<'a>(
    inherited: Vec<Inherited>,
    wanted: impl IntoIterator<Item = SocketName<'a>>,
) -> Result<Vec<Listener>, Box<dyn Error>> {
    let mut listeners = Vec::new();
    for Inherited { socket, .. } in inherited {
        listeners.push(Listener::inherited(socket).map_err(|error| {
            format!("a descriptor of LISTEN_FDS cannot be used: {error}; hand over sockets that listen")
        })?);
    }
    for wanted in wanted {
        listeners.push(listener(wanted).await?);
    }
    Ok(listeners)
}

async fn listener(wanted: SocketName<'_>) -> Result<Listener, String> {
    match wanted {
        SocketName::Path(path) => Listener::unix(path).await.map_err(|error| {
            let shown = path.display();
            format!("the socket {shown} cannot be made: {error}; end the server there, or name another path")
        }),
        SocketName::Tcp(text, port) => {
            let address = resolve(text, port)?;
            Listener::tcp(address).await.map_err(|error| {
                format!("the address {address} cannot be listened at: {error}; choose another")
            })
        }
    }
}

/// How many sockets the service manager hands over to this process.
fn inherited_count() -> RawFd {
    let is_meant = env::var("LISTEN_PID").is_ok_and(|pid| pid == std::process::id().to_string());
    let count = env::var("LISTEN_FDS").ok().and_then(|count| count.parse().ok());
    count.filter(|count| is_meant && *count > 0).unwrap_or(0)
}

/// The address that `text` names, with `port` unless it has one.
fn resolve(text: &str, port: u16) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().or_else(|_| {
        let host = text.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(text);
        (host, port).to_socket_addrs()
    });
    let found =
        found.map_err(|error| error.to_string()).and_then(|mut all| all.next().ok_or_else(String::new));
    found.map_err(|error| format!("the address {text:?} is unknown: {error}; give HOST or HOST:PORT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_given_port_unless_it_has_one() {
        for (text, address) in [
            ("127.0.0.1", "127.0.0.1:10809"),
            ("127.0.0.1:7", "127.0.0.1:7"),
            ("[::1]", "[::1]:10809"),
            ("::1", "[::1]:10809"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(resolve(text, 10809), Ok(address.parse().unwrap()), "{text}");
        }
        assert!(resolve("no such host", 1).unwrap_err().contains("HOST:PORT"));
    }
}
