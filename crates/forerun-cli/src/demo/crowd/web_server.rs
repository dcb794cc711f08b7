//! The servers, with the configuration that people give them for large files.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::array_files::name_of;
use super::crowd_run::Load;
use crate::demo::process::{installed_server, start_listener};
use crate::lab::MemoryGroup;

/// The name of the files in Forerun.
const BUCKET: &str = "array";

/// A server to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum WebServer {
    /// lighttpd, as it is without further settings
    Lighttpd,
    /// lighttpd with 16 processes
    LighttpdWorkers,
    /// nginx, with sendfile and threads that read
    Nginx,
    /// Forerun, which reads through the page cache
    Forerun,
    /// Forerun with --direct
    ForerunDirect,
}

/// A server that listens.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
}

impl WebServer {
    pub(super) fn is_ours(self) -> bool {
        matches!(self, WebServer::Forerun | WebServer::ForerunDirect)
    }

    /// The name in the table.
    pub(super) fn title(self) -> &'static str {
        match self {
            WebServer::Lighttpd => "lighttpd",
            WebServer::LighttpdWorkers => "lighttpd, 16 processes",
            WebServer::Nginx => "nginx",
            WebServer::Forerun => "forerun",
            WebServer::ForerunDirect => "forerun --direct",
        }
    }

    /// The path of `file` in a request.
    pub(super) fn path_of(self, file: u64) -> String {
        let name = name_of(file);
        if self.is_ours() { format!("/-/{BUCKET}/{name}") } else { format!("/{name}") }
    }

    /// Starts it in `group`, with the files below `files`. Its own files are in `scratch`.
    ///
    /// # Errors
    /// The reason why it does not listen.
    pub(super) async fn start(
        self,
        address: SocketAddr,
        files: &Path,
        scratch: &Path,
        load: Load,
        group: &MemoryGroup,
    ) -> Result<ServerProcess, String> {
        let command = match self {
            WebServer::Lighttpd => lighttpd(address, files, scratch, load, 0, group)?,
            WebServer::LighttpdWorkers => lighttpd(address, files, scratch, load, 16, group)?,
            WebServer::Nginx => nginx(address, files, scratch, load, group)?,
            WebServer::Forerun => forerun(address, files, load, false, group)?,
            WebServer::ForerunDirect => forerun(address, files, load, true, group)?,
        };
        let listens = async || TcpStream::connect(address).await.is_ok();
        let child = start_listener(command, &scratch.join("log"), listens).await;
        let child = child.map_err(|error| format!("{}: {error}", self.title()))?;
        Ok(ServerProcess { child })
    }
}

impl ServerProcess {
    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|ended| ended.is_some())
    }
}

fn forerun(
    address: SocketAddr,
    files: &Path,
    load: Load,
    is_direct: bool,
    group: &MemoryGroup,
) -> Result<Command, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("this program cannot find its own file: {error}"))?;
    let mut command = group.command(&own.display().to_string());
    command.args(["serve", "--http", &address.to_string(), "--memory", &load.data_bytes.to_string()]);
    command.args(is_direct.then_some("--direct")).arg(format!("{BUCKET}=file://{}", files.display()));
    Ok(command)
}

fn nginx(
    address: SocketAddr,
    files: &Path,
    scratch: &Path,
    load: Load,
    group: &MemoryGroup,
) -> Result<Command, String> {
    let (files, scratch_shown) = (files.display(), scratch.display());
    let connections = 2 * load.client_count + 100;
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("  {name}_temp_path {scratch_shown}/{name};\n"))
        .collect();
    let text = format!(
        "daemon off;\nuser root;\nworker_processes auto;\npid {scratch_shown}/nginx.pid;\nerror_log stderr;\n\
         events {{ worker_connections {connections}; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  aio threads;\n{temporary}  \
         server {{\n    listen {address} backlog=4096;\n    root {files};\n  }}\n}}\n"
    );
    let file = write(scratch, "nginx.conf", &text)?;
    let mut command = group.command(&installed_server("nginx"));
    command.arg("-p").arg(scratch).args(["-e", "stderr", "-c"]).arg(file);
    Ok(command)
}

fn lighttpd(
    address: SocketAddr,
    files: &Path,
    scratch: &Path,
    load: Load,
    process_count: u32,
    group: &MemoryGroup,
) -> Result<Command, String> {
    let (files, port, host) = (files.display(), address.port(), address.ip());
    let connections = load.client_count + 100;
    let text = format!(
        "server.document-root = \"{files}\"\nserver.bind = \"{host}\"\nserver.port = {port}\n\
         server.max-fds = {}\nserver.max-connections = {connections}\nserver.max-worker = {process_count}\n\
         server.listen-backlog = 4096\nmimetype.assign = ( \"\" => \"application/octet-stream\" )\n",
        2 * connections
    );
    let file = write(scratch, "lighttpd.conf", &text)?;
    let mut command = group.command(&installed_server("lighttpd"));
    command.args(["-D", "-f"]).arg(file);
    Ok(command)
}

fn write(scratch: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = scratch.join(name);
    fs::write(&path, text).map_err(|error| format!("writing {}: {error}", path.display()))?;
    Ok(path)
}
