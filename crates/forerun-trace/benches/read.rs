//! Measures the accesses a second that one core reads from memory, for each format. Fails if a main
//! format of the lab is slower than the lab needs.
//!
//! `cargo bench -p forerun-trace`

use std::io::{self, Cursor, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use forerun_trace::generate::{Pattern, Plan};
use forerun_trace::{Access, Files, Format, ReadOptions, Reader, Writer};

/// Odd, so that one of them is the median.
const RUNS: usize = 9;

/// The lab's needs, in millions of accesses a second.
const GOALS: [(Format, f64); 2] = [(Format::Csv, 2.0), (Format::Compact, 3.0)];

fn main() -> ExitCode {
    let plan = mix();
    println!("millions of accesses a second: median of {RUNS} runs (least .. most)");
    let mut is_within = true;
    for format in Format::all().filter(|format| format.is_writable()) {
        let (bytes, count) = write(&plan, format);
        let mut rates: Vec<f64> =
            (0..RUNS).map(|_| count as f64 / seconds(&bytes, format, count) / 1e6).collect();
        rates.sort_by(f64::total_cmp);
        let (median, each) = (rates[RUNS / 2], bytes.len() as f64 / count as f64);
        let verdict = match GOALS.iter().find(|(of, _)| *of == format) {
            Some((_, goal)) if median < *goal => format!("LESS THAN {goal}"),
            Some((_, goal)) => format!("at least {goal}"),
            None => String::new(),
        };
        is_within &= !verdict.starts_with("LESS");
        let (least, most) = (rates[0], rates[RUNS - 1]);
        println!("{format:<12} {each:>6.1} bytes each  {median:>6.2} ({least:.2} .. {most:.2})  {verdict}");
    }
    if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sequential and random readers of four disks, as in a recording of a block device.
fn mix() -> Plan {
    Plan {
        patterns: vec![
            Pattern::Sequential,
            Pattern::Random,
            Pattern::Interleaved { streams: 8 },
            Pattern::Random,
        ],
        file_bytes: 4 << 30,
        request_bytes: 16 << 10,
        count: Some(100_000),
        think_ns: 250_000,
        ..Plan::default()
    }
}

/// A file in `format`, and the number of its accesses. Formats of block devices name disks by
/// number, and so do these files; vscsi knows one disk. Formats without dependencies lose them.
fn write(plan: &Plan, format: Format) -> (Vec<u8>, u64) {
    let out = Shared::default();
    let mut writer = Writer::new(out.clone(), "made", format).expect("the format can be written");
    let mut files = Files::default();
    let disks: Vec<_> = (0..4).map(|disk| files.intern(&format!("8:{}", disk * 16))).collect();
    for access in plan.generate().expect("the plan makes sense") {
        let disk = if matches!(format, Format::VscsiV1 | Format::VscsiV2) { 0 } else { access.file.0 };
        let file = disks[disk as usize];
        let access = match format {
            Format::RbdReplay | Format::Compact => Access { file, ..access },
            _ => Access { file, after: Vec::new(), blocking: false, ..access },
        };
        writer.write(&access, &files).expect("memory takes all");
    }
    writer.finish(&files).expect("memory takes all");
    let bytes = std::mem::take(&mut *out.0.lock().expect("no writer panicked"));
    let count = read(&bytes, format).count() as u64;
    (bytes, count)
}

fn read(bytes: &[u8], format: Format) -> Reader {
    let options = ReadOptions::default().with_format(format);
    Reader::new(Cursor::new(bytes.to_vec()), "made", options).expect("memory can be read")
}

/// The time for reading all of it.
fn seconds(bytes: &[u8], format: Format, count: u64) -> f64 {
    let reader = read(bytes, format);
    let begin = Instant::now();
    let mut bytes_told = 0_u64;
    let mut left = count;
    for access in reader {
        bytes_told = bytes_told.wrapping_add(access.expect("what was written is whole").extent.len);
        left -= 1;
    }
    assert!(left == 0 && bytes_told > 0);
    begin.elapsed().as_secs_f64()
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
