//! Passages that two texts share.
//!
//! Every window of `min_length` characters of the first text goes into a hash table. Every window of the
//! second text is looked up and compared. A pair of equal windows is extended to both sides as long as the
//! texts agree.
//!
//! Guarantee: a character of the second text is in a passage if and only if it is part of `min_length`
//! consecutive characters that the first text also contains, whatever else is repeated. Hashes of pieces, as
//! in [`recursive`](super::recursive), could not guarantee that: a piece that occurs often would have to be
//! tried at every place.
//!
//! Cost: each window is hashed in constant time, and equal windows are compared from where the last
//! comparison ended. Windows inside a long match are not even hashed, so most of the time is spent in the
//! table. The table is bounded: windows of long texts are processed in several rounds, chosen by their place.
//! Time is linear in the texts, times the number of rounds (one for every 16 million characters of the first
//! text), whoever has written them: hashes and places depend on the secret of the process
//! ([`Secret`]). Very periodic texts take longer for a longer `min_length`.

mod passage_search;
mod table;

use crate::hash::rolling::{Arithmetic, Rolling, Windows};
use crate::hash::secret::{Place, Secret};
use base::{Heartbeat, Limit, OutOfMemory, Problem, beat_every, collect, pieces, reserve, sort};
pub use passage_search::MAX_PASSAGES;
use passage_search::{Match, MatchSearch, TextPair};
use table::{PlacedWindow, WindowTable, each_batch};

/// The number of windows of the first text per round.
const MAX_WINDOWS: usize = 1 << 24;
/// The number of windows that are hashed together: few, since those inside a match are not hashed.
const PIECE: usize = 1 << 10;
/// How many characters are counted between two heartbeats.
const STRIDE: usize = 1 << 16;

/// The length that passages must at least have, in characters.
pub const MIN_LENGTH: Limit = Limit::new("min_length", 1, 1 << 20);

/// A passage of the second text that the first text also contains. Positions and lengths are in characters,
/// from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    /// The number of its first character in the first text, from 0.
    pub a_position: usize,
    /// The number of its first character in the second text, from 0.
    pub b_position: usize,
    /// Its length in characters.
    pub length: usize,
    /// The passage itself.
    pub text: &'a str,
    /// The number of its first byte in the second text, from 0.
    pub byte: usize,
}

/// The passages of at least `min_length` characters that the texts share, in the order of the second text.
///
/// No passage can be extended at its place, and none is inside another one. Together they cover every
/// character of the second text that is part of such a passage. So equal texts share one passage: the whole
/// text.
pub fn shared_passages<'a>(
    a: &str,
    b: &'a str,
    min_length: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Passage<'a>>, Problem> {
    let window = MIN_LENGTH.of(min_length)?;
    if a.is_ascii() && b.is_ascii() {
        let matches = find(a.as_bytes(), b.as_bytes(), window, MAX_WINDOWS, heartbeat)?;
        return Ok(collect(matches.iter().map(|&m| passage(m, b, m.b, m.end())), matches.len())?);
    }
    let in_a = characters(a, heartbeat)?;
    let in_b = characters(b, heartbeat)?;
    let matches = find(&in_a, &in_b, window, MAX_WINDOWS, heartbeat)?;
    Ok(with_text(&matches, b, heartbeat)?)
}

fn characters(text: &str, heartbeat: &mut dyn Heartbeat) -> Result<Vec<char>, OutOfMemory> {
    let mut characters = Vec::new();
    reserve(&mut characters, text.chars().count())?;
    for piece in pieces(text, STRIDE) {
        heartbeat.beat();
        characters.extend(piece.chars());
    }
    Ok(characters)
}

fn passage(found: Match, b: &str, start: usize, end: usize) -> Passage<'_> {
    let Match { a: a_position, b: b_position, length } = found;
    Passage { a_position, b_position, length, text: &b[start..end], byte: start }
}

/// Adds the text of each match. Matches are ordered by their beginnings, and also by their ends, since none
/// is inside another. So one walk over the characters finds all beginnings, and another one all ends.
fn with_text<'a>(
    matches: &[Match],
    b: &'a str,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Passage<'a>>, OutOfMemory> {
    let mut bytes = |positions: &mut dyn Iterator<Item = usize>| {
        let mut boundaries = b.char_indices().map(|(byte, _)| byte).chain([b.len()]).enumerate();
        let mut is_at = |position, at: usize| {
            beat_every(STRIDE, at, heartbeat);
            at == position
        };
        let mut byte_of =
            |position| boundaries.find(|&(at, _)| is_at(position, at)).map_or(b.len(), |(_, byte)| byte);
        collect(positions.map(&mut byte_of), matches.len())
    };
    let starts = bytes(&mut matches.iter().map(|m| m.b))?;
    let ends = bytes(&mut matches.iter().map(|m| m.end()))?;
    let bounds = starts.into_iter().zip(ends);
    collect(matches.iter().zip(bounds).map(|(&m, (start, end))| passage(m, b, start, end)), matches.len())
}

