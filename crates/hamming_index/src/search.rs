//! Searches an index: answers a [`SearchQuery`] batch by batch.
//!
//! A code is searched by its words, each with a part of the radius: see [`crate::division`]. The index has
//! codes of one word, such as fingerprints, as a whole: a code in a leaf is compared, and its row is reported
//! at once. The words of a longer code are in different trees. So a row that was found by one word is only a
//! **candidate** until its whole code has been read from the table ([`CodeLookup`]). Words are rarely near by
//! chance, so most candidates match. If words do not help, all rows are compared: with a tree of whole codes
//! if the index has one ([`crate::code_scan`]), otherwise with the table.
//!
//! A row may be a candidate of several words. Only the first of them reports it. The row's code shows which
//! one that is, so no list of reported rows is kept. [`crate::pass`] says in which order words are searched,
//! and when a word is abandoned.
//!
//! Ordered rows are found in passes, each with a larger radius than the one before.
//!
//! Guarantee: every row that the query asks for is reported exactly once, ordered by distance if the query
//! asks for that. If it asks for rows with one filter, rows with other filters may be reported as well.

use crate::code_scan::scan_codes;
use crate::division::SearchCosts;
use crate::key::{IndexKey, RowId, rotated_back};
use crate::pass::WordPass;
use crate::query::{CodeLookup, NormalizedQuery, SearchCenter, SearchHit, SearchQuery};
use crate::results::{SearchResults, in_order};
use crate::store::Store;
use crate::stretch::{SharedStretches, TakenStretches};
use crate::tree::{Index, TreePart, Walk};
use crate::word_search::{WordBall, WordSearch};
use base::{Collector, OutOfMemory, grow, push};
use hamming::code::{distance_of_bytes, distance_of_words};

/// A search in progress. It holds no locks and no pages between two batches.
pub struct IndexSearch<'s> {
    costs: SearchCosts,
    query: NormalizedQuery,
    stage: SearchStage,
    /// The stretches that this process has taken, if several search together.
    taken: Option<TakenStretches<'s>>,
    /// If codes cannot be divided, the first process that takes them searches alone.
    undivided: Option<&'s SharedStretches>,
    results: SearchResults,
    /// The most candidates that are kept, apart from those of the last step.
    max_candidates: usize,
}

enum SearchStage {
    /// A pass with this radius, if the codes have one word.
    Whole(u32, WordSearch),
    /// A pass that finds candidates.
    Candidates(WordPass),
    /// Reads all rows with a code, from the key on.
    All(IndexKey),
    /// Reads the rows whose code is NULL, from the key on.
    Nulls(IndexKey),
    Done,
}

impl<'s> IndexSearch<'s> {
    /// Begins a search that keeps about `max_rows` rows in memory. Ordered results are found in pieces that
    /// grow to about this number, each by another pass.
    ///
    /// If several processes search with the same stretches, each finds a part of the rows.
    pub fn new(
        costs: &SearchCosts,
        query: SearchQuery,
        max_rows: usize,
        together: Option<&'s SharedStretches>,
    ) -> Self {
        let layout = costs.layout();
        let (values, has_codes) = (query.values, query.codes && !layout.has_whole_codes());
        let query = NormalizedQuery::of(query, layout.bits());
        let radius = match query.grows {
            true => query.farthest.min(costs.first_radius()),
            false => query.farthest,
        };
        let results = SearchResults::new(max_rows, if has_codes { layout.words() } else { 0 });
        let (costs, stage) = (costs.clone(), SearchStage::Done);
        let divides = values && layout.has_code_tree();
        let (taken, undivided) = (together.filter(|_| divides), together.filter(|_| !divides));
        let taken = taken.map(TakenStretches::new);
        let mut search = Self { costs, query, stage, taken, undivided, results, max_candidates: max_rows };
        let radius = search.taken.is_none().then_some(radius);
        search.stage = if values { search.pass(radius) } else { search.last_stage() };
        search
    }

    /// Begins a pass with this radius; if it is `None`, all rows are candidates.
    fn pass(&self, radius: Option<u32>) -> SearchStage {
        let Some(center) = &self.query.center else { return SearchStage::All(IndexKey::FIRST) };
        let Some(radius) = radius else {
            return SearchStage::Candidates(WordPass::of_all(self.query.farthest));
        };
        let layout = self.costs.layout();
        if layout.has_whole_codes() {
            let ball = |center: &SearchCenter, radius| WordBall { center: center.first_word(), radius };
            let also = self.query.also.iter().map(|other| ball(&other.center, other.radius)).collect();
            let search = WordSearch::new(&self.costs, 0, ball(center, radius), also);
            return SearchStage::Whole(radius, search);
        }
        let mut searched = self.costs.unsearched();
        if let SearchStage::Candidates(last) = &self.stage {
            searched
                .iter_mut()
                .zip(&last.searched)
                .for_each(|(word, last)| word.extra_cost = last.extra_cost);
        }
        SearchStage::Candidates(match self.costs.divide(radius, &searched) {
            Some(division) => WordPass::of_words(radius, division, searched),
            None => WordPass::of_all(self.query.farthest),
        })
    }

