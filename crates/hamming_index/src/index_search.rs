//! Searches an index: answers a [`SearchQuery`] batch by batch.
//!
//! A code is searched by its words, each with a part of the radius: see [`crate::radius_division`]. The
//! index has codes of one word, such as fingerprints, as a whole: a code in a leaf is compared, and its row
//! is reported at once. The words of a longer code are in different trees. So a row that was found by one
//! word is only a **candidate** until its whole code has been read from the table ([`CodeLookup`]). Words
//! are rarely near by chance, so most candidates match. If words do not help, all rows are compared: with a
//! tree of whole codes if the index has one ([`crate::code_scan`]), otherwise with the table.
//!
//! A row may be a candidate of several words. Only the first of them reports it. The row's code shows which
//! one that is, so no list of reported rows is kept. [`crate::pass`] says in which order words are searched,
//! and when a word is abandoned.
//!
//! Ordered rows are found in passes, each with a larger radius than the one before.
//!
//! Guarantee: every row that the query requests is reported exactly once, ordered by distance if the query
//! requests that. If it requests rows with one filter, rows with other filters may be reported as well.

use crate::code_scan::scan_codes;
use crate::key::{IndexKey, RowId, rotated_back};
use crate::pass::WordPass;
use crate::query::{CodeLookup, NormalizedQuery, SearchCenter, SearchHit, SearchQuery};
use crate::radius_division::{SearchCosts, SearchedWord};
use crate::results::{SearchResults, in_order};
use crate::store::Store;
use crate::stretch::{SharedStretches, StretchAccess, TakenStretches};
use crate::tree::{Index, TreePart};
use crate::walk::Walk;
use crate::word_search::{WordBall, WordSearch};
use base::{Collector, OutOfMemory, grow, push};
use hamming::code::{distance_of_bytes, distance_of_words};

/// A search in progress. It holds no locks and no pages between two batches.
pub struct IndexSearch<A> {
    state: SearchState<A>,
    stage: SearchStage,
}

/// What all stages of a search use.
struct SearchState<A> {
    costs: SearchCosts,
    query: NormalizedQuery,
    /// The stretches that this process has taken, if several search together.
    taken: Option<TakenStretches<A>>,
    /// If codes cannot be divided, the first process that takes them searches alone.
    undivided: Option<A>,
    results: SearchResults,
    /// The most candidates that are kept, apart from those of the last step.
    max_candidates: usize,
}

/// What a search does next. A step of a stage returns the next stage when it has ended.
enum SearchStage {
    Whole(WholePass),
    Candidates(CandidatePass),
    /// Reads all rows with a code, from the key on.
    All(IndexKey),
    /// Reads the rows whose code is NULL, from the key on.
    Nulls(IndexKey),
    Done,
}

/// A pass with this radius, if the codes have one word.
struct WholePass {
    radius: u32,
    search: WordSearch,
}

/// A pass that finds candidates, if the codes have several words.
struct CandidatePass(WordPass);

impl<A: StretchAccess> IndexSearch<A> {
    /// Begins a search that keeps about `max_rows` rows in memory. Ordered results are found in pieces that
    /// grow to about this number, each by another pass.
    ///
    /// If several processes search with the same stretches, each finds a part of the rows.
    pub fn new(costs: &SearchCosts, query: SearchQuery, max_rows: usize, together: Option<A>) -> Self {
        let layout = costs.layout();
        let values = query.values;
        let has_codes = query.codes && !layout.is_one_word();
        let query = NormalizedQuery::of(query, layout.bits());
        let radius = match query.grows {
            true => query.farthest.min(costs.first_radius()),
            false => query.farthest,
        };
        let results = SearchResults::new(max_rows, if has_codes { layout.words() } else { 0 });
        let divides = values && layout.has_code_tree();
        let (taken, undivided) = if divides { (together, None) } else { (None, together) };
        let taken = taken.map(TakenStretches::new);
        let radius = taken.is_none().then_some(radius);
        let state =
            SearchState { costs: costs.clone(), query, taken, undivided, results, max_candidates: max_rows };
        let stage = if values { state.pass(radius, &[]) } else { state.last_stage() };
        Self { state, stage }
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
        let Self { state, stage } = self;
        index.store.check_for_interrupts();
        state.results.begin_batch();
        if state.undivided.take().is_some_and(|all| !all.with(SharedStretches::take_all)) {
            *stage = SearchStage::Done;
        }
        let next = match stage {
            SearchStage::Done => return Ok(false),
            SearchStage::Whole(pass) => pass.step(state, index, hits)?,
            SearchStage::Candidates(pass) => pass.step(state, index, codes, hits)?,
            &mut SearchStage::All(from) => {
                let walk = state.rows(index, state.part(), from, true, hits)?;
                match state.next_stretch(index, walk)? {
                    Walk::From(key) => Some(SearchStage::All(key)),
                    Walk::Done => Some(state.last_stage()),
                }
            }
            &mut SearchStage::Nulls(from) => {
                match state.rows(index, state.nulls(index), from, false, hits)? {
                    Walk::From(key) => Some(SearchStage::Nulls(key)),
                    Walk::Done => Some(SearchStage::Done),
                }
            }
        };
        if let Some(next) = next {
            *stage = next;
        }
        Ok(true)
    }

