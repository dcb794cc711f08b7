use async_trait::async_trait;
use object_store::client::HttpService;

use super::*;

/// A server that redirects each request to itself, 4 s later.
#[derive(Debug)]
struct Circle;

#[async_trait]
impl HttpService for Circle {
    async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        tokio::time::sleep(Duration::from_secs(4)).await;
        let mut answer = HttpResponse::new(Bytes::new().into());
        *answer.status_mut() = StatusCode::FOUND;
        answer.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
        Ok(answer)
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_that_take_long_are_given_up() {
    let (start, url) = (Instant::now(), "http://host/".parse().unwrap());
    let answer = send(&HttpClient::new(Circle), Method::HEAD, &url, HeaderMap::new()).await;
    let error = answer.err().unwrap();
    assert!(error.is_transient() && error.message.contains("no answer in 30 s"), "{error}");
    assert_eq!(start.elapsed(), REDIRECTS_TIME_MAX);
}

fn redirect(from: &str, location: &str) -> Option<Url> {
    let mut answer = HttpResponse::new(Bytes::new().into());
    *answer.status_mut() = StatusCode::FOUND;
    answer.headers_mut().insert(LOCATION, location.parse().unwrap());
    redirected(&from.parse().unwrap(), &answer)
}

#[test]
fn credentials_go_along_to_the_same_server_only() {
    let from = "http://user:a%20b@host/dir/file";
    for (location, to) in [
        ("other", Some("http://user:a%20b@host/dir/other")),
        ("http://host/other", Some("http://user:a%20b@host/other")),
        ("https://host/other", Some("https://host/other")),
        ("http://host:8080/other", Some("http://host:8080/other")),
        ("//another/other", Some("http://another/other")),
        ("http://who:what@another/", Some("http://another/")),
        ("file:///etc/passwd", None),
    ] {
        assert_eq!(redirect(from, location).as_ref().map(Url::as_str), to, "{location}");
    }
}

#[test]
fn the_user_and_the_password_are_sent_in_a_header_of_their_own() {
    let url = "http://user:a%20b@host/dir/file?query#fragment".parse().unwrap();
    let request = request(&Method::GET, &url, &HeaderMap::new()).unwrap();
    assert_eq!(request.uri(), "http://host/dir/file?query");
    assert_eq!(request.headers()[AUTHORIZATION], "Basic dXNlcjphIGI=");
}

#[test]
fn a_wait_that_is_asked_for_is_bounded() {
    let at = |seconds: u64| format!("Sat, 21 Nov 2026 10:00:{seconds:02} GMT");
    for (after, expected) in [
        ("7", Some(Duration::from_secs(7))),
        (" 0 ", Some(Duration::ZERO)),
        ("86400", Some(RETRY_AFTER_MAX)),
        (&at(42), Some(Duration::from_secs(30))),
        (&at(5), Some(Duration::ZERO)),
        ("Sun, 21 Nov 2027 10:00:00 GMT", Some(RETRY_AFTER_MAX)),
        ("-7", None),
        ("soon", None),
    ] {
        let headers = [(RETRY_AFTER, after.parse().unwrap()), (DATE, at(12).parse().unwrap())];
        assert_eq!(retry_after(&headers.into_iter().collect()), expected, "{after:?}");
    }
    assert_eq!(retry_after(&HeaderMap::new()), None);
}