    /// The stage after all rows with a code.
    fn last_stage(&self) -> SearchStage {
        let is_mine = self.taken.as_ref().is_none_or(TakenStretches::has_last);
        if self.query.nulls && is_mine { SearchStage::Nulls(IndexKey::FIRST) } else { SearchStage::Done }
    }

    /// The part of a tree in which this process searches for rows with a code.
    fn part(&self) -> TreePart {
        let all = self.costs.all_rows();
        self.taken.as_ref().map_or(all, |taken| taken.within(all))
    }

    /// Goes on to the next stretch if the walk has ended, or if no stretch has begun.
    fn next_stretch<S: Store>(&mut self, index: &Index<'_, S>, walk: Walk) -> Result<Walk, OutOfMemory> {
        Ok(match (walk, &mut self.taken) {
            (Walk::Done, Some(taken)) => {
                taken.next(index, self.costs.all_rows())?.map_or(Walk::Done, Walk::From)
            }
            (walk, _) => walk,
        })
    }

    /// Appends the next part of the answer, in order. Returns false at the end.
    ///
    /// If codes have several words and `codes` is `None`, the hits are candidates in no order, and a row may
    /// be reported several times.
    pub fn next_batch<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        codes: Option<&mut impl CodeLookup>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<bool, OutOfMemory> {
        index.store.check_for_interrupts();
        self.results.begin_batch();
        if self.undivided.take().is_some_and(|all| !all.take_all()) {
            self.stage = SearchStage::Done;
        }
        match &mut self.stage {
            SearchStage::Done => return Ok(false),
            SearchStage::Whole(..) => self.step_whole(index, hits)?,
            SearchStage::Candidates(_) => self.step_candidates(index, codes, hits)?,
            &mut SearchStage::All(from) => {
                let walk = self.rows(index, self.part(), from, hits)?;
                self.stage = match self.next_stretch(index, walk)? {
                    Walk::From(key) => SearchStage::All(key),
                    Walk::Done => self.last_stage(),
                };
            }
            &mut SearchStage::Nulls(from) => {
                let of_filter = self
                    .costs
                    .filter()
                    .map(|filter| TreePart::of_filter(index.layout, filter.of_null_code()));
                let nulls = of_filter.unwrap_or(TreePart::all(index.layout.nulls()));
                self.stage = match self.rows(index, nulls, from, hits)? {
                    Walk::From(key) => SearchStage::Nulls(key),
                    Walk::Done => SearchStage::Done,
                };
            }
        }
        Ok(true)
    }

    /// The words of the code of a hit of the last batch: `None` if the code is NULL or unknown.
    pub fn code_of<'a>(&'a self, hit: &'a SearchHit) -> Option<&'a [u64]> {
        hit.kept.map(|kept| self.results.code(kept)).or(hit.word.as_ref().map(std::slice::from_ref))
    }