    /// The words of the code of a hit of the last batch: `None` if the code is NULL or unknown.
    pub fn code_of<'a>(&'a self, hit: &'a SearchHit) -> Option<&'a [u64]> {
        hit.kept.map(|kept| self.state.results.code(kept)).or(hit.word.as_ref().map(std::slice::from_ref))
    }
}

impl<A: StretchAccess> SearchState<A> {
    /// A pass with this radius; if it is `None`, all rows are candidates. `last` is what the last pass has
    /// learned about the words of codes.
    fn pass(&self, radius: Option<u32>, last: &[SearchedWord]) -> SearchStage {
        let Some(center) = &self.query.center else { return SearchStage::All(IndexKey::FIRST) };
        let of_all = || WordPass::of_all(self.query.farthest);
        let Some(radius) = radius else { return SearchStage::Candidates(CandidatePass(of_all())) };
        if self.costs.layout().is_one_word() {
            let ball = |center: &SearchCenter, radius| WordBall { center: center.first_word(), radius };
            let also = self.query.also.iter().map(|other| ball(&other.center, other.radius)).collect();
            let search = WordSearch::new(&self.costs, 0, ball(center, radius), also);
            return SearchStage::Whole(WholePass { radius, search });
        }
        let mut searched = self.costs.unsearched();
        searched.iter_mut().zip(last).for_each(|(word, last)| word.extra_cost = last.extra_cost);
        let division = self.costs.divide(radius, &searched);
        let pass = division.map(|division| WordPass::of_words(radius, division, searched));
        SearchStage::Candidates(CandidatePass(pass.unwrap_or_else(of_all)))
    }

    /// The stage after all rows with a code.
    fn last_stage(&self) -> SearchStage {
        let is_mine = self.taken.as_ref().is_none_or(TakenStretches::has_last);
        if self.query.nulls && is_mine { SearchStage::Nulls(IndexKey::FIRST) } else { SearchStage::Done }
    }

    /// Appends the results of an ordered pass. Returns the next pass or stage.
    fn end_pass(
        &mut self,
        radius: u32,
        by_words: bool,
        last: &[SearchedWord],
        hits: &mut Vec<SearchHit>,
    ) -> Result<Option<SearchStage>, OutOfMemory> {
        if let Some((_, others)) = self.query.nearest_to.split_first() {
            if self.results.sorted.take(|a, b| in_order(others, a, b), hits)? {
                self.taken.as_mut().map(TakenStretches::start_again);
                return Ok(Some(self.pass(by_words.then_some(radius), last)));
            }
            if radius < self.query.farthest {
                return Ok(Some(self.pass(self.costs.next_radius(radius, self.query.farthest), last)));
            }
        }
        Ok(Some(self.last_stage()))
    }

    /// The part of a tree in which this process searches for rows with a code.
    fn part(&self) -> TreePart {
        let all = self.costs.all_rows();
        self.taken.as_ref().map_or(all, |taken| taken.within(all))
    }

