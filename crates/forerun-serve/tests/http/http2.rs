//! Clients of HTTP/2 that do not go on, or that shut their windows.

use std::thread;
use std::time::{Duration, Instant};

use forerun_serve::Limits;

use super::frames::{
    DATA, END_STREAM, Frame, HEADERS, Http2, PING, PREFACE, SETTINGS, WINDOW_UPDATE, frame, get,
};
use super::support::{MIB, Served, for_one_client, others_read_beside, pattern};

/// A window in which the whole object fits.
const WIDE: u32 = 64 << 20;

/// The bytes of the next DATA frame. None if the server hangs up.
fn data(client: &mut Http2) -> Option<Vec<u8>> {
    loop {
        match client.frame()? {
            Frame { kind: DATA, payload, .. } if !payload.is_empty() => return Some(payload),
            _ => {}
        }
    }
}

#[test]
fn an_object_comes_in_frames() {
    let bytes = pattern(3 * MIB, 1);
    let served = Served::new(&[("a", bytes.clone())]);
    let mut client = Http2::new(served.address, WIDE);
    client.send(&frame(WINDOW_UPDATE, 0, 0, &WIDE.to_be_bytes()));
    for (number, path) in ["/-/bucket/a", "/bucket/a"].into_iter().enumerate() {
        client.send(&get(1 + 2 * number as u32, path));
        let mut body = Vec::new();
        while body.len() < bytes.len() {
            body.extend(data(&mut client).unwrap());
        }
        assert!(body == bytes, "{path}");
    }
}

#[test]
fn half_a_frame_is_given_up_in_time() {
    let limits = Limits::default().with_idle(Duration::from_millis(200));
    let served = Served::with(&[("a", vec![1])], "", limits);
    let began = Instant::now();
    let request = get(1, "/-/bucket/a");
    let mut without_end = request.clone();
    without_end[4] = END_STREAM;
    for half in [&[][..], &request[..5], &request[..9], &request[..request.len() - 1], &without_end] {
        // Answers to the server's frames would be the rest of this one, so there are none.
        let mut client = served.connect();
        client.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), half].concat());
        while client.fill() > 0 {}
    }
    assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
}

#[test]
fn clients_with_shut_windows_hold_up_nobody() {
    others_read_beside(8, |served| {
        let mut silent = Http2::new(served.address, 0);
        (0..16).for_each(|number| silent.send(&get(1 + 2 * number, "/-/bucket/a")));
        // The server has begun to answer.
        while silent.frame().unwrap().kind != HEADERS {}
        silent
    });
}

#[test]
fn a_client_that_answers_pings_and_takes_nothing_is_cut_off() {
    let limits = Limits::default().with_idle(Duration::from_millis(200));
    let served = for_one_client(limits.with_stall(Duration::from_millis(1500)));
    let mut silent = Http2::new(served.address, 0);
    silent.send(&get(1, "/-/bucket/a"));
    let silent = thread::spawn(move || {
        let mut pings = 0;
        while let Some(frame) = silent.frame() {
            assert!(frame.kind != DATA, "its window is shut");
            pings += usize::from(frame.kind == PING);
        }
        pings
    });
    // There is room for this client once the other is gone.
    assert_eq!(served.ask("GET /-/bucket/b").body, [1]);
    assert!(silent.join().unwrap() > 0, "it has been asked whether it lives");
}

#[test]
fn a_client_that_takes_little_at_a_time_is_not_cut_off() {
    let bytes = pattern(MIB, 1);
    // This is much more than the client rests, so that none is cut off on a busy machine.
    let limits = Limits::default().with_stall(Duration::from_millis(1500));
    let served = Served::with(&[("a", bytes.clone())], "", limits);
    let mut slow = Http2::new(served.address, 0);
    slow.send(&get(1, "/-/bucket/a"));
    let (began, mut taken) = (Instant::now(), Vec::new());
    while began.elapsed() < Duration::from_secs(3) {
        // All rests together are longer than a client may take nothing.
        thread::sleep(Duration::from_millis(100));
        slow.send(&frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]));
        taken.extend(data(&mut slow).expect("it is cut off"));
    }
    assert!(taken == bytes[..taken.len()] && taken.len() > 2);
}
