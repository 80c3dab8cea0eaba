//! The fast ways to words find the words of the definition.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::features::words_in_both_ways;

fuzz_target!(|text: &str| {
    for prose in [false, true] {
        let [found, defined] = words_in_both_ways(text, prose).unwrap();
        assert_eq!(found, defined, "prose: {prose}");
    }
});
