//! The text of any document is not longer than the document, and has no markup that was not escaped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::html::extract_text;

fuzz_target!(|html: &str| {
    let text = extract_text(html, &mut || ()).unwrap();
    // A NUL becomes U+FFFD. No other character or entity becomes longer.
    assert!(text.len() <= 3 * html.len());
    if !html.contains(['<', '&', '\0']) {
        assert!(text.split_ascii_whitespace().eq(html.split_ascii_whitespace()), "{text}");
    }
});
