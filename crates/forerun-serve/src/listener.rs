//! Sockets that clients connect to.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net as unix;
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, getsockname, sockopt};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// The most bytes that a connection keeps for a client and has not sent.
const UNSENT_BYTES_MAX: u32 = 64 << 10;

/// A socket that listens. The socket of a path is removed with it.
#[derive(Debug)]
pub struct Listener {
    kind: Kind,
    path: Option<PathBuf>,
}

/// Where a socket listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address of the Internet.
    Tcp(SocketAddr),
    /// At a path.
    Unix(PathBuf),
}

#[derive(Debug)]
enum Kind {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// Both directions of a connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Listener {
    /// Listens at `path`, where the socket of a server that has ended may be left. Called within a runtime.
    ///
    /// # Errors
    /// If a server listens there, if there is something else, or if it cannot be made.
    pub async fn unix(path: &Path) -> io::Result<Listener> {
        if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
            match UnixStream::connect(path).await {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)?,
                _ => return Err(io::ErrorKind::AddrInUse.into()),
            }
        }
        // A daemon changes to another directory.
        let path = std::path::absolute(path)?;
        Ok(Listener { kind: Kind::Unix(UnixListener::bind(&path)?), path: Some(path) })
    }

    /// Listens at `address`. Called within a runtime.
    ///
    /// # Errors
    /// If the system refuses.
    pub async fn tcp(address: SocketAddr) -> io::Result<Listener> {
        Ok(Listener { kind: Kind::Tcp(TcpListener::bind(address).await?), path: None })
    }

    /// The listening `socket` that another program has made. Called within a runtime.
    ///
    /// # Errors
    /// If it is not a socket of the Internet or of a path that listens.
    pub fn inherited(socket: OwnedFd) -> io::Result<Listener> {
        let family = getsockname(&socket)?.address_family();
        if !sockopt::socket_acceptconn(&socket)? {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it does not listen"));
        }
        let kind = match family {
            AddressFamily::UNIX => {
                let listener = unix::UnixListener::from(socket);
                listener.set_nonblocking(true)?;
                Kind::Unix(UnixListener::from_std(listener)?)
            }
            AddressFamily::INET | AddressFamily::INET6 => {
                let listener = std::net::TcpListener::from(socket);
                listener.set_nonblocking(true)?;
                Kind::Tcp(TcpListener::from_std(listener)?)
            }
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is of another family")),
        };
        Ok(Listener { kind, path: None })
    }

    /// Where clients find it.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn place(&self) -> io::Result<Place> {
        match &self.kind {
            Kind::Tcp(listener) => Ok(Place::Tcp(listener.local_addr()?)),
            Kind::Unix(listener) => {
                let address = listener.local_addr()?;
                Ok(Place::Unix(address.as_pathname().map_or_else(PathBuf::new, Path::to_owned)))
            }
        }
    }

    /// Where clients of NBD find it, as a URI; `is_tls` if they have to begin TLS.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn nbd_uri(&self, is_tls: bool) -> io::Result<String> {
        let scheme = if is_tls { "nbds" } else { "nbd" };
        Ok(match self.place()? {
            Place::Tcp(address) => format!("{scheme}://{address}"),
            Place::Unix(path) => format!("{scheme}+unix:///?socket={}", path.display()),
        })
    }

    /// The next client, and its address if it has one.
    ///
    /// # Errors
    /// If the system has no room for it.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Stream>, Option<SocketAddr>)> {
        match &self.kind {
            Kind::Unix(listener) => Ok((Box::new(listener.accept().await?.0), None)),
            Kind::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Small replies are not to wait for others.
                stream.set_nodelay(true)?;
                // A client whose machine has gone says nothing more.
                sockopt::set_socket_keepalive(&stream, true)?;
                bound_unsent(&stream);
                Ok((Box::new(stream), Some(peer)))
            }
        }
    }
}

/// Where the system has no such bound, the socket has the usual ones.
fn bound_unsent(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_keeps_little_that_it_has_not_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        bound_unsent(&stream);
        assert_eq!(SockRef::from(&stream).tcp_notsent_lowat().unwrap(), UNSENT_BYTES_MAX);
    }
}