    /// Appends some of the rows of a part of a tree, from the key on.
    fn rows<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        part: TreePart,
        from: IndexKey,
        hits: &mut Vec<SearchHit>,
    ) -> Result<Walk, OutOfMemory> {
        let have_codes = !matches!(self.stage, SearchStage::Nulls(_));
        let has_words = index.layout.has_whole_codes() && have_codes;
        let keeps = index.layout.has_code_tree() && have_codes;
        let mut refusal = Ok(());
        let walk = index.entries(part, from, &mut |entry, leaf, slot| {
            let mut add = || {
                let kept = if keeps { self.results.keep(leaf.words(slot))? } else { None };
                let word = has_words.then(|| rotated_back(entry.bits, part.tree));
                let is_seen_by_all = index.store.is_seen_by_all(entry.row);
                push(hits, SearchHit { row: entry.row, distance: None, word, kept, is_seen_by_all })
            };
            if refusal.is_ok() {
                refusal = add();
            }
        });
        refusal.map(|()| walk)
    }

    /// Reads some more leaves, if the codes have one word.
    fn step_whole<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), OutOfMemory> {
        let Self { stage: SearchStage::Whole(radius, search), query, results, .. } = self else {
            return Ok(());
        };
        if let Some((nearest, others)) = query.nearest_to.split_first() {
            let nearest = nearest.first_word();
            // There is no room for farther results.
            let last = results.sorted.last().filter(|_| query.grows);
            let limit = last.and_then(|hit| hit.distance).unwrap_or(*radius);
            let mut refusal = None;
            search.step(index, limit, &mut |word, row| {
                if refusal.is_none() {
                    let is_seen_by_all = index.store.is_seen_by_all(row);
                    let distance = Some((word ^ nearest).count_ones());
                    let hit = SearchHit { row, distance, word: Some(word), kept: None, is_seen_by_all };
                    refusal = results.sorted.add(hit, |a, b| in_order(others, a, b)).err();
                }
            });
            refusal.map_or(Ok(()), Err)?;
        } else {
            let mut hits = Collector::new(hits);
            search.step(index, u64::BITS, &mut |word, row| {
                let is_seen_by_all = index.store.is_seen_by_all(row);
                hits.add(SearchHit { word: Some(word), is_seen_by_all, ..SearchHit::unordered(row) });
            });
            hits.finish()?;
        }
        if search.is_done() {
            let radius = *radius;
            self.end_pass(radius, true, hits)?;
        }
        Ok(())
    }

    /// Finds some more candidates, and looks them up.
    fn step_candidates<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        codes: Option<&mut impl CodeLookup>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), OutOfMemory> {
        let Self { stage: SearchStage::Candidates(pass), query, .. } = self else { return Ok(()) };
        let Some(center) = &query.center else { return Ok(()) };
        if index.layout.has_code_tree() && !pass.is_by_words() {
            return self.step_codes(index, hits);
        }
        let mut found = Vec::new();
        let passed_on = pass.step(index, &self.costs, &center.words, self.max_candidates, &mut found)?;
        if query.grows && pass.has_given_up() {
            // Begins again: a pass through all rows finds the results so far once more, and farther rows as
            // well.
            self.results.sorted.forget();
            self.stage = SearchStage::Candidates(WordPass::of_all(query.farthest));
            return Ok(());
        }
        match codes {
            Some(codes) => self.check(found, codes, hits)?,
            None => {
                grow(hits, found.len())?;
                hits.extend(found.into_iter().map(SearchHit::unordered));
            }
        }
        let Self { stage: SearchStage::Candidates(pass), .. } = self else { return Ok(()) };
        pass.note_reported(&passed_on);
        if pass.is_done {
            let (radius, by_words) = (pass.radius, pass.is_by_words());
            self.end_pass(radius, by_words, hits)?;
        }
        Ok(())
    }

    /// Reads some more leaves of the tree of whole codes.
    fn step_codes<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), OutOfMemory> {
        let part = self.part();
        let Self { stage: SearchStage::Candidates(pass), query, results, .. } = self else { return Ok(()) };
        let Some(center) = &query.center else { return Ok(()) };
        // There is no room for farther results.
        let limit_of = |results: &SearchResults| {
            let last = results.sorted.last().filter(|_| query.grows);
            last.and_then(|hit| hit.distance).unwrap_or(pass.radius).min(pass.radius)
        };
        let limit = limit_of(results);
        let mut refusal = Ok(());
        let report = &mut |words: &[u64], distance, row| {
            let code = words.iter().copied();
            let is_wanted = query.also.iter().all(|ball| ball.contains_words(words))
                && !pass.has_reported(code.clone(), &center.words);
            if is_wanted && refusal.is_ok() {
                let is_seen = index.store.is_seen_by_all(row);
                let distance = match query.nearest_to.first() {
                    Some(nearest) if !query.grows => Some(distance_of_words(words, &nearest.words)),
                    nearest => nearest.map(|_| distance),
                };
                refusal = results.add(hits, (row, distance, is_seen), code);
            }
            limit_of(results)
        };
        let walk = scan_codes(index, (part, pass.from()), &center.words, limit, report);
        let (walk, radius) = (refusal.map(|()| walk)?, pass.radius);
        match (self.next_stretch(index, walk)?, &mut self.stage) {
            (Walk::From(key), SearchStage::Candidates(pass)) => pass.go_on_from(key),
            _ => self.end_pass(radius, false, hits)?,
        }
        Ok(())
    }

    /// Reports the candidates that lie in all balls and were not reported before.
    fn check(
        &mut self,
        mut found: Vec<RowId>,
        codes: &mut impl CodeLookup,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), OutOfMemory> {
        let Self { stage: SearchStage::Candidates(pass), query, costs, results, .. } = self else {
            return Ok(());
        };
        let (Some(center), layout) = (&query.center, costs.layout()) else { return Ok(()) };
        // In the order of the table, so that each of its pages is read once.
        found.sort_unstable();
        found.dedup();
        for row in found {
            let Some(code) = codes.code_of(row) else { continue };
            if distance_of_bytes(code, &center.bytes) > pass.radius
                || !query.also.iter().all(|ball| ball.contains(code))
                || pass.has_reported(layout.words_of(code), &center.words)
            {
                continue;
            }
            let nearest = query.nearest_to.first();
            let distance = nearest.map(|nearest| distance_of_bytes(code, &nearest.bytes));
            results.add(hits, (row, distance, true), layout.words_of(code))?;
        }
        Ok(())
    }

    /// Appends the results of an ordered pass, and goes on to the next pass or stage.
    fn end_pass(
        &mut self,
        radius: u32,
        by_words: bool,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), OutOfMemory> {
        if let Some((_, others)) = self.query.nearest_to.split_first() {
            if self.results.sorted.take(|a, b| in_order(others, a, b), hits)? {
                self.taken.as_mut().map(TakenStretches::start_again);
                self.stage = self.pass(by_words.then_some(radius));
                return Ok(());
            }
            if radius < self.query.farthest {
                self.stage = self.pass(self.costs.next_radius(radius, self.query.farthest));
                return Ok(());
            }
        }
        self.stage = self.last_stage();
        Ok(())
    }
}
