//! `sql/code.sql`: codes, which are values of type bigint or bit, their distances, and balls, which stand for
//! all codes within a radius of a center.

mod ball;
mod bit_ball;
mod distance;
