//! The anchors of all windows: of the grams that a window contains, the leftmost one with the least hash.
//!
//! That is winnowing (Schleimer, Wilkerson and Aiken 2003), with the windows that each anchor serves. A gram has about
//! half the characters of a window, so a text has about 4 anchors for every `min_length` characters.
//!
//! In periodic text of period d every d-th gram is an anchor: every character in `aaaa…`. Such anchors are thinned out.
//! Let a(1) < a(2) < … < a(m) be anchors in a row with equal grams, each d characters behind the one before, where d is
//! at most the length of a gram. Then the text from a(1) to the end of the last gram has the period d. Because the
//! leftmost of equal grams is taken, a(i) serves exactly the windows that begin behind a(i-1) and not behind a(i), for
//! 1 < i < m. If a(i) + `min_length` ≤ a(m), these windows lie in the periodic text. So they equal those that a(i-1)
//! serves, for i ≥ 3, and all the way down those that a(2) serves. These i are dropped, apart from a(3). Their windows
//! become one periodic segment, and none of them is an earliest place, since a(2) is kept.

use super::Corpus;
use super::characters::{CharacterCursor, forward};
use super::packed::{Anchor, Segment};
use super::room::Room;
use crate::passage::windows::Windows;
use limits::{Heartbeat, Problem, reserve};
use std::ops::Range;

/// Grams that are hashed in one go, at least.
const PIECE: usize = 1 << 16;
/// Anchors at the beginning of a periodic run that are kept.
const HEAD: usize = 3;

/// The anchors of all documents, in their order, and the windows whose anchors were dropped.
pub(super) fn find(
    corpus: &Corpus,
    room: &mut Room,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(Vec<Anchor>, Vec<Segment>), Problem> {
    let mut finder = AnchorFinder {
        text: corpus.text.as_bytes(),
        min_length: corpus.min_length,
        gram: corpus.gram(),
        anchors: Vec::new(),
        periodic: Vec::new(),
        run: GramRun::default(),
        characters: Vec::new(),
    };
    let mut minima = Minima::new(corpus.windows_of_anchor())?;
    for document in 0..corpus.starts.len() {
        heartbeat.progress(1, corpus.starts[document] as f64 / corpus.text.len().max(1) as f64);
        let bounds = corpus.bounds(document);
        if bounds.len() >= corpus.min_length {
            minima.clear();
            finder.document(corpus, bounds, &mut minima, room, heartbeat)?;
        }
    }
    Ok((finder.anchors, finder.periodic))
}

struct AnchorFinder<'a> {
    text: &'a [u8],
    min_length: usize,
    /// Characters of a gram.
    gram: usize,
    anchors: Vec<Anchor>,
    periodic: Vec<Segment>,
    run: GramRun,
    /// The characters of a piece that is not ASCII.
    characters: Vec<char>,
}

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

