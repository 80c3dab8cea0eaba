//! Codes that a scan of an index returns, or compares.

use super::code::{Code, CodeType};
use crate::access_method::{ScanDescriptor, SharedByProcesses};
use crate::memory::in_memory;
use pgrx::pg_sys::{self, Datum, Oid};

impl<S: SharedByProcesses> ScanDescriptor<'_, S> {
    /// The value of the first column of the row, for an index-only scan; `None` is NULL. Other columns are
    /// NULL.
    pub fn give_code(&self, code: Option<Code<'_>>) {
        const COLUMNS: usize = pg_sys::INDEX_MAX_KEYS as usize;
        let mut values = [Datum::null(); COLUMNS];
        let mut are_null = [true; COLUMNS];
        let value = code.map(|code| self.datum_of(code));
        if let Some(value) = &value {
            values[0] = value.datum();
            are_null[0] = false;
        }
        // SAFETY: there are a value and a flag for each column. This function has made the last row, which
        // nobody uses any more.
        unsafe {
            let scan = self.scan;
            if !(*scan).xs_itup.is_null() {
                pg_sys::pfree((*scan).xs_itup.cast());
            }
            (*scan).xs_itup = in_memory(self.kept.memory, || {
                pg_sys::index_form_tuple((*scan).xs_itupdesc, values.as_mut_ptr(), are_null.as_mut_ptr())
            });
        }
    }

    /// A code of the type of the first column, in the current memory context.
    fn datum_of(&self, code: Code<'_>) -> CodeDatum {
        let is_of_column =
            self.codes().is_some_and(|codes| codes.is_integer() == matches!(code, Code::Integer(..)));
        assert!(is_of_column, "a code has the type of the column");
        match code {
            Code::Integer(word, _) => CodeDatum::ByValue(Datum::from(word)),
            Code::Bits(bits) => CodeDatum::Allocated(bits.datum()),
        }
    }

    /// Calls the first operator that rows are ordered by for a code of the column, for the error that it
    /// raises.
    #[cold]
    pub fn compare(&self, code: Code<'_>) {
        assert!(self.count_of_order_bys() > 0, "the scan is ordered");
        // SAFETY: the scan has keys to order by. A function that is called gets what it is declared with.
        unsafe {
            let order_by = (*self.scan).orderByData;
            if (*order_by).sk_flags as u32 & pg_sys::SK_ISNULL != 0 {
                return;
            }
            let code = self.datum_of(code);
            let taken = first_argument_of((*order_by).sk_func.fn_oid);
            assert_eq!(CodeType::of(taken), self.codes(), "the operator takes codes of the column");
            let function = &raw mut (*order_by).sk_func;
            let collation = (*order_by).sk_collation;
            pg_sys::FunctionCall2Coll(function, collation, code.datum(), (*order_by).sk_argument);
        }
    }

    /// The type of codes of the first column.
    fn codes(&self) -> Option<CodeType> {
        CodeType::of(self.index().class_type(0))
    }
}

/// The type of the first argument of a function.
fn first_argument_of(function: Oid) -> Oid {
    let mut types = std::ptr::null_mut();
    let mut count = 0;
    // SAFETY: the function looks a function up, and allocates an array with the types of its arguments.
    unsafe {
        pg_sys::get_func_signature(function, &raw mut types, &raw mut count);
        if count > 0 { *types } else { pg_sys::InvalidOid }
    }
}

/// A code as a datum, which is freed when this is dropped.
enum CodeDatum {
    ByValue(Datum),
    Allocated(Datum),
}

impl CodeDatum {
    fn datum(&self) -> Datum {
        match *self {
            Self::ByValue(datum) | Self::Allocated(datum) => datum,
        }
    }
}

impl Drop for CodeDatum {
    fn drop(&mut self) {
        if let Self::Allocated(datum) = *self
            && !std::thread::panicking()
        {
            // SAFETY: the memory was allocated for this datum.
            unsafe { pg_sys::pfree(datum.cast_mut_ptr()) };
        }
    }
}
