//! A reader ends without a panic, whatever bytes a file holds.

#[path = "support/property.rs"]
mod property;
mod support;

use std::io::Read;

use forerun_trace::{Error, Format, Position, ReadOptions};
use proptest::prelude::*;
use support::valid::valid;
use support::{open, read};

/// Reads to the end. The number of records is bounded: each has at least a byte.
fn exhaust(bytes: Vec<u8>, format: Option<Format>) {
    for dispatched in [false, true] {
        let most = bytes.len() + 1;
        let Ok(mut reader) =
            open(bytes.clone(), ReadOptions::default().with_format(format).with_dispatched(dispatched))
        else {
            continue;
        };
        let mut count = 0;
        while let Some(access) = reader.next() {
            count += 1;
            assert!(count <= most, "a reader that does not end");
            if access.is_err() {
                assert!(reader.next().is_none());
            }
        }
    }
}

proptest! {
    #![proptest_config(property::config(300))]

    #[test]
    fn mutated_files(
        changes in prop::collection::vec((any::<u16>(), any::<u8>(), 0..5_u8), 1..12),
    ) {
        for format in Format::all() {
            let mut bytes = valid(format);
            for (at, value, how) in &changes {
                if bytes.is_empty() {
                    break;
                }
                let at = usize::from(*at) % bytes.len();
                match how {
                    0 => bytes[at] = *value,
                    1 => bytes[at] ^= 1 << (value % 8),
                    2 => bytes.truncate(at),
                    3 => bytes.insert(at, *value),
                    _ => bytes.extend_from_within(at..),
                }
            }
            exhaust(bytes.clone(), Some(format));
            exhaust(bytes, None);
        }
    }

    /// Damage that the checksum would show, with a correct checksum.
    #[test]
    fn blocks_of_our_own_format(
        payload in prop::collection::vec(any::<u8>(), 0..400),
        names in 0..4_u8,
        small in any::<bool>(),
    ) {
        let mut block: Vec<u8> = (0..names).flat_map(|name| [15, 1, b'a' + name]).collect();
        block.extend(payload.iter().map(|byte| if small { byte & 0x9f } else { *byte }));
        let mut bytes = b"\x89FRT\r\n\x1a\n\x01\0\0\0".to_vec();
        for (kind, block) in [(1_u32, block), (2, vec![5])] {
            let mut sum = flate2::Crc::new();
            sum.update(&kind.to_le_bytes());
            sum.update(&block);
            [kind, block.len() as u32, sum.sum()].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
            bytes.extend(block);
        }
        exhaust(bytes, None);
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600), text in "[ -~\n]{0,300}") {
        for format in Format::all() {
            exhaust(bytes.clone(), Some(format));
            exhaust(text.clone().into_bytes(), Some(format));
        }
        exhaust(bytes, None);
        exhaust(text.into_bytes(), None);
    }
}

/// A file cut anywhere is an error, unless a record can end there and the format has no end of its
/// own.
#[test]
fn cut_files_are_errors() {
    for format in Format::all() {
        let bytes = valid(format);
        assert!(read(bytes.clone(), Some(format)).is_ok(), "{format}");
        let accepted = (1..bytes.len()).filter(|at| read(&bytes[..*at], Some(format)).is_ok()).count();
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let ends = match format {
            Format::Compact => 0,
            Format::RbdReplay | Format::RbdReplayV0 => read(bytes.clone(), Some(format)).unwrap().0.len(),
            Format::Blktrace => bytes.len() / 48,
            Format::VscsiV1 => bytes.len() / 32,
            Format::VscsiV2 => bytes.len() / 40,
            _ => lines,
        };
        assert!(accepted <= ends, "{format}: {accepted} cuts of {ends} possible ends");
    }
}

/// A file of two parts, as `pbzip2` writes it.
#[test]
fn damage_anywhere_in_a_compressed_file_is_an_error() {
    let text = valid(Format::Csv);
    let (first, second) = text.split_at(text.len() / 2);
    let mut packed = bzip2(first);
    packed.extend(bzip2(second));
    let whole = read(packed.clone(), None).unwrap().0;
    assert_eq!(whole, read(text.clone(), None).unwrap().0);

    let check = |bytes: &[u8], what: String, said_so: &str| {
        let Err(error) = read(bytes, Some(Format::Csv)) else { panic!("{what} is not seen") };
        let said = error.to_string();
        assert!(said.starts_with("given: ") && said.contains(said_so), "{what}: {said}");
    };
    let parts_end = bzip2(first).len();
    for end in (3..packed.len()).filter(|end| *end != parts_end) {
        check(&packed[..end], format!("a cut at {end}"), "the compressed file is cut short");
    }
    let mut packed_by_gzip = Vec::new();
    flate2::bufread::GzEncoder::new(&text[..], flate2::Compression::default())
        .read_to_end(&mut packed_by_gzip)
        .unwrap();
    for end in 3..packed_by_gzip.len() {
        let what = format!("a cut of gzip's at {end}");
        check(&packed_by_gzip[..end], what, "the compressed file is cut short");
    }
    // Skips the block size, and the padding behind the last bit.
    for at in 4..parts_end - 1 {
        let mut damaged = packed.clone();
        damaged[at] ^= 4;
        check(&damaged, format!("damage at {at}"), "the compressed file is");
    }
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    bzip2::bufread::BzEncoder::new(bytes, bzip2::Compression::default()).read_to_end(&mut packed).unwrap();
    packed
}

#[test]
fn errors_say_where_and_why() {
    let check = |text: &str, format, want: &str| {
        assert_eq!(read(text, Some(format)).unwrap_err().to_string(), want);
    };
    let header = "ts_us,op,file_or_dev,offset,length\n";
    check(
        &format!("{header}0,R,d,0,5"),
        Format::Csv,
        "given: line 2: the line does not end: the file was cut; if it is whole, add a line feed",
    );
    check(
        &format!("{header}0,R,d,0,5\n0,R,d,-1,5\n"),
        Format::Csv,
        "given: line 3: offset is \"-1\", which is not a number in its range",
    );
    check(&format!("{header}0,Q,d,0,5\n"), Format::Csv, "given: line 2: op is \"Q\", not R, W, F or D");
    check(
        "5,R,1,2,7\n5,R,1,2,6\n",
        Format::Alibaba,
        "given: line 2: its time is 1000 ns before that of the first record; sort the file by time",
    );
    check(
        "rbd-replay-traceX",
        Format::RbdReplay,
        "given: record 1 at byte 0: the file ends in the middle of this record: it was cut",
    );
    assert_eq!(read("", None).unwrap_err().to_string(), "given: the file is empty");
    assert!(read("what is this\n", None).unwrap_err().to_string().contains("with one of csv, "));
    let mut damaged = valid(Format::Compact);
    damaged[30] ^= 1;
    let Err(Error::Malformed { at, reason, .. }) = read(damaged, None) else { panic!("damage unseen") };
    assert_eq!(at, Position::Record { number: 1, byte: 0 });
    assert!(reason.contains("checksum"), "{reason}");
}
