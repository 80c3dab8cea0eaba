//! The SQL functions of the types `hamming_ball` and `hamming_bit_ball`.

use crate::pg::call::pg_functions;
use crate::pg::code::ball::{BitBall, HammingBall};
use crate::pg::code::bits::Bits;
use crate::pg::encoding;
use crate::pg::input::{Message, bits_of_text, text_of_bits};
use crate::pg::report::{SqlError, quote, report};
use crate::pg::varlena::{c_string, new_value};
use pgrx::pg_sys::Datum;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::ffi::CStr;

pg_functions!(
    hamming_ball_in,
    hamming_ball_out,
    hamming_ball_recv,
    hamming_ball_send,
    hamming_ball,
    hamming_ball_contained,
    hamming_ball_near,
    hamming_bit_ball_in,
    hamming_bit_ball_out,
    hamming_bit_ball_recv,
    hamming_bit_ball_send,
    hamming_bit_ball,
    hamming_bit_ball_contained
);

fn hamming_ball_in(text: &CStr) -> Result<HammingBall, SqlError> {
    let text = encoding::to_utf8(text.to_bytes())?;
    let ball = sides(&text).and_then(|(center, radius)| Some(HammingBall::new(center.parse().ok()?, radius)));
    ball.ok_or_else(|| ball_syntax(&text, "hamming_ball", "bigint", ["<42,6>", "42, 6"]))
}

fn hamming_ball_out(ball: HammingBall) -> Datum {
    c_string(&[format!("<{},{}>", ball.center, ball.radius).as_bytes()])
}

fn hamming_ball_recv(mut message: Message) -> HammingBall {
    let center = i64::from_be_bytes(message.bytes());
    let radius = i32::from_be_bytes(message.bytes());
    HammingBall::new(center, radius)
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

fn hamming_bit_ball_in(text: &CStr) -> Result<BitBall<'_>, SqlError> {
    let text = encoding::to_utf8(text.to_bytes())?;
    let syntax = || ball_syntax(&text, "hamming_bit_ball", "bit string", ["<1010,1>", "B'1010', 1"]);
    let (center, radius) = sides(&text).ok_or_else(syntax)?;
    Ok(BitBall { center: bits_of_text(center.as_bytes()), radius })
}

fn hamming_bit_ball_out(ball: BitBall<'_>) -> Datum {
    c_string(&[b"<", text_of_bits(ball.center), format!(",{}>", ball.radius).as_bytes()])
}

fn hamming_bit_ball_recv(mut message: Message) -> BitBall<'static> {
    let radius = i32::from_be_bytes(message.bytes());
    BitBall { center: message.bits(), radius }
}

fn hamming_bit_ball_send(BitBall { center, radius }: BitBall<'_>) -> Datum {
    new_value(&[&radius.to_be_bytes(), &center.length().to_be_bytes(), center.bytes()])
}

fn hamming_bit_ball<'a>(center: Bits<'a>, radius: i32) -> BitBall<'a> {
    BitBall { center, radius }
}

fn hamming_bit_ball_contained(code: Bits<'_>, ball: BitBall<'_>) -> Result<bool, SqlError> {
    ball.contains(code)
}

/// The center, without blanks around it, and the radius of `<center,radius>`.
fn sides(text: &str) -> Option<(&str, i32)> {
    let (center, radius) = text.trim().strip_prefix('<')?.strip_suffix('>')?.split_once(',')?;
    Some((center.trim(), radius.trim().parse().ok()?))
}

fn ball_syntax(text: &str, type_name: &str, center: &str, examples: [&str; 2]) -> SqlError {
    let message = format!("invalid input syntax for type {type_name}: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail(format!("A ball is written <center,radius>, with a {center} and an integer."))
        .set_hint(format!("For example: '{}'::{type_name}, or hamming_ball({}).", examples[0], examples[1]))
}
