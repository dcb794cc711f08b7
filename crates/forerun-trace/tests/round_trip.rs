//! Written files are read back, in every format that has a writer.

#[path = "support/property.rs"]
mod property;
mod support;

use forerun_trace::{
    Access, Dependency, Extent, FileId, Files, Format, Moment, Op, ReadOptions, Reader, Writer,
};
use proptest::prelude::*;
use support::{lines, read, write};

/// The capabilities of a format, to which the test's accesses are limited.
struct Can {
    format: Format,
    name: &'static str,
    tick_ns: u64,
    unit_bytes: u64,
    ops: &'static [Op],
    thread: bool,
    service: bool,
    asked: bool,
    /// Reading begins at the time of the first record.
    rebased: bool,
}

const TRANSFERS: &[Op] = &[Op::Read, Op::Write];
const BLOCK: &[Op] = &[Op::Read, Op::Write, Op::Flush, Op::Discard];

const fn can(format: Format, name: &'static str, tick_ns: u64, unit_bytes: u64, ops: &'static [Op]) -> Can {
    Can { format, name, tick_ns, unit_bytes, ops, thread: false, service: false, asked: false, rebased: true }
}

const TABLE: &[Can] = &[
    Can { rebased: false, ..can(Format::Csv, "a file", 1, 1, BLOCK) },
    Can {
        thread: true,
        service: true,
        asked: true,
        rebased: false,
        ..can(Format::CsvFull, "x", 1, 1, BLOCK)
    },
    Can { thread: true, rebased: false, ..can(Format::Blkparse, "8:1", 1, 512, BLOCK) },
    Can { thread: true, ..can(Format::Blktrace, "259:3", 1, 512, BLOCK) },
    Can { service: true, ..can(Format::Msr, "usr.1", 100, 1, TRANSFERS) },
    can(Format::VscsiV1, "disk0", 1000, 512, BLOCK),
    Can { service: true, ..can(Format::VscsiV2, "disk0", 1000, 512, BLOCK) },
    can(Format::Alibaba, "17", 1000, 1, TRANSFERS),
    can(Format::Tencent, "1063", 1_000_000_000, 512, TRANSFERS),
    Can {
        thread: true,
        service: true,
        asked: true,
        rebased: false,
        ..can(Format::Compact, "é\n", 1, 1, BLOCK)
    },
];

type Raw = (u64, u64, u64, u16, usize, u16);

fn made(can: &Can, raw: &[Raw]) -> (Vec<Access>, Files) {
    let mut files = Files::default();
    let file = files.intern(can.name);
    let mut time_ns = 0;
    let accesses = raw.iter().enumerate().map(|(at, &(step, offset, len, thread, op, more))| {
        time_ns += if at == 0 && can.rebased { 0 } else { step * can.tick_ns };
        let op = can.ops[op % can.ops.len()];
        let units = |value: u64| if op.has_extent() { value * can.unit_bytes } else { 0 };
        let mut access = Access::new(time_ns, op, file, units(offset), units(len + 1));
        access.id = at as u64;
        access.thread = if can.thread { thread.into() } else { 0 };
        access.service_ns = can.service.then(|| u64::from(more) * can.tick_ns.max(100));
        access.asked = (can.asked && more % 3 == 0).then(|| access.extent.len + 1 + u64::from(more));
        access
    });
    (accesses.collect(), files)
}

fn raws() -> impl Strategy<Value = Vec<Raw>> {
    prop::collection::vec(
        (0..1_u64 << 24, 0..1_u64 << 40, 0..1_u64 << 20, 0..9_u16, 0..9_usize, any::<u16>()),
        1..40,
    )
}

