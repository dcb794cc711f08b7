#![no_main]

use forerun_fuzz::nfs_calls;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nfs_calls(bytes));
