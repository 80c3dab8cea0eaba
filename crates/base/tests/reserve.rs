//! The extension's reserve of memory, above all for miri.
#![expect(unsafe_code, reason = "an allocator returns pointers")]
#![allow(missing_docs, reason = "the module belongs to another crate")]

use reserve::Reserve;
use std::alloc::Layout;

#[path = "../../pg_border/src/reserve.rs"]
mod reserve;

/// Blocks of all sizes and alignments: each keeps what was written to it until it is given back, and there is
/// room for the same blocks again when all have been given back.
#[test]
fn blocks_keep_what_is_written() {
    let reserve = Reserve::<1000>::new();
    for round in 0..3 {
        let mut blocks = Vec::new();
        let mut taken = 0;
        for size in (1..).step_by(7) {
            let layout = Layout::from_size_align(size, 1 << (size % 5)).unwrap();
            let block = reserve.take(layout);
            if block.is_null() {
                break;
            }
            assert!(reserve.has(block) && block.addr().is_multiple_of(layout.align()));
            // SAFETY: the block has that many bytes.
            unsafe { block.write_bytes(size as u8, size) };
            blocks.push((block, size));
            taken += 1;
            // A block may be given back before others.
            if round > 0 && size % 3 == 0 {
                let (block, size) = if round == 1 { blocks.remove(0) } else { blocks.pop().unwrap() };
                reserve.give_back(block, size);
            }
        }
        assert!(taken > 14, "{taken} blocks in round {round}");
        for (block, size) in blocks {
            // SAFETY: the bytes were written.
            let bytes = unsafe { std::slice::from_raw_parts(block, size) };
            assert!(bytes.iter().all(|&byte| byte == size as u8));
            assert!(reserve.is_in_use());
            reserve.give_back(block, size);
        }
        assert!(!reserve.is_in_use());
    }
    for (size, align) in [(1001, 1), (isize::MAX as usize, 1), (1, 1 << 40)] {
        assert!(reserve.take(Layout::from_size_align(size, align).unwrap()).is_null());
    }
    assert!(!reserve.has(std::ptr::null_mut()));
}
