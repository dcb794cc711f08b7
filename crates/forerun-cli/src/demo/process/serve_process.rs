//! A server of the store's bucket.

use std::net::SocketAddr;

use tokio::time::timeout;

use super::heard_process::HeardProcess;
use super::{START_MAX, this_program};
use crate::demo::store::BUCKET;

/// The words of `forerun serve` on standard error when clients can read.
const SERVES: &str = "forerun: serves ";

/// `forerun serve`, which ends with this process.
#[derive(Debug)]
pub(crate) struct ServeProcess {
    process: HeardProcess,
    /// A URL.
    http: String,
    /// HOST:PORT
    nfs: String,
}

impl ServeProcess {
    /// Serves the bucket of the store at `address` over S3 and NFS, and waits until it is ready.
    pub(crate) async fn start(address: SocketAddr, memory: &str) -> Result<ServeProcess, String> {
        let mut program = this_program()?;
        program
            .args(["serve", "--http", "127.0.0.1:0", "--nfs", "127.0.0.1:0", "--memory", memory])
            .args(["--anonymous", "--region", "us-east-1", "--endpoint", &format!("http://{address}")])
            .arg(format!("{BUCKET}=s3://{BUCKET}"));
        let (mut process, is_told) = HeardProcess::spawn(program, SERVES, &[])?;
        let greeting = timeout(START_MAX, is_told).await.ok().and_then(Result::ok);
        let places = greeting.as_deref().and_then(places_in);
        let Some((http, nfs)) = places else {
            process.stop().await.map_err(|error| format!("the server {error}"))?;
            return Err("the server failed: its message above says why".to_owned());
        };
        Ok(ServeProcess { process, http, nfs })
    }

    pub(crate) fn process(&self) -> &HeardProcess {
        &self.process
    }

    /// The URL for clients of S3.
    pub(crate) fn http(&self) -> &str {
        &self.http
    }

    /// The address for clients of NFS.
    pub(crate) fn nfs(&self) -> &str {
        &self.nfs
    }

    /// Completes the answers, and waits for the end.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        self.process.stop().await.map_err(|error| format!("the server {error}"))
    }
}

/// The URL and the address in the words of a server.
fn places_in(greeting: &str) -> Option<(String, String)> {
    let word = |scheme: &str| greeting.split(' ').find(|word| word.starts_with(scheme));
    Some((word("http://")?.to_owned(), word("nfs://")?.strip_prefix("nfs://")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_tells_where_it_serves() {
        let greeting =
            "forerun: serves s3://demo at http://127.0.0.1:9100 and nfs://127.0.0.1:2049 (buckets demo)";
        let places = places_in(greeting);
        assert_eq!(places, Some(("http://127.0.0.1:9100".to_owned(), "127.0.0.1:2049".to_owned())));
        assert_eq!(places_in("forerun: serves s3://demo at http://127.0.0.1:9100"), None);
    }
}
