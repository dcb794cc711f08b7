//! Block status of images.

use super::super::holes::{open, states};
use super::super::numbers::*;
use super::*;

#[test]
fn block_status_tells_zeros_and_they_are_not_fetched() {
    let clusters = [
        Cluster::Data(pattern(65536, 1)),
        Cluster::Zero,
        Cluster::Unallocated,
        Cluster::Packed(pattern(65536, 2)),
    ];
    let maker = Maker::new(16, clusters.to_vec());
    let served = serve(&[("a", maker.made())], false);
    let mut client = open(&served, "a");
    let all = [(65536, 0), (2 * 65536, 3), (65536, 0)];
    assert_eq!(states(&mut client, 0, 0, 4 * 65536), all);
    assert_eq!(states(&mut client, FLAG_ONE, 0, 4 * 65536), all[..1]);
    assert_eq!(states(&mut client, 0, 70_000, 100_000), [(100_000, 3)]);
    let before = served.forerun.counters().demand_bytes;
    assert!(client.read(65536, 2 * 65536).unwrap().iter().all(|byte| *byte == 0));
    assert_eq!(served.forerun.counters().demand_bytes, before);
}

#[test]
fn block_status_ends_early_where_many_tables_have_to_come() {
    // Forty tables of 64 clusters each.
    let maker = Maker::new(9, (0..40 * 64).map(|seed| Cluster::Data(pattern(512, seed))).collect());
    let served = serve(&[("a", maker.made())], false);
    let mut client = open(&served, "a");
    let (mut at, len) = (0, 40 * 64 * 512);
    let mut first = None;
    while at < len {
        let [(told, 0)] = states(&mut client, 0, at, (len - at) as u32)[..] else { panic!("all is data") };
        at += u64::from(told);
        first.get_or_insert(told);
    }
    assert_eq!((at, first), (len, Some(16 * 64 * 512)));
}

#[test]
fn block_status_of_a_thin_image_is_that_of_the_disk_below() {
    let kind =
        |index: u64| if index.is_multiple_of(2) { Cluster::Data(pattern(512, index)) } else { Cluster::Zero };
    let base = Maker::new(9, (0..2000).map(kind).collect());
    let top = Maker::new(16, vec![Cluster::Unallocated; 16]).over("base", "qcow2");
    let served = serve(&[("top", top.made()), ("base", base.made())], true);
    let mut client = open(&served, "top");
    // The last one is past the end of the base.
    assert_eq!(states(&mut client, 0, 1, 1023), [(511, 0), (512, 3)]);
    assert_eq!(states(&mut client, FLAG_ONE, 512, 1000 << 10), [(512, 3)]);
    assert_eq!(states(&mut client, 0, 1998 * 512, 25_000), [(512, 0), (24_488, 3)]);
}
