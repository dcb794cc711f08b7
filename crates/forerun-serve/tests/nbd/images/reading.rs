//! Images that are as they should be.

use std::time::Duration;

use forerun::{Forerun, Options};
use forerun_serve::nbd::Overlay;

use super::super::client::*;
use super::super::numbers::*;
use super::super::support::{MIB, SLOW_FROM, engine};
use super::*;

#[test]
fn an_image_of_each_version_and_cluster_size_reads_as_its_disk() {
    for (version, bits) in [(3, 9), (2, 9), (3, 12), (2, 16), (3, 16), (3, 18), (3, 21)] {
        let maker = mixed(bits).version(version);
        let disk = maker.disk(&[]);
        let served = serve(&[("a", maker.made())], false);
        let mut clients = [served.open("a"), served.open_structured("a")];
        for client in &mut clients {
            for (from, len) in
                [(0, disk.len()), (1, disk.len() / 2), (disk.len() / 3, disk.len() / 2), (7, 1)]
            {
                let read = client.read(from as u64, len as u32).unwrap();
                assert!(read == disk[from..from + len], "version {version}, 2^{bits}: {len} from {from}");
            }
        }
    }
}

#[test]
fn the_size_is_that_of_the_disk_and_the_last_cluster_may_be_short() {
    let mut maker = mixed(12);
    maker.clusters[7] = Cluster::Data(pattern(4096, 6));
    maker.size -= 1000;
    let mut file = maker.made();
    let disk = maker.disk(&[]);
    file.truncate(file.len() - 1000);
    let served = serve(&[("a", file.clone())], false);
    let mut client = Client::unix(&served.socket);
    assert_eq!(client.go("a").0, disk.len() as u64);
    assert!(client.read(0, disk.len() as u32).unwrap() == disk);
    // QEMU leaves the end of a cluster out that nobody has written.
    file.truncate(file.len() - 2000);
    let served = serve(&[("a", file)], false);
    let read = served.open("a").read(0, disk.len() as u32).unwrap();
    let whole = disk.len() - 2000;
    assert!(read[..whole] == disk[..whole] && read[whole..] == [0; 2000]);
}

#[test]
fn many_clients_read_an_image_at_once() {
    let clusters = (0..2000).map(|seed| match seed % 4 {
        0 => Cluster::Packed(pattern(4096, seed)),
        1 => Cluster::Unallocated,
        _ => Cluster::Data(pattern(4096, seed)),
    });
    let maker = Maker::new(12, clusters.collect());
    let disk = maker.disk(&[]);
    let served = serve(&[("a", maker.made())], false);
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (served, disk) = (&served, &disk);
            scope.spawn(move || {
                let mut client = served.open_structured("a");
                for round in 0..40 {
                    let from = (thread * 7919 + round * 104_729) % (disk.len() - MIB);
                    let len = 1 + round * 25_000;
                    assert!(client.read(from as u64, len as u32).unwrap() == disk[from..from + len]);
                }
            });
        }
    });
}

#[test]
fn clients_that_come_at_once_open_an_image_once() {
    // Its five tables of 2 MiB are more than half of what all images may have. The first table comes when it may.
    let (mut file, places) = Maker::new(21, vec![Cluster::Data(pattern(2 << 20, 1))]).with_places();
    let l1 = (SLOW_FROM as usize).next_multiple_of(2 << 20);
    file.resize(l1.max(file.len()) + (2 << 20), 0);
    for (at, long) in [(24, 5 << 39), (40, l1 as u64)] {
        maker::put_long(&mut file, at, long);
    }
    maker::put_word(&mut file, 36, 5);
    for index in 0..5 {
        maker::put_long(&mut file, l1 + index * 8, 1 << 63 | places.l2 as u64);
    }
    let served = serve(&[("slow", file)], false);
    let mut clients: Vec<Client> = (0..4).map(|_| Client::unix(&served.socket)).collect();
    clients.iter_mut().for_each(|client| client.send_option(GO, &named("slow", &[])));
    served.storage.allowed.add_permits(1 << 10);
    for mut client in clients {
        assert_eq!(client.answers(GO).1, ACK);
        assert!(client.read(0, 4096).unwrap() == pattern(2 << 20, 1)[..4096]);
    }
}

