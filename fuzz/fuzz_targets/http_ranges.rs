#![no_main]

use forerun_fuzz::http_ranges;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| http_ranges(bytes));
