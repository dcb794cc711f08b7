//! The way to a server, which can be cut.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::net::{Shutdown, shutdown};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, JoinSet};

use crate::support::program::own_address;

/// How a server is away.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// Nobody listens.
    Refused,
    /// Each connection is reset at once.
    Reset,
    /// Nothing ever answers.
    Silent,
}

/// Forwards connections to a server.
pub(crate) struct Line {
    pub(crate) address: SocketAddr,
    server: SocketAddr,
    listener: Option<TcpListener>,
    task: Option<JoinHandle<()>>,
    runtime: Runtime,
}

impl Line {
    pub(crate) fn to(server: &str) -> Line {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = TcpListener::bind((own_address(), 0)).unwrap();
        let (address, server) = (listener.local_addr().unwrap(), server.parse().unwrap());
        let mut line = Line { address, server, listener: None, task: None, runtime };
        line.accept(listener, forward);
        line
    }

    /// Ends all connections, and treats new ones as `how` says.
    pub(crate) fn cut(&mut self, how: Cut) {
        self.end();
        match how {
            Cut::Refused => {}
            Cut::Reset => {
                let listener = self.listen();
                self.accept(listener, reset);
            }
            // Its connections wait for ever.
            Cut::Silent => self.listener = Some(self.listen()),
        }
    }

    pub(crate) fn mend(&mut self) {
        self.end();
        let listener = self.listen();
        self.accept(listener, forward);
    }

    fn listen(&self) -> TcpListener {
        TcpListener::bind(self.address).unwrap()
    }

    fn end(&mut self) {
        if let Some(listener) = self.listener.take() {
            // To close it is not enough: a child that another test starts just now has a copy until it runs.
            shutdown(&listener, Shutdown::Both).unwrap();
        }
        if let Some(task) = self.task.take() {
            task.abort();
            // Only then its sockets are closed.
            let _ = self.runtime.block_on(task);
        }
    }

    fn accept<F>(&mut self, listener: TcpListener, serve: fn(TcpStream, SocketAddr) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        listener.set_nonblocking(true).unwrap();
        self.listener = Some(listener.try_clone().unwrap());
        let server = self.server;
        self.task = Some(self.runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                connections.spawn(serve(connection, server));
            }
        }));
    }
}

async fn forward(mut connection: TcpStream, server: SocketAddr) {
    let mut server = TcpStream::connect(server).await.unwrap();
    // Either side may break the connection at any time.
    let _ = copy_bidirectional(&mut connection, &mut server).await;
}

async fn reset(connection: TcpStream, _: SocketAddr) {
    set_socket_linger(&connection, Some(Duration::ZERO)).unwrap();
}
