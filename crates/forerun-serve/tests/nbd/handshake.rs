//! Options, and what a server says to them.

use super::client::*;
use super::numbers::*;
use super::support::{MIB, Served, pattern};

fn served() -> Served {
    Served::new(&[("a", pattern(3 * MIB, 1)), ("b", pattern(5, 2)), ("dir/c", pattern(7, 3))])
}

#[test]
fn exports_are_listed_and_chosen_by_name() {
    let served = served();
    let mut client = Client::unix(&served.socket);
    let (answers, last) = client.option(LIST, &[]);
    let names: Vec<&str> = answers
        .iter()
        .map(|(kind, data)| {
            assert_eq!(*kind, 2);
            str::from_utf8(&data[4..]).unwrap()
        })
        .collect();
    assert_eq!((&names[..], last), (&["a", "b"][..], ACK), "files at the top");
    for (name, size) in [("", 3 * MIB), ("a", 3 * MIB), ("b", 5), ("dir/c", 7)] {
        assert_eq!(Client::unix(&served.socket).go(name).0, size as u64, "{name}");
    }
    for name in ["c", "dir", "dir/", "/a", "a/", "dir/../a", "./a", "..", "A", "a\nb"] {
        let (answers, last) = client.option(GO, &named(name, &[]));
        assert_eq!((answers, last), (vec![], ERR_UNKNOWN), "{name}");
    }
    // The handshake goes on after every error.
    assert_eq!(client.go("b").0, 5);
    assert_eq!(client.read(0, 5).unwrap(), pattern(5, 2));
}

#[test]
fn flags_say_what_holds() {
    const COMMON: u16 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8 | 1 << 10;
    let served = served();
    assert_eq!(Client::unix(&served.socket).go("a").1, COMMON);
    // One chunk is only to be asked for where there are chunks.
    assert_eq!(Client::unix(&served.socket).structured().go("a").1, COMMON | 1 << 7);
}

#[test]
fn info_tells_what_is_asked_for_and_chooses_nothing() {
    let served = served();
    let mut client = Client::unix(&served.socket);
    let (answers, last) = client.option(INFO, &named("", &[3, 1, 2, 77]));
    assert_eq!(last, ACK);
    let of = |kind: u16| {
        let data = answers.iter().map(|(_, data)| data).find(|data| data[..2] == kind.to_be_bytes());
        data.map(|data| data[2..].to_vec())
    };
    assert_eq!(of(0).unwrap()[..8], (3 * MIB as u64).to_be_bytes());
    assert_eq!(of(1).unwrap(), b"a", "the first has a name of its own");
    assert_eq!(of(2).unwrap(), b"a of memory:");
    let sizes: Vec<u8> = [1_u32, 4096, 32 << 20].iter().flat_map(|size| size.to_be_bytes()).collect();
    assert_eq!(of(3).unwrap(), sizes);
    assert_eq!((of(77), answers.len()), (None, 4));
    assert_eq!(client.go("b").0, 5);
}

#[test]
fn export_name_is_answered_with_zeros_unless_they_are_unwanted() {
    let served = served();
    // Without the fixed handshake, too.
    for (flags, zeros) in [(3, 0), (1, 124), (2, 0), (0, 124)] {
        let mut client = Client::greeted(Box::new(connect(&served.socket)), flags);
        client.send_option(EXPORT_NAME, b"b");
        assert_eq!((client.u64(), client.u16() & 1), (5, 1));
        assert_eq!(client.bytes(zeros), vec![0; zeros]);
        assert_eq!(client.read(0, 5).unwrap(), pattern(5, 2), "{flags}");
    }
    let mut client = Client::unix(&served.socket);
    client.send_option(EXPORT_NAME, b"none");
    assert!(client.is_hung_up(), "there is no room for an error");
}

#[test]
fn block_status_is_chosen_for_one_export_and_needs_structured_replies() {
    let served = served();
    let mut client = Client::unix(&served.socket);
    for option in [LIST_META_CONTEXT, SET_META_CONTEXT] {
        assert_eq!(client.option(option, &queries("a", &["base:allocation"])), (vec![], ERR_INVALID));
    }
    let mut client = client.structured();
    let context = |id: u32| (4, [&id.to_be_bytes()[..], b"base:allocation"].concat());
    for wanted in [&[][..], &["base:"], &["x-y:z", "base:allocation"]] {
        assert_eq!(client.option(LIST_META_CONTEXT, &queries("a", wanted)), (vec![context(0)], ACK));
    }
    assert_eq!(client.option(LIST_META_CONTEXT, &queries("a", &["x-y:"])), (vec![], ACK));
    for nothing in [&[][..], &["base:"], &["base:other"]] {
        assert_eq!(client.option(SET_META_CONTEXT, &queries("a", nothing)), (vec![], ACK));
    }
    let chosen = queries("a", &["base:allocation"]);
    assert_eq!(client.option(SET_META_CONTEXT, &chosen), (vec![context(1)], ACK));
    assert_eq!(
        client.option(SET_META_CONTEXT, &queries("none", &["base:allocation"])),
        (vec![], ERR_UNKNOWN)
    );

    // The failure took the choice away; another export never had it.
    for (again, name, error) in [(false, "a", EINVAL), (true, "b", EINVAL), (true, "a", 0)] {
        let mut client = Client::unix(&served.socket).structured();
        if again {
            client.option(SET_META_CONTEXT, &chosen);
        } else {
            client.option(SET_META_CONTEXT, &chosen);
            client.option(SET_META_CONTEXT, &queries("none", &["base:allocation"]));
        }
        client.go(name);
        let cookie = client.request(BLOCK_STATUS, 0, 0, 5);
        if error == 0 {
            assert!(matches!(client.message(), Message::Chunk { kind: 5, is_done: true, .. }));
        } else {
            assert_eq!(client.outcome(cookie), error, "{name}");
        }
    }
}

#[test]
fn leaving_is_acknowledged() {
    let served = served();
    let mut client = Client::unix(&served.socket);
    assert_eq!(client.option(ABORT, &[]), (vec![], ACK));
    assert!(client.is_hung_up());
    // Nothing after it is an option any more.
    let mut client = Client::unix(&served.socket);
    let head = |option: u32| [&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes(), &[0; 4]].concat();
    client.send(&[head(ABORT), head(LIST)].concat());
    assert_eq!(client.answer(ABORT).0, ACK);
    assert!(client.is_hung_up());
    let mut client = served.open("b");
    let read = client.request(READ, 0, 0, 5);
    client.request(DISCONNECT, 0, 0, 0);
    assert_eq!(client.take_read(read, 0, 5).unwrap(), pattern(5, 2), "what was asked for before is answered");
    assert!(client.is_hung_up());
}
