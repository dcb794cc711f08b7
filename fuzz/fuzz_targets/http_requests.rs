#![no_main]

use forerun_fuzz::http_requests;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| http_requests(bytes));