/// The matches of at least `window` symbols, in rounds of at most `max_windows` windows of `a`.
fn find<T: Copy + Eq + Into<u64>>(
    a: &[T],
    b: &[T],
    window: usize,
    max_windows: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Match>, Problem> {
    let windows = (a.len() + 1).saturating_sub(window);
    if windows == 0 || b.len() < window {
        return Ok(Vec::new());
    }
    let rounds = windows.div_ceil(max_windows);
    let texts = TextPair::new(a, b, window);
    let secret = Secret::of_process();
    let rolling = Rolling::new(window, secret.polynomials());
    let mut table = WindowTable::new(2 * (windows / rounds), heartbeat)?;
    let mut found = Vec::new();
    for round in 0..rounds {
        let is_in_round = |place: Place| rounds == 1 || place.part(rounds) == round;
        if round > 0 {
            table.clear(heartbeat)?;
        }
        let windows = Windows::new(a, &rolling, PIECE)?;
        fill(&mut table, &texts, windows, is_in_round, heartbeat)?;
        let mut search = MatchSearch::new(&texts, &found);
        let windows = Windows::new(b, &rolling, PIECE)?;
        look_up(&mut table, &texts, windows, &mut search, is_in_round, heartbeat);
        let new = search.into_matches()?;
        reserve(&mut found, new.len())?;
        found.extend(new);
        keep_widest(&mut found, heartbeat);
    }
    Ok(found)
}

/// Puts the wanted windows of the first text into the empty table.
fn fill<T: Copy + Eq + Into<u64>>(
    table: &mut WindowTable,
    texts: &TextPair<'_, T>,
    mut windows: Windows<'_, T, impl Arithmetic>,
    is_wanted: impl Fn(Place) -> bool,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(), OutOfMemory> {
    let mut result = Ok(());
    let secret = Secret::of_process();
    while let Some(first) = windows.next() {
        each_batch(first, windows.hash_some(|value| value), secret, &is_wanted, |batch| {
            heartbeat.beat();
            table.warm_up(batch);
            for &window in batch {
                if result.is_ok() {
                    let is_equal = |other| texts.are_equal(other, texts.a, window.position);
                    result = table.add(window, is_equal, heartbeat);
                }
            }
        });
    }
    texts.forget();
    result
}

/// Looks up the wanted windows of the second text, except for those inside a match.
fn look_up<T: Copy + Eq + Into<u64>>(
    table: &mut WindowTable,
    texts: &TextPair<'_, T>,
    mut windows: Windows<'_, T, impl Arithmetic>,
    search: &mut MatchSearch<'_, T>,
    is_wanted: impl Fn(Place) -> bool,
    heartbeat: &mut dyn Heartbeat,
) {
    let secret = Secret::of_process();
    while let Some(first) = windows.next() {
        heartbeat.beat();
        if let Some(after) = search.end_of_covered(first) {
            windows.skip_to(after);
            continue;
        }
        each_batch(first, windows.hash_some(|value| value), secret, &is_wanted, |batch| {
            heartbeat.beat();
            if batch.last().is_some_and(|last| search.is_within_last(last.position)) {
                return;
            }
            table.warm_up(batch);
            for &PlacedWindow { position: at, place } in batch {
                if !search.is_covered(at)
                    && let Some(first) =
                        table.get(place, |other| texts.are_equal(other, texts.b, at), heartbeat)
                {
                    search.take(first, at);
                }
            }
        });
    }
}

/// Sorts matches, and drops those inside another match. Of matches of the same text, the one that comes first
/// in the first text is kept.
fn keep_widest(matches: &mut Vec<Match>, heartbeat: &mut dyn Heartbeat) {
    sort(matches, heartbeat, |m| (m.b, usize::MAX - m.length, m.a));
    let mut end = 0;
    matches.retain(|m| {
        let is_wider = m.end() > end;
        end = end.max(m.end());
        is_wider
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passages<'a>(a: &str, b: &'a str, min_length: usize) -> Vec<(usize, usize, &'a str)> {
        let found = shared_passages(a, b, min_length, &mut || ()).unwrap();
        found.iter().map(|passage| (passage.a_position, passage.b_position, passage.text)).collect()
    }

    /// Which symbols of b are in a window that a also contains.
    fn naive_covered<T: Eq>(a: &[T], b: &[T], window: usize) -> Vec<bool> {
        let mut covered = vec![false; b.len()];
        for (at, text) in b.windows(window).enumerate() {
            if a.windows(window).any(|other| other == text) {
                covered[at..at + window].fill(true);
            }
        }
        covered
    }

    fn check(a: &[u8], b: &[u8], window: usize, max_windows: usize) -> Result<(), TestCaseError> {
        let found = find(a, b, window, max_windows, &mut || ()).unwrap();
        let mut covered = vec![false; b.len()];
        for m in &found {
            prop_assert!(m.length >= window);
            prop_assert_eq!(&a[m.a..m.a + m.length], &b[m.b..m.end()]);
            prop_assert!(m.a == 0 || m.b == 0 || a[m.a - 1] != b[m.b - 1]);
            prop_assert!(a.get(m.a + m.length).is_none_or(|next| b.get(m.end()) != Some(next)));
            covered[m.b..m.end()].fill(true);
        }
        for pair in found.windows(2) {
            prop_assert!(pair[0].b < pair[1].b && pair[0].end() < pair[1].end());
        }
        prop_assert_eq!(covered, naive_covered(a, b, window));
        Ok(())
    }

    #[test]
    fn passages_are_maximal_and_counted_in_characters() {
        let a = "It was a bright cold day in April.";
        let b = "Then: a bright cold day! It was a bright one.";
        assert_eq!(passages(a, b, 8), [(6, 5, " a bright cold day"), (0, 25, "It was a bright ")]);
        assert_eq!(passages(a, b, 18), [(6, 5, " a bright cold day")]);
        assert_eq!(passages(a, b, 19), []);
        assert_eq!(passages("日本語の文章です。", "これも日本語の文章だ", 4), [(0, 3, "日本語の文章")]);
        assert_eq!(passages("ab", "é", 1), []);
        assert_eq!(passages("", "", 1), []);
        assert!(shared_passages("", "", 0, &mut || ()).is_err());
    }

    #[test]
    fn equal_texts_share_all_and_nearly_equal_ones_nearly_all() {
        let text = "One two three, four five. One two three!";
        assert_eq!(passages(text, text, 8), [(0, 0, text)]);
        assert_eq!(passages(text, text, 40), [(0, 0, text)]);
        assert_eq!(passages(text, text, 41), []);
        assert_eq!(passages("日本語", "日本語", 3), [(0, 0, "日本語")]);
        assert_eq!(passages("aaaaaaaa", "aaaaaaaa", 3), [(0, 0, "aaaaaaaa")]);
        let changed = "One two three, four_five. One two three!";
        assert_eq!(
            passages(text, changed, 8),
            [(0, 0, "One two three, four"), (20, 20, "five. One two three!")]
        );
        assert_eq!(passages(&text[4..], text, 8), [(22, 0, "One two three"), (0, 4, &text[4..])]);
        assert_eq!(passages(text, &text[4..], 8), [(4, 0, &text[4..])]);
        assert_eq!(passages(text, &[text, "."].concat(), 8), [(0, 0, text)]);
    }

    /// All windows are equal, which would take quadratic time if every pair were compared.
    #[test]
    fn repetition_takes_no_longer() {
        let a = "a".repeat(1000);
        let b = "a".repeat(2_000_000);
        let found = shared_passages(&a, &b, 100, &mut || ()).unwrap();
        assert_eq!(found.len(), 2000);
        assert_eq!(shared_passages(&b, &a, 100, &mut || ()).unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn passages_cover_what_is_shared(
            a in prop_oneof!["[ab]{0,80}", "[a-d]{0,200}"],
            b in prop_oneof!["[ab]{0,80}", "[a-d]{0,200}"],
            window in 1usize..12,
            max_windows in prop_oneof![Just(MAX_WINDOWS), 1usize..40],
        ) {
            check(a.as_bytes(), b.as_bytes(), window, max_windows)?;
        }

        #[test]
        fn passages_cover_what_is_moved(
            parts in prop::collection::vec("[a-c]{1,30}", 1..8),
            order in prop::collection::vec(0usize..8, 0..12),
            window in 1usize..20,
            max_windows in prop_oneof![Just(MAX_WINDOWS), 1usize..40],
        ) {
            let a = parts.concat();
            let b: String = order.iter().filter_map(|&part| parts.get(part)).map(String::as_str).collect();
            check(a.as_bytes(), b.as_bytes(), window, max_windows)?;
            let own = find(a.as_bytes(), a.as_bytes(), window, max_windows, &mut || ()).unwrap();
            let whole = Match { a: 0, b: 0, length: a.len() };
            prop_assert_eq!(own, if a.len() < window { vec![] } else { vec![whole] });
        }

        #[test]
        fn positions_are_those_of_characters(a in "[aé日]{0,60}", b in "[aé日]{0,60}", length in 1usize..6) {
            for passage in shared_passages(&a, &b, length, &mut || ()).unwrap() {
                let part = |text: &str, at| text.chars().skip(at).take(passage.length).collect::<String>();
                prop_assert_eq!(part(&a, passage.a_position), passage.text);
                prop_assert_eq!(part(&b, passage.b_position), passage.text);
            }
        }
    }
}
