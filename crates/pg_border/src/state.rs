//! Aggregate states of type bytea, which have a fixed length and are changed in place. Servers send them to
//! each other (Citus), so the form is a protocol: another form needs another mark.

use super::call::{Call, Returned};
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
pub struct State {
    value: *mut pg_sys::varlena,
    /// The number of bytes after the mark.
    length: usize,
    /// Whether it may be changed.
    is_ours: bool,
}

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
            let is_state = is_plain(state) && *self.state(state).bytes().cast::<Mark>() == *self.mark;
            if is_state { Ok(Some(self.state(state))) } else { Err(self.damaged()) }
        }
    }

    /// The state in the first argument, to be changed in place: the aggregate's own state, a new one, or a
    /// copy if the function was called outside an aggregate.
    pub fn to_change(&self, call: Call) -> Result<State, SqlError> {
        // SAFETY: the call is in progress, and no context is requested.
        let in_aggregate = unsafe { pg_sys::AggCheckCallContext(call.info(), std::ptr::null_mut()) } != 0;
        match self.at(call, 0)? {
            Some(state) if in_aggregate => Ok(State { is_ours: true, ..state }),
            // SAFETY: the argument was checked to be a state.
            Some(state) => Ok(self.own(unsafe { pg_sys::pg_detoast_datum_copy(state.value) })),
            None => Ok(self.new_state()),
        }
    }

    fn state(&self, value: *mut pg_sys::varlena) -> State {
        State { value, length: self.bytes, is_ours: false }
    }

    fn own(&self, value: *mut pg_sys::varlena) -> State {
        State { is_ours: true, ..self.state(value) }
    }

    /// The state in the second argument, which is not the one that is changed.
    pub fn other(&self, call: Call, changed: &State) -> Result<Option<State>, SqlError> {
        let other = self.at(call, 1)?;
        assert!(other.as_ref().is_none_or(|other| other.value != changed.value), "two states are two values");
        Ok(other)
    }

    fn new_state(&self) -> State {
        // SAFETY: the allocated memory has as many bytes as are written.
        unsafe {
            let state = self.own(pg_sys::palloc0(self.size()).cast());
            pgrx::set_varsize_4b(state.value, self.size() as i32);
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
    fn bytes(&self) -> *mut u8 {
        self.value.cast::<u8>().wrapping_add(pg_sys::VARHDRSZ)
    }

    /// The bytes after the mark.
    pub fn contents(&self) -> &[u8] {
        // SAFETY: the state was checked to have this length.
        unsafe { std::slice::from_raw_parts(self.bytes().wrapping_add(size_of::<Mark>()), self.length) }
    }

    /// The bytes after the mark, to be changed.
    pub fn contents_mut(&mut self) -> &mut [u8] {
        assert!(self.is_ours, "only the state of the aggregate is changed");
        // SAFETY: the state was checked to have this length. It is the aggregate's own or a copy, and a call
        // gets it once.
        unsafe { std::slice::from_raw_parts_mut(self.bytes().wrapping_add(size_of::<Mark>()), self.length) }
    }
}

impl Returned for State {
    fn datum(self, _: Call) -> pg_sys::Datum {
        self.value.into()
    }
}
