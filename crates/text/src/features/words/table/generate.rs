//! Makes `table.bin` from the Unicode crates.
//!
//! `cargo test -p text --lib table::generate -- --ignored` writes it, after these crates have changed.

use super::{Entry, INDEXED, LEAF, class, entry};
use crate::features::words::Keep;
use crate::features::words::machine::GROWTH;
use crate::features::words::normal::{is_letter, is_word_character, normalize};
use caseless::Caseless;
use std::collections::HashMap;
use std::{fs, iter};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

#[test]
fn the_table_is_that_of_the_unicode_crates() {
    assert!(generate() == super::FILE, "write it again, see the head of this file");
}

#[test]
#[ignore = "writes the table"]
fn write() {
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/features/words/table.bin"), generate()).unwrap();
}

/// The pass over a text looks up the characters of a normal form, and writes them unchanged.
#[test]
fn normal_forms_are_made_of_characters_that_stay() {
    for entry in (0..0x11_0000).map(entry).filter(|entry| entry.class() == class::SEVERAL) {
        for c in entry.normal_form().chars() {
            let part = entry_of_char(c);
            let is_mark = part.combining_class() != 0;
            assert!(part.class() < class::SEVERAL && (is_mark || !part.has(Entry::CHANGED)), "{c:?}");
        }
    }
}

/// The machine only reserves this much memory.
#[test]
fn normal_forms_do_not_grow_beyond_the_room() {
    for (c, entry) in ('\0'..=char::MAX).map(|c| (c, entry_of_char(c))) {
        let (length, words) = match entry.class() {
            class::SEVERAL => (entry.normal_form().len(), entry.normal_form().unicode_words().count()),
            _ if entry.has(Entry::CHANGED) => (3, 1),
            _ => (c.len_utf8(), 1),
        };
        assert!(length + words <= GROWTH * c.len_utf8(), "{c:?}");
    }
}

fn entry_of_char(c: char) -> Entry {
    entry(u32::from(c))
}

fn generate() -> Vec<u8> {
    let mut normal_forms = NormalForms::default();
    let mut index = Vec::new();
    let mut leaves = Vec::new();
    let mut numbers = HashMap::new();
    for number in 0..INDEXED {
        let code_points = (number * LEAF) as u32..((number + 1) * LEAF) as u32;
        let leaf: Vec<u32> = code_points
            .map(|code_point| char::from_u32(code_point).map_or(0, |c| make_entry(c, &mut normal_forms)))
            .collect();
        let next = numbers.len() as u16;
        index.push(*numbers.entry(leaf.clone()).or_insert_with(|| {
            leaves.extend(leaf);
            next
        }));
    }
    let mut file = (numbers.len() as u16).to_le_bytes().to_vec();
    file.extend(index.into_iter().flat_map(u16::to_le_bytes));
    file.extend(leaves.into_iter().flat_map(u32::to_le_bytes));
    file.extend(normal_forms.bytes);
    file
}

/// Normal forms of several characters or none, each after its length.
#[derive(Default)]
struct NormalForms {
    bytes: Vec<u8>,
    places: HashMap<String, u32>,
}

impl NormalForms {
    /// The place of the normal form, which is added if it is new.
    fn place(&mut self, form: String) -> u32 {
        let next = self.bytes.len() as u32;
        assert!(next < 1 << 16);
        *self.places.entry(form).or_insert_with_key(|form| {
            self.bytes.push(form.len() as u8);
            self.bytes.extend_from_slice(form.as_bytes());
            next
        })
    }
}

fn make_entry(c: char, normal_forms: &mut NormalForms) -> u32 {
    let text = c.to_string();
    let normal: String = normalize(&text, Keep::All).collect();
    let combining_class = u32::from(canonical_combining_class(c));
    if combining_class != 0 {
        if normal != text || !text.nfkd().eq(text.chars()) {
            return class::DEPENDS.into();
        }
        let may_compose = if may_compose_with_before(c) { Entry::CHANGED } else { 0 };
        return class_and_flags(c) | combining_class << 8 | may_compose;
    }
    if !is_context_free(&text) {
        return class::DEPENDS.into();
    }
    let mut characters = normal.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) if only == c => class_and_flags(c),
        (Some(only), None) if u32::from(only) < 1 << 16 => {
            class_and_flags(only) | Entry::CHANGED | u32::from(only) << 16
        }
        _ => u32::from(class::SEVERAL) | Entry::CHANGED | normal_forms.place(normal) << 16,
    }
}

/// Whether the normal form of a character that is not a mark is always the same: in no step of normalization
/// does it compose with the text before it, and following marks neither move nor compose into it, unless the
/// caller notices that (it compares combining classes, and checks marks that may compose).
fn is_context_free(text: &str) -> bool {
    let composed: String = text.nfkc().collect();
    let folded: String = composed.chars().default_case_fold().collect();
    let normal: String = normalize(text, Keep::All).collect();
    let begins_apart = |form: &str| {
        let first = form.nfkd().next();
        first.is_none_or(|first| canonical_combining_class(first) == 0 && !may_compose_with_before(first))
    };
    let ends_apart =
        |form: &str| form.chars().next_back().is_none_or(|last| canonical_combining_class(last) == 0);
    let stays = folded == normal && composed == normal && text.nfkd().eq(normal.chars());
    [text, &folded, &normal].into_iter().all(begins_apart)
        && (stays || ends_apart(&composed) && ends_apart(&normal))
}

fn may_compose_with_before(c: char) -> bool {
    is_nfkc_quick(iter::once(c)) == IsNormalized::Maybe
}

fn class_and_flags(c: char) -> u32 {
    let flag = |condition, flag| if condition { flag } else { 0 };
    u32::from(word_break_class(c))
        | flag(c.to_string().unicode_words().next().is_some(), Entry::ALPHANUMERIC)
        | flag(is_letter(c), Entry::LETTER)
        | flag(is_word_character(c), Entry::WORD_CHARACTER)
}

/// The class of a character, derived from how the segmentation treats it between others.
fn word_break_class(c: char) -> u8 {
    let mut text = String::with_capacity(16);
    let mut is_one = |before: &str, after: &str| {
        text.clear();
        text.extend([before, c.encode_utf8(&mut [0; 4]), after]);
        text.split_word_bounds().nth(1).is_none()
    };
    if c.is_whitespace() {
        return class::SPACE;
    }
    if is_one("!", "") {
        return class::MARK;
    }
    match (is_one("a", ""), is_one("カ", "")) {
        (true, true) => return class::JOINER,
        (true, false) if is_one("1.", "") => return class::NUMERIC,
        (true, false) if is_one("", "\"\u{5d0}") => return class::HEBREW,
        (true, false) => return class::LETTER,
        (false, true) => return class::KATAKANA,
        (false, false) => (),
    }
    match (is_one("a", "a"), is_one("1", "1")) {
        (true, true) if is_one("\u{5d0}", "") => class::SINGLE_QUOTE,
        (true, true) => class::MID_EITHER,
        (true, false) => class::MID_LETTER,
        (false, true) => class::MID_NUMBER,
        (false, false) if is_one("\u{5d0}", "\u{5d0}") => class::DOUBLE_QUOTE,
        (false, false) if is_one("\u{1f1e6}", "") => class::REGIONAL,
        (false, false) => class::OTHER,
    }
}
