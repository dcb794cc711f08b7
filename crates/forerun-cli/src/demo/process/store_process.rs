//! The store process, and requests to it.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::time::timeout;

use super::{START_MAX, this_program};
use crate::demo::http;
use crate::demo::link::Shape;

/// The store in a process of its own, which ends with this one.
#[derive(Debug)]
pub(crate) struct StoreProcess {
    child: Child,
    /// Closing it ends the store.
    _stdin: Option<ChildStdin>,
    address: SocketAddr,
}

impl StoreProcess {
    /// Starts a store with `options` of `demo-store`.
    pub(crate) async fn start(options: &[&OsStr]) -> Result<StoreProcess, String> {
        let mut child = this_program()?
            .arg("demo-store")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the demo's store does not start: {error}"))?;
        let stdin = child.stdin.take();
        let mut lines = child.stdout.take().map(|stdout| BufReader::new(stdout).lines());
        let first = async {
            match &mut lines {
                Some(lines) => lines.next_line().await.ok().flatten(),
                None => None,
            }
        };
        let line = timeout(START_MAX, first).await.ok().flatten();
        let address = line
            .and_then(|line| line.parse().ok())
            .ok_or("the demo's store does not say where it listens: run `forerun demo-store` to see why")?;
        Ok(StoreProcess { child, _stdin: stdin, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process id, as long as the process runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Sets the link's properties to `shape`, and resets the counters.
    pub(crate) fn prepare(&self, shape: Shape) -> Result<(), String> {
        let link = format!(
            "/_link?latency_ms={}&connection_mb_s={}&total_mb_s={}",
            shape.latency.as_millis(),
            shape.connection_bytes_per_s / 1_000_000,
            shape.total_bytes_per_s / 1_000_000
        );
        self.control("POST", &link)?;
        self.control("POST", "/_reset").map(drop)
    }

    /// Bytes of objects sent since `prepare`.
    pub(crate) fn bytes_sent(&self) -> Result<u64, String> {
        self.counter("bytes")
    }

    /// Requests since `prepare`, without those of this program.
    pub(crate) fn requests_answered(&self) -> Result<u64, String> {
        self.counter("requests")
    }

    fn counter(&self, name: &str) -> Result<u64, String> {
        let counters = self.control("GET", "/_counters")?;
        let named = counters.split_once(&format!("\"{name}\": "));
        let digits = named.and_then(|(_, rest)| rest.split(',').next());
        digits
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| format!("the store's counters have no {name}"))
    }

    fn control(&self, method: &str, target: &str) -> Result<String, String> {
        match http::request(self.address, method, target, "") {
            Ok(answer) if answer.status == 200 => Ok(String::from_utf8_lossy(&answer.body).into_owned()),
            Ok(answer) => {
                let status = answer.head.lines().next().unwrap_or_default();
                Err(format!("the demo's store answers {method} {target} with `{status}`"))
            }
            Err(error) => Err(format!("the demo's store does not answer {method} {target}: {error}")),
        }
    }

    pub(crate) async fn stop(mut self) {
        // The store keeps nothing, so it can be killed.
        let _ = self.child.kill().await;
    }
}