proptest! {
    #![proptest_config(property::config(256))]

    #[test]
    fn every_format_keeps_the_fields_it_can_express(raw in raws()) {
        for can in TABLE {
            let (accesses, files) = made(can, &raw);
            let (bytes, written) = write(&accesses, &files, can.format).unwrap();
            prop_assert_eq!(written.written, accesses.len() as u64);
            let (again, reader) = read(bytes, Some(can.format)).unwrap();
            prop_assert_eq!(&again, &accesses, "{}", can.format);
            prop_assert_eq!(lines(&again, reader.files()), lines(&accesses, &files));
        }
    }

    #[test]
    fn our_own_format_keeps_everything(
        raw in prop::collection::vec((any::<u64>(), any::<u64>(), 0..9_usize, any::<u8>(), 0..4_u32), 0..50),
    ) {
        let mut files = Files::default();
        for name in ["", "a", "b,c", "d\n"] {
            files.intern(name);
        }
        let ops = [
            Op::Read, Op::Write, Op::Flush, Op::Discard, Op::Open { read_only: false },
            Op::Open { read_only: true }, Op::Close, Op::Start, Op::Stop,
        ];
        let accesses: Vec<Access> = raw.iter().map(|&(a, b, op, bits, file)| Access {
            id: a >> 4,
            time_ns: b,
            thread: a ^ b,
            op: ops[op],
            file: FileId(file),
            extent: Extent { offset: b, len: a },
            asked: (bits & 1 != 0).then_some(a),
            blocking: bits & 2 != 0,
            after: (0..u64::from(bits >> 4)).map(|at| Dependency {
                id: (a >> 4).saturating_sub(at * 77),
                moment: if at % 2 == 0 { Moment::Completed } else { Moment::Submitted },
                delta_ns: b,
            }).collect(),
            service_ns: (bits & 4 != 0).then_some(b),
        }).collect();
        let (bytes, _) = write(&accesses, &files, Format::Compact).unwrap();
        let (again, _) = read(bytes, None).unwrap();
        prop_assert_eq!(again, accesses);
    }
}

fn access(id: u64, time_ns: u64, op: Op, offset: u64, len: u64, after: &[(u64, Moment, u64)]) -> Access {
    let after = after.iter().map(|&(id, moment, delta_ns)| Dependency { id, moment, delta_ns }).collect();
    Access { id, after, thread: 5, ..Access::new(time_ns, op, FileId(0), offset, len) }
}

#[test]
fn rbd_replay_keeps_threads_and_dependencies() {
    use Moment::{Completed, Submitted};
    let mut files = Files::default();
    files.intern("pool/image@snap");
    let open = Access { blocking: true, ..access(1, 0, Op::Open { read_only: true }, 0, 0, &[]) };
    let accesses = vec![
        access(0, 0, Op::Start, 0, 0, &[]),
        open,
        access(2, 40, Op::Read, 0, 512, &[(1, Completed, 40)]),
        access(3, 50, Op::Write, 4096, 1, &[(2, Submitted, 10)]),
        Access {
            blocking: true,
            ..access(4, 140, Op::Discard, 1 << 40, 4096, &[(2, Completed, 100), (3, Completed, 0)])
        },
        Access { blocking: true, ..access(5, 140, Op::Close, 0, 0, &[]) },
        access(6, 140, Op::Stop, 0, 0, &[]),
    ];
    let (bytes, _) = write(&accesses, &files, Format::RbdReplay).unwrap();
    let (again, reader) = read(bytes, None).unwrap();
    assert_eq!(again, accesses);
    assert_eq!(reader.files().name(FileId(0)), "pool/image@snap");
}

#[test]
fn rbd_replay_gets_the_actions_that_a_replay_needs() {
    let (bytes, _) = {
        let (reads, files) =
            read("ts_us,op,file_or_dev,offset,length\n5,R,d,0,1\n7,R,d,1,1\n7,F,d,0,0\n", None)
                .map(|(accesses, reader)| (accesses, reader.files().clone()))
                .unwrap();
        let (bytes, written) = write(&reads, &files, Format::RbdReplay).unwrap();
        assert_eq!((written.written, written.left_out), (2, 1));
        (bytes, files)
    };
    let (again, reader) = read(bytes, None).unwrap();
    // No access precedes the first, so nothing can delay it.
    let want = [
        "0 0 start of a thread d 0+0",
        "0 0 open d 0+0",
        "0 0 read d 0+1",
        "2000 0 read d 1+1",
        "2000 0 end of a thread d 0+0",
    ];
    assert_eq!(lines(&again, reader.files()), want);
}

