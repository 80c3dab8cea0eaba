//! The search for matches. It walks through the second text from left to right, and extends each pair of
//! equal windows to both sides.

use crate::passage::agreement::{common_prefix, common_suffix};
use base::{Problem, ProblemKind};
use std::cell::Cell;

/// The most passages of a result.
pub const MAX_PASSAGES: usize = 1 << 23;

/// A run of symbols that occurs in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// The position in the first text.
    pub(super) a: usize,
    /// The position in the second text.
    pub(super) b: usize,
    pub(super) length: usize,
}

impl Match {
    /// The end in the second text.
    pub(super) fn end(self) -> usize {
        self.b + self.length
    }
}

/// Both texts, and the length of their windows.
pub(super) struct TextPair<'a, T> {
    pub(super) a: &'a [T],
    pub(super) b: &'a [T],
    pub(super) window: usize,
    /// The positions of the last two windows that were found equal.
    verified: Cell<(usize, usize)>,
}

/// No windows were compared yet.
const NOTHING: (usize, usize) = (usize::MAX, 0);

impl<'a, T: Copy + Eq> TextPair<'a, T> {
    pub(super) fn new(a: &'a [T], b: &'a [T], window: usize) -> Self {
        Self { a, b, window, verified: Cell::new(NOTHING) }
    }

    /// Forgets which windows were compared last, since the next windows are of other texts.
    pub(super) fn forget(&self) {
        self.verified.set(NOTHING);
    }

    /// Whether the window of the first text equals the window of `text`. If the last pair of equal windows
    /// overlaps with this pair, only the rest is compared.
    pub(super) fn are_equal(&self, in_a: usize, text: &[T], at: usize) -> bool {
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

    /// The longest match that contains these equal windows.
    fn extend(&self, a: usize, b: usize) -> Match {
        let before = common_suffix(&self.a[..a], &self.b[..b]);
        let after = common_prefix(&self.a[a..], &self.b[b..]);
        Match { a: a - before, b: b - before, length: before + after }
    }
}

/// Walks through the second text from left to right.
pub(super) struct MatchSearch<'a, T> {
    texts: &'a TextPair<'a, T>,
    /// The matches of earlier rounds that were not passed yet, in order.
    before: &'a [Match],
    /// The matches of this round.
    new: Vec<Match>,
    /// The end of the last match of this round.
    covered_to: usize,
    /// Two equal windows, the second of which contains the first symbol after `covered_to`. The last such
    /// pair is kept, since it reaches farthest.
    waiting: Option<(usize, usize)>,
    /// The first problem. After it, no more matches are kept.
    problem: Option<Problem>,
}

impl<'a, T: Copy + Eq> MatchSearch<'a, T> {
    /// A search that has the matches of earlier rounds.
    pub(super) fn new(texts: &'a TextPair<'a, T>, before: &'a [Match]) -> Self {
        Self { texts, before, new: Vec::new(), covered_to: 0, waiting: None, problem: None }
    }

    /// The matches of this round, unless there are too many or memory was refused.
    pub(super) fn into_matches(mut self) -> Result<Vec<Match>, Problem> {
        self.finish();
        self.problem.map_or(Ok(self.new), Err)
    }

    /// Whether the window is inside a match.
    pub(super) fn is_covered(&mut self, at: usize) -> bool {
        let end = at + self.texts.window;
        while let [first, rest @ ..] = self.before
            && first.end() < end
        {
            self.before = rest;
        }
        end <= self.covered_to || self.before.first().is_some_and(|first| first.b <= at)
    }

    /// Whether the window ends inside the last match. Then no window up to it can be part of a new match.
    pub(super) fn is_within_last(&self, at: usize) -> bool {
        at + self.texts.window <= self.covered_to
    }

    /// The next window that is not inside the last match, if it is far from this one.
    pub(super) fn end_of_covered(&self, at: usize) -> Option<usize> {
        let next = (self.covered_to + 1).checked_sub(self.texts.window)?;
        (next > at + self.texts.window).then_some(next)
    }

    /// Takes a window at `b` that equals the window at `a`.
    pub(super) fn take(&mut self, a: usize, b: usize) {
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
        if self.problem.is_some() {
            return;
        }
        if let Err(problem) = self.make_room() {
            self.problem = Some(problem);
            return;
        }
        let found = self.texts.extend(a, b);
        self.covered_to = found.end();
        self.new.push(found);
    }

    /// Reserves memory for one more match.
    fn make_room(&mut self) -> Result<(), Problem> {
        if self.new.len() == MAX_PASSAGES {
            let message = format!("texts share more than {MAX_PASSAGES} passages");
            return Err(Problem::new(ProblemKind::TooLarge, message).with_hint("Increase min_length."));
        }
        Ok(base::grow(&mut self.new, 1)?)
    }
}
