//! Answers that attack clients reading below `bad/`, and nobody else.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, RANGE};
use hyper::{Method, Request, Response, StatusCode};
use url::form_urlencoded;

use super::answer::{Answer, Body, answer};
use super::attack::{Attack, BAD_FILE};
use super::bucket::BUCKET;
use super::connection::Connection;
use super::object::MODIFIED_ISO;
use super::range::{RequestedPart, asked};
use crate::demo::link::CHUNK_BYTES;

const FILE_BYTES: u64 = 64 << 20;
const KEY_BYTES: usize = 3 << 20;
const PAGE_BYTES: usize = 2 << 20;
/// The pause between two bytes of a slow answer. Many clients give up only after a longer silence.
const TRICKLE: Duration = Duration::from_secs(5);

/// The time from the one byte of a body to its end.
const CUT_PAUSE: Duration = Duration::from_millis(20);

impl Attack {
    /// The answer to a request below `bad/`; none for any other request.
    pub(super) async fn answer(
        self,
        connection: &Connection,
        request: &Request<Incoming>,
        key: &str,
    ) -> Option<Answer> {
        let query = request.uri().query().unwrap_or_default();
        let prefix = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "prefix");
        let is_listing = key.is_empty() && prefix.is_some_and(|(_, prefix)| prefix == "bad/");
        match key {
            BAD_FILE => Some(self.file(request)),
            "bad/" if *request.method() == Method::HEAD => Some(html(Empty::new().boxed_unsync())),
            _ if is_listing || key == "bad/" => Some(self.listing(connection, query).await),
            _ => None,
        }
    }

    async fn listing(self, connection: &Connection, query: &str) -> Answer {
        match self {
            Attack::EndlessListing => xml(StatusCode::OK, endless(connection)),
            Attack::EndlessRefusal => xml(StatusCode::FORBIDDEN, endless(connection)),
            Attack::LongKey => page(&entry(&"&amp;".repeat(KEY_BYTES / 5)), ""),
            Attack::Entities => bomb(),
            Attack::SamePage => page(&entry(BAD_FILE), "again"),
            // Each token is longer than the one before it.
            Attack::NewPages => page(&entry(BAD_FILE), &"x".repeat(query.len() % 1000 + 1)),
            Attack::SlowListing => xml(StatusCode::OK, trickle()),
            Attack::Silence => std::future::pending().await,
            Attack::Ampersands => {
                html(Full::from(format!("<a href=\"{}", "&".repeat(PAGE_BYTES))).boxed_unsync())
            }
            Attack::OpenTags => html(Full::from("<a x ".repeat(PAGE_BYTES / 5)).boxed_unsync()),
            Attack::SlowPage => html(trickle()),
            Attack::SlowBody | Attack::CutBody => page(&entry(BAD_FILE), ""),
        }
    }

    fn file(self, request: &Request<Incoming>) -> Answer {
        let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok());
        let builder = Response::builder().header(ETAG, "\"bad\"").header(ACCEPT_RANGES, "bytes");
        let (builder, len) = match asked(range, FILE_BYTES) {
            RequestedPart::Part { from, to } => {
                let range = format!("bytes {from}-{}/{FILE_BYTES}", to - 1);
                (builder.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, range), to - from)
            }
            RequestedPart::Whole | RequestedPart::Unsatisfiable => (builder, FILE_BYTES),
        };
        let body = match self {
            _ if *request.method() == Method::HEAD => Empty::new().boxed_unsync(),
            Attack::SlowBody => trickle(),
            _ => one_byte(),
        };
        builder.header(CONTENT_LENGTH, len).body(body).expect("the headers are written by this program")
    }
}

fn entry(key: &str) -> String {
    format!(
        "<Contents><Key>{key}</Key><LastModified>{MODIFIED_ISO}</LastModified><ETag>\"bad\"</ETag>\
         <Size>{FILE_BYTES}</Size></Contents>"
    )
}

/// A page of a listing; the last one if `token` is empty.
fn page(entries: &str, token: &str) -> Answer {
    let next = match token {
        "" => String::new(),
        token => format!("<NextContinuationToken>{token}</NextContinuationToken>"),
    };
    let list = format!(
        "<ListBucketResult><Name>{BUCKET}</Name><IsTruncated>{}</IsTruncated>{entries}{next}</ListBucketResult>",
        !token.is_empty()
    );
    xml(StatusCode::OK, Full::from(list).boxed_unsync())
}

/// Ten entities, each ten times the one before it.
fn bomb() -> Answer {
    let mut entities = "<!DOCTYPE x [<!ENTITY e0 \"xxxxxxxxxx\">".to_owned();
    for index in 1..10 {
        let ten = format!("&e{};", index - 1).repeat(10);
        entities.push_str(&format!("<!ENTITY e{index} \"{ten}\">"));
    }
    let list = format!("{entities}]><ListBucketResult>{}</ListBucketResult>", entry("bad/&e9;"));
    xml(StatusCode::OK, Full::from(list).boxed_unsync())
}

/// A body that never ends, at the link's speed.
fn endless(connection: &Connection) -> Body {
    let wire = Arc::clone(&connection.wire);
    let begin = Bytes::from_static(b"<ListBucketResult><Contents><Key>bad/");
    let chunk = Bytes::from(vec![b'x'; CHUNK_BYTES as usize]);
    let chunks = stream::unfold(begin, move |bytes| {
        let (wire, next) = (Arc::clone(&wire), chunk.clone());
        async move {
            wire.wait_turn(bytes.len() as u64).await;
            Some((Ok::<_, Infallible>(Frame::data(bytes)), next))
        }
    });
    StreamBody::new(chunks).boxed_unsync()
}

/// A body of one byte for each [`TRICKLE`].
fn trickle() -> Body {
    let chunks = stream::unfold((), |()| async {
        tokio::time::sleep(TRICKLE).await;
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from_static(b" "))), ()))
    });
    StreamBody::new(chunks).boxed_unsync()
}

/// A body of one byte. The header promises more, so hyper closes the connection.
fn one_byte() -> Body {
    let byte = stream::iter([Ok(Frame::data(Bytes::from_static(b"x")))]);
    // Hyper sends its buffer when it has to wait, and sends nothing of a body that ends too early.
    let end = stream::once(tokio::time::sleep(CUT_PAUSE)).filter_map(async |()| None);
    StreamBody::new(byte.chain(end)).boxed_unsync()
}

fn xml(status: StatusCode, body: Body) -> Answer {
    answer(status, "application/xml", body)
}

fn html(body: Body) -> Answer {
    answer(StatusCode::OK, "text/html", body)
}
