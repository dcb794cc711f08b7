//! An nginx of our own.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

/// A running server of a directory's files.
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
        let home = tempfile::tempdir().unwrap();
        // It cannot choose a free port by itself.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        fs::write(home.path().join("nginx.conf"), configuration(root, &address)).unwrap();
        let path = format!("{}:/usr/sbin", env::var("PATH").unwrap_or_default());
        let mut process = Command::new("nginx")
            .env("PATH", path)
            .args(["-e", "stderr", "-c", "nginx.conf", "-p"])
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
        let _ = self.process.kill();
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
        daemon off;
        # One process, which ends when it is told to.
        master_process off;
        pid nginx.pid;
        error_log stderr notice;
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
