//! Passages that two texts share, or that a text has twice.
//!
//! Every window of `min_length` characters of the first text goes into a hash table, and every window of the second is
//! looked up there and compared: one that is found grows to both sides as long as the texts agree. So a character of the
//! second text lies in a passage if and only if some `min_length` characters around it stand in the first as
//! well, whatever else is repeated. Hashes of pieces alone, as [`crate::recursive`] makes, could not promise that: of a piece that
//! comes many times they would have to try every place.
//!
//! Windows are hashed in constant time each, and equal ones compared where the last comparison ended. The table is bounded:
//! windows of long texts are dealt with in several rounds, by their hash. Time is linear in the texts, times the rounds (one
//! for every 16 million characters of the first); very periodic texts take longer, the longer `min_length` is.

use crate::error::{OutOfMemory, OutOfRange, reserve};
use crate::rolling::{MERSENNE_61, PRIME, append_mersenne_61};
use std::cell::Cell;
use std::fmt;

/// Windows of the first text that one round deals with.
const MAX_WINDOWS: usize = 1 << 24;
/// Windows that are looked up together.
const BATCH: usize = 64;
/// Windows between two calls of the heartbeat.
const STRIDE: usize = 1 << 14;
/// Spreads the values of the windows' polynomials; odd.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The longest that passages can be asked to be.
pub const MAX_MIN_LENGTH: i64 = 1 << 20;
/// The most passages there can be.
pub const MAX_PASSAGES: usize = 1 << 23;

/// A passage of the second text that stands in the first as well. Positions and lengths are in characters, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    /// Where it stands in the first text.
    pub a_position: usize,
    /// Where it stands in the second text.
    pub b_position: usize,
    /// Its length.
    pub length: usize,
    /// The passage itself.
    pub text: &'a str,
    /// Its first byte in the second text.
    pub byte: usize,
}

/// Why passages were not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassageError {
    /// A parameter is outside its range.
    OutOfRange(OutOfRange),
    /// There are more passages than can be listed.
    TooMany,
    /// There is no memory for this many bytes.
    OutOfMemory(usize),
}

impl fmt::Display for PassageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(error) => error.fmt(f),
            Self::TooMany => write!(f, "texts share more than {MAX_PASSAGES} passages"),
            Self::OutOfMemory(bytes) => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl std::error::Error for PassageError {}

impl From<OutOfMemory> for PassageError {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Self {
        Self::OutOfMemory(bytes)
    }
}

/// The passages of at least `min_length` characters that the texts share, in the order of the second text.
///
/// None can be extended where it stands, and none lies within another. Together they cover every character of the second
/// text that has such a passage around it. Equal texts are taken for one: then a passage is one that comes again, and stands in
/// the first text before it stands in the second.
///
/// `heartbeat` is called every few hundred microseconds; it may unwind to stop the work.
pub fn shared_passages<'a>(
    a: &str,
    b: &'a str,
    min_length: i64,
    heartbeat: &mut dyn FnMut(),
) -> Result<Vec<Passage<'a>>, PassageError> {
    let min_length = OutOfRange::check("min_length", min_length, 1, MAX_MIN_LENGTH);
    let window = min_length.map_err(PassageError::OutOfRange)? as usize;
    if a.is_ascii() && b.is_ascii() {
        let matches = find(a.as_bytes(), b.as_bytes(), window, MAX_WINDOWS, heartbeat)?;
        return Ok(matches.into_iter().map(|m| m.passage(b, m.b, m.end())).collect());
    }
    let matches = find(&characters(a)?, &characters(b)?, window, MAX_WINDOWS, heartbeat)?;
    Ok(with_text(&matches, b))
}

fn characters(text: &str) -> Result<Vec<char>, PassageError> {
    let mut characters = Vec::new();
    reserve(&mut characters, text.chars().count())?;
    characters.extend(text.chars());
    Ok(characters)
}

/// The same run of symbols in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    a: usize,
    b: usize,
    length: usize,
}

impl Match {
    fn end(self) -> usize {
        self.b + self.length
    }

    fn passage(self, b: &str, start: usize, end: usize) -> Passage<'_> {
        let (a_position, b_position) = (self.a, self.b);
        Passage { a_position, b_position, length: self.length, text: &b[start..end], byte: start }
    }
}

