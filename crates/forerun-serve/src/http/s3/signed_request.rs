//! Parts of a request that this server judges instead of `s3s`.

use std::str::FromStr;

use hyper::header::{
    AUTHORIZATION, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE,
};
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Request, Uri};
use s3s::S3Request;

/// `s3s` refuses those that make no sense, which S3 ignores, and knows no lists.
const JUDGED: [HeaderName; 5] = [RANGE, IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE];
/// The parameters by which `s3s` knows a signed URL, of version 4 and of version 2.
const SIGNATURES: [&str; 2] = ["X-Amz-Signature", "Signature"];

/// The headers of a request as they came. An extension of the request.
#[derive(Clone)]
struct Given(HeaderMap);

/// The headers of `request` as they came.
pub(super) fn headers_of<T>(request: &S3Request<T>) -> &HeaderMap {
    request.extensions.get().map_or(&request.headers, |Given(headers)| headers)
}

/// Keeps the headers about ranges and conditions from `s3s`. It needs those that the client has signed, to check the
/// signature.
pub(super) fn set_aside<B>(request: &mut Request<B>) {
    if !JUDGED.iter().any(|name| request.headers().contains_key(name)) {
        return;
    }
    let given = Given(request.headers().clone());
    let mut signed = request.uri().query().unwrap_or_default().to_ascii_lowercase();
    if let Some(Ok(header)) = request.headers().get(AUTHORIZATION).map(|header| header.to_str()) {
        signed += &header.to_ascii_lowercase();
    }
    for name in JUDGED.iter().filter(|name| !signed.contains(name.as_str())) {
        request.headers_mut().remove(name);
    }
    request.extensions_mut().insert(given);
}

/// Removes the signature of `request`. Programs that have credentials sign what they send to every server, and `s3s`
/// refuses signatures where there are no keys to check them with.
pub(super) fn remove_signature<B>(request: &mut Request<B>) {
    request.headers_mut().remove(AUTHORIZATION);
    let Some(query) = request.uri().query() else { return };
    let is_signature = |pair: &&str| SIGNATURES.contains(&pair.split('=').next().unwrap_or_default());
    if !query.split('&').any(|pair| is_signature(&pair)) {
        return;
    }
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_signature(pair)).collect();
    let target = format!("{}?{}", request.uri().path(), rest.join("&"));
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = PathAndQuery::from_str(&target).ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, authorization: &str) -> Request<()> {
        let request = Request::builder().uri(target).header(RANGE, "bytes=x").header(IF_MATCH, "a, b");
        request.header(AUTHORIZATION, authorization).body(()).unwrap()
    }

    #[test]
    fn only_headers_that_are_signed_are_left() {
        let mut plain = request("/a", "AWS4-HMAC-SHA256 SignedHeaders=host;x-amz-date");
        set_aside(&mut plain);
        assert!(!plain.headers().contains_key(RANGE) && !plain.headers().contains_key(IF_MATCH));
        let mut signed = request("/a", "AWS4-HMAC-SHA256 SignedHeaders=host;range");
        set_aside(&mut signed);
        assert!(signed.headers().contains_key(RANGE) && !signed.headers().contains_key(IF_MATCH));
        let mut signed = request("/a?X-Amz-SignedHeaders=host%3BIf-Match", "");
        set_aside(&mut signed);
        assert!(!signed.headers().contains_key(RANGE) && signed.headers().contains_key(IF_MATCH));
        let Given(given) = signed.extensions().get().unwrap();
        assert!(given.contains_key(RANGE) && given.contains_key(IF_MATCH));
    }

    #[test]
    fn a_signature_is_removed_and_the_rest_stays() {
        for (target, expected) in [
            ("/a", "/a"),
            ("/a?prefix=Signature", "/a?prefix=Signature"),
            ("/a?X-Amz-Signature=0&response-content-type=b%2Fc", "/a?response-content-type=b%2Fc"),
            ("/a?AWSAccessKeyId=k&Signature=s%3D&Expires=1", "/a?AWSAccessKeyId=k&Expires=1"),
            ("/a?Signature=s", "/a?"),
        ] {
            let mut request = request(target, "AWS k:s");
            remove_signature(&mut request);
            assert_eq!(request.uri(), expected);
            assert!(!request.headers().contains_key(AUTHORIZATION));
        }
    }
}
