//! Heads, the guard and edits, in the proxy's own words.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| tapewright_proxy::http::fuzzing::check(input));
