//! Window functions: the rows of a partition, and memory that lives as long as the partition.
#![allow(non_snake_case, reason = "names of PostgreSQL's own")]

use super::call::{Argument, Call};
use super::datum::DatumLayout;
use super::report::{SqlError, UnwrapOrReport, report};
use super::value::Value;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::{PgMemoryContexts, pg_sys};
use std::any::TypeId;
use std::ffi::c_int;

/// Declared in windowapi.h, which pgrx leaves out.
mod header {
    use pgrx::{pg_guard, pg_sys};
    use std::ffi::c_int;

    #[pg_guard]
    unsafe extern "C-unwind" {
        fn WinGetPartitionLocalMemory(
            window: *mut pg_sys::WindowObjectData,
            size: usize,
        ) -> *mut *mut std::ffi::c_void;
        fn WinGetPartitionRowCount(window: *mut pg_sys::WindowObjectData) -> i64;
        fn WinGetFuncArgInPartition(
            window: *mut pg_sys::WindowObjectData,
            argument: c_int,
            position: c_int,
            seek_type: c_int,
            set_mark: bool,
            is_null: *mut bool,
            is_out: *mut bool,
        ) -> pg_sys::Datum;
        fn WinGetFuncArgCurrent(
            window: *mut pg_sys::WindowObjectData,
            argument: c_int,
            is_null: *mut bool,
        ) -> pg_sys::Datum;
    }
}
use header::{
    WinGetFuncArgCurrent, WinGetFuncArgInPartition, WinGetPartitionLocalMemory, WinGetPartitionRowCount,
};

/// `WINDOW_SEEK_HEAD` of windowapi.h: positions count from the first row of the partition.
const FROM_FIRST_ROW: c_int = 1;

/// The state of a partition, after its type.
#[repr(C)]
struct PartitionState<T> {
    type_: TypeId,
    state: T,
}

/// The partition for which a window function is called, at its current row.
pub struct WindowPartition {
    window: *mut pg_sys::WindowObjectData,
    call: Call,
}

impl Argument for WindowPartition {
    unsafe fn read(call: Call, _: usize) -> Self {
        // SAFETY: the call is in progress, and its context is null or a node, which is a window if the
        // function is called for one.
        let window = unsafe {
            let context = (*call.info()).context;
            let is_window = !context.is_null() && pgrx::is_a(context, pg_sys::NodeTag::T_WindowObjectData);
            is_window.then(|| context.cast())
        };
        Self { window: window.ok_or_else(not_a_window).unwrap_or_report(), call }
    }
}

fn not_a_window() -> SqlError {
    let message = "window function called in context that is not a window";
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

impl WindowPartition {
    /// How many rows the partition has.
    pub fn rows(&self) -> i64 {
        // SAFETY: the window is alive, as promised to `of`.
        unsafe { WinGetPartitionRowCount(self.window) }
    }

    /// Calls `take` for each row with the values of these arguments, unless they are NULL. The memory in
    /// which arguments are evaluated and `take` runs is freed after each row.
    ///
    /// All arguments are read in one pass: PostgreSQL reads the rows again to go back to the first one.
    pub fn each(
        &self,
        arguments: &[i32],
        rows: i32,
        mut take: impl FnMut(&[Option<Value<'_>>]) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let mut scratch = PgMemoryContexts::new("simhash_pg arguments of a window function");
        let mut values = vec![None; arguments.len()]; // Bounded: the arguments of a function.
        // Bounded: as many.
        let types: Vec<_> = arguments.iter().map(|&argument| self.argument_type(argument)).collect();
        // Bounded: as many.
        let layouts: Vec<_> = types.iter().map(|&type_| DatumLayout::of(type_)).collect();
        for row in 0..rows {
            // SAFETY: the memory context belongs to this function.
            unsafe {
                scratch.switch_to(|_| {
                    for (place, &argument) in arguments.iter().enumerate() {
                        // The next call of the function frees the row that this value may belong to.
                        values[place] = self
                            .argument_of(argument, row)
                            .map(|value| Value::new(layouts[place].copy(value), types[place]));
                    }
                    take(&values)
                })
            }?;
            // SAFETY: no value in the memory context is used any more.
            unsafe { pg_sys::MemoryContextReset(scratch.value()) };
        }
        Ok(())
    }

    /// An argument at a row, if it is not NULL.
    fn argument_of(&self, argument: i32, row: i32) -> Option<pg_sys::Datum> {
        let mut is_null = true;
        let mut is_out = true;
        // SAFETY: the window is alive; the function has this argument, and the partition this row.
        let value = unsafe {
            WinGetFuncArgInPartition(
                self.window,
                argument,
                row,
                FROM_FIRST_ROW,
                false,
                &raw mut is_null,
                &raw mut is_out,
            )
        };
        (!is_null && !is_out).then_some(value)
    }

    /// An argument at the current row, if it is not NULL. It lives until another argument is read.
    pub fn argument(&mut self, argument: i32) -> Option<Value<'_>> {
        assert!((0..self.arguments()).contains(&argument), "the function has the argument");
        let mut is_null = true;
        // SAFETY: the window is alive; the function has this argument, whose type the call describes.
        unsafe {
            let value = WinGetFuncArgCurrent(self.window, argument, &raw mut is_null);
            (!is_null).then(|| Value::new(value, self.argument_type(argument)))
        }
    }

    /// The state of this partition. It is created at the first call, and dropped when the partition ends. A
    /// window function has one type of state.
    pub fn state<T: 'static>(&mut self, make: impl FnOnce(&mut Self) -> T) -> &mut T {
        // SAFETY: PostgreSQL returns zeroed memory of this size, which lives as long as the partition. The
        // pointer in it is null or was written here, and the state begins with its type.
        unsafe {
            let place = WinGetPartitionLocalMemory(self.window, size_of::<*mut PartitionState<T>>());
            if (*place).is_null() {
                let state = PartitionState { type_: TypeId::of::<T>(), state: make(self) };
                *place = self.context().leak_and_drop_on_delete(state).cast();
            }
            assert_eq!(*(*place).cast::<TypeId>(), TypeId::of::<T>(), "a function has one type of state");
            &mut (*(*place).cast::<PartitionState<T>>()).state
        }
    }

    /// The number of arguments of the function.
    pub fn arguments(&self) -> i32 {
        // SAFETY: the call is in progress.
        unsafe { (*self.call.info()).nargs }.into()
    }

    /// The type of an argument.
    pub fn argument_type(&self, argument: i32) -> pg_sys::Oid {
        // SAFETY: the call describes its arguments.
        unsafe { pg_sys::get_fn_expr_argtype((*self.call.info()).flinfo, argument) }
    }

    /// The memory context of the partition.
    fn context(&self) -> PgMemoryContexts {
        // SAFETY: PostgreSQL has allocated the memory in the context that is looked up.
        unsafe {
            let place = WinGetPartitionLocalMemory(self.window, size_of::<*mut std::ffi::c_void>());
            PgMemoryContexts::For(pg_sys::GetMemoryChunkContext(place.cast()))
        }
    }
}
