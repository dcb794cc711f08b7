#![no_main]

use forerun_fuzz::accesses;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| accesses(bytes));
