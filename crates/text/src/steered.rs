//! Texts that were written for the purpose of taking long: each of their symbols was chosen among many by the
//! hash that everyone can compute.
//!
//! Work is counted, in slots that are examined or bytes that are needed, and four times the text may take six
//! times the work.

use crate::features::SCHEMES;
use crate::fingerprint::SimHasher;
use crate::hash::probing_table::PROBED;
use crate::hash::rolling::{Arithmetic, Mersenne61, PRIME};
use crate::hash::{GOLDEN_RATIO, xxh3_64};
use crate::passage::headline::{HeadlineOptions, headline};
use crate::passage::repeats::Corpus;
use crate::passage::shared_passages;
use crate::sketch::rarity::FeatureWeights;
use crate::sketch::versions::VersionScorer;
use base::ProblemKind;
use base::steering::{Steering, assert_linear, each_steering};

/// The number of words among which each word is chosen.
const CANDIDATES: usize = 32;
/// The work for a word apart from the table: it is cut, hashed, and put through up to two sieves.
const STEPS_OF_WORD: usize = 4;
/// The length of windows, in characters.
const WINDOW: usize = 50;
/// The characters among which each character is chosen.
const PRINTABLE: std::ops::Range<u8> = b'!'..b'\x7f';
/// A short text without any window of a steered text.
const OTHER: &str = "This text is a little longer than a window of fifty characters.";

/// Distinct words, chosen by the hashes of features.
fn words(steering: &mut Steering, count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let candidates: Vec<[u8; 7]> =
            (0..CANDIDATES).map(|_| std::array::from_fn(|_| b'a' + steering.random(26) as u8)).collect();
        let with_hashes = candidates.iter().map(|word| (word, xxh3_64(word)));
        let word = steering.choose(with_hashes);
        text.extend(word.iter().map(|&letter| char::from(letter)));
        text.push(if number % 16 == 15 { '\n' } else { ' ' });
    }
    text
}

/// Characters, chosen by the hash of the window that ends with them, by the polynomial of a public base.
fn characters(steering: &mut Steering, count: usize, window: usize) -> String {
    let arithmetic = Mersenne61(PRIME);
    let top = (0..window).fold(1, |power, _| arithmetic.append(power, 0));
    let mut text: Vec<u8> = Vec::new();
    let mut value = 0;
    for number in 0..count {
        let old =
            number.checked_sub(window).map_or(0, |at| arithmetic.negative_product(text[at].into(), top));
        let with_hashes = PRINTABLE.map(|new| {
            let value = arithmetic.append(value, u64::from(new) + old);
            let product = value.wrapping_mul(GOLDEN_RATIO);
            ((new, value), product ^ product >> 32)
        });
        let (new, next) = steering.choose(with_hashes);
        text.push(new);
        value = next;
    }
    String::from_utf8(text).unwrap()
}

/// The number of slots that are examined.
fn probed(function: impl FnOnce()) -> usize {
    PROBED.set(0);
    function();
    PROBED.get()
}

#[test]
fn words_that_begin_at_one_slot_are_as_fast_as_others() {
    for steering in each_steering() {
        assert_linear(&steering, 1 << 12, 1, |steering, count| {
            let text = words(steering, count);
            let mut hasher = SimHasher::default();
            let in_table = probed(|| {
                _ = hasher.fingerprint(&text, "word:1".parse().unwrap(), &mut || ()).unwrap();
            });
            STEPS_OF_WORD * count + in_table
        });
    }
}

#[test]
fn words_of_two_texts_that_begin_at_one_slot_are_as_fast_as_others() {
    for steering in each_steering() {
        assert_linear(&steering, 1 << 12, 1, |steering, count| {
            let text = words(steering, count);
            let weights = FeatureWeights::equal("word:2".parse().unwrap());
            let score = |a, b| VersionScorer::default().score(a, b, &weights, &mut || ()).unwrap();
            STEPS_OF_WORD * count + probed(|| _ = (score(&text, OTHER), score(&text, &text)))
        });
    }
}

