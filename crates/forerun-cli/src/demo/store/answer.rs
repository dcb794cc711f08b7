//! Building the store's answers.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;
pub(super) type Answer = Response<Body>;

/// `text` of the given media type.
pub(super) fn text(status: StatusCode, media_type: &str, text: String) -> Answer {
    answer(status, media_type, Full::from(text).boxed_unsync())
}

/// `body` of the given media type.
pub(super) fn answer(status: StatusCode, media_type: &str, body: Body) -> Answer {
    let answer = Response::builder().status(status).header(CONTENT_TYPE, media_type).body(body);
    answer.expect("the headers are written by this program")
}

/// An error in S3's form.
pub(super) fn failure(status: StatusCode, code: &str, message: &str, resource: &str) -> Answer {
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message>\
         <Resource>{}</Resource><RequestId>0</RequestId></Error>",
        escape(resource)
    );
    text(status, "application/xml", xml)
}

/// `text` escaped for XML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
