//! The SQL functions of the types `hamming_ball` and `hamming_bit_ball`.

use crate::pg::call::{Call, pg_functions};
use crate::pg::code::ball::{BitBall, HammingBall};
use crate::pg::code::bits::Bits;
use crate::pg::encoding;
use crate::pg::report::{SqlError, quote, report};
use crate::pg::varlena::{c_string, new_value};
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{self, Datum};
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

fn hamming_bit_ball_in(text: &CStr) -> Result<BitBall<'_>, SqlError> {
    let text = encoding::to_utf8(text.to_bytes())?;
    let syntax = || ball_syntax(&text, "hamming_bit_ball", "bit string", ["<1010,1>", "B'1010', 1"]);
    let (center, radius) = sides(&text).ok_or_else(syntax)?;
    // SAFETY: varbit_in takes a C string.
    let center = unsafe { read_bits(pg_sys::varbit_in, c_string(&[center.as_bytes()])) };
    Ok(BitBall { center, radius })
}

fn hamming_bit_ball_out(ball: BitBall<'_>) -> Datum {
    // SAFETY: varbit_out takes a value of type bit varying, and returns a C string.
    unsafe {
        let center = direct_function_call_as_datum(pg_sys::varbit_out, &[Some(ball.center.datum())]);
        let center = center.map_or(c"", |text| CStr::from_ptr(text.cast_mut_ptr()));
        c_string(&[b"<", center.to_bytes(), format!(",{}>", ball.radius).as_bytes()])
    }
}

fn hamming_bit_ball_recv(call: Call) -> BitBall<'static> {
    let mut radius = [0; 4];
    // SAFETY: PostgreSQL calls a receive function with the message, and raises an error if it is too short.
    let center = unsafe {
        pg_sys::pq_copymsgbytes(call.pointer(0), radius.as_mut_ptr().cast(), 4);
        read_bits(pg_sys::varbit_recv, call.datum(0))
    };
    BitBall { center, radius: i32::from_be_bytes(radius) }
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

/// The string of bits that PostgreSQL's input function or receive function reads from the argument.
///
/// # Safety
/// The argument must be of the type that the function takes first.
unsafe fn read_bits<'a>(
    input: unsafe fn(pg_sys::FunctionCallInfo) -> pg_sys::Datum,
    argument: pg_sys::Datum,
) -> Bits<'a> {
    const NO_MODIFIER: i32 = -1;
    let args = [Some(argument), Some(pg_sys::InvalidOid.into()), Some(NO_MODIFIER.into())];
    // SAFETY: both functions also take a type and a modifier, and never return NULL.
    unsafe { Bits::of(direct_function_call_as_datum(input, &args).unwrap_or(pg_sys::Datum::null())) }
}

fn ball_syntax(text: &str, type_name: &str, center: &str, examples: [&str; 2]) -> SqlError {
    let message = format!("invalid input syntax for type {type_name}: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail(format!("A ball is written <center,radius>, with a {center} and an integer."))
        .set_hint(format!("For example: '{}'::{type_name}, or hamming_ball({}).", examples[0], examples[1]))
}
