//! The SQL functions of the type `hamming_bit_ball`.

use super::ball;
use crate::pg::call::{Call, pg_functions};
use crate::pg::code::ball::BitBall;
use crate::pg::code::bits::Bits;
use crate::pg::encoding;
use crate::pg::report::{SqlError, quote, report};
use crate::pg::varlena::{c_string, new_value};
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{self, Datum};
use std::ffi::CStr;

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

pg_functions!(
    hamming_bit_ball_in,
    hamming_bit_ball_out,
    hamming_bit_ball_recv,
    hamming_bit_ball_send,
    hamming_bit_ball,
    hamming_bit_ball_contained
);

fn hamming_bit_ball_in(text: &CStr) -> Result<BitBall<'_>, SqlError> {
    let text = encoding::to_utf8(text.to_bytes())?;
    let sides = ball::sides(&text).and_then(|(center, radius)| Some((center, radius.parse().ok()?)));
    let (center, radius) = sides.ok_or_else(|| bit_ball_syntax(&text))?;
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

fn bit_ball_syntax(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type hamming_bit_ball: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail("A ball is written <center,radius>, with a bit string and an integer.")
        .set_hint("For example: '<1010,1>'::hamming_bit_ball, or hamming_ball(B'1010', 1).")
}
