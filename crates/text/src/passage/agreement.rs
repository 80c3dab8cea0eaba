//! How many symbols of two texts agree.

/// The number of symbols that are compared together.
const STEP: usize = 32;

/// The number of equal symbols at the beginnings of both texts.
pub(super) fn common_prefix<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    steps + a[steps..].iter().zip(&b[steps..]).take_while(|(a, b)| a == b).count()
}

/// The number of equal symbols at the ends of both texts.
pub(super) fn common_suffix<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let steps = a.rchunks_exact(STEP).zip(b.rchunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    let a = &a[..a.len() - steps];
    let b = &b[..b.len() - steps];
    steps + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}
