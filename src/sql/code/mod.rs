//! `sql/code.sql`: codes, which are values of type bigint or bit; their distances; and balls, each of which
//! contains all codes within a radius of its center.

mod ball;
mod distance;