    /// The part of a tree that has the rows whose code is NULL.
    fn nulls<S: Store>(&self, index: &Index<'_, S>) -> TreePart {
        match self.costs.filter {
            Some(filter) => TreePart::of_filter(index.layout, filter.of_null_code()),
            None => TreePart::all(index.layout.nulls()),
        }
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

    /// Appends some of the rows of a part of a tree, from the key on.
    fn rows<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        part: TreePart,
        from: IndexKey,
        have_codes: bool,
        hits: &mut Vec<SearchHit>,
    ) -> Result<Walk, OutOfMemory> {
        let has_words = index.layout.is_one_word() && have_codes;
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
}

impl WholePass {
    /// Reads some more leaves.
    fn step<S: Store, A: StretchAccess>(
        &mut self,
        state: &mut SearchState<A>,
        index: &Index<'_, S>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<Option<SearchStage>, OutOfMemory> {
        let SearchState { query, results, .. } = state;
        if let Some((nearest, others)) = query.nearest_to.split_first() {
            let nearest = nearest.first_word();
            let limit = results.farthest().filter(|_| query.grows).unwrap_or(self.radius);
            let mut refusal = None;
            self.search.step(index, limit, &mut |word, row| {
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
            self.search.step(index, u64::BITS, &mut |word, row| {
                let is_seen_by_all = index.store.is_seen_by_all(row);
                hits.add(SearchHit { word: Some(word), is_seen_by_all, ..SearchHit::unordered(row) });
            });
            hits.finish()?;
        }
        if self.search.is_done() { state.end_pass(self.radius, true, &[], hits) } else { Ok(None) }
    }
}

impl CandidatePass {
    /// Finds some more candidates, and looks them up.
    fn step<S: Store, A: StretchAccess>(
        &mut self,
        state: &mut SearchState<A>,
        index: &Index<'_, S>,
        codes: Option<&mut impl CodeLookup>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<Option<SearchStage>, OutOfMemory> {
        let Self(pass) = self;
        let Some(center) = &state.query.center else { return Ok(Some(SearchStage::Done)) };
        if index.layout.has_code_tree() && !pass.is_by_words() {
            return self.step_codes(state, index, hits);
        }
        let mut found = Vec::new();
        let passed_on = pass.step(index, &state.costs, &center.words, state.max_candidates, &mut found)?;
        if state.query.grows && pass.has_given_up() {
            // Begins again: a pass through all rows finds the results so far once more, and farther rows as
            // well.
            state.results.sorted.forget();
            *pass = WordPass::of_all(state.query.farthest);
            return Ok(None);
        }
        match codes {
            Some(codes) => Self::check(pass, state, found, codes, hits)?,
            None => {
                grow(hits, found.len())?;
                hits.extend(found.into_iter().map(SearchHit::unordered));
            }
        }
        pass.note_reported(&passed_on);
        if pass.is_done {
            state.end_pass(pass.radius, pass.is_by_words(), &pass.searched, hits)
        } else {
            Ok(None)
        }
    }

    /// Reads some more leaves of the tree of whole codes.
    fn step_codes<S: Store, A: StretchAccess>(
        &mut self,
        state: &mut SearchState<A>,
        index: &Index<'_, S>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<Option<SearchStage>, OutOfMemory> {
        let Self(pass) = self;
        let part = state.part();
        let SearchState { query, results, .. } = state;
        let Some(center) = &query.center else { return Ok(Some(SearchStage::Done)) };
        let limit_of = |results: &SearchResults| {
            results.farthest().filter(|_| query.grows).unwrap_or(pass.radius).min(pass.radius)
        };
        let limit = limit_of(results);
        let mut refusal = Ok(());
        let report = &mut |words: &[u64], distance, row| {
            let code = words.iter().copied();
            let is_wanted = query.also.iter().all(|ball| ball.contains_words(words))
                && !pass.has_reported(code.clone(), &center.words);
            if is_wanted && refusal.is_ok() {
                let is_seen_by_all = index.store.is_seen_by_all(row);
                let distance = match query.nearest_to.first() {
                    Some(nearest) if !query.grows => Some(distance_of_words(words, &nearest.words)),
                    nearest => nearest.map(|_| distance),
                };
                let hit = SearchHit { row, distance, word: None, kept: None, is_seen_by_all };
                refusal = results.add(hits, hit, code);
            }
            limit_of(results)
        };
        let walk = scan_codes(index, part, pass.from(), &center.words, limit, report);
        refusal?;
        match state.next_stretch(index, walk)? {
            Walk::From(key) => {
                pass.go_on_from(key);
                Ok(None)
            }
            Walk::Done => state.end_pass(pass.radius, false, &pass.searched, hits),
        }
    }

    /// Reports the candidates that lie in all balls and were not reported before.
    fn check(
        pass: &WordPass,
        state: &mut SearchState<impl StretchAccess>,
        mut found: Vec<RowId>,
        codes: &mut impl CodeLookup,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), OutOfMemory> {
        let SearchState { query, costs, results, .. } = state;
        let Some(center) = &query.center else { return Ok(()) };
        let layout = costs.layout();
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
            let hit = SearchHit { row, distance, word: None, kept: None, is_seen_by_all: true };
            results.add(hits, hit, layout.words_of(code))?;
        }
        Ok(())
    }
}
