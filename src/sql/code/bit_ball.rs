//! The functions of the type `hamming_bit_ball`.

use super::ball;
use crate::pg::call::pg_function;
use crate::pg::code::ball::BitBall;
use crate::pg::code::bits::Bits;
use crate::pg::encoding;
use crate::pg::report::{SqlError, quote, report};
use crate::pg::varlena::c_string;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{direct_function_call_as_datum, pg_sys};
use std::ffi::CStr;

/// What Postgres's own input function makes of a string of bits, which another follows.
///
/// # Safety
/// The first argument must be of the type that the function takes.
unsafe fn read_bits<'a>(
    input: unsafe fn(pg_sys::FunctionCallInfo) -> pg_sys::Datum,
    argument: pg_sys::Datum,
) -> Bits<'a> {
    const NO_MODIFIER: i32 = -1;
    let args = [Some(argument), Some(pg_sys::InvalidOid.into()), Some(NO_MODIFIER.into())];
    // SAFETY: the first argument is of the type that the function takes, as the caller promises; both
    // functions take a type and a modifier next to it, and never return NULL.
    unsafe { Bits::of(direct_function_call_as_datum(input, &args).unwrap_or(pg_sys::Datum::null())) }
}

pg_function!(
    pg_finfo_hamming_bit_ball_in,
    fn hamming_bit_ball_in(call) {
        // SAFETY: the input function of a type is called with a C string.
        let text = encoding::to_utf8(unsafe { CStr::from_ptr(call.pointer(0)) }.to_bytes()).unwrap_or_report();
        let sides = ball::sides(&text).and_then(|(center, radius)| Some((center, radius.parse().ok()?)));
        let (center, radius) = sides.ok_or_else(|| bit_ball_syntax(&text)).unwrap_or_report();
        // SAFETY: a C string is passed.
        let center = unsafe { read_bits(pg_sys::varbit_in, c_string(&[center.as_bytes()])) };
        BitBall { center, radius }.datum()
    }
);

pg_function!(
    pg_finfo_hamming_bit_ball_out,
    fn hamming_bit_ball_out(call) {
        // SAFETY: declared with one hamming_bit_ball.
        let ball = unsafe { BitBall::of(call.datum(0)) };
        // SAFETY: the function takes a value of type bit and returns a C string.
        unsafe {
            let center = direct_function_call_as_datum(pg_sys::varbit_out, &[Some(ball.center.datum())]);
            let center = center.map_or(c"", |text| CStr::from_ptr(text.cast_mut_ptr()));
            c_string(&[b"<", center.to_bytes(), format!(",{}>", ball.radius).as_bytes()])
        }
    }
);

pg_function!(
    pg_finfo_hamming_bit_ball_recv,
    fn hamming_bit_ball_recv(call) {
        let mut radius = [0; 4];
        // SAFETY: a receive function is called with the message; copying raises an error if it is too short.
        let center = unsafe {
            pg_sys::pq_copymsgbytes(call.pointer(0), radius.as_mut_ptr().cast(), 4);
            read_bits(pg_sys::varbit_recv, call.datum(0))
        };
        BitBall { center, radius: i32::from_be_bytes(radius) }.datum()
    }
);

pg_function!(
    pg_finfo_hamming_bit_ball_send,
    fn hamming_bit_ball_send(call) {
        // SAFETY: declared with one hamming_bit_ball.
        let BitBall { center, radius } = unsafe { BitBall::of(call.datum(0)) };
        let mut message = pg_sys::StringInfoData::default();
        // SAFETY: the buffer is begun, filled with pieces of these lengths, and ended.
        unsafe {
            pg_sys::pq_begintypsend(&raw mut message);
            for piece in [&radius.to_be_bytes(), &center.length().to_be_bytes(), center.bytes()] {
                pg_sys::appendBinaryStringInfo(&raw mut message, piece.as_ptr().cast(), piece.len() as i32);
            }
            pg_sys::pq_endtypsend(&raw mut message).into()
        }
    }
);

pg_function!(
    pg_finfo_hamming_bit_ball,
    fn hamming_bit_ball(call) {
        // SAFETY: declared with a bit and an integer.
        let center = unsafe { Bits::of(call.datum(0)) };
        BitBall { center, radius: call.integer(1) }.datum()
    }
);

pg_function!(
    pg_finfo_hamming_bit_ball_contained,
    fn hamming_bit_ball_contained(call) {
        // SAFETY: declared with a bit and a hamming_bit_ball.
        let (code, ball) = unsafe { (Bits::of(call.datum(0)), BitBall::of(call.datum(1))) };
        ball.contains(code).unwrap_or_report().into()
    }
);

fn bit_ball_syntax(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type hamming_bit_ball: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail("A ball is written <center,radius>, with a string of bits and an integer.")
        .set_hint("For example: '<1010,1>'::hamming_bit_ball, or hamming_ball(B'1010', 1).")
}
