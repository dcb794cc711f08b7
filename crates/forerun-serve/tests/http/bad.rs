//! Clients that misbehave.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use forerun_serve::Limits;

use super::client::connect;
use super::support::{MIB, Served, for_one_client, others_read_beside, pattern};

#[test]
fn no_path_leads_out_of_a_bucket() {
    let served = Served::new(&[("a/b", vec![1]), ("%2e%2e/c", vec![2])]);
    let below = [
        "../bucket/a/b",
        "a/../a/b",
        "a/./b",
        "%2e%2e/etc/passwd",
        "%2E%2E/bucket/a/b",
        "a/%2e%2e/a/b",
        "a/%2e/b",
        "..%2fetc/passwd",
        "..%2Fbucket%2Fa%2Fb",
        "a%2f..%2fa%2fb",
        "%252e%252e/etc/passwd",
        "a/%252e%252e/a/b",
        "..%5cbucket",
        "/etc/passwd",
        "%2Fetc/passwd",
        "a//b",
        "a/b%00",
        "a%00/",
        "../",
        "%2e%2e/",
        "%2e%2e%2f",
    ];
    for path in below {
        for target in [format!("/-/bucket/{path}"), format!("/bucket/{path}")] {
            assert_eq!(served.ask(&format!("GET {target}")).status, 404, "{target}");
            assert_eq!(served.ask(&format!("HEAD {target}")).status, 404, "{target}");
        }
    }
    for (target, status) in [
        ("/-/../etc/passwd", 404),
        ("/-/%2e%2e/etc/passwd", 404),
        ("/-/..%2fetc/passwd", 404),
        ("/-/%252e%252e/etc/passwd", 404),
        ("/-/bucket/%ff", 404),
        ("/../etc/passwd", 400),
        ("/%2e%2e/etc/passwd", 400),
        ("/..%2fetc/passwd", 400),
        ("/%252e%252e/etc/passwd", 400),
        ("/bucket/%ff", 400),
    ] {
        assert_eq!(served.ask(&format!("GET {target}")).status, status, "{target}");
    }
    for target in ["/-/bucket/a/b", "/bucket/a/b", "/-/bucket/a%2fb", "/bucket/a%2fb"] {
        assert_eq!(served.ask(&format!("GET {target}")).body, [1], "{target}");
    }
    // Names are decoded once.
    for target in ["/-/bucket/%252e%252e/c", "/bucket/%252e%252e/c"] {
        assert_eq!(served.ask(&format!("GET {target}")).body, [2], "{target}");
    }
}

#[test]
fn other_methods_are_refused() {
    let served = Served::new(&[("a", vec![1])]);
    let refused = served.ask("PUT /-/bucket/a\nContent-Length: 0");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
}

#[test]
fn what_is_no_http_ends_its_connection_alone() {
    let served = Served::new(&[("a", vec![1])]);
    let mut good = served.connect();
    assert_eq!(good.ask("GET /-/bucket/a").body, [1]);
    for bytes in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nA b\r\n\r\n",
    ] {
        let mut bad = served.connect();
        bad.send(bytes);
        assert_eq!(bad.reply(true).status, 400, "{:?}", String::from_utf8_lossy(bytes));
        assert_eq!(bad.fill(), 0, "{:?}", String::from_utf8_lossy(bytes));
    }
    let mut bad = served.connect();
    bad.send(format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(64 << 10)).as_bytes());
    assert_eq!(bad.reply(true).status, 431);
    assert_eq!(good.ask("GET /-/bucket/a").body, [1]);
}

#[test]
fn a_client_that_does_not_go_on_is_given_up_in_time() {
    let limits = Limits::default().with_idle(Duration::from_millis(200));
    let served = Served::with(&[("a", vec![1])], "", limits);
    let began = Instant::now();
    for begun in [
        &b""[..],
        b"G",
        b"PRI * HTTP/2.0\r\n",
        b"GET / HTTP/1.1\r\nX-Slow: ",
        b"GET / HTTP/1.1\r\nHost: a\r\n",
    ] {
        let mut slow = served.connect();
        slow.send(begun);
        while slow.fill() > 0 {}
    }
    // One header after the other, each in time.
    let mut slow = connect(served.address);
    slow.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    while slow.read(&mut [0; 100]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
        assert!(began.elapsed() < Duration::from_secs(15), "a header comes in time again and again");
        // The server may have hung up meanwhile.
        let _ = slow.write_all(b"X: y\r\n");
    }
    let mut resting = served.connect();
    assert_eq!(resting.ask("GET /-/bucket/a").body, [1]);
    assert_eq!(resting.fill(), 0);
    assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
}

#[test]
fn half_a_connection_ends_itself_alone() {
    let served = Served::new(&[("slow", pattern(12 * MIB, 1)), ("a", vec![1])]);
    let request = b"GET /-/bucket/slow HTTP/1.1\r\nHost: test\r\nRange: bytes=9000000-\r\n\r\n";
    let mut halves: Vec<TcpStream> = (0..20).map(|_| connect(served.address)).collect();
    for half in &mut halves {
        half.write_all(request).unwrap();
        half.shutdown(Shutdown::Write).unwrap();
    }
    assert_eq!(served.ask("GET /-/bucket/a").body, [1]);
    for mut half in halves {
        assert_eq!(half.read(&mut [0; 100]).unwrap(), 0, "nobody waits for the storage");
    }
}

#[test]
fn bodies_of_requests_are_not_read() {
    let served = Served::new(&[("a", vec![1])]);
    let refused = served.ask("PUT /bucket/a\nContent-Length: 1000000000000");
    assert_eq!(refused.status, 403);
    let body = "<Delete><Object><Key>&a;</Key><";
    let mut client = served.connect();
    let head =
        format!("POST /bucket?delete HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", body.len());
    client.send(format!("{head}{body}").as_bytes());
    assert_eq!(client.reply(true).status, 403);
    // An answer does not wait for the body that a GET announces.
    let mut client = served.connect();
    client.send(b"GET /-/bucket/a HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\n");
    assert_eq!(client.reply(true).body, [1]);
}

#[test]
fn clients_that_read_nothing_hold_up_nobody() {
    others_read_beside(40, |served| {
        let mut silent = served.connect();
        silent.send(b"GET /-/bucket/a HTTP/1.1\r\nHost: test\r\n\r\n");
        silent
    });
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let served = for_one_client(Limits::default().with_stall(Duration::from_millis(300)));
    let mut silent = served.connect();
    silent.send(b"GET /-/bucket/a HTTP/1.1\r\nHost: test\r\n\r\n");
    // There is room for this client once the other is gone.
    assert_eq!(served.ask("GET /-/bucket/b").body, [1]);
    drop(silent);
}

#[test]
fn a_client_that_takes_no_heads_is_cut_off() {
    let served = for_one_client(Limits::default().with_stall(Duration::from_millis(300)));
    let mut silent = connect(served.address);
    // It asks until the sockets are full of answers. None has a body, whose bytes would be counted.
    let asking = thread::spawn(move || {
        let requests = b"HEAD /-/bucket/a HTTP/1.1\r\nHost: test\r\n\r\n".repeat(1000);
        while silent.write_all(&requests).is_ok() {}
    });
    assert_eq!(served.ask("GET /-/bucket/b").body, [1]);
    asking.join().unwrap();
}
