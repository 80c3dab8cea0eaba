//! Whatever is on the pages: searching and changing the index ends, either with an answer or by naming a
//! damaged page.
#![no_main]

#[path = "../../tests/memory/mod.rs"]
mod memory;

use arbitrary::Arbitrary;
use hamming_index::key::RowId;
use hamming_index::{Ball, Query};
use libfuzzer_sys::fuzz_target;
use memory::Memory;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Arbitrary, Debug)]
struct Damage {
    rows: u16,
    fill: u8,
    /// Page, first byte, and what is written there.
    writes: Vec<(u8, u16, [u8; 4])>,
    center: u64,
    radius: u8,
}

fuzz_target!(|damage: Damage| {
    let rows: Vec<_> = (0..u32::from(damage.rows % 4000))
        .map(|n| ((n % 50 > 0).then_some(u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)), RowId::new(n, 1)))
        .collect();
    let mut memory = Memory::built(1500, &rows, usize::from(damage.fill % 100) + 1, 10_000);
    for &(block, first, bytes) in &damage.writes {
        memory.damage(block.into(), first.into(), &bytes);
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
});
