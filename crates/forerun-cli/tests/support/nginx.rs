//! An nginx of our own.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A running server.
pub(crate) struct Nginx {
    process: Child,
    errors: Option<JoinHandle<String>>,
    /// Its configuration, log and temporary files.
    home: TempDir,
    address: String,
}

impl Nginx {
    /// Serves `root`, with listings, as the package configures it otherwise.
    pub(crate) fn start(root: &Path) -> Nginx {
        Nginx::configured(|address| configuration(root, address))
    }

    /// Serves at an address, with the configuration that `configure` writes for it.
    pub(crate) fn configured(configure: impl FnOnce(&str) -> String) -> Nginx {
        let home = tempfile::tempdir().unwrap();
        // Root's nginx has processes of another user.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        // It cannot choose a free port by itself.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        fs::write(home.path().join("nginx.conf"), configure(&address)).unwrap();
        let path = format!("{}:/usr/sbin", env::var("PATH").unwrap_or_default());
        let mut process = Command::new("nginx")
            .env("PATH", path)
            .args(["-g", "daemon off; error_log stderr notice;", "-e", "stderr", "-c", "nginx.conf", "-p"])
            .arg(home.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("these tests need nginx: install the package nginx-light");
        let mut errors = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        // It says which events it waits for once it listens.
        while !said.contains("event method") {
            assert!(errors.read_line(&mut said).unwrap() > 0, "nginx does not start: {said}");
        }
        let errors = thread::spawn(move || {
            errors.read_to_string(&mut said).unwrap();
            said
        });
        Nginx { process, errors: Some(errors), home, address }
    }

    /// The URL of `path`, which must need no encoding.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// HOST:PORT
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Ends the server: how many bytes of `path` it has sent.
    pub(crate) fn end(mut self, path: &str) -> u64 {
        // It sees what happens in order: once this is answered it has noticed
        // every connection that was closed before, and logged what it had sent.
        let mut last = TcpStream::connect(&self.address).unwrap();
        last.write_all(b"HEAD /the-end HTTP/1.0\r\n\r\n").unwrap();
        last.read_to_end(&mut Vec::new()).unwrap();
        self.stop();
        let log = fs::read_to_string(self.home.path().join("access.log")).unwrap();
        assert!(log.lines().any(|line| line.ends_with(" /the-end")), "{log}");
        let sent = log.lines().filter_map(|line| line.split_once(' '));
        sent.filter(|(_, uri)| *uri == format!("/{path}"))
            .map(|(bytes, _)| bytes.parse::<u64>().unwrap())
            .sum()
    }

    fn stop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            // The processes of a killed one would remain.
            let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        }
        let _ = self.process.wait();
        if let Some(errors) = self.errors.take() {
            // Shown only for a test that fails.
            println!("nginx said: {}", errors.join().unwrap());
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.stop();
    }
}

fn configuration(root: &Path, address: &str) -> String {
    format!(
        r#"
        # One process, which logs in the order of events.
        master_process off;
        pid nginx.pid;
        events {{}}
        http {{
            default_type application/octet-stream;
            sendfile on;
            log_format sent "$body_bytes_sent $uri";
            access_log access.log sent;
            client_body_temp_path client;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            server {{
                listen {address};
                root "{}";
                autoindex on;
                # A page of this name is a file like any other.
                index no-such-page;
            }}
        }}
        "#,
        root.display()
    )
}