/// Adds the text of each match, which are in the order of their beginnings and, since none lies within another, of their
/// ends.
fn with_text<'a>(matches: &[Match], b: &'a str) -> Vec<Passage<'a>> {
    let bytes = |positions: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
        let mut boundaries = b.char_indices().map(|(byte, _)| byte).chain([b.len()]).enumerate();
        let mut byte_of =
            |position| boundaries.find(|&(at, _)| at == position).map_or(b.len(), |(_, byte)| byte);
        positions.map(&mut byte_of).collect()
    };
    let starts = bytes(&mut matches.iter().map(|m| m.b));
    let ends = bytes(&mut matches.iter().map(|m| m.end()));
    let bounds = starts.into_iter().zip(ends);
    matches.iter().zip(bounds).map(|(m, (start, end))| m.passage(b, start, end)).collect()
}

fn find<T: Copy + Eq + Into<u32>>(
    a: &[T],
    b: &[T],
    window: usize,
    max_windows: usize,
    heartbeat: &mut dyn FnMut(),
) -> Result<Vec<Match>, PassageError> {
    let windows = (a.len() + 1).saturating_sub(window);
    if windows == 0 || b.len() < window {
        return Ok(Vec::new());
    }
    let rounds = windows.div_ceil(max_windows);
    let texts = Texts { a, b, window, are_one: a == b, verified: Cell::new((usize::MAX, 0)) };
    let mut table = Table::new(2 * (windows / rounds))?;
    let mut found = Vec::new();
    for round in 0..rounds {
        // By the lower half of the hash, of which the table knows nothing.
        let is_in_round = |hash: u64| ((u64::from(hash as u32) * rounds as u64) >> 32) as usize == round;
        let mut result = Ok(());
        table.clear();
        each_batch(a, window, is_in_round, heartbeat, |batch| {
            table.warm_up(batch);
            for &(at, hash) in batch {
                if result.is_ok() {
                    result = table.add(hash, at, |other| texts.are_equal(other, texts.a, at));
                }
            }
        });
        result?;
        texts.verified.set((usize::MAX, 0));
        let mut search = Search {
            texts: &texts,
            before: &found,
            new: Vec::new(),
            covered_to: 0,
            waiting: None,
            too_many: false,
        };
        each_batch(b, window, is_in_round, heartbeat, |batch| {
            table.warm_up(batch);
            for &(at, hash) in batch {
                if !search.is_covered(at)
                    && let Some(first) = table.get(hash, |other| texts.are_equal(other, texts.b, at))
                    && !(texts.are_one && first == at)
                {
                    search.take(first, at);
                }
            }
        });
        search.finish();
        if search.too_many {
            return Err(PassageError::TooMany);
        }
        let new = search.new;
        reserve(&mut found, new.len())?;
        found.extend(new);
        keep_widest(&mut found);
    }
    Ok(found)
}

/// Both texts, and the length of their windows.
struct Texts<'a, T> {
    a: &'a [T],
    b: &'a [T],
    window: usize,
    are_one: bool,
    /// Where the windows stand that were found to be equal last.
    verified: Cell<(usize, usize)>,
}

impl<T: Copy + Eq> Texts<'_, T> {
    /// Whether the window of the first text equals that of `text`. Where the last pair compared overlaps with this one and
    /// was equal, only what is behind it is compared.
    fn are_equal(&self, in_a: usize, text: &[T], at: usize) -> bool {
        let (last_in_a, last) = self.verified.get();
        let known = match (in_a.checked_sub(last_in_a), at.checked_sub(last)) {
            (Some(ahead), Some(same)) if ahead == same => self.window.saturating_sub(ahead),
            _ => 0,
        };
        let is_same_place = std::ptr::eq(&self.a[in_a], &text[at]);
        let rest = known..self.window;
        let are_equal = is_same_place || self.a[in_a..][rest.clone()] == text[at..][rest];
        if are_equal {
            self.verified.set((in_a, at));
        }
        are_equal
    }

    /// The longest match around these equal windows.
    fn extend(&self, a: usize, b: usize) -> Match {
        let before =
            self.a[..a].iter().rev().zip(self.b[..b].iter().rev()).take_while(|(a, b)| a == b).count();
        let after = self.a[a..].iter().zip(&self.b[b..]).take_while(|(a, b)| a == b).count();
        Match { a: a - before, b: b - before, length: before + after }
    }
}

