//! The functions of the type `hamming_ball`.

use crate::pg::call::{allocate, pg_function};
use crate::pg::code::ball::HammingBall;
use crate::pg::encoding;
use crate::pg::report::{SqlError, quote, report};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;
use std::ffi::CStr;
use std::str::FromStr;

/// `<center,radius>`, with blanks where one likes.
impl FromStr for HammingBall {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (center, radius) = sides(text).ok_or(())?;
        let center = center.parse().map_err(|_| ())?;
        Ok(Self::new(center, radius.parse().map_err(|_| ())?))
    }
}

/// The center and the radius of `<center,radius>`, without blanks around them.
pub(super) fn sides(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    inner.split_once(',').map(|(center, radius)| (center.trim(), radius.trim()))
}

pg_function!(
    pg_finfo_hamming_ball_in,
    fn hamming_ball_in(call) {
        // SAFETY: the input function of a type is called with a C string.
        let text = encoding::to_utf8(unsafe { CStr::from_ptr(call.pointer(0)) }.to_bytes()).unwrap_or_report();
        allocate(text.parse::<HammingBall>().map_err(|()| ball_syntax(&text)).unwrap_or_report())
    }
);

pg_function!(
    pg_finfo_hamming_ball_out,
    fn hamming_ball_out(call) {
        // SAFETY: declared with one hamming_ball.
        let ball: HammingBall = unsafe { call.value(0) };
        // SAFETY: pstrdup copies the string, which ends with a zero byte, into the memory of the call.
        unsafe { pg_sys::pstrdup(format!("<{},{}>\0", ball.center, ball.radius).as_ptr().cast()) }.into()
    }
);

pg_function!(
    pg_finfo_hamming_ball_recv,
    fn hamming_ball_recv(call) {
        let (mut center, mut radius) = ([0u8; 8], [0u8; 4]);
        // SAFETY: a receive function is called with the message; copying raises an error if it is too short.
        unsafe {
            pg_sys::pq_copymsgbytes(call.pointer(0), center.as_mut_ptr().cast(), 8);
            pg_sys::pq_copymsgbytes(call.pointer(0), radius.as_mut_ptr().cast(), 4);
        }
        allocate(HammingBall::new(i64::from_be_bytes(center), i32::from_be_bytes(radius)))
    }
);

pg_function!(
    pg_finfo_hamming_ball_send,
    fn hamming_ball_send(call) {
        // SAFETY: declared with one hamming_ball.
        let ball: HammingBall = unsafe { call.value(0) };
        let mut message = pg_sys::StringInfoData::default();
        // SAFETY: the buffer is begun, filled with as many bytes as each number has, and ended.
        unsafe {
            pg_sys::pq_begintypsend(&raw mut message);
            pg_sys::appendBinaryStringInfo(&raw mut message, ball.center.to_be_bytes().as_ptr().cast(), 8);
            pg_sys::appendBinaryStringInfo(&raw mut message, ball.radius.to_be_bytes().as_ptr().cast(), 4);
            pg_sys::pq_endtypsend(&raw mut message).into()
        }
    }
);

pg_function!(
    pg_finfo_hamming_ball,
    fn hamming_ball(call) {
        allocate(HammingBall::new(call.bigint(0), call.integer(1)))
    }
);

pg_function!(
    pg_finfo_hamming_ball_contained,
    fn hamming_ball_contained(call) {
        // SAFETY: declared with a bigint and a hamming_ball.
        let ball: HammingBall = unsafe { call.value(1) };
        ball.contains(call.bigint(0)).into()
    }
);

pg_function!(
    pg_finfo_hamming_ball_near,
    fn hamming_ball_near(call) {
        // SAFETY: declared with two of hamming_ball.
        let (a, b): (HammingBall, HammingBall) = unsafe { (call.value(0), call.value(1)) };
        a.is_near(b).into()
    }
);

fn ball_syntax(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type hamming_ball: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail("A ball is written <center,radius>, with a bigint and an integer.")
        .set_hint("For example: '<42,6>'::hamming_ball, or hamming_ball(42, 6).")
}
