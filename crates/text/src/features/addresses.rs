//! Addresses in prose: URLs, e-mail addresses and identifiers. They do not say what a text is about.
//!
//! An address is a maximal sequence of characters of URLs that satisfies [`is_mark_of_address`] at some
//! place.

use std::ops::Range;

/// The words that identifiers begin with, before the colon, in lower case.
const PREFIXES: [&str; 5] = ["doi", "urn", "isbn", "issn", "arxiv"];
/// The places of the hyphens in a UUID, between groups of 8, 4, 4, 4 and 12 hexadecimal digits.
const UUID_HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// Bytes of a UUID.
pub(crate) const UUID_LENGTH: usize = 36;
/// A word of at least this many hexadecimal digits is a digest or a key.
pub(crate) const DIGEST_LENGTH: usize = 16;
/// The least number of digits of a DOI's registrant, which follows `10.`.
const REGISTRANT_DIGITS: usize = 4;

/// If the text has an address, passes on the parts between addresses. Returns whether it has one.
pub(crate) fn skip_addresses<'a>(text: &'a str, mut between: impl FnMut(&'a str)) -> bool {
    let mut passed = 0;
    while let Some(address) = next_address(text.as_bytes(), passed) {
        between(&text[passed..address.start]);
        passed = address.end;
    }
    if passed > 0 {
        between(&text[passed..]);
    }
    passed > 0
}

/// Whether the text has an address.
pub(crate) fn has_address(text: &[u8]) -> bool {
    next_address(text, 0).is_some()
}

/// The first address from a place on, where no address begins before. Its sequence is only looked for at a
/// telltale, and once for all of its telltales, so time is linear.
fn next_address(text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut sequence = from..from;
    for at in from..text.len() {
        if !is_telltale(text, at) {
            continue;
        }
        if at >= sequence.end {
            sequence = sequence_around(text, sequence.end, at);
        }
        if is_mark_of_address(&text[sequence.clone()], at - sequence.start) {
            return Some(sequence);
        }
    }
    None
}

/// The sequence of characters of URLs that contains a byte, and begins at `from` or later.
fn sequence_around(text: &[u8], from: usize, at: usize) -> Range<usize> {
    let is_other = |&byte: &u8| !is_address_byte(byte);
    let start = text[from..at].iter().rposition(is_other).map_or(from, |before| from + before + 1);
    let end = text[at..].iter().position(is_other).map_or(text.len(), |length| at + length);
    start..end
}

/// Whether the byte shows that there may be an address. Every address has an at sign inside, a full stop
/// after `www` or `10`, a colon before a slash or after an identifier's name, or the hyphens of a UUID.
#[inline(always)]
pub(crate) fn is_telltale(text: &[u8], at: usize) -> bool {
    let before = || at.checked_sub(1).map_or(b' ', |before| text[before]);
    let after = || text.get(at + 1).copied().unwrap_or(b' ');
    match text[at] {
        b'@' => before() > b' ' && after() > b' ',
        b'.' => matches!(before(), b'w' | b'W' | b'0') && after() > b' ',
        b':' => after() == b'/' || matches!(before() | 0x20, b'i' | b'n' | b'v') && after() > b' ',
        b'-' => before().is_ascii_hexdigit() && after().is_ascii_hexdigit(),
        _ => false,
    }
}

/// Whether a word is a digest or a key: hexadecimal digits, with at least one of 0 to 9. Most words are too
/// short for one, so that is checked before anything is called.
#[inline(always)]
pub(crate) fn is_digest(word: &[u8]) -> bool {
    word.len() >= DIGEST_LENGTH && has_digits_of_digest(word)
}

/// Whether a word has hexadecimal digits only, with at least one of 0 to 9.
fn has_digits_of_digest(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_hexdigit) && word.iter().any(u8::is_ascii_digit)
}

/// Whether the byte can be part of an address. Quotes, brackets and all bytes beyond ASCII end an address.
fn is_address_byte(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            table[byte] = matches!(
                byte as u8,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9'
                    | b'-' | b'.' | b'_' | b'~' | b':' | b'/' | b'?' | b'#' | b'@'
                    | b'!' | b'$' | b'&' | b'*' | b'+' | b',' | b';' | b'=' | b'%'
            );
            byte += 1;
        }
        table
    };
    TABLE[usize::from(byte)]
}

/// Whether the byte at this place makes a sequence an address: a URL, an e-mail address, a DOI or a UUID, or
/// what begins like an identifier.
#[inline(never)]
fn is_mark_of_address(sequence: &[u8], at: usize) -> bool {
    let before = &sequence[..at];
    let after = &sequence[at + 1..];
    match sequence[at] {
        // There are other characters before and after it. Of several in a row, only the first one counts.
        b'@' => before.last().is_some_and(|&byte| byte != b'@') && after.iter().any(|&byte| byte != b'@'),
        b':' => after.starts_with(b"//") || !after.is_empty() && is_prefix(before),
        b'.' => !after.is_empty() && ends_with_www(before) || before.ends_with(b"10") && is_doi(after),
        b'-' => at >= UUID_HYPHENS[0] && starts_like_uuid(&sequence[at - UUID_HYPHENS[0]..]),
        _ => false,
    }
}

