#![no_main]

use forerun_fuzz::read;
use forerun_trace::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(Format::CsvFull, bytes));
