//! Whatever is on the pages, searching and changing the index ends, with a result or with an error that names
//! a damaged page.
#![no_main]

#[path = "../../tests/memory/mod.rs"]
mod memory;

use arbitrary::Arbitrary;
use hamming_index::key::RowId;
use hamming_index::search_cost::leaves_in;
use hamming_index::radius_division::SearchCosts;
use hamming_index::store::Store;
use hamming_index::{CodeBall, CodeLookup, Layout, SearchCenter, SearchQuery};
use libfuzzer_sys::fuzz_target;
use memory::{Ball, Memory, Query};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Arbitrary, Debug)]
struct Damage {
    rows: u16,
    fill: u8,
    /// The number of a page, its first byte to overwrite, and the new bytes.
    writes: Vec<(u8, u16, [u8; 4])>,
    center: u64,
    radius: u8,
}

/// The codes of all rows.
struct Known(Vec<Vec<u8>>);

impl CodeLookup for Known {
    fn code_of(&mut self, row: RowId) -> Option<&[u8]> {
        self.0.get(row.page() as usize).map(Vec::as_slice)
    }
}

fuzz_target!(|damage: Damage| {
    let rows: Vec<_> = (0..u32::from(damage.rows % 4000))
        .map(|n| ((n % 50 > 0).then_some(u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)), RowId::new(n, 1)))
        .collect();
    let mut memory = Memory::built(1500, &rows, Memory::fill_of(damage.fill), 10_000);
    for &(page_number, first, bytes) in &damage.writes {
        memory.damage(page_number.into(), first.into(), &bytes);
    }
    let ball = Ball { center: damage.center, radius: u32::from(damage.radius % 65) };
    let query = Query { balls: vec![ball], values: true, nulls: true, nearest_to: vec![] };
    let nearest = Query { balls: vec![], nearest_to: vec![damage.center], ..query.clone() };
    memory.problems();
    let index = memory.index();
    let _ = catch_unwind(AssertUnwindSafe(|| memory.search(query, 1e6, 100)));
    let _ = catch_unwind(AssertUnwindSafe(|| memory.search(nearest, 10.0, 5000)));
    let _ = catch_unwind(AssertUnwindSafe(|| memory.insert(Some(damage.center), RowId::new(0, 2))));
    let _ = catch_unwind(AssertUnwindSafe(|| index.vacuum(&mut |row: RowId| row.page() % 3 == 0)));
    damage_codes(&damage);
});

/// The same in an index of codes.
fn damage_codes(damage: &Damage) {
    let layout = Layout::of_codes(u32::from(damage.radius) * 3 + 1);
    let rows = u64::from(damage.rows % 1000);
    let word = |n: u64, word: u64| (n * 7 + word).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let code = |n: u64| (0..layout.words() as u64).flat_map(|number| word(n, number)).collect::<Vec<u8>>();
    let words = |code: &Vec<u8>| layout.words_of(code).collect::<Vec<u64>>();
    let mut known = Known((0..rows).map(code).collect());
    let words_of_all: Vec<_> = known.0.iter().map(words).collect();
    let numbered = words_of_all.iter().zip(0..).map(|(words, n)| (Some(words.as_slice()), None, RowId::new(n, 1)));
    let mut memory = Memory::built_of(layout, 8000, numbered, Memory::fill_of(damage.fill), 10_000);
    for &(page_number, first, bytes) in &damage.writes {
        memory.damage(page_number.into(), first.into(), &bytes);
    }
    memory.problems();
    let costs = SearchCosts::new(layout, leaves_in(memory.pages(), layout));
    let center = SearchCenter::of_code(layout, &code(damage.center % 1000));
    let nearest_to = (damage.radius % 2 == 0).then(|| center.clone()).into_iter().collect();
    let balls = vec![CodeBall { center, radius: damage.radius.into() }];
    let query = SearchQuery { balls, values: true, nulls: true, nearest_to, codes: true };
    let _ = catch_unwind(AssertUnwindSafe(|| memory.search_codes(&costs, query, 100, Some(&mut known))));
    let _ = catch_unwind(AssertUnwindSafe(|| Layout::read(&memory)));
    let index = memory.index();
    let _ = catch_unwind(AssertUnwindSafe(|| index.insert(Some(&words(&code(5))), None, RowId::new(0, 2))));
    let _ = catch_unwind(AssertUnwindSafe(|| index.vacuum(&mut |row: RowId| row.page() % 3 == 0)));
}
