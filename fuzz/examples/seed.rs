//! Writes what the targets begin with: valid files of their formats, and for `detect` all of
//! them, one more for each compressed. For the NBD protocol, a handshake and requests,
//! for NFS some calls, and for HTTP and S3 some requests.

#[path = "../../crates/forerun-trace/tests/support/mod.rs"]
mod support;

use std::fs::{create_dir_all, write};
use std::io::Result;
use std::path::Path;

use forerun_trace::{Access, Format, ReadOptions, Reader, Writer};
use support::{recorded, valid::valid};

fn main() -> Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let texts = [
        (Format::Blkparse, recorded::BLKPARSE.trim_start_matches(' ')),
        (Format::Ftrace, recorded::FTRACE),
        (Format::Strace, recorded::STRACE),
    ];
    let written = Format::all().map(|format| (format, valid(format)));
    let recorded = texts.map(|(format, text)| (format, text.as_bytes().to_vec()));
    for (number, (format, bytes)) in written.chain(recorded).enumerate() {
        for target in [format.to_string().replace('-', "_"), "detect".to_owned()] {
            let folder = corpus.join(target);
            create_dir_all(&folder)?;
            write(folder.join(format!("{number}")), &bytes)?;
        }
        pack(&corpus.join("detect").join(format!("{number}.frt.gz")), &bytes, format);
    }
    for (target, bytes) in [("nbd_options", options()), ("nbd_requests", requests()), ("nfs_calls", calls())]
    {
        create_dir_all(corpus.join(target))?;
        write(corpus.join(target).join("0"), bytes)?;
    }
    for (target, texts) in [("http_ranges", &RANGES[..]), ("http_requests", &REQUESTS), ("s3_signatures", &SIGNED)] {
        create_dir_all(corpus.join(target))?;
        for (number, text) in texts.iter().enumerate() {
            write(corpus.join(target).join(format!("{number}")), text)?;
        }
    }
    Ok(())
}

/// The size of an object in two bytes, and a range of it.
const RANGES: [&str; 3] = ["\x01\x00bytes=0-9, 20-, -5", "\x20\x20bytes=5-99999999999999999999", "  lines=1-2"];

/// Heads of requests without a signature.
const REQUESTS: [&str; 6] = [
    "GET /-/bucket/d/b%20c HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,3-\r\nIf-Range: \"x\"",
    "GET /-/bucket/%2e%2e/secret HTTP/1.1\r\nHost: a\r\nIf-Modified-Since: Mon, 12 Jan 1970 13:46:39 GMT",
    "GET /bucket/link HTTP/1.0\r\nIf-None-Match: \"a\", W/\"b\"\r\nAuthorization: Basic YTpi",
    "HEAD /bucket/a?partNumber=1&response-content-type=a%2Fb HTTP/1.1\r\nHost: a\r\nRange: bytes=-3",
    "GET /bucket?list-type=2&prefix=d/&delimiter=%2F&max-keys=1&continuation-token=64&encoding-type=url HTTP/1.1\r\nHost: a",
    "GET /bucket?marker=a&delimiter=b&start-after=c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked",
];

/// Heads of requests with wrong signatures of all kinds.
const SIGNED: [&str; 4] = [
    "GET /bucket/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&\
     X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00 HTTP/1.1\r\nHost: a",
    "GET /bucket/a HTTP/1.1\r\nHost: a\r\nx-amz-date: 20260101T000000Z\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n\
     Authorization: AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/s3/aws4_request, \
     SignedHeaders=host;x-amz-date, Signature=00",
    "GET /bucket/a HTTP/1.1\r\nHost: a\r\nDate: Mon, 12 Jan 1970 13:46:39 GMT\r\nAuthorization: AWS AKIAEXAMPLE:AAAA",
    "GET /-/bucket/a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer token",
];

/// A handshake that chooses structured replies, block status and an export. STARTTLS comes first.
fn options() -> Vec<u8> {
    let option = |option: u32, data: &[u8]| {
        [&b"IHAVEOPT"[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
    };
    let counted = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    let contexts = [counted("disk"), 1_u32.to_be_bytes().to_vec(), counted("base:allocation")].concat();
    let choice = [&counted("disk")[..], &[0, 1, 0, 3]].concat();
    let options = [option(5, &[]), option(8, &[]), option(10, &contexts), option(3, &[]), option(7, &choice)];
    [3_u32.to_be_bytes().to_vec(), options.concat()].concat()
}

/// One request of each kind; a write has its bytes.
fn requests() -> Vec<u8> {
    let request = |kind: u16, flags: u16, len: u32| {
        let head = [&0x2560_9513_u32.to_be_bytes()[..], &flags.to_be_bytes(), &kind.to_be_bytes()].concat();
        [&head[..], &1_u64.to_be_bytes(), &(u64::from(kind) << 12).to_be_bytes(), &len.to_be_bytes()].concat()
    };
    let write = [request(1, 1, 300), vec![7; 300]].concat();
    let rest =
        [request(0, 0, 100), request(4, 1, 5000), request(6, 19, 9000), request(5, 0, 1), request(7, 8, 1)];
    [write, rest.concat(), request(3, 0, 0)[..16].to_vec(), vec![0; 12], request(2, 0, 0)].concat()
}

/// A call of each NFS procedure with a handle and numbers, and a mount; the last one in two fragments.
fn calls() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let call = |program: u32, procedure: u32| {
        let head = words(&[7, 0, 2, program, 3, procedure, 1, 24, 0, 1, 7 << 24, 1, 1, 0, 0, 0]);
        [head, words(&[4, 9, 4, 8, 7, 6, 5, 4, 3, 2])].concat()
    };
    let record = |call: Vec<u8>| [words(&[1 << 31 | call.len() as u32]), call].concat();
    let mut all: Vec<u8> = (0..22).flat_map(|procedure| record(call(100_003, procedure))).collect();
    all.extend(record(call(100_005, 1)));
    let last = call(100_003, 6);
    let (one, other) = last.split_at(50);
    all.extend([words(&[one.len() as u32]), one.to_vec()].concat());
    all.extend(record(other.to_vec()));
    all
}

/// Saves what `bytes` tell, compressed.
fn pack(path: &Path, bytes: &[u8], format: Format) {
    let options = ReadOptions::default().with_format(format);
    let mut reader =
        Reader::new(std::io::Cursor::new(bytes.to_vec()), "given", options).expect("it is valid");
    let accesses: Vec<Access> = reader.by_ref().map(|access| access.expect("it is valid")).collect();
    let mut writer = Writer::create(path, Some(Format::Compact)).expect("the folder is there");
    accesses.iter().for_each(|access| writer.write(access, reader.files()).expect("the disk takes it"));
    writer.finish(reader.files()).expect("the disk takes it");
}
