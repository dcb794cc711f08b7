//! Clients that ask for much, or do not take their replies; and the end of the server.

use std::fs;
use std::io::Read;
use std::time::{Duration, Instant};

use super::client::*;
use super::numbers::*;
use super::support::{MIB, SLOW_FROM, Served, pattern};

#[test]
fn a_read_of_32_mib_is_the_longest() {
    let bytes = pattern(33 * MIB, 1);
    // In less memory than that.
    let served = Served::with_memory(16 << 20, &[("a", bytes.clone())]);
    for is_structured in [false, true] {
        let mut client = if is_structured { served.open_structured("a") } else { served.open("a") };
        assert!(client.read(5, 32 << 20).unwrap() == bytes[5..32 * MIB + 5]);
        assert_eq!(client.read(5, (32 << 20) + 1), Err(EINVAL));
    }
}

/// Sends reads until the server takes no more; how many it took.
fn flood(client: &mut Client, len: u32) -> usize {
    let socket = &mut client.socket;
    (0..).find(|number| socket.write_all(&request(READ, 0, *number, 0, len)).is_err()).unwrap() as usize
}

#[test]
fn clients_that_never_read_stop_only_themselves() {
    let bytes = pattern(32 * MIB, 1);
    // All that the stopped clients ask for does not fit.
    let served = Served::with_memory(16 << 20, &[("a", bytes.clone())]);
    let mut stopped = Vec::new();
    for number in 0..20 {
        let len = if number % 2 == 0 { 4096 } else { 1 << 20 };
        let socket = connect(&served.socket);
        socket.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut client = Client::greeted(Box::new(socket), 3);
        if number % 3 == 0 {
            client = client.structured();
        }
        client.go("a");
        // The sockets hold a part of it, and not without end.
        assert!(flood(&mut client, len) < 100_000, "requests are taken without end");
        stopped.push((client, len));
    }
    for is_structured in [false, true] {
        let mut client = if is_structured { served.open_structured("a") } else { served.open("a") };
        let began = Instant::now();
        assert!(client.read(0, 32 << 20).unwrap() == bytes, "another client reads");
        assert!(began.elapsed() < Duration::from_secs(15), "it took {:?}", began.elapsed());
    }
    assert!(served.forerun.memory_bytes() <= 16 << 20);
    // A stopped client that goes on gets every byte that it has asked for.
    for (client, len) in &mut stopped[..4] {
        for _ in 0..50 {
            let is_right = match client.message() {
                Message::Simple { error: 0, .. } => client.bytes(*len as usize) == bytes[..*len as usize],
                Message::Chunk { kind: 1, payload, .. } => payload[8..] == bytes[..*len as usize],
                message => panic!("{message:?}"),
            };
            assert!(is_right);
        }
    }
}

#[test]
fn one_client_too_many_is_turned_away_until_another_leaves() {
    let served = Served::new(&[("a", pattern(MIB, 1))]);
    let mut first = served.open("a");
    let mut others: Vec<Client> = (1..256).map(|_| Client::unix(&served.socket)).collect();
    let mut turned_away = connect(&served.socket);
    assert_eq!(turned_away.read(&mut [0]).unwrap(), 0);
    assert!(first.read(0, 4096).unwrap() == pattern(MIB, 1)[..4096]);
    assert_eq!(others[0].go("a").0, MIB as u64);
    others.pop();
    // The server may not have seen yet that there is room.
    let deadline = Instant::now() + Duration::from_secs(30);
    while connect(&served.socket).read(&mut [0]).unwrap() == 0 {
        assert!(Instant::now() < deadline, "nobody takes the place of the client that has left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_end_of_the_server_answers_what_is_in_flight() {
    let bytes = pattern(12 * MIB, 1);
    let mut served = Served::new(&[("slow", bytes.clone())]);
    let mut idle = served.open("slow");
    let mut haggling = Client::unix(&served.socket);
    let mut client = served.open_structured("slow");
    let read = client.request(READ, 0, SLOW_FROM, 4096);
    // The server has it once it has answered the next.
    assert!(client.read(0, 4096).is_ok());
    served.running.stop();
    assert!(idle.is_hung_up() && haggling.is_hung_up());
    assert!(!served.running.ends_within(Duration::from_millis(200)), "a reply is owed");
    assert!(!fs::exists(&served.socket).unwrap(), "no client can come any more");
    served.storage.allowed.add_permits(100);
    assert!(client.take_read(read, SLOW_FROM, 4096).unwrap() == bytes[8 * MIB..8 * MIB + 4096]);
    assert!(client.is_hung_up());
    assert!(served.running.ends_within(Duration::from_secs(5)));
}

#[test]
fn the_socket_of_a_server_that_has_ended_is_taken_over_and_no_other() {
    use forerun_serve::Listener;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let listener = runtime.block_on(Listener::unix(&path)).expect("it is taken over");
    assert!(runtime.block_on(Listener::unix(&path)).is_err(), "a server listens there");
    drop(listener);
    fs::write(&path, "precious").unwrap();
    assert!(runtime.block_on(Listener::unix(&path)).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}
