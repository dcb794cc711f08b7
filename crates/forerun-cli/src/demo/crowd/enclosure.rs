//! The surroundings of the servers: a network of their own with small buffers, and limited memory.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Tells this program that it runs in a network of its own.
const INSIDE: &str = "FORERUN_BENCH_NETWORK";
/// Buffers of a socket: smallest, first and largest, in bytes. A client's holds as much as it takes in a second, and a
/// server's half of that.
const RECEIVE_BYTES: &str = "4096 16384 32768";
const SEND_BYTES: &str = "4096 16384 16384";
/// The most bytes that a socket keeps and has not sent.
const UNSENT_BYTES: &str = "8192";
/// Files of a program besides those of its clients.
const FILES_BESIDES: u64 = 200;
/// A server may have two files for each client: its socket, and the file that it reads.
const FILES_OF_CLIENT: u64 = 2;

/// Continues in a network of this program's own, whose sockets have small buffers. This program begins again in it.
///
/// # Errors
/// If there can be no such network.
pub(super) fn enter_network() -> Result<(), String> {
    if env::var_os(INSIDE).is_none() {
        let program =
            env::current_exe().map_err(|error| format!("this program cannot find its own file: {error}"))?;
        let mut again = Command::new("unshare");
        again.args(["--net", "--"]).arg(program).args(env::args_os().skip(1)).env(INSIDE, "1");
        let error = again.exec();
        return Err(format!("unshare does not start: {error}; this needs the package util-linux"));
    }
    // Packets as on a real network, instead of 64 KiB.
    let up = Command::new("ip").args(["link", "set", "lo", "up", "mtu", "1500"]).status();
    let is_up = up.map_err(|error| format!("ip does not start: {error}; this needs the package iproute2"))?;
    if !is_up.success() {
        return Err("the network of the bench cannot be made: run it as root".to_owned());
    }
    let settings =
        [("tcp_wmem", SEND_BYTES), ("tcp_rmem", RECEIVE_BYTES), ("tcp_notsent_lowat", UNSENT_BYTES)];
    for (name, value) in settings {
        let path = format!("/proc/sys/net/ipv4/{name}");
        fs::write(&path, value).map_err(|error| format!("writing {path}: {error}"))?;
    }
    Ok(())
}

/// Lets this program and the servers have the open files that `client_count` clients need.
///
/// # Errors
/// If the system does not allow as many.
pub(super) fn allow_files(client_count: u64) -> Result<(), String> {
    let needed = FILES_OF_CLIENT * client_count + FILES_BESIDES;
    let allowed = getrlimit(Resource::Nofile);
    if allowed.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let maximum = allowed.maximum.map(|maximum| maximum.max(needed));
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum })
        .map_err(|error| format!("{needed} open files are not allowed: {error}; run it as root"))
}
