//! The demo's object store behind a slow link. It has enough of S3 for every client to read from
//! it. Its contents are computed, or are the files below a directory.
//!
//! Beside the bucket it answers, without delay:
//! * `GET /_counters`: the bytes sent, as JSON
//! * `POST /_reset`: sets the counters to 0
//! * `POST /_link?latency_ms=&connection_mb_s=&total_mb_s=`: sets the link's properties

mod answer;
mod attack;
mod attack_answers;
mod bucket;
mod connection;
mod counters;
mod listing;
mod object;
mod range;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use url::form_urlencoded;

use self::answer::{Answer, failure, text};
pub(crate) use self::attack::{Attack, BAD, BAD_FILE, Victim};
pub(crate) use self::bucket::{BUCKET, Bucket};
use self::connection::{Connection, Shop};
use self::counters::Counters;
use super::link::{Link, Shape, Wire};

/// The kernel's send buffer for each connection. With its default of several MiB a slow reader's
/// bytes would leave the link long before they are read.
const SEND_BUFFER_BYTES: u32 = 256 << 10;
const CONNECTIONS_WAITING_MAX: u32 = 1024;

/// The store, listening.
#[derive(Debug)]
pub(crate) struct Store {
    listener: TcpListener,
    shop: Arc<Shop>,
}

impl Store {
    /// A store of `bucket` behind a link like `shape`, on a free port of the loopback interface.
    /// Readers below `bad/` meet the `attack`.
    ///
    /// # Errors
    /// If no port is free.
    pub(crate) fn bind(bucket: Bucket, shape: Shape, attack: Option<Attack>) -> std::io::Result<Store> {
        let socket = TcpSocket::new_v4()?;
        socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(CONNECTIONS_WAITING_MAX)?;
        let shop = Shop { bucket, counters: Counters::default(), link: Link::new(shape), attack };
        Ok(Store { listener, shop: Arc::new(shop) })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves for ever.
    pub(crate) async fn serve(self) -> Infallible {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => _ = tokio::spawn(serve_connection(stream, Arc::clone(&self.shop))),
                // Out of descriptors, for example: waiting clients may get one later.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }
}

async fn serve_connection(stream: TcpStream, shop: Arc<Shop>) {
    let _ = stream.set_nodelay(true);
    let wire = Arc::new(Wire::new(Arc::clone(&shop.link)));
    let connection = Arc::new(Connection { shop, wire });
    let service = service_fn(move |request| {
        let connection = Arc::clone(&connection);
        async move { Ok::<_, Infallible>(route(&connection, request).await) }
    });
    // A client that hangs up is no failure of the store.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn route(connection: &Connection, request: Request<Incoming>) -> Answer {
    let (method, path) = (request.method(), request.uri().path());
    let query = request.uri().query().unwrap_or_default();
    if let Some(control) = path.strip_prefix("/_") {
        return answer_control(&connection.shop, method, control, query);
    }
    connection.shop.counters.add_request();
    connection.wire.wait_latency().await;
    if !matches!(*method, Method::GET | Method::HEAD) {
        let message = "The specified method is not allowed against this resource.";
        return failure(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message, path);
    }
    let (bucket, key) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    if bucket != BUCKET {
        return failure(StatusCode::NOT_FOUND, "NoSuchBucket", "The specified bucket does not exist", bucket);
    }
    if let Some(attack) = connection.shop.attack
        && let Some(answer) = attack.answer(connection, &request, key).await
    {
        return answer;
    }
    if key.is_empty() {
        return text(
            StatusCode::OK,
            "application/xml",
            listing::list(&connection.shop.bucket, bucket, query),
        );
    }
    // Keys of this bucket are plain: nothing in them is escaped in a URL.
    object::answer(connection, method, request.headers(), key)
}

fn answer_control(shop: &Shop, method: &Method, name: &str, query: &str) -> Answer {
    match (method, name) {
        (&Method::GET, "counters") => text(StatusCode::OK, "application/json", shop.counters.to_json()),
        (&Method::POST, "reset") => {
            shop.counters.reset();
            text(StatusCode::OK, "text/plain", String::new())
        }
        (&Method::POST, "link") => match reshaped(shop.link.shape(), query) {
            Ok(shape) => {
                shop.link.reshape(shape);
                text(StatusCode::OK, "text/plain", String::new())
            }
            Err(message) => text(StatusCode::BAD_REQUEST, "text/plain", message),
        },
        _ => failure(StatusCode::NOT_FOUND, "NoSuchControl", "There is no such control", name),
    }
}

/// `shape` with the changes in `query`.
fn reshaped(mut shape: Shape, query: &str) -> Result<Shape, String> {
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let number: u64 = value.parse().map_err(|_| format!("{name}={value}: expected a whole number\n"))?;
        match &*name {
            "latency_ms" => shape.latency = Duration::from_millis(number),
            "connection_mb_s" => shape.connection_bytes_per_s = number * 1_000_000,
            "total_mb_s" => shape.total_bytes_per_s = number * 1_000_000,
            _ => return Err(format!("{name}: expected latency_ms, connection_mb_s or total_mb_s\n")),
        }
    }
    Ok(shape)
}

#[cfg(test)]
mod tests;
