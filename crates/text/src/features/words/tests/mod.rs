//! Tests against the definition.

mod equality;

use super::runs::MAX_RUN;
use super::*;
use crate::features::{Batch, Consumer};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Collects features.
#[derive(Default)]
struct Features(Vec<String>);

impl Consumer<&[u8]> for Features {
    fn take(&mut self, feature: &[u8]) {
        self.0.push(String::from_utf8(feature.to_vec()).unwrap());
    }

    fn pause(&mut self) {}
}

fn words_of(text: &str, keep: Keep) -> Vec<String> {
    let mut features = Features::default();
    Words::default().shingles(text, 1, keep, &mut features).unwrap();
    features.0
}

/// The definition at the head of `mod.rs`.
fn naive_words(text: &str) -> Vec<String> {
    let normalized: String = normalize(text, Keep::All).collect();
    segment(&normalized).map(str::to_owned).collect()
}

fn shingle_hashes(text: &str, k: usize) -> Vec<u64> {
    let mut hashes = Vec::new();
    let mut consumer = |batch: &[u64]| hashes.extend_from_slice(batch);
    let mut batch = Batch::new(&mut consumer);
    Words::default().shingles(text, k, Keep::All, &mut batch).unwrap();
    batch.flush();
    hashes
}

#[test]
fn one_unicode_version() {
    assert_eq!(unicode_segmentation::UNICODE_VERSION, (16, 0, 0));
    assert_eq!(unicode_normalization::UNICODE_VERSION, (16, 0, 0));
    assert_eq!(caseless::UNICODE_VERSION, (16, 0, 0));
    assert_eq!(unicode_properties::UNICODE_VERSION, (16, 0, 0));
}

#[test]
fn words_are_normalized() {
    let text =
        "Can\u{2019}t STOP: the Straße, ＡＢＣ co\u{ad}operate ﬁne ΣΊΣΥΦΟΣ e\u{301}t\u{e9} 3.14 snake_case";
    assert_eq!(
        words_of(text, Keep::All),
        [
            "can\u{2019}t",
            "stop",
            "the",
            "strasse",
            "abc",
            "cooperate",
            "fine",
            "σίσυφοσ",
            "\u{e9}t\u{e9}",
            "3.14",
            "snake_case"
        ]
    );
}

#[test]
fn prose_has_no_numbers_and_no_addresses() {
    let text = "In 1994 see https://example.org/a or www.example.org, ask me@example.org: \
        3.14 or ٣٤ but B2B and/or e.g.";
    let expected = ["in", "see", "or", "ask", "or", "but", "b2b", "and", "or", "eg"];
    assert_eq!(words_of(text, Keep::Prose), expected);
}

#[test]
fn unspaced_scripts_are_cut_into_characters() {
    assert_eq!(words_of("日本語です", Keep::All), ["日", "本", "語", "で", "す"]);
}

#[test]
fn endless_runs_are_cut() {
    let words = words_of(&"é".repeat(MAX_RUN), Keep::All);
    assert_eq!(words, ["é".repeat(MAX_RUN / 2), "é".repeat(MAX_RUN / 2)]);
    assert_eq!(words_of(&"a".repeat(MAX_RUN + 1), Keep::All).len(), 2);
}

#[test]
fn a_text_of_few_words_is_one_shingle() {
    assert_eq!(shingle_hashes("Hello, world!", 3), [xxh3_64(b"hello world")]);
    assert_eq!(shingle_hashes("Hello", 1), [xxh3_64(b"hello")]);
    assert_eq!(shingle_hashes("...", 1), []);
}

/// Text to which the rules of word segmentation often apply.
fn ascii_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~\t\r\n]{0,60}", "[aZ9_.,:;'\" \n]{0,40}"]
}

fn unicode_text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", "[aB9._' \u{ad}\u{200d}\u{301}éß日本ไทยАبת\u{1f1e6}\u{fdfa}ﬁ　]{0,40}"]
}

proptest! {
    #[test]
    fn ascii_is_segmented_as_unicode_says(text in ascii_text()) {
        prop_assert_eq!(words_of(&text, Keep::All), naive_words(&text));
    }

    #[test]
    fn runs_can_be_segmented_apart(text in unicode_text()) {
        prop_assert_eq!(words_of(&text, Keep::All), naive_words(&text));
    }
}

proptest! {
    // Each case has long runs, for which the definition is slow.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shingles_are_the_windows_over_all_words(
        text in prop::collection::vec("[a-c]{1,4}|[é日]{1,3}|x{9000}", 0..40),
        k in 1usize..8,
    ) {
        let words = naive_words(&text.join(" "));
        let expected: Vec<u64> = match words.len() {
            0 => vec![],
            few if few < k => vec![xxh3_64(words.join(" ").as_bytes())],
            _ => words.windows(k).map(|shingle| xxh3_64(shingle.join(" ").as_bytes())).collect(),
        };
        prop_assert_eq!(shingle_hashes(&text.join(" "), k), expected);
    }
}
