//! Overlays that do not fit, bases that change or wait, and clients that leave.

use std::fs;
use std::os::unix::fs::FileExt;

use forerun::ErrorKind;

use super::super::client::*;
use super::super::support::{MIB, SLOW_FROM, pattern};
use super::*;

fn refusal(path: &Path, base: &Entry) -> String {
    Overlay::open(path, base).unwrap_err().message
}

#[test]
fn an_overlay_belongs_to_one_version_of_its_base_and_one_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    let (storage, forerun) = base(pattern(MIB, 1));
    let own = entry(&forerun);
    let overlay = Overlay::open(&path, &own).unwrap();
    assert!(refusal(&path, &own).contains("end the server that has it"));
    drop(overlay);
    // Where it is stored does not matter.
    let elsewhere = Entry::file("other/place", own.size, own.version.clone());
    drop(Overlay::open(&path, &elsewhere).unwrap());
    let larger = Entry::file("a", own.size + 1, own.version.clone());
    assert!(refusal(&path, &larger).contains("belongs to an object of 1048576 bytes"));
    storage.objects.replace("a", pattern(MIB, 2));
    let said = refusal(&path, &entry(&forerun));
    assert!(said.contains("serve the base that it was made for"), "{said}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left there");
}

#[test]
fn files_that_are_no_overlay_are_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (_storage, forerun) = base(pattern(MIB, 1));
    for content in [&b""[..], b"precious", &[0; 5000]] {
        let path = folder.path().join("o");
        fs::write(&path, content).unwrap();
        let said = refusal(&path, &entry(&forerun));
        assert!(said.contains("is no overlay"), "{said}");
        assert!(fs::read(&path).unwrap() == content);
    }
    let path = folder.path().join("damaged");
    drop(Overlay::open(&path, &entry(&forerun)).unwrap());
    fs::File::options().write(true).open(&path).unwrap().write_all_at(&[1], 100).unwrap();
    assert!(refusal(&path, &entry(&forerun)).contains("damaged"));
    assert!(refusal(&folder.path().join("none/o"), &entry(&forerun)).contains("cannot be created"));
}

#[test]
fn a_base_that_changes_ends_reads_and_writes_and_what_was_written_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    let (storage, forerun) = base(pattern(3 * MIB, 1));
    let served = serve(&storage, &forerun, &path);
    let mut client = served.open("a");
    assert_eq!(write(&mut client, 0, 4096, &[7; 4096]), 0);
    let old = entry(&forerun);
    storage.objects.replace("a", pattern(3 * MIB, 2));
    assert_eq!(client.read(2 << 20, 4096), Err(ESHUTDOWN));
    assert_eq!(Client::unix(&served.socket).option(GO, &named("a", &[])).1, ERR_UNKNOWN);
    assert_eq!(client.read(4096, 4096), Err(ESHUTDOWN), "though the overlay has these");
    assert_eq!(write(&mut client, 0, 4096, &[8; 4096]), ESHUTDOWN);
    flush(&mut client);
    served.end();
    assert_eq!(Overlay::open(&path, &entry(&forerun)).unwrap_err().kind, ErrorKind::Changed);
    drop(Overlay::open(&path, &old).unwrap());
}

#[test]
fn a_write_that_waits_for_its_base_holds_up_only_its_block() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = pattern(12 * MIB, 1);
    let (storage, forerun) = engine(16 << 20, &[("slow", bytes.clone())]);
    let entry = forerun.stat_blocking("slow").unwrap();
    let overlay = Overlay::open(&folder.path().join("o"), &entry).unwrap();
    let source = Source::new(forerun.clone(), None).with_overlay("slow", overlay);
    let served = Served::source(storage, forerun, source);
    let mut waiting = served.open("slow");
    let cookie = waiting.request(WRITE, 0, SLOW_FROM + 100, 5);
    waiting.send(b"tardy");
    // The server has it once it has answered the next.
    assert_eq!(write(&mut waiting, 0, 0, &[9; 4096]), 0);
    let mut client = served.open("slow");
    let second = client.request(WRITE, 0, SLOW_FROM + 102, 5);
    client.send(b"later");
    assert_eq!(write(&mut client, 0, 4096, &[1; 10]), 0);
    flush(&mut client);
    // A client that leaves takes its write along, or not; the others go on.
    let mut leaver = served.open("slow");
    leaver.request(WRITE, 0, SLOW_FROM + 4096, 5);
    leaver.send(b"gone!");
    drop(leaver);
    served.storage.allowed.add_permits(100);
    assert_eq!((waiting.outcome(cookie), client.outcome(second)), (0, 0));
    let mut expected = bytes[8 * MIB..8 * MIB + 4096].to_vec();
    expected[100..107].copy_from_slice(b"talater");
    assert!(client.read(SLOW_FROM, 4096).unwrap() == expected);
}

#[test]
fn a_write_after_the_farewell_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (storage, forerun) = base(pattern(MIB, 1));
    let served = serve(&storage, &forerun, &folder.path().join("o"));
    let mut client = served.open("a");
    let farewell = [request(DISCONNECT, 0, 7, 0, 0), request(WRITE, FLAG_FUA, 8, 0, 4096), vec![9; 4096]];
    client.send(&farewell.concat());
    assert!(client.is_hung_up(), "a reply to one of them");
    assert!(served.open("a").read(0, 4096).unwrap() == pattern(MIB, 1)[..4096]);
}

#[test]
fn clients_that_stop_in_the_midst_of_a_write_stop_only_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let (storage, forerun) = base(pattern(8 * MIB, 1));
    let mut served = serve(&storage, &forerun, &folder.path().join("o"));
    let mut stopped = Vec::new();
    for number in 0..50 {
        let mut client = served.open("a");
        client.request(WRITE, 0, 0, 8 << 20);
        client.send(&vec![number; 100_000 * (1 + number as usize % 5)]);
        stopped.push(client);
    }
    let mut client = served.open("a");
    let bytes = pattern(8 * MIB, 2);
    assert_eq!(write(&mut client, FLAG_FUA, 0, &bytes), 0);
    assert!(client.read(4 << 20, 4 << 20).unwrap() == bytes[4 * MIB..]);
    // One that goes on is answered, even though the server is about to end.
    let mut last = stopped.pop().unwrap();
    drop(stopped);
    served.running.stop();
    let sent = 100_000 * 5;
    last.send(&vec![49; 8 * MIB - sent]);
    let cookie = 1;
    assert_eq!(last.outcome(cookie), 0);
    assert!(last.is_hung_up() && served.running.ends_within(std::time::Duration::from_secs(30)));
}
