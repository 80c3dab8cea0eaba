//! The anchors of all windows. The anchor of a window is the leftmost of its grams with the least hash.
//!
//! Anchors are chosen by winnowing (Schleimer, Wilkerson and Aiken 2003). Each anchor comes with the windows
//! that it serves. A gram has about half the characters of a window, so a text has about 4 anchors per
//! `min_length` characters. That also holds for a text which was written for the purpose of having more,
//! because the hashes of grams depend on the secret of the process
//! ([`Secret`]). The rows do not: they are the same for any anchors.
//!
//! In periodic text of period d, every d-th gram is an anchor: every character in `aaaa…`. Such anchors are
//! thinned out. Let a(1) < a(2) < … < a(m) be consecutive anchors with equal grams, each d characters behind
//! the one before, where d is at most the length of a gram. Then the text from a(1) to the end of the last
//! gram has the period d. Since the leftmost of equal grams is chosen, a(i) serves exactly the windows that
//! begin after a(i-1) and not after a(i), for 1 < i < m. If a(i) + `min_length` ≤ a(m), these windows are
//! inside the periodic text. So for i ≥ 3 they equal the windows that a(i-1) serves, and by induction those
//! that a(2) serves. These anchors, apart from a(3), are dropped. Their windows become one periodic segment.
//! None of them is an earliest place, since a(2) is kept.

use super::Corpus;
use super::budget::MemoryBudget;
use super::characters::{CharacterCursor, forward};
use super::packed::{Anchor, Segment};
use crate::hash::minima::Minima;
use crate::hash::rolling::{Arithmetic, Rolling, Windows};
use crate::hash::secret::Secret;
use base::{Heartbeat, Problem, reserve};
use std::ops::Range;

/// The least number of grams in a piece of a document.
const PIECE: usize = 1 << 16;
/// The number of grams that are hashed together.
const HASHED: usize = 1 << 10;
/// The number of anchors at the beginning of a periodic run that are kept.
const HEAD: usize = 3;

/// The anchors of all documents in order, and the windows whose anchors were dropped.
pub(super) fn find(
    corpus: &Corpus,
    budget: &mut MemoryBudget,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(Vec<Anchor>, Vec<Segment>), Problem> {
    let secret = Secret::of_process();
    let mut finder = AnchorFinder {
        text: corpus.text.as_bytes(),
        min_length: corpus.min_length,
        gram: corpus.gram(),
        rolling: &Rolling::new(corpus.gram(), secret.polynomials()),
        secret,
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
    /// The number of characters of a gram.
    gram: usize,
    /// Computes the values of grams.
    rolling: &'a Rolling<A>,
    /// Gives the values of grams a random order.
    secret: &'static Secret,
    anchors: Vec<Anchor>,
    periodic: Vec<Segment>,
    run: GramRun,
    /// The characters of a piece that is not ASCII.
    characters: Vec<char>,
}

/// The least gram of each window: its hash, followed by its number in the document, so that the leftmost of
/// equal grams is chosen.
type GramMinima = Minima<u128>;

/// A run of equal grams at the end of the anchors found so far.
#[derive(Clone, Copy, Default)]
struct GramRun {
    /// The number of the first anchor.
    first: usize,
    /// The distance between two anchors, in bytes and in characters; 0 if there is only one.
    step: usize,
    characters: usize,
    /// The end of the periodic text, as far as it was compared.
    end: usize,
    /// Whether the last periodic segment belongs to this run.
    is_thinned: bool,
}

/// The anchor of the last windows of a document. Its numbers count characters of the document.
struct CurrentAnchor {
    gram: usize,
    hash: u64,
    first_window: usize,
}

/// The state of the finder in a document.
struct DocumentScan {
    gram: CharacterCursor,
    window: CharacterCursor,
    /// The last anchor, in characters; `None` before the second one.
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
        let gram = CharacterCursor::new(bounds.start);
        let start = bounds.start;
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
        let secret = self.secret;
        while windows.next().is_some() {
            beat();
            let key = |gram, hash| u128::from(hash) << u64::BITS | gram as u128;
            let mut result = Ok(());
            minima.add(windows.hash_some(|value| secret.place(value).order()), key, |first_window, least| {
                if result.is_ok() {
                    result = self.finish(scan, first_window, budget);
                    let gram = least as u64 as usize;
                    let hash = (least >> u64::BITS) as u64;
                    scan.current = Some(CurrentAnchor { gram, hash, first_window });
                }
            });
            result?;
        }
        Ok(())
    }

    /// Stores the current anchor, whose windows end before window `end` of the document.
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

    /// Whether the last two anchors have equal grams, so that the text is periodic.
    fn continues_run(&mut self, anchor: Anchor, characters: usize) -> bool {
        let before = self.anchors[self.anchors.len() - 2];
        if before.hash() != anchor.hash() || characters > self.gram {
            return false;
        }
        let step = anchor.gram() - before.gram();
        if self.run.step == step {
            // The last gram ends where the run ended. If this gram is equal, it ends one step after that.
            let end = self.run.end;
            self.run.end += step;
            return self.is_periodic(end..self.run.end, step);
        }
        // Counting the characters of a gram takes long, so it is done once per run.
        let end = forward(self.text, anchor.gram(), self.gram);
        let first = self.anchors.len() - 2;
        self.run = GramRun { first, step, characters, end, is_thinned: false };
        self.is_periodic(anchor.gram()..end, step)
    }

    /// Whether this range equals the range one step before it. It does not if the text ends inside of it.
    fn is_periodic(&self, range: Range<usize>, step: usize) -> bool {
        self.text.get(range.clone()) == self.text.get(range.start - step..range.end - step)
    }

    /// Drops the anchors in the middle of the run when there are as many as at its end.
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
            // The segment begins at the same window and becomes longer.
            self.periodic.pop();
        }
        budget.push(&mut self.periodic, Segment::periodic(windows, run.step))?;
        self.run.is_thinned = true;
        self.anchors.drain(dropped);
        Ok(())
    }
}
