//! A server of the store's bucket.

use std::net::SocketAddr;

use tokio::sync::oneshot::Receiver;
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
        match places_told(is_told).await {
            Ok((http, nfs)) => Ok(ServeProcess { process, http, nfs }),
            Err(failure) => {
                process.stop().await.map_err(|error| format!("the server {error}"))?;
                Err(failure)
            }
        }
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

/// The URL and the address, as soon as the server tells them.
async fn places_told(is_told: Receiver<String>) -> Result<(String, String), String> {
    let greeting = greeting(is_told).await?;
    places_in(&greeting)
        .ok_or_else(|| format!("the server greets without the address of S3 or NFS: `{greeting}`"))
}

/// The words of a server that is ready.
pub(super) async fn greeting(is_told: Receiver<String>) -> Result<String, String> {
    match timeout(START_MAX, is_told).await {
        Ok(Ok(greeting)) => Ok(greeting),
        Ok(Err(_)) => Err("the server ended: its messages above say why".to_owned()),
        Err(_) => Err(format!("the server was not ready within {START_MAX:?}")),
    }
}

/// The URL and the address in the words of a server.
fn places_in(greeting: &str) -> Option<(String, String)> {
    let word = |scheme: &str| greeting.split(' ').find(|word| word.starts_with(scheme));
    Some((word("http://")?.to_owned(), word("nfs://")?.strip_prefix("nfs://")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tells_why_a_server_does_not_serve() {
        let (told, is_told) = oneshot::channel();
        told.send("forerun: serves s3://demo at http://127.0.0.1:9100".to_owned()).unwrap();
        let error = places_told(is_told).await.unwrap_err();
        assert!(error.contains("NFS: `forerun: serves s3://demo at http://127.0.0.1:9100`"), "{error}");
        let (told, is_told) = oneshot::channel();
        drop(told);
        assert!(places_told(is_told).await.unwrap_err().contains("ended"));
        let (_told, is_told) = oneshot::channel();
        assert!(places_told(is_told).await.unwrap_err().contains("not ready within 30s"));
    }

    #[test]
    fn a_server_tells_where_it_serves() {
        let greeting =
            "forerun: serves s3://demo at http://127.0.0.1:9100 and nfs://127.0.0.1:2049 (buckets demo)";
        let places = places_in(greeting);
        assert_eq!(places, Some(("http://127.0.0.1:9100".to_owned(), "127.0.0.1:2049".to_owned())));
        assert_eq!(places_in("forerun: serves s3://demo at http://127.0.0.1:9100"), None);
    }
}
