#![no_main]

use forerun_fuzz::s3_signatures;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| s3_signatures(bytes));
