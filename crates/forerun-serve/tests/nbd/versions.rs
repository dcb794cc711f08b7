//! Objects that change while they are served.

use super::client::*;
use super::numbers::*;
use super::support::{MIB, Served, pattern};

#[test]
fn a_changed_object_fails_and_the_next_client_gets_the_new_one() {
    let (old, new) = (pattern(3 * MIB, 1), pattern(2 * MIB, 2));
    let served = Served::new(&[("a", old.clone())]);
    let mut client = served.open_structured("a");
    let mut idle = served.open_structured("a");
    assert!(client.read(0, 4096).unwrap() == old[..4096]);
    served.storage.objects.replace("a", new.clone());
    assert_eq!(client.read(MIB as u64, 4096), Err(ESHUTDOWN));
    assert_eq!(client.read(0, 4096), Err(ESHUTDOWN), "nothing of the old version is read any more");
    let mut next = Client::unix(&served.socket);
    assert_eq!(next.go("a").0, 2 * MIB as u64);
    assert!(next.read(MIB as u64, 4096).unwrap() == new[MIB..MIB + 4096]);
    assert_eq!(idle.read(0, 4096), Err(ESHUTDOWN), "not even by a client that has asked for nothing yet");
}

#[test]
fn a_client_never_sees_two_versions_on_two_connections() {
    let (old, new) = (pattern(3 * MIB, 1), pattern(3 * MIB, 2));
    let served = Served::new(&[("a", old.clone())]);
    let mut first = served.open_structured("a");
    assert!(first.read(0, 4096).unwrap() == old[..4096]);
    served.storage.objects.replace("a", new.clone());
    let mut second = served.open_structured("a");
    assert!(second.read(0, 4096).unwrap() == new[..4096]);
    assert_eq!(first.read(0, 4096), Err(ESHUTDOWN), "though these bytes are in memory");
}

#[test]
fn a_removed_object_fails_and_is_not_found() {
    let served = Served::new(&[("a", pattern(3 * MIB, 1))]);
    let mut client = served.open("a");
    served.storage.objects.remove("a");
    assert_eq!(client.read(0, 4096), Err(ESHUTDOWN));
    assert_eq!(Client::unix(&served.socket).option(GO, &named("a", &[])).1, ERR_UNKNOWN);
}
