//! Parts of a request that this server judges instead of `s3s`.

use std::borrow::Cow;
use std::str::FromStr;

use hyper::header::{
    AUTHORIZATION, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE,
};
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Request, Uri};
use percent_encoding::percent_decode_str;
use s3s::{S3Error, S3Request, s3_error};

/// `s3s` refuses those that make no sense, which S3 ignores, and knows no lists.
const JUDGED: [HeaderName; 5] = [RANGE, IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE];
/// The parameters by which `s3s` knows a signed URL, of version 4 and of version 2.
const SIGNATURES: [&str; 2] = ["X-Amz-Signature", VERSION_2];
const VERSION_2: &str = "Signature";
/// S3 takes no URL that is valid for longer than a week.
const EXPIRES_S_MAX: u32 = 7 * 24 * 60 * 60;

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

/// The refusal of a signature that S3 refuses and `s3s` takes: one of version 2, and one that is valid for too long.
pub(super) fn refusal<B>(request: &Request<B>) -> Option<S3Error> {
    let header = request.headers().get(AUTHORIZATION);
    let mut is_version_2 = header.is_some_and(|header| header.as_bytes().starts_with(b"AWS "));
    let mut is_too_long = false;
    for pair in request.uri().query().unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match &*decoded(name) {
            VERSION_2 => is_version_2 = true,
            "X-Amz-Expires" => {
                is_too_long |= decoded(value).parse().is_ok_and(|seconds: u32| seconds > EXPIRES_S_MAX);
            }
            _ => {}
        }
    }
    if is_version_2 {
        return Some(s3_error!(
            InvalidRequest,
            "This server takes no signatures of version 2. Sign with version 4 (AWS4-HMAC-SHA256)."
        ));
    }
    is_too_long.then(|| {
        s3_error!(
            AuthorizationQueryParametersError,
            "X-Amz-Expires is longer than a week ({EXPIRES_S_MAX} seconds)."
        )
    })
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
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
    fn signatures_of_version_2_and_of_more_than_a_week_are_refused() {
        for (target, authorization, expected) in [
            ("/a", "AWS4-HMAC-SHA256 Signature=0", None),
            ("/a?prefix=Signature&X-Amz-Expires=604800", "", None),
            ("/a?X-Amz-Expires=604801", "", Some("AuthorizationQueryParametersError")),
            ("/a?X%2DAmz-Expires=%36%3004801", "", Some("AuthorizationQueryParametersError")),
            ("/a?AWSAccessKeyId=k&Signature=s%3D&Expires=1", "", Some("InvalidRequest")),
            ("/a?Sign%61ture", "", Some("InvalidRequest")),
            ("/a", "AWS k:s", Some("InvalidRequest")),
        ] {
            let refused = refusal(&request(target, authorization));
            let code = refused.map(|refused| refused.code().as_str().to_owned());
            assert_eq!(code.as_deref(), expected, "{target} {authorization}");
        }
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