/// Goes through the second text from left to right.
struct Search<'a, T> {
    texts: &'a Texts<'a, T>,
    /// The matches of earlier rounds that are still to come, in their order.
    before: &'a [Match],
    /// Those of this round.
    new: Vec<Match>,
    /// Where the last of them ends.
    covered_to: usize,
    /// Equal windows, the later of which has the first symbol behind `covered_to`. The last such are taken, since
    /// they reach farthest.
    waiting: Option<(usize, usize)>,
    too_many: bool,
}

impl<T: Copy + Eq> Search<'_, T> {
    /// Whether the window lies within a match.
    fn is_covered(&mut self, at: usize) -> bool {
        let end = at + self.texts.window;
        while let [first, rest @ ..] = self.before
            && first.end() < end
        {
            self.before = rest;
        }
        end <= self.covered_to || self.before.first().is_some_and(|first| first.b <= at)
    }

    /// Takes the window at `b` that equals that at `a`.
    fn take(&mut self, a: usize, b: usize) {
        if b > self.covered_to {
            self.finish();
        }
        if b + self.texts.window <= self.covered_to {
            return;
        }
        if b <= self.covered_to && self.covered_to > 0 {
            self.waiting = Some((a, b));
        } else {
            self.keep(a, b);
        }
    }

    fn finish(&mut self) {
        if let Some((a, b)) = self.waiting.take() {
            self.keep(a, b);
        }
    }

    fn keep(&mut self, a: usize, b: usize) {
        if self.new.len() + 1 > MAX_PASSAGES || self.new.try_reserve(1).is_err() {
            self.too_many = true;
            return;
        }
        let found = self.texts.extend(a, b);
        self.covered_to = found.end();
        self.new.push(found);
    }
}

/// Sorts matches and drops those that lie within another; of the same, that which stands first in the first text stays.
fn keep_widest(matches: &mut Vec<Match>) {
    matches.sort_unstable_by_key(|m| (m.b, usize::MAX - m.length, m.a));
    let mut end = 0;
    matches.retain(|m| {
        let is_wider = m.end() > end;
        end = end.max(m.end());
        is_wider
    });
}

/// Passes on the position and the hash of every window that is wanted, some at a time.
fn each_batch<T: Copy + Into<u32>>(
    text: &[T],
    window: usize,
    is_wanted: impl Fn(u64) -> bool,
    heartbeat: &mut dyn FnMut(),
    mut consumer: impl FnMut(&[(usize, u64)]),
) {
    let mut batch = Vec::with_capacity(BATCH);
    each_window(text, window, heartbeat, |at, hash| {
        if is_wanted(hash) {
            batch.push((at, hash));
            if batch.len() == BATCH {
                consumer(&batch);
                batch.clear();
            }
        }
    });
    consumer(&batch);
}

/// Passes on the position and the hash of every window.
fn each_window<T: Copy + Into<u32>>(
    text: &[T],
    window: usize,
    heartbeat: &mut dyn FnMut(),
    mut consumer: impl FnMut(usize, u64),
) {
    let symbol = |symbol: T| u64::from(symbol.into()) + 1;
    let append = append_mersenne_61(PRIME);
    let top = (0..window).fold(1, |power, _| append(power, 0));
    // The negative of symbol · top.
    let removal = |old: T| {
        let product = u128::from(symbol(old)) * u128::from(top);
        let folded = (product as u64 & MERSENNE_61) + (product >> 61) as u64;
        2 * MERSENNE_61 - folded
    };
    let (first, rest) = text.split_at(window);
    let mut value = first.iter().fold(0, |value: u64, &new| append(value, symbol(new)));
    let spread = |value: u64| {
        let product = value.wrapping_mul(SCATTER);
        product ^ product >> 32
    };
    consumer(0, spread(value));
    for (stride, (old, new)) in text.chunks(STRIDE).zip(rest.chunks(STRIDE)).enumerate() {
        heartbeat();
        for (at, (&old, &new)) in (stride * STRIDE + 1..).zip(old.iter().zip(new)) {
            value = append(value, symbol(new) + removal(old));
            consumer(at, spread(value));
        }
    }
}

/// The first position of every window, by its hash: open addressing, at most half full.
struct Table {
    /// The upper half of the hash, and the position plus 1 below; 0 is empty. The length is a power of two.
    slots: Vec<u64>,
    members: usize,
}