/// Whether the text is the name of a kind of identifier.
fn is_prefix(text: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| text.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Whether the text continues a DOI after `10.`: with four or more digits, and a slash.
fn is_doi(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits >= REGISTRANT_DIGITS && text.get(digits) == Some(&b'/')
}

/// Whether the text begins with a UUID.
fn starts_like_uuid(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match UUID_HYPHENS.contains(&at) {
        true => *byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    text.get(..UUID_LENGTH).is_some_and(|uuid| uuid.iter().enumerate().all(fits))
}

fn ends_with_www(text: &[u8]) -> bool {
    text.last_chunk::<3>().is_some_and(|end| end.eq_ignore_ascii_case(b"www"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, taken literally.
    fn is_naive_address(sequence: &[u8]) -> bool {
        let text = String::from_utf8(sequence.to_ascii_lowercase()).unwrap();
        let ends: Vec<&str> = (0..text.len()).map(|start| &text[start..]).collect();
        let is_doi = |end: &&str| end.strip_prefix("10.").is_some_and(|rest| is_doi(rest.as_bytes()));
        text.contains("://")
            || ends.iter().any(|end| end.starts_with("www.") && end.len() > 4)
            || text.trim_matches('@').contains('@')
            || PREFIXES.iter().any(|&prefix| {
                text.strip_prefix(prefix).is_some_and(|rest| rest.len() > 1 && rest.starts_with(':'))
            })
            || ends.iter().any(is_doi)
            || ends.iter().any(|end| starts_with_groups(end.as_bytes()))
    }

    /// Whether the text begins with five groups of hexadecimal digits, with hyphens between them.
    fn starts_with_groups(text: &[u8]) -> bool {
        text.get(..UUID_LENGTH).is_some_and(|uuid| {
            let groups = uuid.split(|&byte| byte == b'-');
            uuid.iter().all(|&byte| byte == b'-' || byte.is_ascii_hexdigit())
                && groups.map(<[u8]>::len).eq([8, 4, 4, 4, 12])
        })
    }

    proptest! {
        #[test]
        fn addresses_are_those_of_the_definition_and_have_a_telltale(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-fW0-9.:/@-]{1,3}", "[dD]oi|urn|isbn|issn|arXiv", "10[.][0-9]{3,5}/?", "[wW]{3}[.]?",
                    "[0-9a-f]{7,8}(-[0-9a-f]{4}){2,3}-[0-9a-f]{11,13}", ":/{1,2}",
                ],
                0..5,
            ),
        ) {
            let text = parts.concat();
            let expected = is_naive_address(text.as_bytes());
            prop_assert_eq!(has_address(text.as_bytes()), expected);
            prop_assert!(!expected || (0..text.len()).any(|at| is_telltale(text.as_bytes(), at)));
        }
    }

    #[test]
    fn addresses_are_known() {
        for address in [
            "https://example.org/a?b=1",
            "WWW.example.org",
            "see:http://a",
            "me@example.org",
            "doi:10.1000/182",
            "10.1000/182",
            "urn:isbn:0451450523",
            "ISBN:0451450523",
            "arXiv:1706.03762v5",
            "550e8400-E29B-41d4-a716-446655440000",
            "id=550e8400-e29b-41d4-a716-446655440000;",
            "deadbeef-dead-beef-dead-beefdeadbeef",
        ] {
            assert!(has_address(address.as_bytes()), "{address}");
        }
        for other in [
            "example.org",
            "and/or",
            "return:x",
            "@home",
            "home@",
            "@@",
            "doi:",
            "10.100/182",
            "110.5",
            "www",
            "www.",
            "http:",
            "550e8400-e29b-41d4-a716-44665544000",
            "550e8400-e29b-41d4-a7160446655440000",
            "3.14",
            "",
        ] {
            assert!(!has_address(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn text_between_addresses_is_kept_whole() {
        let parts = |text| {
            let mut parts = Vec::new();
            let found = skip_addresses(text, |part| parts.push(part));
            (found, parts)
        };
        assert_eq!(parts("naïve"), (false, vec![]));
        assert_eq!(parts("naïve(http://a)café«me@b.c»请"), (true, vec!["naïve(", ")café«", "»请"]));
        assert_eq!(parts("http://a"), (true, vec!["", ""]));
    }

    #[test]
    fn digests_are_known() {
        assert!(is_digest(b"d41d8cd98f00b204"));
        assert!(!is_digest(b"d41d8cd98f00b20"));
        assert!(!is_digest(b"deadbeefdeadbeef"));
        assert!(!is_digest(b"d41d8cd98f00b204g"));
    }
}
