//! The places that a machine boots from.

use clap::ValueEnum;

use crate::demo::process::BlockServer;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BootSource {
    /// `forerun nbd`
    Forerun,
    /// `forerun nbd` with the profile of another boot
    Learned,
    /// nbdkit, which asks the store for each read
    Curl,
    /// nbdkit, which keeps what it has read in a file
    Cache,
    /// nbdkit, which reads ahead into that file
    Readahead,
    /// The image as a file of this machine
    Local,
}

impl BootSource {
    /// The name in the table.
    pub(super) fn title(self) -> &'static str {
        match self {
            BootSource::Learned => "forerun, learned",
            BootSource::Local => "local file",
            _ => self.server().map(BlockServer::title).unwrap_or_default(),
        }
    }

    /// The server, unless the machine opens a file.
    pub(super) fn server(self) -> Option<BlockServer> {
        match self {
            BootSource::Forerun | BootSource::Learned => Some(BlockServer::Forerun),
            BootSource::Curl => Some(BlockServer::Curl),
            BootSource::Cache => Some(BlockServer::CurlCache),
            BootSource::Readahead => Some(BlockServer::CurlReadahead),
            BootSource::Local => None,
        }
    }

    /// Whether it is a server of others.
    pub(super) fn is_other_server(self) -> bool {
        self.server().is_some_and(|server| server != BlockServer::Forerun)
    }
}
