//! Writes what the targets begin with: valid files of their formats, and for `detect` all of
//! them, one more for each compressed.

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
    Ok(())
}

/// Saves what `bytes` tell, compressed.
fn pack(path: &Path, bytes: &[u8], format: Format) {
    let options = ReadOptions { format: Some(format), dispatched: false };
    let mut reader =
        Reader::new(std::io::Cursor::new(bytes.to_vec()), "given", options).expect("it is valid");
    let accesses: Vec<Access> = reader.by_ref().map(|access| access.expect("it is valid")).collect();
    let mut writer = Writer::create(path, Some(Format::Compact)).expect("the folder is there");
    accesses.iter().for_each(|access| writer.write(access, reader.files()).expect("the disk takes it"));
    writer.finish(reader.files()).expect("the disk takes it");
}
