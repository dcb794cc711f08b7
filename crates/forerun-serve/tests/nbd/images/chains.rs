//! Images and their backing files.

use super::super::client::*;
use super::super::numbers::*;
use super::*;

/// An image of eight clusters, of which it has only one itself.
fn thin(own: usize, seed: u64) -> Maker {
    thin_of(12, own, seed)
}

/// The same of clusters with 2^`bits` bytes each.
fn thin_of(bits: u32, own: usize, seed: u64) -> Maker {
    let data = || Cluster::Data(pattern(1 << bits, seed));
    let cluster = |index| if index == own { data() } else { Cluster::Unallocated };
    Maker::new(bits, (0..8).map(cluster).collect())
}

#[test]
fn a_chain_reads_each_cluster_from_the_first_file_that_has_it() {
    // The base ends in the midst of the disk.
    let base = pattern(6 * 4096 - 500, 1);
    let middle = thin(3, 2).over("base", "raw");
    let mut top = thin(5, 3).version(2).over("more/middle", "qcow2");
    top.clusters[2] = Cluster::Zero;
    top.clusters[4] = Cluster::Packed(pattern(4096, 4));
    let disk = top.disk(&middle.disk(&base));
    // Names count from the folder of the file that has them.
    let objects = [("top", top.made()), ("more/middle", middle.made()), ("more/base", base)];
    let served = serve(&objects, true);
    let mut client = served.open_structured("top");
    assert!(client.read(0, disk.len() as u32).unwrap() == disk);
    for at in (0..disk.len() - 700).step_by(611) {
        assert!(client.read(at as u64, 700).unwrap() == disk[at..at + 700], "{at}");
    }
}

#[test]
fn a_backing_file_is_opened_only_if_that_is_allowed() {
    let objects = [("top", thin(1, 1).over("base", "raw").made()), ("base", pattern(4096, 2))];
    let error = error_of(&objects, false, "top");
    assert!(error.message.contains("\"base\"") && error.message.contains("--backing"), "{error}");
    let served = serve(&objects, false);
    assert_eq!(Client::unix(&served.socket).option(GO, &named("top", &[])).1, ERR_UNKNOWN);
    assert!(serve(&objects, true).open("top").read(0, 4096).unwrap() == pattern(4096, 2));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let json = "json:{\"driver\":\"file\",\"filename\":\"secret\"}";
    for name in [
        "/secret",
        "../secret",
        "a/../secret",
        "./../secret",
        json,
        "nbd://localhost/secret",
        "file:secret",
        "",
    ] {
        for folder in ["", "more/"] {
            let path = format!("{folder}top");
            let objects = [
                ("first", thin(1, 1).over(&path, "qcow2").made()),
                (path.as_str(), thin(1, 1).over(name, "raw").made()),
                ("secret", pattern(4096, 2)),
            ];
            let error = error_of(&objects, true, "first");
            assert!(error.message.contains("is not opened"), "{name:?}: {error}");
        }
    }
}

#[test]
fn a_backing_file_without_a_known_format_is_not_guessed_at() {
    let base = thin(2, 1).made();
    let mut top = thin(1, 1).over("base", "vmdk");
    let error = error_of(&[("top", top.made()), ("base", base.clone())], true, "top");
    assert!(error.message.contains("vmdk"), "{error}");
    top.backing = Some(("base".to_owned(), None));
    for version in [2, 3] {
        let top = top.clone().version(version).made();
        let error = error_of(&[("top", top), ("base", base.clone())], true, "top");
        assert!(error.message.contains("qemu-img rebase -u -b NAME -F FORMAT IMAGE"), "{error}");
    }
    // A raw disk that is said to be an image is no reason to serve the bytes of the one above it as a disk.
    let objects = [("top", thin(1, 1).over("base", "qcow2").made()), ("base", pattern(4096, 2))];
    let error = error_of(&objects, true, "top");
    assert!(error.message.contains("\"top\"") && error.message.contains("-F raw"), "{error}");
    // A guest that writes the header of an image into a raw disk gets no other file.
    let objects = [("top", thin(1, 1).over("base", "raw").made()), ("base", base.clone())];
    assert!(serve(&objects, true).open("top").read(0, 4096).unwrap() == base[..4096]);
}

#[test]
fn chains_that_go_round_or_too_deep_end_in_an_error() {
    let to = |name: &str| thin(1, 1).over(name, "qcow2").made();
    for objects in [
        vec![("a", to("a"))],
        vec![("a", to("b")), ("b", to("a"))],
        vec![("a", to("b")), ("b", to("c")), ("c", to("b"))],
    ] {
        let error = error_of(&objects, true, "a");
        assert!(error.message.contains("comes back"), "{error}");
    }
    let chain = |count: usize| -> Vec<(String, Vec<u8>)> {
        let link =
            |index: usize| if index == count { thin(1, 1).made() } else { to(&format!("{}", index + 1)) };
        (1..=count).map(|index| (index.to_string(), link(index))).collect()
    };
    let refs = |chain: &[(String, Vec<u8>)]| -> Vec<(&'static str, Vec<u8>)> {
        chain.iter().map(|(name, bytes)| (&*name.clone().leak(), bytes.clone())).collect()
    };
    assert!(serve(&refs(&chain(16)), true).open("1").read(4096, 4096).unwrap() == pattern(4096, 1));
    let error = error_of(&refs(&chain(17)), true, "1");
    assert!(error.message.contains("longer than 16"), "{error}");
}

#[test]
fn a_missing_backing_file_is_named() {
    let error = error_of(&[("top", thin(1, 1).over("base", "raw").made())], true, "top");
    assert!(error.message.contains("\"base\" of the image \"top\""), "{error}");
}

#[test]
fn a_changed_file_of_a_chain_fails_and_the_next_client_gets_the_new_one() {
    // Of these clusters none is fetched along with another.
    const LEN: usize = 1 << 18;
    let (old, new) = (pattern(8 * LEN, 1), pattern(8 * LEN, 2));
    let mut top = thin_of(18, 3, 3).over("base", "raw");
    top.clusters[4] = Cluster::Zero;
    let served = serve(&[("top", top.made()), ("base", old.clone())], true);
    let whole = |client: &mut Client| client.read(0, 8 * LEN as u32).unwrap();
    let fails =
        |client: &mut Client, cluster: usize| client.read((cluster * LEN) as u64, 4096) == Err(ESHUTDOWN);
    let mut client = served.open_structured("top");
    assert!(client.read(0, 4096).unwrap() == old[..4096]);
    served.storage.objects.replace("base", new.clone());
    assert!(fails(&mut client, 7));
    for cluster in [0, 3, 4] {
        assert!(fails(&mut client, cluster), "nothing of the old disk is read any more: {cluster}");
    }
    let mut next = served.open_structured("top");
    assert!(whole(&mut next) == top.disk(&new));

    // The next client finds out by itself.
    served.storage.objects.replace("base", old.clone());
    assert!(whole(&mut served.open("top")) == top.disk(&old));
    assert!(fails(&mut next, 0));

    let newer = thin_of(18, 1, 9).over("base", "raw");
    let mut client = served.open("top");
    served.storage.objects.replace("top", newer.made());
    assert!(whole(&mut served.open("top")) == newer.disk(&old));
    assert!(fails(&mut client, 3));
}
