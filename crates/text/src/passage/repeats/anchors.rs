//! The anchors of all windows: of the grams that a window contains, the leftmost one with the least hash.
//!
//! Anchors are chosen by winnowing (Schleimer, Wilkerson and Aiken 2003), and each has the windows that it
//! serves. A gram has about half the characters of a window, so a text has about 4 anchors for every
//! `min_length` characters.
//!
//! In periodic text of period d every d-th gram is an anchor: every character in `aaaa…`. Such anchors are
//! thinned out. Let a(1) < a(2) < … < a(m) be anchors in a row with equal grams, each d characters behind the
//! one before, where d is at most the length of a gram. Then the text from a(1) to the end of the last gram
//! has the period d. Because the leftmost of equal grams is taken, a(i) serves exactly the windows that begin
//! behind a(i-1) and not behind a(i), for 1 < i < m. If a(i) + `min_length` ≤ a(m), these windows lie in the
//! periodic text. So they equal those that a(i-1) serves, for i ≥ 3, and all the way down those that a(2)
//! serves. These i are dropped, apart from a(3). Their windows become one periodic segment, and none of them
//! is an earliest place, since a(2) is kept.

use super::Corpus;
use super::budget::MemoryBudget;
use super::characters::{CharacterCursor, forward};
use super::packed::{Anchor, Segment};
use crate::hash::minima::Minima;
use crate::hash::rolling::{Arithmetic, Mersenne61, PRIME, Rolling, Windows};
use crate::hash::spread;
use base::{Heartbeat, Problem, reserve};
use std::ops::Range;

/// Grams of a piece of a document, at least.
const PIECE: usize = 1 << 16;
/// Grams that are hashed in one go.
const HASHED: usize = 1 << 10;
/// Anchors at the beginning of a periodic run that are kept.
const HEAD: usize = 3;

/// The anchors of all documents, in their order, and the windows whose anchors were dropped.
pub(super) fn find(
    corpus: &Corpus,
    budget: &mut MemoryBudget,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(Vec<Anchor>, Vec<Segment>), Problem> {
    let mut finder = AnchorFinder {
        text: corpus.text.as_bytes(),
        min_length: corpus.min_length,
        gram: corpus.gram(),
        rolling: &Rolling::new(corpus.gram(), Mersenne61(PRIME)),
        anchors: Vec::new(),
        periodic: Vec::new(),
        run: GramRun::default(),
        characters: Vec::new(),
    };
    let mut minima = Minima::new(corpus.windows_of_anchor(), u128::MAX)?;
    for document in 0..corpus.starts.len() {
        heartbeat.progress(corpus.starts[document] as f64 / corpus.text.len().max(1) as f64 / 3.0);
        let bounds = corpus.bounds(document);
        if bounds.len() >= corpus.min_length {
            minima.clear();
            finder.document(corpus, bounds, &mut minima, budget, heartbeat)?;
        }
    }
    Ok((finder.anchors, finder.periodic))
}

struct AnchorFinder<'a, A> {
    text: &'a [u8],
    min_length: usize,
    /// Characters of a gram.
    gram: usize,
    /// Makes the values of grams.
    rolling: &'a Rolling<A>,
    anchors: Vec<Anchor>,
    periodic: Vec<Segment>,
    run: GramRun,
    /// The characters of a piece that is not ASCII.
    characters: Vec<char>,
}

/// The least gram of each window: its hash, and behind that its number in the document, so that of equal
/// grams the leftmost is taken.
type GramMinima = Minima<u128>;

/// Equal grams in a row, at the end of the anchors that were found.
#[derive(Clone, Copy, Default)]
struct GramRun {
    /// The number of the first anchor.
    first: usize,
    /// The distance between two of them, in bytes and in characters; 0 while there is only one.
    step: usize,
    characters: usize,
    /// Where the periodic text ends, as far as it was compared.
    end: usize,
    /// Whether the last periodic segment is that of this run.
    is_thinned: bool,
}

/// The anchor of the last windows of a document; numbers are in characters of the document.
struct CurrentAnchor {
    gram: usize,
    hash: u64,
    first_window: usize,
}

/// Where the finder is in a document.
struct DocumentScan {
    gram: CharacterCursor,
    window: CharacterCursor,
    /// The anchor before, in characters; `None` for the first one.
    before: Option<usize>,
    current: Option<CurrentAnchor>,
}

