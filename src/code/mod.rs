//! `sql/code.sql`: codes, which are values of type bigint or bit, their distances, and balls, which stand for
//! all codes within a radius of a center.

pub(crate) mod ball;
pub(crate) mod bit_ball;
mod distance;
