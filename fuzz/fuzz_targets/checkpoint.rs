#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| srparse_fuzz::checkpoint::check(bytes));
