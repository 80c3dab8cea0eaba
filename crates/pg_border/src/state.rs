//! Aggregate states of type bytea, which have a fixed length and are changed in place. Servers send them to
//! each other (Citus), so the form is a protocol: another form needs another mark.

use super::call::{Call, sql_value};
use super::report::{self, SqlError};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

/// The first bytes of a state.
type Mark = [u8; 8];

/// The form of an aggregate's state: a mark, followed by bytes that are zero at first.
pub struct StateForm {
    /// The name of the aggregate, for messages.
    pub aggregate: &'static str,
    /// The first bytes of each state.
    pub mark: &'static Mark,
    /// Bytes after the mark.
    pub bytes: usize,
}

/// A state that was checked to have its form.
#[derive(Clone, Copy)]
pub struct State(*mut pg_sys::varlena);

impl StateForm {
    /// The state in an argument; `None` if the argument is NULL.
    pub fn at(&self, call: Call, index: usize) -> Result<Option<State>, SqlError> {
        if call.is_null(index) {
            return Ok(None);
        }
        // SAFETY: the argument is a bytea. Only its mark is read unless its length and its mark are those of
        // a state. A bytea that is compressed or out of line is unpacked first.
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

    /// The state in the first argument, to be changed in place: the aggregate's own state, a new one, or a
    /// copy if the function was called outside an aggregate.
    pub fn to_change(&self, call: Call) -> Result<State, SqlError> {
        // SAFETY: the call is in progress, and no context is requested.
        let in_aggregate = unsafe { pg_sys::AggCheckCallContext(call.info(), std::ptr::null_mut()) } != 0;
        match self.at(call, 0)? {
            Some(state) if in_aggregate => Ok(state),
            // SAFETY: the argument was checked to be a state.
            Some(state) => Ok(State(unsafe { pg_sys::pg_detoast_datum_copy(state.0) })),
            None => Ok(self.new_state()),
        }
    }

    fn new_state(&self) -> State {
        // SAFETY: the allocated memory has as many bytes as are written.
        unsafe {
            let state = State(pg_sys::palloc0(self.size()).cast());
            pgrx::set_varsize_4b(state.0, self.size() as i32);
            state.bytes().cast::<Mark>().write(*self.mark);
            state
        }
    }

    /// The size of a state in bytes, including the header of a bytea.
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

    /// The bytes after the mark.
    pub fn contents(self) -> *mut u8 {
        self.bytes().wrapping_add(size_of::<Mark>())
    }
}

sql_value!(State, write: |state| state.0.into());
