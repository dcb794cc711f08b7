//! Small recordings, written by hand after the output of the tools.

mod support;

use forerun_trace::{Access, Format, Moment, Op, ReadOptions, Repair};
use support::recorded::{BLKPARSE, FTRACE, STRACE};
use support::{lines, open, read};

#[track_caller]
fn check(text: &str, format: Format, want: &[&str]) {
    let (accesses, reader) = read(text, None).unwrap();
    assert_eq!(reader.format(), format);
    assert_eq!(lines(&accesses, reader.files()), want);
    assert!(accesses.iter().zip(0..).all(|(access, id)| access.id == id));
}

#[track_caller]
fn check_dispatched(text: &str, want: &[&str]) {
    let mut reader = open(text, ReadOptions::default().with_dispatched(true)).unwrap();
    let accesses: Vec<Access> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(lines(&accesses, reader.files()), want);
}

#[test]
fn blkparse() {
    let text = BLKPARSE.trim_start_matches(' ');
    check(
        text,
        Format::Blkparse,
        &[
            "0 697 read 8:0 114426880+4096",
            "4000 697 write 8:0 51200+8192",
            "92000 5 flush 8:0 0+0",
            "94000 5 discard 8:0 0+1048576",
        ],
    );
    check_dispatched(text, &["10000 697 read 8:0 114426880+4096 took 80000"]);
}

#[test]
fn ftrace_events() {
    check(FTRACE, Format::Ftrace, &["0 2930 read 7:0 4096+16384", "199000 2930 flush 7:0 0+0"]);
    // Time begins at the first request of the selected kind.
    check_dispatched(FTRACE, &["2000 2930 read 7:0 4096+16384 took 100000"]);
    let lost = format!("{FTRACE}CPU:0 [LOST 12 EVENTS]\n");
    let error = read(lost, None).unwrap_err().to_string();
    assert!(error.starts_with("given: line 8: ") && error.contains("buffer_size_kb"), "{error}");
}

#[test]
fn iologs() {
    let text = "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a wait 300 0\n/a write 4096 8\n/a datasync 0 0\n/a trim 1 2\n/a close\n";
    check(
        text,
        Format::FioV2,
        &[
            "0 0 open /a 0+0",
            "0 0 read /a 0+4096",
            "300000000 0 write /a 4096+8",
            "300000000 0 flush /a 0+0",
            "300000000 0 discard /a 1+2",
            "300000000 0 close /a 0+0",
        ],
    );
    let text = "fio version 3 iolog\n0 /a add\n1 /a open\n17 /a read 0 4096\n18 /a close\n";
    check(text, Format::FioV3, &["1000 0 open /a 0+0", "17000 0 read /a 0+4096", "18000 0 close /a 0+0"]);
}

#[test]
fn strace() {
    check(
        STRACE,
        Format::Strace,
        &[
            "1000000 100 open /home/f (1) 0+0 took 10000",
            "2000000 100 read /home/f (1) 0+832 of 4096 took 20000",
            "4500000 100 read /home/f (1) 64+10 took 3000",
            "4000000 101 read /home/f (1) 832+100 took 1000000",
            "6000000 100 read /home/f (1) 932+60 of 100 took 4000",
            "10000000 102 read /home/f (1) 8192+5 took 1000",
            "11000000 100 read /home/f (1) 8197+0 of 5 took 1000",
            "16000000 100 close /home/f (1) 0+0 took 2000",
        ],
    );
}

#[test]
fn published_sets() {
    check(
        "128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372003061639,usr,0,Write,1,2,10\n",
        Format::Msr,
        &["0 0 read usr.0 7014609920+24576 took 4128600", "1000 0 write usr.0 1+2 took 1000"],
    );
    let alibaba = "419,W,8792731648,16384,1577808144360767\n725,R,0,4096,1577808144360768\n";
    let want = ["0 0 write 419 8792731648+16384", "1000 0 read 725 0+4096"];
    check(alibaba, Format::Alibaba, &want);
    check(&format!("device_id,opcode,offset,length,timestamp\n{alibaba}"), Format::Alibaba, &want);
    check(
        "1538323200,12910952,128,0,1063\n1538323201,8,8,1,1064\n",
        Format::Tencent,
        &["0 0 read 1063 6610407424+65536", "1000000000 0 write 1064 4096+4096"],
    );
}

