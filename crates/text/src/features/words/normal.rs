//! The definition of a word by the Unicode crates: normal form, segmentation, and properties of characters.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

/// Which words are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All words are kept.
    All,
    /// Numbers and addresses (URL, e-mail) are dropped.
    Prose,
}

/// NFKC, case folding and removal of invisible characters; then NFKC again, since these make new neighbours.
pub(super) fn normalize(text: &str, keep: Keep) -> impl Iterator<Item = char> {
    let is_visible = move |&c: &char| match keep {
        Keep::All => !is_default_ignorable(c),
        Keep::Prose => !is_default_ignorable(c) && (!c.is_control() || c.is_whitespace()),
    };
    text.nfkc().default_case_fold().filter(is_visible).nfkc()
}

/// The words of normalized text. White space separates words even if a combining mark follows it.
pub(super) fn segment(normalized: &str) -> impl Iterator<Item = &str> {
    normalized.split_whitespace().flat_map(UnicodeSegmentation::unicode_words)
}

/// Whether the character is a letter: general category L.
pub(super) fn is_letter(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Letter
}

/// Whether the character is a letter, a mark or a digit: general category L, M or N.
pub(super) fn is_word_character(c: char) -> bool {
    use GeneralCategoryGroup::{Letter, Mark, Number};
    c.is_ascii_alphanumeric() || !c.is_ascii() && matches!(c.general_category_group(), Letter | Mark | Number)
}

/// Unicode's Default_Ignorable_Code_Point: soft hyphens, joiners, variation selectors, directional marks,
/// byte order marks and other characters that readers do not see.
pub(super) fn is_default_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
