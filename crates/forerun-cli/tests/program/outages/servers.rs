//! A server, and the one that it reads from.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use super::super::serve::{address, named};
use super::super::serving::Serving;
use super::super::support::{forerun, own_address, send};
use super::super::{bytes, nfs};
use super::reads::Reader;

/// More than both servers hold in memory and in sockets.
const SIZE: usize = 48 << 20;

/// A store of one object, over S3 and as a web server.
pub(super) struct Upstream {
    folder: TempDir,
    serving: Serving,
    pub(super) address: String,
    /// The bytes of the object.
    pub(super) bytes: Vec<u8>,
}

impl Upstream {
    pub(super) fn start() -> Upstream {
        let folder = tempfile::tempdir().unwrap();
        let bytes = bytes::pattern(SIZE, 1);
        fs::write(folder.path().join("big"), &bytes).unwrap();
        let serving = serve(folder.path(), &format!("{}:0", own_address()));
        let address = address(&serving);
        Upstream { folder, serving, address, bytes }
    }

    /// Ends it at once, and its connections.
    pub(super) fn kill(&mut self) {
        self.serving.child.kill().unwrap();
        self.serving.child.wait().unwrap();
    }

    /// Starts it again where it was.
    pub(super) fn start_again(&mut self) {
        self.serving = serve(self.folder.path(), &self.address);
    }

    /// Its connections stay, and new ones are accepted by the system. Nothing is answered.
    pub(super) fn stop(&self) {
        send(self.serving.child.id(), Signal::STOP);
    }

    pub(super) fn resume(&self) {
        send(self.serving.child.id(), Signal::CONT);
    }
}

fn serve(folder: &Path, at: &str) -> Serving {
    Serving::start(forerun().args(["serve", "--memory", "16MiB", "--http", at]).arg(named("data", folder)))
}

/// The servers under test: one reads the upstream over S3, and the other as a web server.
pub(super) struct Servers {
    servings: [Serving; 2],
}

impl Servers {
    /// They try a request again for `patience`.
    pub(super) fn start(upstream: &Upstream, patience: &str) -> Servers {
        let at = format!("http://{}", upstream.address);
        let start = |arguments: &[&str]| {
            let mut command = forerun();
            command.args(["serve", "--memory", "16MiB", "--http", "127.0.0.1:0", "--nfs", "127.0.0.1:0"]);
            command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "secret");
            Serving::start(command.args(["--retry-timeout", patience]).args(arguments))
        };
        let store = start(&["--endpoint", &at, "--region", "us-east-1", "data=s3://data"]);
        Servers { servings: [store, start(&[&format!("data={at}/-/data/")])] }
    }

    /// Targets over both protocols, each with the address of its server.
    pub(super) fn targets(&self) -> Vec<(String, &'static str)> {
        let paths = |serving: &Serving| ["/data/big", "/-/data/big"].map(|path| (http(serving), path));
        self.servings.iter().flat_map(paths).collect()
    }

    /// Clients of each protocol, of both servers.
    pub(super) fn readers(&self) -> Vec<Reader> {
        let targets = self.targets().into_iter();
        let readers = targets.map(|(address, path)| Reader::Http { address, path });
        let nfs = self.servings.iter().map(|serving| Reader::nfs(&nfs::address(serving), "big"));
        readers.chain(nfs).collect()
    }

    /// Ends both, which must go well; what they said.
    pub(super) fn end(self) -> [String; 2] {
        self.servings.map(|serving| {
            let (status, said) = serving.end();
            assert_eq!(status, Some(0), "{said}");
            said
        })
    }
}

fn http(serving: &Serving) -> String {
    serving.greeting.split(" at http://").nth(1).unwrap().split(' ').next().unwrap().to_owned()
}
