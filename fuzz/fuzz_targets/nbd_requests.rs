#![no_main]

use forerun_fuzz::nbd_requests;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nbd_requests(bytes));