#[test]
fn a_read_ahead_of_plain_clusters_is_announced() {
    let maker = mixed(16);
    let served = serve(&[("a", maker.made())], false);
    let mut client = served.open("a");
    let cookie = client.request(CACHE, 0, 0, 8 << 16);
    assert_eq!(client.outcome(cookie), 0);
    assert!(client.read(0, 8 << 16).unwrap() == maker.disk(&[]));
}

#[test]
fn a_table_that_waits_for_the_store_holds_up_no_other_read() {
    // Two tables, of 2 MiB of the disk each. The second one lies where the store is slow.
    let clusters: Vec<Cluster> = (0..1024)
        .map(|seed| match seed {
            0..8 | 512..520 => Cluster::Data(pattern(4096, seed)),
            _ => Cluster::Unallocated,
        })
        .collect();
    let mut maker = Maker::new(12, clusters);
    maker.l2_from = SLOW_FROM as usize - 4096;
    let disk = maker.disk(&[]);
    let (mut file, places) = maker.with_places();
    // The clusters of the first table lie before it.
    for index in 0..8 {
        let to = (4 + index) * 4096;
        file[to..to + 4096].copy_from_slice(&disk[index * 4096..(index + 1) * 4096]);
        maker::put_long(&mut file, places.l2 + index * 8, 1 << 63 | to as u64);
    }
    let served = serve(&[("slow", file)], false);
    let mut waiting = served.open("slow");
    let cookie = waiting.request(READ, 0, 2 << 20, 4096);
    let mut other = served.open("slow");
    for index in 0..8 {
        assert!(other.read(index * 4096, 4096).unwrap() == disk[index as usize * 4096..][..4096]);
    }
    served.storage.allowed.add_permits(1 << 10);
    assert!(waiting.take_read(cookie, 2 << 20, 4096).unwrap() == disk[2 << 20..][..4096]);
}

#[test]
fn an_overlay_lies_over_the_disk_of_an_image() {
    let base = pattern(5 << 12, 9);
    let maker = mixed(12).over("base", "raw");
    let mut disk = maker.disk(&base);
    let objects = [("a", maker.made()), ("base", base)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overlay");
    let (storage, forerun) = engine(64 << 20, &objects);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for round in 0..2 {
        let source = source(&forerun, true);
        let overlay = Overlay::open(&path, &runtime.block_on(source.disk("a")).unwrap()).unwrap();
        let served = Served::source(storage.clone(), forerun.clone(), source.with_overlay("a", overlay));
        let mut client = served.open("a");
        assert!(client.read(0, disk.len() as u32).unwrap() == disk, "round {round}");
        let from = 3 * 4096 + 100;
        disk[from..from + 5000].fill(round + 7);
        let cookie = client.request(WRITE, FLAG_FUA, from as u64, 5000);
        client.send(&[round + 7; 5000]);
        assert_eq!(client.outcome(cookie), 0);
        assert!(client.read(0, disk.len() as u32).unwrap() == disk, "round {round}");
        served.end();
    }
    storage.objects.replace("base", pattern(5 << 12, 10));
    let changed = runtime.block_on(source(&forerun, true).disk("a")).unwrap();
    let error = Overlay::open(&path, &changed).unwrap_err();
    assert_eq!(error.kind, forerun::ErrorKind::Changed);
    let raw = runtime.block_on(forerun.stat("a")).unwrap();
    assert_eq!(Overlay::open(&path, &raw).unwrap_err().kind, forerun::ErrorKind::Changed);
}

#[test]
fn images_of_a_directory_are_served_from_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), mixed(12).over("base", "raw").made()).unwrap();
    let base = pattern(20_000, 1);
    std::fs::write(folder.path().join("base"), &base).unwrap();
    let options = Options::default().with_memory_bytes(16 << 20).with_metadata_ttl(Duration::ZERO);
    let forerun = Forerun::connect_blocking(folder.path().to_str().unwrap(), options).unwrap();
    let served =
        Served::source(Arc::clone(&serve(&[], false).storage), forerun.clone(), source(&forerun, true));
    assert!(served.open("a").read(0, 8 << 12).unwrap() == mixed(12).disk(&base));
    // A link could lead anywhere.
    std::fs::remove_file(folder.path().join("base")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("base")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(source(&forerun, true).disk("a")).unwrap_err();
    assert!(error.message.contains("is no file"), "{error}");
}