impl Table {
    fn new(slots: usize) -> Result<Self, PassageError> {
        let slots = slots.next_power_of_two().max(16);
        let mut table = Self { slots: Vec::new(), members: 0 };
        reserve(&mut table.slots, slots)?;
        table.slots.resize(slots, 0);
        Ok(table)
    }

    fn clear(&mut self) {
        self.slots.fill(0);
        self.members = 0;
    }

    /// Reads the slots that will be looked at: these reads do not wait for one another, as a table larger than the
    /// processor's caches would make them do.
    fn warm_up(&self, batch: &[(usize, u64)]) {
        std::hint::black_box(batch.iter().fold(0, |sum, &(_, hash)| sum ^ self.slots[self.slot(hash)]));
    }

    /// Where the search for a hash begins. The tag alone decides, so that a larger table can be made without the hashes.
    fn slot(&self, hash: u64) -> usize {
        ((u128::from(tag(hash)) * self.slots.len() as u128) >> 64) as usize
    }

    /// Adds the position of a window, unless there is an equal one.
    fn add(
        &mut self,
        hash: u64,
        position: usize,
        is_equal: impl Fn(usize) -> bool,
    ) -> Result<(), PassageError> {
        if let Err(slot) = self.find(hash, is_equal) {
            self.slots[slot] = tag(hash) | (position as u64 + 1);
            self.members += 1;
            if 2 * self.members > self.slots.len() {
                self.grow()?;
            }
        }
        Ok(())
    }

    /// The position of the window that is equal.
    fn get(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> Option<usize> {
        self.find(hash, is_equal).ok()
    }

    /// The position of the equal window, or else the slot where it belongs.
    fn find(&self, hash: u64, is_equal: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = self.slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return Err(slot);
            }
            if tag(entry) == tag(hash) && is_equal((entry - tag(entry)) as usize - 1) {
                return Ok((entry - tag(entry)) as usize - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Doubles the table, when the hashes of a round turn out to be more than its share.
    fn grow(&mut self) -> Result<(), PassageError> {
        let mut larger = Self::new(2 * self.slots.len())?;
        for &entry in self.slots.iter().filter(|&&entry| entry != 0) {
            if let Err(slot) = larger.find(entry, |_| false) {
                larger.slots[slot] = entry;
            }
        }
        self.slots = larger.slots;
        Ok(())
    }
}

/// The bits of a hash that the table keeps.
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passages<'a>(a: &str, b: &'a str, min_length: i64) -> Vec<(usize, usize, &'a str)> {
        let found = shared_passages(a, b, min_length, &mut || ()).unwrap();
        found.iter().map(|passage| (passage.a_position, passage.b_position, passage.text)).collect()
    }

    /// Which symbols of b lie in a window that stands in a; before its own place, if they are one.
    fn naive_covered<T: Eq>(a: &[T], b: &[T], window: usize) -> Vec<bool> {
        let mut covered = vec![false; b.len()];
        for (at, text) in b.windows(window).enumerate() {
            if a.windows(window).enumerate().any(|(first, other)| other == text && (a != b || first < at)) {
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
            prop_assert!(a != b || m.a < m.b);
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
    fn within_one_text_the_trivial_passage_is_left_out() {
        let text = "one two three, four five, one two three";
        assert_eq!(passages(text, text, 8), [(0, 26, "one two three")]);
        assert_eq!(passages("abcdefgh", "abcdefgh", 2), []);
        assert_eq!(passages("aaaaaaaa", "aaaaaaaa", 3), [(0, 1, "aaaaaaa")]);
    }

    /// Every window is equal: what would be quadratic, were every pair looked at.
    #[test]
    fn repetition_takes_no_longer() {
        let (a, b) = ("a".repeat(1000), "a".repeat(2_000_000));
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
            check(a.as_bytes(), a.as_bytes(), window, max_windows)?;
        }

        #[test]
        fn positions_are_those_of_characters(a in "[aé日]{0,60}", b in "[aé日]{0,60}", length in 1i64..6) {
            for passage in shared_passages(&a, &b, length, &mut || ()).unwrap() {
                let part = |text: &str, at| text.chars().skip(at).take(passage.length).collect::<String>();
                prop_assert_eq!(part(&a, passage.a_position), passage.text);
                prop_assert_eq!(part(&b, passage.b_position), passage.text);
            }
        }
    }
}
