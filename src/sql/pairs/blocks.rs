//! `near_blocks`: the blocks for near pairs that a code belongs to.

use crate::pg::call::pg_functions;
use crate::pg::code::bits::Bits;
use crate::pg::report::SqlError;
use base::{Limit, collect};
use hamming::code::{CodeCutter, check_width};
use hamming::near_pairs::{PARTS, PairBlocks};
use std::cell::RefCell;

/// The number of bits of a code, the radius, and the number of parts.
type BlockParameters = (u32, i32, i32);

thread_local! {
    /// The blocks of the last call. Most calls have the same parameters, for the rows of one query.
    static LAST: RefCell<Option<(BlockParameters, PairBlocks)>> = const { RefCell::new(None) };
}

pg_functions!(near_blocks_of_bigint, near_blocks_of_bit);

fn near_blocks_of_bigint(code: i64, radius: i32, parts: i32) -> Result<Vec<i32>, SqlError> {
    blocks_of(&[code as u64], hamming::BITS, radius, parts)
}

fn near_blocks_of_bit(code: Bits<'_>, radius: i32, parts: i32) -> Result<Vec<i32>, SqlError> {
    check_width(code.length())?;
    let cutter = CodeCutter::new(code.length());
    let words = collect(cutter.words_of(code.bytes()), cutter.width())?;
    blocks_of(&words, code.length(), radius, parts)
}

/// The blocks that a code belongs to. The parameters are only checked when they change.
fn blocks_of(words: &[u64], bits: u32, radius: i32, parts: i32) -> Result<Vec<i32>, SqlError> {
    let parameters = (bits, radius, parts);
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(of, _)| *of != parameters) {
            let radius = Limit::new("radius", 0, bits.into()).of(radius)?;
            *last = Some((parameters, PairBlocks::new(bits, radius, PARTS.of(parts)?)));
        }
        let blocks = last.as_ref().map(|(_, blocks)| blocks.blocks_of(words)).transpose()?;
        let blocks = blocks.unwrap_or_default();
        Ok(collect(blocks.iter().map(|&block| block as i32), blocks.len())?)
    })
}
