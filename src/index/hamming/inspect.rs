//! `hamming_index_stats` and `hamming_index_check`: the pages of an index, and its damage.

use super::code::{has_lost_length, layout_of, words_of_row};
use super::filter::FilterColumns;
use super::handler::Hamming;
use crate::pg::access_method::IndexRow;
use crate::pg::call::pg_functions;
use crate::pg::encoding::to_database_or_escaped;
use crate::pg::error;
use crate::pg::inspected_index::{InspectedIndex, InspectionLock, Obstacle};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::result_set::ResultSet;
use crate::pg::storage::pages::Pages;
use crate::pg::storage::position::{log_position, log_position_of};
use crate::pg::storage::row_address::row_of;
use crate::pg::subtransaction::damage_or;
use base::{collect, push};
use hamming_index::key::{RowId, Tree};
use hamming_index::page::{Page, capacity};
use hamming_index::radius_division::SearchCosts;
use hamming_index::search_cost::{leaves_in, pages_read};
use hamming_index::store::Store;
use hamming_index::{Damage, Index, Layout};
use pgrx::pg_sys::Datum;
use pgrx::{IntoDatum, pg_sys};

/// The number of columns of `hamming_index_stats`. The last one is the problem of an index that cannot be
/// read, whose other columns are NULL.
const STATS: usize = 12;

pg_functions!(hamming_index_stats, hamming_index_check);

fn hamming_index_stats(index: pg_sys::Oid, mut rows: ResultSet) -> Result<(), SqlError> {
    let problem = match damage_or(|| stats(index)) {
        Ok(Ok(columns)) => {
            rows.put(columns);
            return Ok(());
        }
        // There is no row, as pg_relation_size returns NULL: a query that calls the function for each index
        // in the catalog must not fail because one of them was dropped meanwhile.
        Ok(Err(Obstacle::Missing(_))) => return Ok(()),
        Ok(Err(Obstacle::NoContents(error))) => error.message().to_owned(),
        Ok(Err(Obstacle::WrongKind(error))) => return Err(error),
        Err(damage) => damage,
    };
    let mut columns = [None; STATS];
    columns[STATS - 1] = to_database_or_escaped(problem)?.into_datum();
    rows.put(columns);
    Ok(())
}

/// The columns for an index. Damage is raised as an error.
fn stats(index: pg_sys::Oid) -> Result<[Option<Datum>; STATS], Obstacle> {
    let inspected = InspectedIndex::open::<Hamming>(index, InspectionLock::AgainstDrop)?;
    let pages = inspected.pages();
    let layout = layout_of(inspected.as_open(), &pages);
    let index = Index::new(&pages, layout);
    let is_changed = changes_of(&pages, true);
    let totals = index.totals(&is_changed, &mut |damage| pages.corrupted(damage.page_number, &damage.text));
    let sum = |part: fn(&hamming_index::Totals) -> u64| totals.iter().map(part).sum::<u64>() as i64;
    let pages = pages.pages();
    let (leaves, inner, all) = (sum(|tree| tree.leaves), sum(|tree| tree.inner), i64::from(pages));
    let room = totals.iter().zip(layout.trees()).map(|(total, tree)| total.leaves * capacity(tree, 0) as u64);
    let fill = sum(|tree| tree.entries) as f32 / room.sum::<u64>() as f32;
    Ok([
        (totals[layout.place(layout.first_tree())].entries as i64).into_datum(),
        (totals[layout.place(layout.nulls())].entries as i64).into_datum(),
        (layout.bits() as i32).into_datum(),
        (layout.word_trees() as i32).into_datum(),
        all.into_datum(),
        leaves.into_datum(),
        inner.into_datum(),
        (all - leaves - inner).into_datum(),
        totals.iter().map(|tree| tree.height as i32).max().into_datum(),
        fill.into_datum(),
        expected_pages(layout, pages).into_datum(),
        None,
    ])
}

