#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| host_fuzz::plugin_index(data));
