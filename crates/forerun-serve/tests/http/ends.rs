//! How answers, and the server, end.

use std::time::Duration;

use super::support::{MIB, Served, pattern};

#[test]
fn an_answer_that_cannot_go_on_is_cut_short_and_never_wrong() {
    let bytes = pattern(12 * MIB, 1);
    let served = Served::new(&[("broken", bytes.clone()), ("a", bytes.clone())]);
    let reply = served.ask("GET /-/bucket/broken");
    assert_eq!((reply.status, reply.header("content-length")), (200, Some("12582912")));
    assert!(reply.body.len() < bytes.len() && reply.body == bytes[..reply.body.len()]);
    // An error before the first byte has a status.
    let refused = served.ask("GET /-/bucket/broken\nRange: bytes=10000000-");
    assert_eq!(refused.status, 502);
    assert_eq!(served.ask("GET /bucket/broken\nRange: bytes=10000000-").status, 503);
    assert!(served.ask("GET /bucket/a").body == bytes);
}

#[test]
fn a_removed_object_is_not_found() {
    let served = Served::new(&[("a", pattern(10, 1))]);
    assert_eq!(served.ask("GET /-/bucket/a\nRange: bytes=0-0").status, 206);
    served.storage.objects.remove("a");
    served.forerun.invalidate_metadata("a");
    assert_eq!(served.ask("GET /-/bucket/a").status, 404);
    assert_eq!(served.ask("GET /bucket/a").status, 404);
}

#[test]
fn the_server_completes_the_answers_that_it_has_begun() {
    let bytes = pattern(12 * MIB, 1);
    let mut served = Served::new(&[("slow", bytes.clone())]);
    let mut client = served.connect();
    client.send(b"GET /-/bucket/slow HTTP/1.1\r\nHost: test\r\n\r\n");
    // It has begun.
    assert!(client.fill() > 0);
    served.running.stop();
    assert!(!served.running.ends_within(Duration::from_millis(300)), "it waits for the answer");
    served.storage.allowed.add_permits(1 << 20);
    assert!(client.reply(true).body == bytes);
    assert!(served.running.ends_within(Duration::from_secs(10)));
}