#[test]
fn iologs_open_and_close_the_files_they_use() {
    let csv = "ts_us,op,file_or_dev,offset,length\n0,R,a,0,4\n1500,W,b,8,4\n1501,F,a,0,0\n3001,D,b,0,8\n";
    let (accesses, reader) = read(csv, None).unwrap();
    for (format, times) in [
        (Format::FioV3, [0, 1_500_000, 1_501_000, 3_001_000]),
        (Format::FioV2, [0, 1_000_000, 1_000_000, 3_000_000]),
    ] {
        let (bytes, _) = write(&accesses, reader.files(), format).unwrap();
        let (again, again_reader) = read(bytes, None).unwrap();
        assert_eq!(again_reader.format(), format);
        let [t0, t1, t2, t3] = times;
        let want = [
            format!("{t0} 0 open a 0+0"),
            format!("{t0} 0 read a 0+4"),
            format!("{t1} 0 open b 0+0"),
            format!("{t1} 0 write b 8+4"),
            format!("{t2} 0 flush a 0+0"),
            format!("{t3} 0 discard b 0+8"),
            format!("{t3} 0 close a 0+0"),
            format!("{t3} 0 close b 0+0"),
        ];
        assert_eq!(lines(&again, again_reader.files()), want, "{format}");
    }
}

#[test]
fn compression_comes_and_goes_by_name_and_content() {
    let folder = tempfile::tempdir().unwrap();
    let (accesses, files) = made(&TABLE[0], &[(5, 6, 7, 0, 0, 0), (1, 2, 3, 0, 1, 0)]);
    let magics = [(".gz", [0x1f, 0x8b].as_slice()), (".bz2", b"BZh")];
    for name in ["a.csv", "a.csv.gz", "a.frt.gz", "a.csv.bz2", "a.frt.BZ2"] {
        let path = folder.path().join(name);
        let mut writer = Writer::create(&path, None).unwrap();
        accesses.iter().for_each(|access| writer.write(access, &files).unwrap());
        writer.finish(&files).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for (end, magic) in magics {
            assert_eq!(bytes.starts_with(magic), name.to_lowercase().ends_with(end), "{name}");
        }
        let again: Vec<Access> =
            Reader::open(&path, ReadOptions::default()).unwrap().map(Result::unwrap).collect();
        assert_eq!(again, accesses);
        if magics.iter().any(|(_, magic)| bytes.starts_with(magic)) {
            std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
            let error = Reader::open(&path, ReadOptions::default())
                .and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
            assert!(error.unwrap_err().to_string().contains("the compressed file is"), "{name}");
        }
    }
}

#[test]
fn an_access_that_a_format_cannot_express_is_an_error() {
    let mut files = Files::default();
    let (odd, comma) = (files.intern("odd"), files.intern("a,b"));
    let check = |format, access: &Access, reason: &str| {
        let error = write(std::slice::from_ref(access), &files, format).unwrap_err().to_string();
        assert!(error.starts_with("made: access 1: ") && error.contains(reason), "{error}");
    };
    check(Format::Blktrace, &Access::new(0, Op::Read, odd, 1, 512), "whole sectors");
    check(Format::Tencent, &Access::new(0, Op::Read, odd, 0, 1), "whole sectors");
    check(Format::Csv, &Access::new(0, Op::Read, comma, 0, 1), "column");
    check(Format::VscsiV1, &Access::new(0, Op::Read, odd, 0, 1 << 32), "2^32");
    check(Format::FioV3, &Access::new(0, Op::Read, files.clone().intern(""), 0, 1), "name");
    let error = write(&[], &files, Format::Strace).unwrap_err().to_string();
    assert!(error.contains("can only be read"), "{error}");
}
