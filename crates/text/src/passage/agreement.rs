//! How far two texts agree.

/// Symbols that are compared together.
const STEP: usize = 32;

/// The number of symbols in which both texts agree from their beginnings.
pub(super) fn common_prefix<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    steps + a[steps..].iter().zip(&b[steps..]).take_while(|(a, b)| a == b).count()
}

/// The number of symbols in which both texts agree from their ends.
pub(super) fn common_suffix<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let steps = a.rchunks_exact(STEP).zip(b.rchunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    let (a, b) = (&a[..a.len() - steps], &b[..b.len() - steps]);
    steps + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}
