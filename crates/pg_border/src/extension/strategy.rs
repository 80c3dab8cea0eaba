//! The strategy numbers of the operators in the operator classes `hamming_ops` and `gist_hamming_ops`, for
//! bigint, and `sketch_ops`, for sketches. The same numbers are in `sql/hamming.sql`, `sql/gist.sql` and
//! `sql/gin.sql`.

/// `bigint <@ hamming_ball`.
pub const WITHIN_BALL: i16 = 1;
/// `bigint = bigint`. In `hamming_filter_ops`, `=` of any type.
pub const EQUAL: i16 = 2;
/// `hamming_ball ~ hamming_ball`.
pub const NEAR: i16 = 3;
/// `bigint <~> bigint`, in ORDER BY. In `hamming_ball_ops`, like `WITHIN_BALL`, of the centers of balls.
pub const DISTANCE: i16 = 15;
const _: () = assert!(WITHIN_BALL < DISTANCE && EQUAL < DISTANCE && NEAR < DISTANCE);

/// `anyarray && anyarray`, for sketches.
pub const OVERLAP: i16 = 1;
/// `bigint[] @@ sketch_query`.
pub const MATCHES: i16 = 2;