impl<A: Arithmetic> AnchorFinder<'_, A> {
    fn document(
        &mut self,
        corpus: &Corpus,
        bounds: Range<usize>,
        minima: &mut GramMinima,
        budget: &mut MemoryBudget,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), Problem> {
        let (gram, start) = (CharacterCursor::new(bounds.start), bounds.start);
        let mut scan = DocumentScan { gram, window: gram, before: None, current: None };
        let of_piece = PIECE.max(8 * self.gram);
        let document = &corpus.text[..bounds.end];
        let mut at = start;
        while at < bounds.end {
            let end = forward(document.as_bytes(), at, of_piece + self.gram - 1);
            let piece = &document[at..end];
            let mut beat = || heartbeat.progress(at as f64 / self.text.len() as f64 / 3.0);
            if piece.is_ascii() {
                self.piece(piece.as_bytes(), &mut scan, minima, budget, &mut beat)?;
            } else {
                let mut characters = std::mem::take(&mut self.characters);
                characters.clear();
                reserve(&mut characters, piece.len())?;
                characters.extend(piece.chars());
                self.piece(&characters, &mut scan, minima, budget, &mut beat)?;
                self.characters = characters;
            }
            at = forward(document.as_bytes(), at, of_piece);
        }
        self.finish(&mut scan, minima.rows(), budget)
    }

    fn piece<T: Copy + Into<u64>>(
        &mut self,
        symbols: &[T],
        scan: &mut DocumentScan,
        minima: &mut GramMinima,
        budget: &mut MemoryBudget,
        beat: &mut dyn FnMut(),
    ) -> Result<(), Problem> {
        let mut windows = Windows::new(symbols, self.rolling, HASHED)?;
        while windows.next().is_some() {
            beat();
            let key = |gram, hash| u128::from(hash) << u64::BITS | gram as u128;
            let mut result = Ok(());
            minima.add(windows.hash_some(spread), key, |first_window, least| {
                if result.is_ok() {
                    result = self.finish(scan, first_window, budget);
                    let (gram, hash) = (least as u64 as usize, (least >> u64::BITS) as u64);
                    scan.current = Some(CurrentAnchor { gram, hash, first_window });
                }
            });
            result?;
        }
        Ok(())
    }

    /// Keeps the current anchor, whose windows end before window `end` of the document.
    fn finish(
        &mut self,
        scan: &mut DocumentScan,
        end: usize,
        budget: &mut MemoryBudget,
    ) -> Result<(), Problem> {
        let Some(current) = scan.current.take() else { return Ok(()) };
        let first = scan.window.advance(self.text, current.first_window);
        let windows = first..scan.window.advance(self.text, end);
        let anchor = Anchor::new(current.hash, scan.gram.advance(self.text, current.gram), windows);
        let step = scan.before.map(|before| current.gram - before);
        budget.push(&mut self.anchors, anchor)?;
        scan.before = Some(current.gram);
        match step {
            Some(characters) if self.continues_run(anchor, characters) => self.thin_out(budget),
            _ => {
                self.run = GramRun { first: self.anchors.len() - 1, ..GramRun::default() };
                Ok(())
            }
        }
    }

    /// Whether the last anchor and the one before have equal grams, so that the text is periodic.
    fn continues_run(&mut self, anchor: Anchor, characters: usize) -> bool {
        let before = self.anchors[self.anchors.len() - 2];
        if before.hash() != anchor.hash() || characters > self.gram {
            return false;
        }
        let step = anchor.gram() - before.gram();
        if self.run.step == step {
            // The gram before ends where the run ended. If this one is equal, it ends one step behind that.
            let end = self.run.end;
            self.run.end += step;
            return self.is_periodic(end..self.run.end, step);
        }
        // Counting the characters of a gram takes long, so it is done once for each run.
        let end = forward(self.text, anchor.gram(), self.gram);
        let first = self.anchors.len() - 2;
        self.run = GramRun { first, step, characters, end, is_thinned: false };
        self.is_periodic(anchor.gram()..end, step)
    }

    /// Whether this range equals the one that is a step before. It does not if the text ends inside of it.
    fn is_periodic(&self, range: Range<usize>, step: usize) -> bool {
        self.text.get(range.clone()) == self.text.get(range.start - step..range.end - step)
    }

    /// Drops the anchors in the middle of the run once they are as many as those at its end.
    fn thin_out(&mut self, budget: &mut MemoryBudget) -> Result<(), Problem> {
        let run = self.run;
        let tail = self.min_length.div_ceil(run.characters) + 1;
        let dropped = run.first + HEAD..self.anchors.len() - tail.min(self.anchors.len());
        if dropped.len() <= tail {
            return Ok(());
        }
        let windows =
            self.anchors[dropped.start - 1].windows().end..self.anchors[dropped.end - 1].windows().end;
        if run.is_thinned {
            // The segment begins at the same window, and becomes longer.
            self.periodic.pop();
        }
        budget.push(&mut self.periodic, Segment::periodic(windows, run.step))?;
        self.run.is_thinned = true;
        self.anchors.drain(dropped);
        Ok(())
    }
}
