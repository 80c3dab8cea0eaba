//! Finds the earliest place of every window that came before, among the windows with equal anchors.
//!
//! The anchors with one hash, in the order of their places, are a *class*. The windows of each member are
//! compared with those of the first members of the class: the text around both anchors agrees to the left and
//! to the right up to some length, and the windows inside are equal. The earliest member with an equal window
//! gives the window's place.
//!
//! A class can have many members, and comparing all with all would take quadratic time. So windows without an
//! equal one at the first members are sorted again, by a longer gram. A window of `min_length` characters
//! with a gram of k extends beyond the gram by w - 1 characters in total, where w = `min_length` - k + 1. It
//! extends beyond its left end by at least h = w / 2 characters, or beyond its right end by at least w - h.
//! The gram grows by that to the left or to the right, and the windows are divided among new classes. So w is
//! halved each time, until a gram is a whole window. Then all members of a class are equal, except for
//! collisions of hashes, and the first comparison is the last.

use super::Corpus;
use super::budget::MemoryBudget;
use super::characters::{back, forward, is_boundary};
use super::packed::{Anchor, Segment};
use crate::hash::secret::Secret;
use crate::hash::xxh3_64_with_seed;
use crate::passage::agreement::{common_prefix, common_suffix};
use base::{Heartbeat, Problem, beat_every, push, sort};
use std::ops::Range;

/// The number of first members with which all others are compared.
const FIRST: usize = 4;
/// How many members are compared between two heartbeats.
const STRIDE: usize = 1 << 8;

/// All windows that came before, in order.
pub(super) fn settle(
    corpus: &Corpus,
    mut anchors: Vec<Anchor>,
    periodic: Vec<Segment>,
    budget: &mut MemoryBudget,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Segment>, Problem> {
    let text = corpus.text.as_bytes();
    let mut classes = Classes { corpus, text, segments: periodic, open: Vec::new(), budget, heartbeat };
    classes.settle(&mut anchors, corpus.gram(), true)?;
    let mut segments = classes.segments;
    budget.free(anchors);
    sort(&mut segments, heartbeat, |&segment| segment);
    Ok(segments)
}

struct Classes<'a> {
    corpus: &'a Corpus,
    text: &'a [u8],
    segments: Vec<Segment>,
    /// The windows of a member whose place was not found yet.
    open: Vec<Range<usize>>,
    budget: &'a mut MemoryBudget,
    heartbeat: &'a mut dyn Heartbeat,
}

impl Classes<'_> {
    /// Finds the places of windows whose anchors are grams of this number of characters.
    fn settle(&mut self, anchors: &mut [Anchor], gram: usize, is_first: bool) -> Result<(), Problem> {
        sort(anchors, self.heartbeat, |&anchor| anchor);
        let mut done = 0;
        let mut told = 0;
        for class in anchors.chunk_by(|a, b| a.hash() == b.hash()) {
            done += class.len();
            if done - told >= STRIDE {
                told = done;
                if is_first {
                    self.heartbeat.progress((1.0 + done as f64 / anchors.len() as f64) / 3.0);
                } else {
                    self.heartbeat.beat();
                }
            }
            if class.len() > 1 {
                self.class(class, gram)?;
            }
        }
        Ok(())
    }

    fn class(&mut self, class: &[Anchor], gram: usize) -> Result<(), Problem> {
        // If a gram is a whole window, no longer gram is needed.
        let first = if gram == self.corpus.min_length { class.len() } else { FIRST };
        let mut crowd = Vec::new();
        for (number, &member) in class.iter().enumerate().skip(1) {
            beat_every(STRIDE, number, self.heartbeat);
            self.open.clear();
            push(&mut self.open, member.windows())?;
            for &earlier in &class[..number.min(first)] {
                self.compare(member, earlier)?;
                if self.open.is_empty() {
                    break;
                }
            }
            if number >= first {
                for windows in &self.open {
                    self.budget.push(&mut crowd, Anchor::new(0, member.gram(), windows.clone()))?;
                }
            }
        }
        self.divide(crowd, gram)
    }

    /// Removes from the open windows the member's windows that equal windows of the earlier member.
    fn compare(&mut self, member: Anchor, earlier: Anchor) -> Result<(), Problem> {
        let shift = member.gram() - earlier.gram();
        if shift == 0 {
            // Both are windows of one anchor, which were divided into two parts.
            return Ok(());
        }
        let Some(equal) = self.equal_windows(member, earlier) else { return Ok(()) };
        let open = std::mem::take(&mut self.open);
        for windows in open {
            let found = windows.start.max(equal.start)..windows.end.min(equal.end);
            if found.is_empty() {
                push(&mut self.open, windows)?;
                continue;
            }
            let before = windows.start..found.start;
            let after = found.end..windows.end;
            let place = found.start - shift;
            self.budget.push(&mut self.segments, Segment::new(found, place))?;
            for windows in [before, after].into_iter().filter(|windows| !windows.is_empty()) {
                push(&mut self.open, windows)?;
            }
        }
        Ok(())
    }

    /// The windows of the member that the earlier member also has, as far as the texts around both agree.
    fn equal_windows(&self, member: Anchor, earlier: Anchor) -> Option<Range<usize>> {
        let text = self.text;
        let characters = self.corpus.min_length;
        let windows = member.windows();
        let a = earlier.gram();
        let b = member.gram();
        let bounds = self.corpus.bounds_at(a);
        let last = back(text, windows.end, 1);
        let before = common_suffix(&text[bounds.start..a], &text[windows.start..b]);
        let after = common_prefix(&text[a..bounds.end], &text[b..forward(text, last, characters)]);
        // The texts may begin to differ inside a character.
        let mut start = b - before;
        let mut end = b + after;
        while !is_boundary(text, start) {
            start += 1;
        }
        while !is_boundary(text, end) {
            end -= 1;
        }
        let last = back(text, end, characters);
        (start <= last && forward(text, last, characters) <= end).then(|| start..forward(text, last, 1))
    }

    /// Finds the places of windows by longer grams.
    fn divide(&mut self, crowd: Vec<Anchor>, gram: usize) -> Result<(), Problem> {
        if crowd.is_empty() {
            return Ok(());
        }
        let text = self.text;
        let min_length = self.corpus.min_length;
        // Nobody can compute different grams with the same hash, which would be compared with one another.
        let seed = Secret::of_process().seed();
        let windows = min_length - gram + 1;
        let half = windows / 2;
        for (grows_left, length) in [(true, gram + half), (false, gram + windows - half)] {
            let mut anchors = Vec::new();
            for (number, anchor) in crowd.iter().enumerate() {
                beat_every(STRIDE, number, self.heartbeat);
                let all = anchor.windows();
                let left = back(text, anchor.gram(), half);
                let border = forward(text, left, 1).clamp(all.start, all.end);
                let (gram, windows) =
                    if grows_left { (left, all.start..border) } else { (anchor.gram(), border..all.end) };
                if !windows.is_empty() {
                    let hash = xxh3_64_with_seed(&text[gram..forward(text, gram, length)], seed);
                    self.budget.push(&mut anchors, Anchor::new(hash, gram, windows))?;
                }
            }
            self.settle(&mut anchors, length, false)?;
            self.budget.free(anchors);
        }
        self.budget.free(crowd);
        Ok(())
    }
}