/// For each radius, the pages that a search is expected to read.
fn expected_pages(layout: Layout, pages: u32) -> Vec<i32> {
    let tree_leaves = leaves_in(pages, layout);
    let costs = SearchCosts::new(layout, tree_leaves);
    let expected = (0..=layout.bits()).map(|radius| match layout.is_one_word() {
        true => pages_read(tree_leaves, radius, layout.bits()),
        false => costs.expected(radius).leaves,
    });
    let expected = expected.inspect(|_| check_for_interrupts()).map(|pages| pages.round() as i32);
    collect(expected, layout.bits() as usize + 1).unwrap_or_report()
}

fn hamming_index_check(index: pg_sys::Oid, heapallindexed: bool, mut rows: ResultSet) {
    let inspected = InspectedIndex::to_check::<Hamming>(index, heapallindexed);
    let inspected = inspected.map_err(Obstacle::into_error).unwrap_or_report();
    let pages = inspected.pages();
    let mut problems = Vec::new();
    let layout = layout_of(inspected.as_open(), &pages);
    if has_lost_length(inspected.as_open()) {
        let text = format!("the type of its column does not say that values have {} bits", layout.bits());
        problems.push(Damage { page_number: 0, text });
    }
    let index = Index::new(&pages, layout);
    // If changes are not logged, the lock keeps others from making any.
    let is_changed = changes_of(&pages, false);
    index
        .verify(&is_changed, &mut |row| inspected.may_differ(row), &mut |problem| {
            push(&mut problems, problem).unwrap_or_report()
        })
        .unwrap_or_report();
    // A damaged index cannot be searched.
    if heapallindexed && problems.is_empty() {
        look_up_rows(&inspected, index, &mut problems);
    }
    for Damage { page_number, text } in problems {
        check_for_interrupts();
        rows.put([i64::from(page_number).into_datum(), text.into_datum()]);
    }
}

/// Whether others may have changed a page from now on: by its LSN, or `if_not_logged`. A page whose LSN is
/// ahead of the WAL is damaged.
fn changes_of(pages: &Pages<'_>, if_not_logged: bool) -> impl Fn(&Page) -> bool + use<> {
    let (is_logged, began) = (pages.is_logged, log_position());
    move |page| match is_logged {
        true => (began + 1..=log_position()).contains(&log_position_of(page)),
        false => if_not_logged,
    }
}

/// The largest number of missing rows that are reported.
const MAX_MISSING: usize = 1000;

/// The state for comparing the index with its table, and the differences.
struct RowLookUp<'a> {
    index: Index<'a, Pages<'a>>,
    problems: &'a mut Vec<Damage>,
    filters: FilterColumns,
    /// The words of the current row, to reuse their memory.
    words: Vec<u64>,
}

/// Looks up each row of the table in the trees. The trees of bands are already known to agree.
fn look_up_rows<'a>(inspected: &InspectedIndex, index: Index<'a, Pages<'a>>, problems: &'a mut Vec<Damage>) {
    let filters = FilterColumns::of(inspected.as_open());
    let mut look_up = RowLookUp { index, problems, filters, words: Vec::new() };
    if inspected.is_too_new() {
        Err(error::index_too_new()).unwrap_or_report()
    }
    inspected.table_rows().each_row(|row| look_up.take(row));
}

impl RowLookUp<'_> {
    /// Looks up a row of the table.
    fn take(&mut self, row: IndexRow<'_>) {
        check_for_interrupts();
        let layout = self.index.layout();
        let words = words_of_row(layout, row, &mut self.words);
        let filter = self.filters.of_row(row);
        let row = row_of(row.address());
        for (tree, key) in layout.look_up_keys_of(words, filter, row) {
            if self.problems.len() < MAX_MISSING && !self.index.has_code(tree, key, words) {
                let text = missing(layout, row, words, tree);
                self.problems.push(Damage { page_number: layout.root(tree), text });
            }
        }
    }
}

/// The message about a row that a tree lacks.
fn missing(layout: Layout, row: RowId, words: Option<&[u64]>, tree: Tree) -> String {
    let name = layout.name_of(row, words.and_then(|words| words.first().copied()));
    match words {
        _ if tree == layout.filter_tree() => format!("{name} is missing among further columns"),
        Some(_) if tree == layout.code_tree() => format!("{name} is missing among whole codes"),
        Some(_) => format!("{name} is missing in band {}", layout.place(tree)),
        None => format!("{name} is missing among those that are NULL"),
    }
}
