//! Access methods: kinds of indexes.
//!
//! A type that implements [`AccessMethod`] is one. PostgreSQL calls the functions of [`thunks`] and
//! [`scan_thunks`], each of which makes handles of the pointers that PostgreSQL passes and calls a method. A
//! handle is lent for the duration of a call. So what a method keeps for later calls, such as the state of a
//! scan, has no handle, and gets the index again with each call.

mod options;
mod rows;
mod scan;
mod scan_thunks;
mod shared;
mod thunks;
mod vacuum;

pub use options::{IndexOption, IndexOptions, OptionValues};
pub use rows::{IndexRow, TableScan, set_build_progress};
pub use scan::{ScanDescriptor, ScanKey, TidBitmap};
pub use shared::{SharedByProcesses, SharedOfScan};
pub use thunks::handler;
pub(crate) use thunks::has_method;
pub use vacuum::{DeadRowCheck, VacuumInfo};

use crate::catalog::operator_classes::OperatorClass;
use crate::index_cost::IndexCostFunction;
use crate::open_index::OpenIndex;
use pgrx::pg_sys::Oid;
use std::ffi::CStr;

/// An access method.
pub trait AccessMethod: IndexCostFunction + Sized + 'static {
    /// What the planner and the catalog functions know of it.
    const PROPERTIES: Properties;
    /// The storage parameters of its indexes.
    const OPTIONS: &'static IndexOptions;

    /// What the inserts of a statement into one index keep from row to row.
    type Inserts: 'static;
    /// The state of a scan.
    type Scan: 'static;
    /// What the processes of a parallel scan share.
    type Shared: SharedByProcesses;

    /// Builds an index, which has no pages yet, of a table.
    fn build(index: OpenIndex<'_>, table: TableScan<'_>) -> BuiltIndex;

    /// Builds the empty index to which an unlogged index is reset after a crash.
    fn build_empty(index: OpenIndex<'_>);

    /// The name of a phase of a build, by its number.
    fn phase_name(phase: i64) -> Option<&'static CStr>;

    /// Called before the first row that a statement inserts into an index.
    fn begin_inserts(index: OpenIndex<'_>) -> Self::Inserts;

    /// Inserts a row.
    fn insert(inserts: &mut Self::Inserts, row: IndexRow<'_>);

    /// Removes the dead rows.
    fn remove_dead_rows(vacuum: VacuumInfo<'_>, dead: DeadRowCheck<'_>) -> RemovedRows;

    /// Has each row of the index checked, for CREATE INDEX CONCURRENTLY. Returns how many there are.
    fn visit_rows(vacuum: VacuumInfo<'_>, visited: DeadRowCheck<'_>) -> u64;

    /// Ends a vacuum that has removed rows.
    fn clean_up(vacuum: VacuumInfo<'_>) -> IndexPages;

    /// Whether an index-only scan can return the values of a column, counted from 0, which is the first one.
    fn can_return(index: OpenIndex<'_>, column: usize) -> bool;

    /// Whether rows can be ordered by the distance of a column, counted from 0. The type is the input type of
    /// its operator class.
    fn can_order_by_distance(column: usize, class_type: Oid) -> bool;

    /// Checks an operator class, and reports what is wrong with it.
    fn is_valid(class: &OperatorClass) -> bool;

    /// Begins a scan, whose keys come later.
    fn begin_scan(index: OpenIndex<'_>) -> Self::Scan;

    /// Begins the search for the keys of the scan, at first or again.
    fn search(scan: &mut Self::Scan, descriptor: &ScanDescriptor<'_, Self::Shared>);

    /// Gives the descriptor the next row. Returns false after the last one.
    fn next(scan: &mut Self::Scan, descriptor: &ScanDescriptor<'_, Self::Shared>) -> bool;

    /// Adds all rows to a bitmap. Returns their number.
    fn fill(
        scan: &mut Self::Scan,
        descriptor: &ScanDescriptor<'_, Self::Shared>,
        bitmap: TidBitmap<'_>,
    ) -> u64;
}

/// What the planner and the catalog functions know of an access method.
#[derive(Clone, Copy)]
pub struct Properties {
    /// The largest strategy of its operator classes.
    pub strategies: u16,
    /// Whether rows can be ordered by an operator.
    pub can_order_by_operator: bool,
    /// Whether an index can have several columns.
    pub can_multicolumn: bool,
    /// Whether an index can be scanned without a condition on its first column.
    pub optional_key: bool,
    /// Whether IS NULL and IS NOT NULL can be searched for.
    pub search_nulls: bool,
    /// Whether a vacuum is limited by `maintenance_work_mem`.
    pub use_maintenance_work_mem: bool,
    /// The options of a parallel vacuum.
    pub parallel_vacuum: u8,
    /// Whether several processes can divide a scan among themselves.
    pub can_parallel: bool,
}

/// How many rows the table has, and how many the new index.
pub struct BuiltIndex {
    /// The rows of the table.
    pub table_rows: f64,
    /// The rows of the index.
    pub index_rows: f64,
}

/// What a vacuum has removed.
pub struct RemovedRows {
    /// The rows that remain.
    pub remaining: u64,
    /// The rows that were removed.
    pub removed: u64,
}

/// The pages of an index after a vacuum.
pub struct IndexPages {
    /// All pages.
    pub all: u32,
    /// The pages that are not in use.
    pub free: u32,
}
