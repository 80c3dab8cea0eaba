//! Every fingerprint that can be read can also be written, and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::fingerprint::spelling::{decode, encode};

fuzz_target!(|text: &str| {
    if let Ok(fingerprint) = decode(text) {
        assert_eq!(decode(&encode(fingerprint)), Ok(fingerprint));
    }
});
