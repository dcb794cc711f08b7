//! The sockets of each protocol, and who may read there.

use std::error::Error;

use forerun_serve::{Listener, Place};

use super::ServeCommand;
use crate::servers::sockets::{self, Inherited, SocketName};

/// The port of HTTP unless an address has one.
const HTTP_PORT: u16 = 9100;
/// The port of NFS unless an address has one.
const NFS_PORT: u16 = 2049;
/// The name of a socket of a service manager that is for NFS.
const NFS_NAME: &str = "nfs";

/// The sockets that listen.
pub(super) struct Listening {
    pub(super) http: Vec<Listener>,
    pub(super) nfs: Vec<Listener>,
}

impl Listening {
    /// The sockets of `command`, and those that were `inherited`: the ones called `nfs` are for NFS, and all others for
    /// HTTP. Called within a runtime.
    ///
    /// # Errors
    /// If there is none, if one cannot be used, or if other computers read there and nobody has allowed that.
    pub(super) async fn open(
        command: &ServeCommand,
        inherited: Vec<Inherited>,
    ) -> Result<Listening, Box<dyn Error>> {
        let http = command.http.as_deref().map(|address| sockets::at(address, HTTP_PORT));
        let (of_nfs, others) = inherited.into_iter().partition(|socket| socket.name == NFS_NAME);
        let http = sockets::listeners(others, http).await?;
        let nfs = command.nfs.as_deref().map(|address| SocketName::Tcp(address, NFS_PORT));
        let nfs = sockets::listeners(of_nfs, nfs).await?;
        if http.is_empty() && nfs.is_empty() {
            return Err(
                "there is no socket to listen at: give --http ADDR, --http unix:PATH or --nfs ADDR".into()
            );
        }
        if http.is_empty() && (command.tls.is_on() || command.domain.is_some()) {
            return Err(
                "NFS has neither TLS nor a domain: give --http ADDR besides, or leave them out".into()
            );
        }
        let listening = Listening { http, nfs };
        listening.check_who_may_read(command)?;
        Ok(listening)
    }

    /// Other computers read only if a user wants it.
    fn check_who_may_read(&self, command: &ServeCommand) -> Result<(), Box<dyn Error>> {
        if command.public {
            return Ok(());
        }
        for listener in &self.nfs {
            if let Some(address) = reached_by_others(listener)? {
                return Err(format!(
                    "other computers reach {address}, and NFS has no credentials: give --public if everybody may \
                     read, or an address of this computer"
                )
                .into());
            }
        }
        for listener in
            self.http.iter().filter(|_| command.credentials.is_none() && !command.tls.admits_few())
        {
            if let Some(address) = reached_by_others(listener)? {
                return Err(format!(
                    "other computers reach {address}: give --credentials FILE or --tls-client-ca PEM, or --public if everybody \
                     may read"
                )
                .into());
            }
        }
        Ok(())
    }

    /// Where clients find the sockets, as URLs.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(super) fn shown(&self, command: &ServeCommand) -> Result<Vec<String>, Box<dyn Error>> {
        let http = if command.tls.is_on() { "https" } else { "http" };
        let listeners = self.http.iter().map(|listener| (http, listener));
        let listeners = listeners.chain(self.nfs.iter().map(|listener| ("nfs", listener)));
        let shown = listeners.map(|(scheme, listener)| Ok(sockets::shown(scheme, &listener.place()?)));
        shown.collect()
    }
}

/// The address of `listener`, if it is not of this computer alone.
fn reached_by_others(listener: &Listener) -> std::io::Result<Option<std::net::SocketAddr>> {
    Ok(match listener.place()? {
        Place::Tcp(address) if !address.ip().is_loopback() => Some(address),
        _ => None,
    })
}
