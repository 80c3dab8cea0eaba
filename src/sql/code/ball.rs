//! The SQL functions of the type `hamming_ball`.

use crate::pg::call::{Call, pg_functions};
use crate::pg::code::ball::HammingBall;
use crate::pg::encoding;
use crate::pg::report::{SqlError, quote, report};
use crate::pg::varlena::{c_string, new_value};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{self, Datum};
use std::ffi::CStr;
use std::str::FromStr;

/// Reads `<center,radius>`, with optional blanks.
impl FromStr for HammingBall {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (center, radius) = sides(text).ok_or(())?;
        let center = center.parse().map_err(|_| ())?;
        Ok(Self::new(center, radius.parse().map_err(|_| ())?))
    }
}

/// The center and the radius of `<center,radius>` as text, without blanks around them.
pub(super) fn sides(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    inner.split_once(',').map(|(center, radius)| (center.trim(), radius.trim()))
}

pg_functions!(
    hamming_ball_in,
    hamming_ball_out,
    hamming_ball_recv,
    hamming_ball_send,
    hamming_ball,
    hamming_ball_contained,
    hamming_ball_near
);

fn hamming_ball_in(text: &CStr) -> Result<HammingBall, SqlError> {
    let text = encoding::to_utf8(text.to_bytes())?;
    text.parse().map_err(|()| ball_syntax(&text))
}

fn hamming_ball_out(ball: HammingBall) -> Datum {
    c_string(&[format!("<{},{}>", ball.center, ball.radius).as_bytes()])
}

fn hamming_ball_recv(call: Call) -> HammingBall {
    let (mut center, mut radius) = ([0u8; 8], [0u8; 4]);
    // SAFETY: PostgreSQL calls a receive function with the message, and raises an error if it is too short.
    unsafe {
        pg_sys::pq_copymsgbytes(call.pointer(0), center.as_mut_ptr().cast(), 8);
        pg_sys::pq_copymsgbytes(call.pointer(0), radius.as_mut_ptr().cast(), 4);
    }
    HammingBall::new(i64::from_be_bytes(center), i32::from_be_bytes(radius))
}

fn hamming_ball_send(ball: HammingBall) -> Datum {
    new_value(&[&ball.center.to_be_bytes(), &ball.radius.to_be_bytes()])
}

fn hamming_ball(center: i64, radius: i32) -> HammingBall {
    HammingBall::new(center, radius)
}

fn hamming_ball_contained(code: i64, ball: HammingBall) -> bool {
    ball.contains(code)
}

fn hamming_ball_near(a: HammingBall, b: HammingBall) -> bool {
    a.is_near(b)
}

fn ball_syntax(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type hamming_ball: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail("A ball is written <center,radius>, with a bigint and an integer.")
        .set_hint("For example: '<42,6>'::hamming_ball, or hamming_ball(42, 6).")
}
