//! Plain HTTP: `/-/BUCKET/PATH` is an object, and a path that ends with `/` is a page that lists a directory.

mod failure;
mod listing;
mod media;
mod object;

use std::borrow::Cow;

use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;

use super::{Answer, Credentials};
use crate::Buckets;

/// The part of a path below `/-/`, as the request has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target<'a>(&'a str);

/// The target of a request for `path`, if it is one of plain HTTP.
pub(super) fn target_of(path: &str) -> Option<Target<'_>> {
    let below = path.strip_prefix("/-")?;
    if below.is_empty() { Some(Target("")) } else { below.strip_prefix('/').map(Target) }
}

/// The answer to `request`.
pub(super) async fn answer(
    buckets: &Buckets,
    credentials: &Credentials,
    request: &Request<Incoming>,
    target: Target<'_>,
) -> Answer {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if !credentials.allow(header) {
        let mut answer = failure::text(StatusCode::UNAUTHORIZED, "give a user and a password, or a token");
        answer.headers_mut().insert(WWW_AUTHENTICATE, "Basic realm=\"forerun\"".parse().expect("a header"));
        return answer;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer =
            failure::text(StatusCode::METHOD_NOT_ALLOWED, "this server is read-only: use GET or HEAD");
        answer.headers_mut().insert(ALLOW, "GET, HEAD".parse().expect("a header"));
        return answer;
    }
    let found = find(buckets, request, target).await;
    let mut answer = found.unwrap_or_else(|error| failure::of(&error));
    if *request.method() == Method::HEAD {
        *answer.body_mut() = s3s::Body::empty();
    }
    answer
}

async fn find(
    buckets: &Buckets,
    request: &Request<Incoming>,
    Target(raw): Target<'_>,
) -> forerun::Result<Answer> {
    if raw.is_empty() {
        return Ok(match request.uri().path().ends_with('/') {
            true => listing::buckets(buckets),
            false => moved("/-/"),
        });
    }
    let nothing = || failure::text(StatusCode::NOT_FOUND, "there is nothing at this address");
    let Ok(target) = percent_decode_str(raw).decode_utf8() else { return Ok(nothing()) };
    let (name, path): (&str, Cow<'_, str>) = match target.split_once('/') {
        Some((name, path)) => (name, path.into()),
        None => (&target, "".into()),
    };
    let Some(bucket) = buckets.get(name) else { return Ok(nothing()) };
    if !target.contains('/') {
        return Ok(moved(&format!("{}/", request.uri().path())));
    }
    if path.is_empty() || path.ends_with('/') {
        let directory = path.strip_suffix('/').unwrap_or(&path);
        return listing::directory(bucket, directory).await;
    }
    match object::answer(bucket, request, &path).await {
        Err(error) if error.kind == forerun::ErrorKind::NotFound => match bucket.entries(&path).await {
            Ok(_) => Ok(moved(&format!("{}/", request.uri().path()))),
            Err(_) => Err(error),
        },
        answer => answer,
    }
}

/// The directory is at `location`. The path of the request has been percent-encoded by the client.
fn moved(location: &str) -> Answer {
    let moved = Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(LOCATION, location);
    moved.body(s3s::Body::empty()).expect("a path of a request is a header")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_the_dash_is_of_plain_http() {
        for (path, target) in [
            ("/-/", Some("")),
            ("/-", Some("")),
            ("/-/b/a%20b", Some("b/a%20b")),
            ("/", None),
            ("/-x/y", None),
            ("/bucket/-/", None),
        ] {
            assert_eq!(target_of(path), target.map(Target), "{path}");
        }
    }
}