#[test]
fn windows_that_begin_at_one_slot_are_as_fast_as_others() {
    for steering in each_steering() {
        assert_linear(&steering, 1 << 11, 1, |steering, count| {
            let text = characters(steering, count, WINDOW);
            let work = |a: &str, b: &str| probed(|| _ = shared_passages(a, b, WINDOW, &mut || ()).unwrap());
            let options = HeadlineOptions::default();
            let of_headline = probed(|| _ = headline(OTHER, &text, WINDOW, &options, &mut || ()).unwrap());
            work(&text, OTHER) + work(OTHER, &text) + work(&text, &text) + of_headline
        });
    }
}

/// If this is added to four consecutive characters, the value of each window with them is the same: the
/// polynomial of the public base with these coefficients is 0 modulo 2^61 - 1. It was found by lattice
/// reduction (Lenstra, Lenstra and Lovász, 1982), in less than a second.
const RELATION: [i32; 4] = [6_949, -7_857, -23_312, 19_129];

/// Distinct windows with the same value.
fn equal_windows(count: usize, window: usize) -> String {
    let parts = window / RELATION.len();
    let of_part = |window: usize, part: usize| (window >> (3 * part) & 7) as i32;
    let window = |window: usize| {
        (0..parts).flat_map(move |part| RELATION.map(|more| 0x8_0000 + more * of_part(window, part)))
    };
    (0..count).flat_map(window).map(|code| char::from_u32(code as u32).unwrap()).collect()
}

#[test]
fn windows_of_the_same_public_hash_are_as_fast_as_others() {
    const WINDOW: usize = 20;
    let arithmetic = Mersenne61(PRIME);
    let value =
        |window: &[char]| window.iter().fold(0, |value, &symbol| arithmetic.append(value, symbol.into()));
    let text: Vec<char> = equal_windows(100, WINDOW).chars().collect();
    assert!(text.chunks(WINDOW).all(|window| value(window) == value(&text[..WINDOW])));
    assert!(text.chunks(WINDOW).is_sorted_by(|a, b| a != b));
    for steering in each_steering().take(1) {
        assert_linear(&steering, 1 << 10, 1, |_, count| {
            let text = equal_windows(count, WINDOW);
            probed(|| _ = shared_passages(&text, OTHER, WINDOW, &mut || ()).unwrap())
        });
    }
}

/// Grams whose hashes fall would each be the anchor of a window, for which memory is needed.
#[test]
fn grams_whose_hashes_fall_need_no_more_memory_than_others() {
    const MIN_LENGTH: usize = 100;
    const CHARACTERS: usize = 1 << 16;
    // 2,521 anchors are expected (2 in 52 characters), which take 45 KB, and documents and characters 3 KB.
    // If hashes fall, there are 30,000.
    let memory = CHARACTERS + (96 << 10);
    for steering in each_steering() {
        let text = characters(&mut steering.clone(), CHARACTERS, MIN_LENGTH / 2);
        let mut corpus = Corpus::new(MIN_LENGTH, memory).unwrap();
        corpus.push(&text, 0).unwrap();
        corpus.repeats(&mut || (), &mut |_| ()).unwrap_or_else(|problem| {
            assert_eq!(problem.kind, ProblemKind::TooLarge);
            panic!("{problem:?}: {steering}")
        });
    }
}

/// However many slots are examined, the heartbeat is called in between.
#[test]
fn the_heartbeat_counts_slots() {
    let steering = &mut each_steering().next().unwrap();
    let text = words(steering, 1 << 17);
    for scheme in SCHEMES.iter().map(|family| family.example()).filter(|scheme| !scheme.is_permuted) {
        let mut longest = 0;
        let mut last = 0;
        PROBED.set(0);
        let mut heartbeat = || {
            longest = longest.max(PROBED.get() - last);
            last = PROBED.get();
        };
        SimHasher::default().fingerprint(&text, scheme, &mut heartbeat).unwrap();
        assert!(longest < 1 << 17, "{longest} slots between two heartbeats by {scheme}");
    }
}
