#![no_main]

use forerun_fuzz::detect;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| detect(bytes));
