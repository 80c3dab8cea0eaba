//! The name of a scheme as an argument of a function.

use crate::call::{Argument, Call, Utf8};
use crate::report::UnwrapOrReport;
use text::features::Scheme;

impl Argument for Scheme {
    unsafe fn read(call: Call, place: usize) -> Self {
        // SAFETY: the argument is a scheme's name, of type text and not NULL, as the caller promises.
        unsafe { Utf8::read(call, place) }.parse().unwrap_or_report()
    }
}
