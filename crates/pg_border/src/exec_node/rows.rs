//! Rows of children and of stores as the current row of a node, and the expressions that are evaluated for
//! it.

use crate::executor::{holds, projected, reset, value, virtual_row};
use crate::memory::in_memory;
use crate::report::SqlError;
use crate::row_store::{BatchRow, RowSource, RowStore, StorableRow};
use crate::value::Value;
use crate::varlena::unpacked;
use pgrx::pg_sys::{Datum, ExprContext, ExprState, MemoryContext, Oid, ProjectionInfo, TupleTableSlot};
use std::marker::PhantomData;

/// A row of a child, which lives until the next row is requested.
#[derive(Clone, Copy)]
pub struct ChildRow<'a> {
    pub(crate) source: RowSource,
    /// Memory that is freed when the next row is read.
    pub(crate) memory: MemoryContext,
    /// The number of its first column among the columns of all children.
    pub(super) first: usize,
    pub(crate) values: &'a [Datum],
    pub(crate) nulls: &'a [bool],
}

impl StorableRow for ChildRow<'_> {
    #[inline]
    fn store(&self, rows: &mut RowStore) -> Result<(), SqlError> {
        assert_eq!(rows.source(), self.source, "a store has rows of one child");
        // SAFETY: the store was made for the rows of this child, whose memory is freed with the row. A value
        // that is out of line leaves a copy of its pointer there.
        unsafe {
            if rows.has_bytes() {
                in_memory(self.memory, || rows.push(self.values, self.nulls))?;
            } else {
                rows.push(self.values, self.nulls)?;
            }
        }
        Ok(())
    }
}

/// The most children that a node has.
pub(super) const MOST_CHILDREN: usize = 2;

/// An expression without columns that returns an integer.
#[derive(Clone, Copy)]
pub struct Integer(pub(super) usize);

/// Conditions, all of which have to hold.
#[derive(Clone, Copy)]
pub struct Qual(pub(super) usize);

/// An expression that is evaluated for the rows of a child.
pub(super) struct ChildExpression {
    pub(super) child: usize,
    pub(super) state: *mut ExprState,
    pub(super) type_: Oid,
    /// Whether its values have different lengths, and may be compressed.
    pub(super) is_variable: bool,
}

/// Evaluates expressions for a row.
pub struct RowEvaluation {
    /// A number that no other node has.
    pub(super) number: u64,
    pub(super) context: *mut ExprContext,
    /// The columns of all children.
    pub(super) row: *mut TupleTableSlot,
    /// The row that is shown: the same, or the one that the node returns if it computes nothing.
    pub(super) output: *mut TupleTableSlot,
    /// Null if the node returns `output` as it is.
    pub(super) projection: *mut ProjectionInfo,
    pub(super) expressions: Vec<ChildExpression>,
    pub(super) integers: Vec<*mut ExprState>,
    pub(super) quals: Vec<*mut ExprState>,
    /// The values of the expressions for the last row. Their lifetime is that of the row.
    pub(super) values: Vec<Value<'static>>,
    /// The versions of the stores whose rows are shown; 0 if none are.
    pub(super) shown: [u64; MOST_CHILDREN],
    /// Whether expressions are evaluated for the row that is shown.
    pub(super) computes: bool,
}

impl RowEvaluation {
    /// Memory that [`reset`](Self::reset) frees.
    #[inline]
    pub(super) fn memory_of_row(&self) -> MemoryContext {
        // SAFETY: the node is being executed.
        unsafe { (*self.context).ecxt_per_tuple_memory }
    }

    #[inline]
    pub(super) fn source_of(&self, child: usize) -> RowSource {
        RowSource::Child(self.number, child)
    }

    /// Frees the memory that the expressions for the last row have used.
    pub fn reset(&mut self) {
        // SAFETY: the node is being executed.
        unsafe { reset(self.context) };
    }

