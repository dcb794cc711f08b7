//! Cuts and mergers of recordings.

mod support;

use forerun_trace::{Access, Cut, Files, Format, Merge, ReadOptions, Reader};
use support::{lines, open, read, write};

const CSV: &str = "ts_us,op,file_or_dev,offset,length\n0,R,a,0,1\n5,R,b,0,1\n7,R,a,1,1\n9,R,a,2,1\n";

fn csv(text: &str) -> Reader {
    open(text, ReadOptions::default()).unwrap()
}

fn cut(mut part: Cut, bytes: Vec<u8>) -> (Vec<Access>, Files) {
    let mut reader = open(bytes, ReadOptions::default()).unwrap();
    let mut kept = Vec::new();
    while let Some(access) = reader.next() {
        kept.extend(part.keep(access.unwrap(), reader.files()));
    }
    (kept, reader.files().clone())
}

#[test]
fn a_part_begins_at_0_and_depends_on_nothing_outside() {
    let (kept, files) = cut(Cut::new(5000, Some(9000), vec![]), CSV.into());
    assert_eq!(lines(&kept, &files), ["0 0 read b 0+1", "2000 0 read a 1+1"]);
    let (kept, files) = cut(Cut::new(0, None, vec!["a".to_owned()]), CSV.into());
    assert_eq!(lines(&kept, &files), ["0 0 read a 0+1", "7000 0 read a 1+1", "9000 0 read a 2+1"]);

    let (accesses, reader) = read(CSV, None).unwrap();
    let (rbd, _) = write(&accesses, reader.files(), Format::RbdReplay).unwrap();
    let (kept, _) = cut(Cut::new(6000, None, vec![]), rbd);
    let after: Vec<usize> = kept.iter().map(|access| access.after.len()).collect();
    assert_eq!(after[..2], [0, 1], "{kept:?}");
}

#[test]
fn merged_recordings_are_in_order_and_apart() {
    let other = CSV.replace(",a,", ",c,");
    let mut merge = Merge::new(vec![csv(CSV), csv(&other)], false).unwrap();
    let all: Vec<Access> = merge.by_ref().map(Result::unwrap).collect();
    assert!(all.is_sorted_by_key(|access| access.time_ns));
    let mut ids: Vec<u64> = all.iter().map(|access| access.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..8).collect::<Vec<_>>());
    let want = [
        "0 0 read a 0+1",
        "0 1 read c 0+1",
        "5000 0 read b 0+1",
        "5000 1 read b 0+1",
        "7000 0 read a 1+1",
        "7000 1 read c 1+1",
        "9000 0 read a 2+1",
        "9000 1 read c 2+1",
    ];
    assert_eq!(lines(&all, merge.files()), want);
    assert_eq!(merge.files().len(), 3);
}

#[test]
fn recordings_of_one_clock_keep_their_distance() {
    let line =
        |time: &str, process: u32| format!("dd-{process} [000] {time}: block_bio_queue: 7,0 R 8 + 8 [dd]\n");
    let readers = || vec![csv(&line("7.000500", 3)), csv(&(line("7.000100", 4) + &line("7.000700", 4)))];
    let mut merge = Merge::new(readers(), true).unwrap();
    let all: Vec<Access> = merge.by_ref().map(Result::unwrap).collect();
    assert_eq!(
        lines(&all, merge.files()),
        ["0 4 read 7:0 4096+4096", "400000 3 read 7:0 4096+4096", "600000 4 read 7:0 4096+4096"]
    );
    let error = Merge::new(vec![csv(CSV), csv(CSV)], true).err().unwrap().to_string();
    assert!(error.contains("clock"), "{error}");
}
