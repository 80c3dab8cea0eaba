//! Scans of an index: what the executor passes, and what it gets back.

use super::shared::{HasEnded, SharedByProcesses, SharedOfScan};
use crate::compat::{count_scan, shared_by_scan};
use crate::open_index::{ColumnTypes, OpenIndex};
use crate::table_rows::TableRows;
use crate::value::Value;
use pgrx::pg_sys::{self, Datum, IndexScanDesc, ItemPointerData, Oid, ScanKeyData};
use std::cell::Cell;
use std::marker::PhantomData;

/// What the border keeps for a scan between calls.
pub(crate) struct KeptOfScan {
    /// The memory context of the scan's state, which is deleted with it.
    pub(crate) memory: pg_sys::MemoryContext,
    /// Set when the state is dropped. Then the shared memory of the scan cannot be used any more.
    pub(super) has_ended: HasEnded,
    /// For rows of the table; null until it is needed.
    pub(super) slot: Cell<*mut pg_sys::TupleTableSlot>,
    /// Whether the slot has a row that is being read.
    pub(super) is_slot_used: Cell<bool>,
}

/// A scan that has begun, for the duration of a call. The processes of a parallel scan share a value of type
/// `S`.
pub struct ScanDescriptor<'a, S> {
    /// The executor reads and writes the struct as well. So there are no references to it.
    pub(crate) scan: IndexScanDesc,
    pub(crate) kept: &'a KeptOfScan,
    shared: PhantomData<fn() -> S>,
}

impl<'a, S: SharedByProcesses> ScanDescriptor<'a, S> {
    /// # Safety
    /// The scan must have begun, and not end as long as the lifetime says. Its processes must
    /// share a value of this type, and the state must be its own.
    pub(super) unsafe fn new(scan: IndexScanDesc, kept: &'a KeptOfScan) -> Self {
        Self { scan, kept, shared: PhantomData }
    }

    /// The index.
    pub fn index(&self) -> OpenIndex<'a> {
        // SAFETY: the index is open as long as the scan.
        unsafe { OpenIndex::new((*self.scan).indexRelation) }
    }

    /// The conditions.
    pub fn keys(&self) -> impl Iterator<Item = ScanKey<'_>> + Clone {
        // SAFETY: a scan has so many keys.
        unsafe { self.keys_at((*self.scan).keyData, (*self.scan).numberOfKeys) }
    }

    /// What the rows are ordered by.
    pub fn order_bys(&self) -> impl Iterator<Item = ScanKey<'_>> + Clone {
        // SAFETY: a scan has so many keys.
        unsafe { self.keys_at((*self.scan).orderByData, (*self.scan).numberOfOrderBys) }
    }

    /// # Safety
    /// There must be so many keys of the scan.
    unsafe fn keys_at(&self, keys: pg_sys::ScanKey, count: i32) -> impl Iterator<Item = ScanKey<'_>> + Clone {
        let index = self.index();
        // SAFETY: there are so many keys, as the caller promises. Their operands live until the search begins
        // again.
        (0..count as usize).map(move |place| unsafe { ScanKey::new(&*keys.add(place), index) })
    }

    /// How many operators rows are ordered by.
    #[inline]
    pub fn count_of_order_bys(&self) -> usize {
        // SAFETY: the scan has begun.
        unsafe { (*self.scan).numberOfOrderBys as usize }
    }

    /// Whether this is an index-only scan, which returns values of columns.
    #[inline]
    pub fn wants_values(&self) -> bool {
        // SAFETY: the scan has begun.
        unsafe { (*self.scan).xs_want_itup }
    }

    /// Whether the snapshot of the scan is an MVCC snapshot.
    #[inline]
    pub fn has_mvcc_snapshot(&self) -> bool {
        use pg_sys::SnapshotType::{SNAPSHOT_HISTORIC_MVCC, SNAPSHOT_MVCC};
        // SAFETY: the field is null or points to a snapshot.
        let kind = unsafe { (*self.scan).xs_snapshot.as_ref() }.map(|snapshot| snapshot.snapshot_type);
        kind.is_some_and(|kind| kind == SNAPSHOT_MVCC || kind == SNAPSHOT_HISTORIC_MVCC)
    }

    /// The snapshot of the scan, or null.
    pub(crate) fn snapshot(&self) -> pg_sys::Snapshot {
        // SAFETY: the scan has begun.
        unsafe { (*self.scan).xs_snapshot }
    }

    /// The table; null if the scan fills a bitmap.
    pub(crate) fn table(&self) -> pg_sys::Relation {
        // SAFETY: the scan has begun.
        unsafe { (*self.scan).heapRelation }
    }

    /// Counts a search in the statistics of the index.
    pub fn count(&self) {
        // SAFETY: the scan has begun, and there are no other references to it.
        unsafe { count_scan(&mut *self.scan) }
    }

    /// The rows of the table. The scan must be one that returns rows, not a bitmap.
    pub fn table_rows(&self) -> TableRows<'_> {
        assert!(!self.table().is_null(), "a scan that returns rows has its table");
        // SAFETY: the scan has begun, and has its table. The slot is dropped when the scan ends.
        unsafe { TableRows::of(self.scan, self.kept.memory, &self.kept.slot, &self.kept.is_slot_used) }
    }

    /// What the processes of the scan share, if it is parallel.
    pub fn shared(&self) -> Option<SharedOfScan<S>> {
        // SAFETY: the scan has begun.
        let shared: *const S = unsafe { shared_by_scan(&*self.scan) }.cast();
        // SAFETY: the function that initializes the memory has written this type.
        (!shared.is_null()).then(|| unsafe { SharedOfScan::new(shared, &self.kept.has_ended) })
    }

    /// The next row for the executor, which has to check the conditions for it if `is_rechecked`. Its
    /// distances are exact, unless [`recheck_order`](Self::recheck_order) is called afterwards.
    #[inline]
    pub fn give_row(&self, row: ItemPointerData, is_rechecked: bool) {
        // SAFETY: the scan has begun.
        unsafe {
            (*self.scan).xs_heaptid = row;
            (*self.scan).xs_recheck = is_rechecked;
            (*self.scan).xs_recheckorderby = false;
        }
    }

    /// Has the executor compute the first distance of the row, because it is not known.
    #[cold]
    pub fn recheck_order(&self) {
        // SAFETY: the scan has begun.
        unsafe { (*self.scan).xs_recheckorderby = true };
    }

    /// One of the distances of the row; `None` is NULL.
    #[inline]
    pub fn give_distance(&self, place: usize, distance: Option<i32>) {
        assert!(place < self.count_of_order_bys(), "a row has a distance for each operator");
        // SAFETY: the scan has a value and a flag for each distance.
        unsafe {
            *(*self.scan).xs_orderbyvals.add(place) = Datum::from(distance.unwrap_or(0));
            *(*self.scan).xs_orderbynulls.add(place) = distance.is_none();
        }
    }
}

