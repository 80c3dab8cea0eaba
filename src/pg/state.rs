//! States of aggregates that are values of type bytea, of one length, which are changed in place. Servers
//! send them to one another (Citus), so the form is a protocol; another form gets another mark.

use super::call::{Call, sql_value};
use super::report::{self, SqlError};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

/// What a state begins with.
type Mark = [u8; 8];

/// The form of the states of an aggregate: a mark, and zeros at first.
pub(crate) struct StateForm {
    pub(crate) aggregate: &'static str,
    pub(crate) mark: &'static Mark,
    /// Bytes after the mark.
    pub(crate) bytes: usize,
}

/// A state, checked to be of a form.
#[derive(Clone, Copy)]
pub(crate) struct State(*mut pg_sys::varlena);

impl StateForm {
    /// A state among the arguments, if it is not NULL.
    pub(crate) fn at(&self, call: Call, index: usize) -> Result<Option<State>, SqlError> {
        if call.is_null(index) {
            return Ok(None);
        }
        // SAFETY: a bytea, of which no more is read than its mark unless it has the length and the mark of a
        // state. One of that length is a state only if it is neither compressed nor out of line.
        unsafe {
            let is_plain = |state| pgrx::varatt_is_4b_u(state) && pgrx::varsize_4b(state) == self.size();
            let mut state: *mut pg_sys::varlena = call.pointer(index);
            if !is_plain(state) {
                state = pg_sys::pg_detoast_datum(state);
            }
            let is_state = is_plain(state) && *State(state).bytes().cast::<Mark>() == *self.mark;
            if is_state { Ok(Some(State(state))) } else { Err(self.damaged()) }
        }
    }

    /// The state that comes first, to be changed in place: the aggregate's own, a new one, or a copy of what
    /// somebody passes who is no aggregate.
    pub(crate) fn to_change(&self, call: Call) -> Result<State, SqlError> {
        // SAFETY: the information is that of the call in progress; the context is not asked for.
        let in_aggregate = unsafe { pg_sys::AggCheckCallContext(call.info(), std::ptr::null_mut()) } != 0;
        match self.at(call, 0)? {
            Some(state) if in_aggregate => Ok(state),
            // SAFETY: a state, as was checked.
            Some(state) => Ok(State(unsafe { pg_sys::pg_detoast_datum_copy(state.0) })),
            None => Ok(self.new_state()),
        }
    }

    fn new_state(&self) -> State {
        // SAFETY: the memory has as many bytes as are written.
        unsafe {
            let state = State(pg_sys::palloc0(self.size()).cast());
            pgrx::set_varsize_4b(state.0, self.size() as i32);
            state.bytes().cast::<Mark>().write(*self.mark);
            state
        }
    }

    /// Bytes of a state, with the header of a bytea.
    fn size(&self) -> usize {
        pg_sys::VARHDRSZ + size_of::<Mark>() + self.bytes
    }

    fn damaged(&self) -> SqlError {
        let message = format!("state of {} is damaged", self.aggregate);
        report::report(Code::ERRCODE_INVALID_BINARY_REPRESENTATION, message)
    }
}

impl State {
    fn bytes(self) -> *mut u8 {
        self.0.cast::<u8>().wrapping_add(pg_sys::VARHDRSZ)
    }

    /// What follows the mark.
    pub(crate) fn contents(self) -> *mut u8 {
        self.bytes().wrapping_add(size_of::<Mark>())
    }
}

sql_value!(State, write: |state| state.0.into());
