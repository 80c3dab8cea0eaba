//! Removes marks that writers of a script often omit. Schemes with `folded:` do that first.
//!
//! The marks are accents and breathings of Greek letters; the points and accents of Hebrew; and the vowel
//! signs, hamza, madda, wasla and tatweel of Arabic. In Arabic, alif maqsura also becomes ya, and ta marbuta
//! becomes ha. Vowels of Indic scripts and Thai are letters, and stay. Marks of Latin and Cyrillic letters
//! distinguish words, and stay too. `docs/developers/doc2.md` specifies every step. Linear time; a text
//! without such marks is not copied.

use base::{OutOfMemory, grow_text};
use std::borrow::Cow;
use unicode_normalization::char::decompose_canonical;

/// The number of bytes that are folded between two heartbeats.
const STRIDE: usize = 1 << 16;

/// The text without optional marks. `pause` is called now and then.
pub(super) fn fold<'a>(text: &'a str, pause: &mut dyn FnMut()) -> Result<Cow<'a, str>, OutOfMemory> {
    if !text.bytes().any(may_begin_mark) {
        return Ok(Cow::Borrowed(text));
    }
    let mut folded = String::new();
    // Folding makes no character longer.
    grow_text(&mut folded, text.len())?;
    let mut is_greek = false;
    let mut paused = 0;
    for (at, c) in text.char_indices() {
        if at >= paused + STRIDE {
            paused = at;
            pause();
        }
        match c {
            '\0'..='\u{2ff}' => {
                is_greek = false;
                folded.push(c);
            }
            '\u{300}'..='\u{36f}' if is_greek => (),
            '\u{300}'..='\u{36f}' => folded.push(c),
            _ if is_point(c) => (),
            _ => {
                is_greek = is_greek_letter(c);
                push_base(c, is_greek, &mut folded);
            }
        }
    }
    Ok(Cow::Owned(folded))
}

/// Whether the byte can begin a character that folding changes or removes.
fn may_begin_mark(byte: u8) -> bool {
    matches!(byte, 0xcd..=0xcf | 0xd6..=0xdb | 0xe1 | 0xef)
}

/// Whether a character is a Hebrew point or accent; or an Arabic vowel sign, a hamza above or below, a
/// Quranic mark or tatweel.
fn is_point(c: char) -> bool {
    matches!(c,
        '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        | '\u{fe70}'..='\u{fe7f}')
}

fn is_greek_letter(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

/// Appends a letter without its marks: a Greek letter, or a pointed Hebrew one (U+FB1D to U+FB4E).
fn push_base(c: char, is_greek: bool, folded: &mut String) {
    if is_greek || matches!(c, '\u{fb1d}'..='\u{fb4e}') {
        decompose_canonical(c, |part| {
            if !is_point(part) && !matches!(part, '\u{300}'..='\u{36f}') {
                folded.push(part);
            }
        });
    } else {
        folded.push(arabic_letter(c));
    }
}

/// An Arabic letter as a hasty writer spells it; any other character unchanged. Each letter has two code
/// points here: the usual one, and one for each shape that it takes in a word, which old fonts used.
fn arabic_letter(c: char) -> char {
    match c {
        // Alif with madda, hamza or wasla.
        '\u{622}' | '\u{623}' | '\u{625}' | '\u{671}' => '\u{627}',
        '\u{fb50}'..='\u{fb51}' | '\u{fe81}'..='\u{fe84}' | '\u{fe87}'..='\u{fe88}' => '\u{627}',
        // Waw with hamza.
        '\u{624}' | '\u{fe85}'..='\u{fe86}' => '\u{648}',
        // Ya with hamza, and alif maqsura.
        '\u{626}' | '\u{649}' | '\u{fe89}'..='\u{fe8c}' | '\u{feef}'..='\u{fef0}' => '\u{64a}',
        // Ta marbuta.
        '\u{629}' | '\u{fe93}'..='\u{fe94}' => '\u{647}',
        // The ligature of lam and alif.
        '\u{fef5}'..='\u{fefa}' => '\u{fefb}',
        // Letters of Persian and Urdu with hamza.
        '\u{6c0}' => '\u{6d5}',
        '\u{6c2}' => '\u{6c1}',
        '\u{6d3}' => '\u{6d2}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    fn folded(text: &str) -> String {
        fold(text, &mut || ()).unwrap().into_owned()
    }

    #[test]
    fn optional_marks_go() {
        for (text, without) in [
            ("Ἐν ἀρχῇ ἦν ὁ λόγος", "Εν αρχη ην ο λογος"),
            ("ΰ Ὧ ά", "υ Ω α"),
            ("בְּרֵאשִׁית בָּרָא", "בראשית ברא"),
            ("\u{fb2a}\u{fb4b}", "שו"),
            ("بِسْمِ ٱللَّهِ الرَّحْمَـٰنِ", "بسم الله الرحمن"),
            ("أحمد إلى آخر", "احمد الي اخر"),
            ("مسؤول مدرسة شيئا ماء", "مسوول مدرسه شييا ماء"),
            ("هۀ ۂ ۓ ی ک", "هە ہ ے ی ک"),
        ] {
            assert_eq!(folded(text), without);
            assert_eq!(folded(&text.nfd().collect::<String>()), without);
        }
        // The shapes of a letter fold like the letter.
        let shapes = ('\u{fb50}'..='\u{fb51}').chain('\u{fe80}'..='\u{fefc}');
        for text in shapes.map(String::from) {
            let letters: String = text.nfkc().collect();
            assert_eq!(folded(&text).nfkc().collect::<String>(), folded(&letters), "{text:?}");
        }
    }

    #[test]
    fn a_long_text_has_a_pulse() {
        let mut pauses = 0;
        assert_eq!(fold(&"ά".repeat(2 * STRIDE), &mut || pauses += 1).unwrap(), "α".repeat(2 * STRIDE));
        assert!(pauses >= 3, "{pauses} pauses");
    }

    #[test]
    fn letters_and_other_marks_stay() {
        for text in
            ["été ệ İ ё й", "x\u{301}", "हिन्दी", "ไม่มี", "ء ا و ي ه", "\u{5be}\u{5c0}\u{5c3}", "が", "한"]
        {
            assert_eq!(folded(text), text);
        }
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "[a-zé\u{300}-\u{3ff}\u{590}-\u{6ff}\u{1f00}-\u{1fff}\u{fb1d}-\u{fb4f}\u{fb50}\u{fb51}\u{fe70}-\u{fefc}語]{0,40}") {
            let once = folded(&text);
            prop_assert!(once.len() <= text.len());
            prop_assert_eq!(folded(&once), once);
        }

        #[test]
        fn nothing_else_changes(text in "[^\u{300}-\u{6ff}\u{1f00}-\u{1fff}\u{fb1d}-\u{fb51}\u{fe70}-\u{fefc}]{0,40}") {
            prop_assert_eq!(folded(&text), text);
        }
    }
}
