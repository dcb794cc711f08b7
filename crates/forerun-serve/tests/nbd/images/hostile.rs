//! Images that are damaged, or that somebody made to do harm.

use forerun::ErrorKind;

use super::super::client::*;
use super::super::numbers::*;
use super::super::support::MIB;
use super::maker::{packed_entry, put_long, put_word};
use super::*;

/// A change of a file, and a part of the error that follows.
type Change = (fn(&mut Vec<u8>), &'static str);

#[test]
fn headers_that_make_no_sense_are_refused_with_a_reason() {
    let changes: [Change; 22] = [
        (|file| file.truncate(50), "no qcow2 image"),
        (|file| file[0] = b'q', "no qcow2 image"),
        (|file| put_word(file, 4, 4), "version 4"),
        (|file| put_word(file, 20, 8), "clusters"),
        (|file| put_word(file, 20, 22), "clusters"),
        (|file| put_word(file, 20, u32::MAX), "clusters"),
        (|file| put_word(file, 32, 1), "encrypted"),
        (|file| put_word(file, 32, 2), "encrypted"),
        (|file| put_long(file, 72, 1), "did not close it"),
        (|file| put_long(file, 72, 2), "corrupt"),
        (|file| put_long(file, 72, 4), "data_file"),
        (|file| put_long(file, 72, 8), "zstd"),
        (|file| put_long(file, 72, 16), "extended L2"),
        (|file| put_long(file, 72, 1 << 40), "features"),
        (|file| put_long(file, 24, u64::MAX), "does not fit"),
        (|file| put_long(file, 24, 1 << 40), "does not fit"),
        (|file| put_word(file, 36, u32::MAX), "does not fit"),
        (|file| put_word(file, 36, 4 << 20), "truncated"),
        (|file| put_long(file, 40, 100), "does not begin"),
        (|file| put_long(file, 40, u64::MAX - 4095), "truncated"),
        (|file| put_word(file, 96, 60), "refcount"),
        (|file| put_word(file, 100, 20), "makes no sense"),
    ];
    for (change, why) in changes {
        let mut file = mixed(12).made();
        change(&mut file);
        let error = error_of(&[("a", file)], true, "a");
        assert!(error.message.contains(why), "{why}: {error}");
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
    let changes: [Change; 4] = [
        (|file| put_word(file, 16, 1024), "makes no sense"),
        (|file| put_long(file, 8, u64::MAX), "makes no sense"),
        (|file| put_word(file, 108, u32::MAX), "extensions"),
        (|file| file[128] = 0xFF, "UTF-8"),
    ];
    for (change, why) in changes {
        let mut file = mixed(12).over("base", "raw").made();
        change(&mut file);
        let error = error_of(&[("a", file), ("base", vec![1; 4096])], true, "a");
        assert!(error.message.contains(why), "{why}: {error}");
    }
}

#[test]
fn an_external_data_file_is_never_opened() {
    let mut file = mixed(12).made();
    put_long(&mut file, 72, 4);
    // The header names the file in an extension.
    put_word(&mut file, 104, 0x4441_5441);
    put_word(&mut file, 108, 6);
    file[112..118].copy_from_slice(b"secret");
    let error = error_of(&[("a", file), ("secret", vec![1; 1 << 16])], true, "a");
    assert!(error.message.contains("data_file"), "{error}");
}

#[test]
fn tables_that_would_take_too_much_memory_are_refused() {
    let mut maker = Maker::new(21, vec![Cluster::Data(pattern(2 << 20, 1))]);
    // Each entry counts as a table of its own, though all lead to one.
    maker.size = 100 << 39;
    let (mut file, places) = Maker { size: 1 << 21, ..maker.clone() }.with_places();
    put_long(&mut file, 24, maker.size);
    put_word(&mut file, 36, 100);
    for index in 0..100 {
        put_long(&mut file, places.l1 + index * 8, 1 << 63 | places.l2 as u64);
    }
    let error = error_of(&[("a", file)], false, "a");
    assert!(error.message.contains("--memory"), "{error}");
}

#[test]
fn parts_past_the_end_of_the_file_are_errors_and_no_zeros() {
    let maker = Maker::new(12, (0..64).map(|seed| Cluster::Data(pattern(4096, seed))).collect());
    let (file, places) = maker.with_places();
    let disk = maker.disk(&[]);
    let error = error_of(&[("a", file[..places.l2 + 100].to_vec())], false, "a");
    assert!(error.message.contains("truncated"), "{error}");

    let whole = 20;
    let served = serve(&[("a", file[..places.l2 + (1 + whole) * 4096].to_vec())], false);
    let mut client = served.open_structured("a");
    assert!(client.read(0, whole as u32 * 4096).unwrap() == disk[..whole * 4096]);
    assert_eq!(client.read(whole as u64 * 4096, 512), Err(EIO));
    assert_eq!(client.read(0, disk.len() as u32), Err(EIO));
    assert!(client.read(4096, 4096).unwrap() == disk[4096..8192], "the server goes on");
}

#[test]
fn compressed_clusters_that_lie_are_errors() {
    let maker = mixed(12);
    let (file, places) = maker.with_places();
    let entry = u64::from_be_bytes(file[places.l2 + 3 * 8..][..8].try_into().unwrap());
    let packed = (entry & ((1 << 58) - 1)) as usize;
    let lies = [
        packed_entry(12, 0, 8000),
        packed_entry(12, file.len() - 10, 5),
        packed_entry(12, file.len() + 4096, 5),
        1 << 62 | ((1 << 58) - 1),
        1 << 62 | ((1 << 62) - 1),
        1 << 63 | packed_entry(12, packed, 4101),
    ];
    for lie in lies {
        let mut file = file.clone();
        put_long(&mut file, places.l2 + 3 * 8, lie);
        let served = serve(&[("a", file)], false);
        let mut client = served.open("a");
        assert_eq!(client.read(3 * 4096, 4096), Err(EIO), "{lie:#x}");
        assert!(lie >> 63 == 1 || client.read(0, 4096).unwrap() == maker.disk(&[])[..4096], "{lie:#x}");
    }
    // Blocks that do not exist, and one that ends too early.
    for damage in [[7, 0, 0, 0, 0], [1, 16, 0, !16, !0]] {
        let mut file = file.clone();
        file[packed..packed + 5].copy_from_slice(&damage);
        let served = serve(&[("a", file)], false);
        assert_eq!(served.open("a").read(3 * 4096, 4096), Err(EIO), "{damage:?}");
    }
}

#[test]
fn tables_that_make_no_sense_are_errors() {
    for entry in [1 << 9, 1 << 63 | 100 << 9, 1 << 57 | 4096, u64::MAX >> 2 & !1] {
        let (mut file, places) = mixed(12).with_places();
        put_long(&mut file, places.l2, entry);
        let served = serve(&[("a", file)], false);
        assert_eq!(served.open("a").read(0, 4096), Err(EIO), "{entry:#x}");
    }
    for entry in [1 << 9, 1 << 57 | 4096, 1] {
        let (mut file, places) = mixed(12).with_places();
        put_long(&mut file, places.l1, entry);
        let error = error_of(&[("a", file)], false, "a");
        assert!(error.message.contains("makes no sense"), "{error}");
    }
}

#[test]
fn rubbish_in_an_image_ends_no_server() {
    let maker = mixed(9).over("base", "qcow2");
    let (whole, places) = maker.with_places();
    let base = mixed(12).made();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let served = serve(&[("good", mixed(12).made()), ("base", base)], true);
    for round in 0..400 {
        let mut file = whole.clone();
        for _ in 0..1 + random(4) {
            // The header and the tables are what is read with the most trust.
            let at = if random(2) == 0 { random(150) } else { places.l1 + random(2 * 512) };
            file[at] = random(256) as u8;
        }
        if random(8) == 0 {
            file.truncate(random(whole.len()));
        }
        served.storage.objects.replace("a", file);
        let mut client = Client::unix(&served.socket);
        let (_, last) = client.option(GO, &named("a", &[]));
        if last == ACK {
            let _ = client.read(0, 512);
            let _ = client.read(3 * 512 - 7, 900);
        }
        if round % 50 == 0 {
            assert!(served.open("good").read(0, 8 << 12).unwrap() == mixed(12).disk(&[]));
        }
    }
    assert!(served.open("good").read(0, 8 << 12).unwrap() == mixed(12).disk(&[]));
    assert!(served.forerun.memory_bytes() <= 64 * MIB as u64);
}