    /// The value of an expression without columns; `None` if it is NULL.
    pub fn integer(&mut self, Integer(place): Integer) -> Option<i32> {
        self.shown = [0; MOST_CHILDREN];
        // SAFETY: the node is being executed. The expression returns an integer, and reads no row.
        unsafe { value(self.integers[place], self.context) }.map(|datum| datum.value() as i32)
    }

    /// Whether there are no conditions.
    #[inline]
    pub fn is_empty(&self, Qual(place): Qual) -> bool {
        self.quals[place].is_null()
    }

    /// Evaluates the expressions for a child's row. There are no values if one of them is NULL.
    pub fn values(&mut self, child: usize, row: ChildRow<'_>) -> &[Value<'_>] {
        assert_eq!(row.source, self.source_of(child), "expressions are evaluated for rows of their child");
        self.shown = [0; MOST_CHILDREN];
        self.values.clear();
        let columns = row.first..row.first + row.values.len();
        // SAFETY: the node is being executed. The expressions refer to columns of all children, but read only
        // those of this child. The values of the row have the types of these columns.
        unsafe {
            let (values, nulls) = virtual_row(self.row);
            values[columns.clone()].copy_from_slice(row.values);
            nulls[columns.clone()].copy_from_slice(row.nulls);
            (*self.context).ecxt_scantuple = self.row;
            for expression in self.expressions.iter().filter(|expression| expression.child == child) {
                let Some(value) = value(expression.state, self.context) else {
                    self.values.clear();
                    break;
                };
                let value = if expression.is_variable {
                    in_memory(self.memory_of_row(), || unpacked(value))
                } else {
                    value
                };
                self.values.push(Value::new(value, expression.type_));
            }
            // Columns that are not kept are NULL from now on.
            nulls[columns].fill(true);
        }
        &self.values
    }

    /// Makes rows of stores the current row, or NULLs where there is none: one for each child.
    #[inline]
    pub fn show<'a, const CHILDREN: usize>(
        &'a mut self,
        rows: [(&'a RowStore, Option<BatchRow>); CHILDREN],
    ) -> CurrentRow<'a> {
        // SAFETY: the node is being executed.
        let (values, nulls) = unsafe {
            if self.computes {
                reset(self.context);
                (*self.context).ecxt_scantuple = self.output;
            }
            virtual_row(self.output)
        };
        for (child, (store, row)) in rows.into_iter().enumerate() {
            assert_eq!(store.source(), RowSource::Child(self.number, child), "a store is for one child");
            self.shown[child] = store.version();
            store.put(row, values, nulls);
        }
        CurrentRow { evaluation: self, rows: PhantomData }
    }

    /// The row that the node returns for the current row. The stores must be those whose rows are shown, and
    /// must not have changed since.
    #[inline]
    pub fn returned<'a, const CHILDREN: usize>(
        &'a mut self,
        stores: [&'a RowStore; CHILDREN],
    ) -> ReturnedRow<'a> {
        let shown = self.shown.first_chunk::<CHILDREN>();
        assert_eq!(
            shown,
            Some(&stores.map(RowStore::version)),
            "rows are returned before their store changes"
        );
        // SAFETY: the node is being executed, and its current row has the values of these stores.
        ReturnedRow(unsafe { projected(self.projection, self.output) }, PhantomData)
    }
}

/// The current row, whose values are in the stores that it borrows.
pub struct CurrentRow<'a> {
    evaluation: &'a mut RowEvaluation,
    rows: PhantomData<&'a RowStore>,
}

impl CurrentRow<'_> {
    /// Whether the row satisfies conditions.
    #[inline]
    pub fn satisfies(&mut self, Qual(place): Qual) -> bool {
        // SAFETY: the node is being executed, and has a current row.
        unsafe { holds(self.evaluation.quals[place], self.evaluation.context) }
    }
}

/// A row that the node returns.
pub struct ReturnedRow<'a>(pub(super) *mut TupleTableSlot, PhantomData<&'a mut TupleTableSlot>);
