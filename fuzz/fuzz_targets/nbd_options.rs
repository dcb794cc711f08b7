#![no_main]

use forerun_fuzz::nbd_options;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nbd_options(bytes));