#[test]
fn csv_with_more_columns() {
    check(
        "ts_us,op,file_or_dev,offset,length,service_us,note,asked\n49,R,d 1,0,10,152.2,Hit,20\n50.5,W,e,1,2,,,2\n",
        Format::Csv,
        &["49000 0 read d 1 0+10 of 20 took 152200", "50500 0 write e 1+2"],
    );
    check("0,R,disk0,0,512\n", Format::Csv, &["0 0 read disk0 0+512"]);
    let error = read("ts_us,op,offset,length\n", None).unwrap_err().to_string();
    assert_eq!(error, "given: line 1: the header has no column file_or_dev");
}

/// A file of rbd-replay's version 0: a start, an open, and two reads, the second after the first.
fn rbd_replay_v0() -> Vec<u8> {
    let head = |kind: u8, id: u32, after: &[(u32, u64)]| {
        let mut bytes = vec![kind];
        bytes.extend(id.to_be_bytes());
        bytes.extend(9_u64.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend((after.len() as u32).to_be_bytes());
        after.iter().for_each(|(id, delta)| {
            bytes.extend(id.to_be_bytes());
            bytes.extend(delta.to_be_bytes());
        });
        bytes
    };
    let mut bytes = head(0, 0, &[]);
    bytes.extend(head(8, 2, &[]));
    bytes.extend(3_u64.to_be_bytes());
    bytes.extend(b"\0\0\0\x02vm\0\0\0\0\x01");
    for (id, after, offset) in [(4, vec![(3, 1000)], 0), (6, vec![(2, 0), (4, 5000)], 4096_u64)] {
        bytes.extend(head(4, id, &after));
        [3, offset, 4096].iter().for_each(|value| bytes.extend(value.to_be_bytes()));
    }
    bytes.extend(head(1, 8, &[]));
    bytes
}

#[test]
fn rbd_replay_of_2014_and_its_repair() {
    let (mut accesses, reader) = read(rbd_replay_v0(), None).unwrap();
    assert_eq!(reader.format(), Format::RbdReplayV0);
    let want = [
        "0 9 start of a thread vm 0+0",
        "0 9 open vm 0+0",
        "1000 9 read vm 0+4096",
        "6000 9 read vm 4096+4096",
        "6000 9 end of a thread vm 0+0",
    ];
    assert_eq!(lines(&accesses, reader.files()), want);
    assert_eq!(accesses[1].op, Op::Open { read_only: true });
    let mut repair = Repair::new(2000);
    let mended: Vec<u64> = accesses.iter_mut().map(|access| repair.mend(access)).collect();
    assert_eq!(mended, [0, 0, 0, 1, 0]);
    let after = &accesses[3].after;
    assert_eq!((after[0].moment, after[1].moment), (Moment::Submitted, Moment::Completed));
    assert_eq!((after[0].delta_ns, after[1].delta_ns), (0, 3000));
}

fn blktrace(big: bool, version: u32, pdu: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A notification, a queued read with a cgroup's name, its dispatch and completion.
    let cgroup = 1 << 8;
    for (action, sector, len, time) in [
        (0x0400_0001, 0, 0, 1_u64),
        (0x0011_0001 | cgroup, 8, 4096, 50),
        (0x0041_0007, 8, 4096, 60),
        (0x0081_0008, 8, 4096, 160),
    ] {
        let u32s = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let u64s = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        bytes.extend(u32s(0x6561_7400 | version));
        bytes.extend(u32s(1));
        bytes.extend(u64s(time));
        bytes.extend(u64s(sector));
        [len, action, 77, 8 << 20 | 16, 0].iter().for_each(|value: &u32| bytes.extend(u32s(*value)));
        let pdu_len = pdu.len() as u16;
        bytes.extend([0, 0]);
        bytes.extend(if big { pdu_len.to_be_bytes() } else { pdu_len.to_le_bytes() });
        bytes.extend(pdu);
    }
    bytes
}

#[test]
fn blktrace_of_both_byte_orders() {
    for big in [false, true] {
        let (accesses, reader) = read(blktrace(big, 7, b"12345678"), None).unwrap();
        assert_eq!(lines(&accesses, reader.files()), ["0 77 read 8:16 4096+4096"], "{big}");
        let mut reader = open(blktrace(big, 7, b""), ReadOptions::default().with_dispatched(true)).unwrap();
        let accesses: Vec<Access> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(lines(&accesses, reader.files()), ["10 77 read 8:16 4096+4096 took 100"]);
        let error = read(blktrace(big, 8, b""), None).unwrap_err().to_string();
        assert!(error.starts_with("given: record 1 at byte 0: it has version 8"), "{error}");
    }
}
