//! Any document has a text, which is no longer than it and has no markup that was not escaped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_core::html::extract_text;

fuzz_target!(|html: &str| {
    let text = extract_text(html, &mut || ()).unwrap();
    // The longest that an entity of so few letters becomes.
    assert!(text.len() <= 2 * html.len() + 8);
    if !html.contains(['<', '&', '\0']) {
        assert_eq!(text.split_ascii_whitespace().collect::<Vec<_>>(), html.split_ascii_whitespace().collect::<Vec<_>>());
    }
});