impl AnchorFinder<'_> {
    fn document(
        &mut self,
        corpus: &Corpus,
        bounds: Range<usize>,
        minima: &mut Minima,
        room: &mut Room,
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
            let mut beat = || heartbeat.progress(1, at as f64 / self.text.len() as f64);
            if piece.is_ascii() {
                self.piece(piece.as_bytes(), &mut scan, minima, room, &mut beat)?;
            } else {
                let mut characters = std::mem::take(&mut self.characters);
                characters.clear();
                reserve(&mut characters, piece.len())?;
                characters.extend(piece.chars());
                self.piece(&characters, &mut scan, minima, room, &mut beat)?;
                self.characters = characters;
            }
            at = forward(document.as_bytes(), at, of_piece);
        }
        self.finish(&mut scan, minima.windows(), room)
    }

    fn piece<T: Copy + Into<u32>>(
        &mut self,
        symbols: &[T],
        scan: &mut DocumentScan,
        minima: &mut Minima,
        room: &mut Room,
        beat: &mut dyn FnMut(),
    ) -> Result<(), Problem> {
        let mut windows = Windows::new(symbols, self.gram);
        while windows.next().is_some() {
            beat();
            for &hash in windows.hash_some() {
                let Some((gram, hash)) = minima.push(hash) else { continue };
                if scan.current.as_ref().is_none_or(|current| current.gram != gram) {
                    let first_window = minima.windows() - 1;
                    self.finish(scan, first_window, room)?;
                    scan.current = Some(CurrentAnchor { gram, hash, first_window });
                }
            }
        }
        Ok(())
    }

    /// Keeps the current anchor, whose windows end before window `end` of the document.
    fn finish(&mut self, scan: &mut DocumentScan, end: usize, room: &mut Room) -> Result<(), Problem> {
        let Some(current) = scan.current.take() else { return Ok(()) };
        let first = scan.window.advance(self.text, current.first_window);
        let windows = first..scan.window.advance(self.text, end);
        let anchor = Anchor::new(current.hash, scan.gram.advance(self.text, current.gram), windows);
        let step = scan.before.map(|before| current.gram - before);
        room.push(&mut self.anchors, anchor)?;
        scan.before = Some(current.gram);
        match step {
            Some(characters) if self.continues_run(anchor, characters) => self.thin_out(room),
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
    fn thin_out(&mut self, room: &mut Room) -> Result<(), Problem> {
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
        room.push(&mut self.periodic, Segment::periodic(windows, run.step))?;
        self.run.is_thinned = true;
        self.anchors.drain(dropped);
        Ok(())
    }
}

/// The leftmost least of the last hashes, as many as a window has grams.
///
/// Hashes are taken in blocks of that number. The least of the last ones is the lesser of two: the least so far of the
/// current block, and the least of the rest of the block before.
struct Minima {
    block: Vec<u64>,
    /// The least hash of the current block, and its number in the document.
    least: (u64, usize),
    /// For each hash of the block before, the least from there to the end of that block.
    rest: Vec<(u64, usize)>,
    /// Hashes of the document so far.
    count: usize,
    /// Hashes of the current block.
    filled: usize,
}

const NOTHING: (u64, usize) = (u64::MAX, usize::MAX);

impl Minima {
    fn new(grams: usize) -> Result<Self, Problem> {
        let mut minima = Self { block: Vec::new(), least: NOTHING, rest: Vec::new(), count: 0, filled: 0 };
        reserve(&mut minima.block, grams)?;
        reserve(&mut minima.rest, grams + 1)?;
        minima.block.resize(grams, 0);
        minima.rest.resize(grams + 1, NOTHING);
        Ok(minima)
    }

    /// Begins a document.
    fn clear(&mut self) {
        (self.least, self.count, self.filled) = (NOTHING, 0, 0);
    }

    /// The number of windows that have all their hashes.
    fn windows(&self) -> usize {
        (self.count + 1).saturating_sub(self.block.len())
    }

    /// Takes the next hash. Returns the anchor of the window that ends with it: number and hash.
    #[inline(always)]
    fn push(&mut self, hash: u64) -> Option<(usize, u64)> {
        self.block[self.filled] = hash;
        if hash < self.least.0 || self.filled == 0 {
            self.least = (hash, self.count);
        }
        self.filled += 1;
        self.count += 1;
        let is_block_before = self.count > self.block.len();
        let rest = if is_block_before { self.rest[self.filled] } else { NOTHING };
        let (hash, number) =
            if is_block_before && rest.1 != usize::MAX && rest.0 <= self.least.0 { rest } else { self.least };
        if self.filled == self.block.len() {
            self.end_block();
        }
        (self.count >= self.block.len()).then_some((number, hash))
    }

    fn end_block(&mut self) {
        let mut least = NOTHING;
        let first = self.count - self.block.len();
        for (at, &hash) in self.block.iter().enumerate().rev() {
            if hash <= least.0 {
                least = (hash, first + at);
            }
            self.rest[at] = least;
        }
        self.filled = 0;
    }
}