/// A condition of a scan, or what its rows are ordered by: `column operator operand`.
#[derive(Clone, Copy)]
pub struct ScanKey<'a> {
    index: OpenIndex<'a>,
    flags: u32,
    attribute: i16,
    strategy: i16,
    function: Oid,
    /// The type of the operand, or invalid.
    subtype: Oid,
    operand: Datum,
}

impl<'a> ScanKey<'a> {
    /// # Safety
    /// The key must belong to a scan of the index, and its operand live as long as the lifetime says.
    unsafe fn new(key: &ScanKeyData, index: OpenIndex<'a>) -> Self {
        Self {
            index,
            flags: key.sk_flags as u32,
            attribute: key.sk_attno,
            strategy: key.sk_strategy as i16,
            function: key.sk_func.fn_oid,
            subtype: key.sk_subtype,
            operand: key.sk_argument,
        }
    }

    fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The column, counted from 0.
    pub fn column(self) -> usize {
        self.attribute as usize - 1
    }

    /// The strategy of the operator.
    pub fn strategy(self) -> i16 {
        self.strategy
    }

    /// The function of the operator; invalid if there is none.
    pub fn function(self) -> Oid {
        self.function
    }

    /// The type of the operand, which may be polymorphic. The check of an exclusion constraint passes none.
    /// Then the operand has the type of the column.
    pub fn operand_type(self) -> Oid {
        match self.subtype {
            pg_sys::InvalidOid => self.index.class_type(self.column()),
            type_ => type_,
        }
    }

    /// Whether rows are ordered by the operator.
    pub fn is_order_by(self) -> bool {
        self.has(pg_sys::SK_ORDER_BY)
    }

    /// Whether the condition is IS NULL.
    pub fn is_null_test(self) -> bool {
        self.has(pg_sys::SK_SEARCHNULL)
    }

    /// Whether the condition is IS NOT NULL.
    pub fn is_not_null_test(self) -> bool {
        self.has(pg_sys::SK_SEARCHNOTNULL)
    }

    /// The operand; `None` if it is NULL, or if the condition has none.
    pub fn operand(self) -> Option<Value<'a>> {
        self.value(self.operand_type())
    }

    /// The operand. If its type is that of the operator class, it gets the type of the column, which may be
    /// more specific.
    pub fn operand_like_column(self, types: &ColumnTypes) -> Option<Value<'a>> {
        let column = self.column();
        let is_of_class = self.operand_type() == self.index.class_type(column);
        self.value(if is_of_class { types.of_column(self.index, column) } else { self.operand_type() })
    }

    fn value(self, type_: Oid) -> Option<Value<'a>> {
        let has_operand = !self.has(pg_sys::SK_ISNULL | pg_sys::SK_SEARCHNULL | pg_sys::SK_SEARCHNOTNULL);
        // SAFETY: the operator of a key takes an operand of this type.
        has_operand.then(|| unsafe { Value::new(self.operand, type_) })
    }
}

/// A bitmap of rows.
pub struct TidBitmap<'a> {
    bitmap: *mut pg_sys::TIDBitmap,
    life: PhantomData<&'a mut pg_sys::TIDBitmap>,
}

impl TidBitmap<'_> {
    /// # Safety
    /// The bitmap must be alive as long as the lifetime says.
    pub(super) unsafe fn new(bitmap: *mut pg_sys::TIDBitmap) -> Self {
        Self { bitmap, life: PhantomData }
    }

    /// Adds rows, whose conditions the executor has to check if `are_rechecked`.
    pub fn add(&mut self, rows: &mut [ItemPointerData], are_rechecked: bool) {
        // SAFETY: the bitmap is alive, and there are so many rows.
        unsafe { pg_sys::tbm_add_tuples(self.bitmap, rows.as_mut_ptr(), rows.len() as i32, are_rechecked) }
    }
}
