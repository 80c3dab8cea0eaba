//! An access method whose indexes are in the memory of the session, as an example of what `pg_border` is for.
//!
//! `tests/t/041_toy_access_method.pl` loads it into a server. An index is on a column of type integer of a
//! temporary table, which no other session sees and which ends with the session, and serves `=`. PostgreSQL
//! stores nothing of it but the file, which is empty and whose number identifies the entries: a rollback of
//! TRUNCATE or REINDEX brings the old file back, and with it the old entries.
#![forbid(unsafe_code)]

use pg_border::access_method::{
    AccessMethod, BuiltIndex, DeadRowCheck, IndexOptions, IndexPages, IndexRow, Properties, RemovedRows,
    ScanDescriptor, TableScan, TidBitmap, VacuumInfo, handler,
};
use pg_border::call::{Call, pg_functions};
use pg_border::catalog::operator_classes::OperatorClass;
use pg_border::index_cost::{IndexCost, IndexCostFunction, PlannedSearch};
use pg_border::interrupts::check_for_interrupts;
use pg_border::library::pg_library;
use pg_border::open_index::OpenIndex;
use pg_border::report::{UnwrapOrReport, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED;
use pgrx::pg_sys::{Datum, INT4OID, ItemPointerData, Oid};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;

pg_library!(initialize);
pg_functions!(remembered_handler);

fn initialize() {
    OPTIONS.register();
}

fn remembered_handler(_: Call) -> Datum {
    handler::<Remembered>()
}

/// The rows with each value.
type Entries = BTreeMap<i32, Vec<ItemPointerData>>;

thread_local! {
    /// The entries of each index, by the number of its file.
    static INDEXES: RefCell<HashMap<Oid, Entries>> = RefCell::default();
}

/// There are no storage parameters.
static OPTIONS: IndexOptions = IndexOptions::new(&[]);

/// Calls `use_` with the entries of an index.
fn with_entries<R>(index: OpenIndex<'_>, use_: impl FnOnce(&mut Entries) -> R) -> R {
    INDEXES.with_borrow_mut(|indexes| use_(indexes.entry(index.file()).or_default()))
}

fn add(entries: &mut Entries, row: IndexRow<'_>) {
    // No operator finds NULL.
    if let Some(value) = row.value(0).and_then(|value| value.as_integer()) {
        entries.entry(value).or_default().push(row.address());
    }
}

/// The access method.
struct Remembered;

/// The state of a scan.
#[derive(Default)]
struct FoundRows {
    rows: Vec<ItemPointerData>,
    /// How many of them have been returned.
    returned: usize,
}

impl AccessMethod for Remembered {
    const PROPERTIES: Properties = Properties {
        strategies: 1,
        can_order_by_operator: false,
        can_multicolumn: false,
        optional_key: false,
        search_nulls: false,
        use_maintenance_work_mem: false,
        parallel_vacuum: 0,
        can_parallel: false,
    };
    const OPTIONS: &'static IndexOptions = &OPTIONS;

    type Inserts = ();
    type Scan = FoundRows;
    type Shared = ();

    fn build(index: OpenIndex<'_>, table: TableScan<'_>) -> BuiltIndex {
        if !index.is_temporary() || index.class_type(0) != INT4OID {
            let message = "access method \"remembered\" is for integers of temporary tables";
            Err(report(ERRCODE_FEATURE_NOT_SUPPORTED, message)).unwrap_or_report()
        }
        let mut entries = Entries::new();
        let table_rows = table.each_row(|row| add(&mut entries, row));
        let index_rows = entries.values().map(Vec::len).sum::<usize>() as f64;
        with_entries(index, |all| *all = entries);
        BuiltIndex { table_rows, index_rows }
    }

    fn build_empty(_index: OpenIndex<'_>) {
        // Only indexes of unlogged tables are reset, and temporary tables are not unlogged.
    }

    fn phase_name(_phase: i64) -> Option<&'static CStr> {
        None
    }

    fn begin_inserts(_index: OpenIndex<'_>) {}

    fn insert(_inserts: &mut (), row: IndexRow<'_>) {
        with_entries(row.index(), |entries| add(entries, row));
    }

    fn remove_dead_rows(vacuum: VacuumInfo<'_>, dead: DeadRowCheck<'_>) -> RemovedRows {
        with_entries(vacuum.index(), |entries| {
            let count = |entries: &Entries| entries.values().map(Vec::len).sum::<usize>() as u64;
            let before = count(entries);
            for rows in entries.values_mut() {
                rows.retain(|row| !is_set(*row, dead));
            }
            entries.retain(|_, rows| !rows.is_empty());
            let remaining = count(entries);
            RemovedRows { remaining, removed: before - remaining }
        })
    }

    fn visit_rows(vacuum: VacuumInfo<'_>, visited: DeadRowCheck<'_>) -> u64 {
        with_entries(vacuum.index(), |entries| {
            let rows = entries.values().flatten();
            rows.map(|row| _ = is_set(*row, visited)).count() as u64
        })
    }

    fn clean_up(_vacuum: VacuumInfo<'_>) -> IndexPages {
        IndexPages { all: 0, free: 0 }
    }

    fn can_return(_index: OpenIndex<'_>, _column: usize) -> bool {
        false
    }

    fn can_order_by_distance(_column: usize, _class_type: Oid) -> bool {
        false
    }

    fn is_valid(class: &OperatorClass) -> bool {
        class.input_type == INT4OID
    }

    fn begin_scan(_index: OpenIndex<'_>) -> FoundRows {
        FoundRows::default()
    }

    fn search(scan: &mut FoundRows, descriptor: &ScanDescriptor<'_, ()>) {
        // A row has to have the value of each key.
        let mut values = descriptor.keys().map(|key| key.operand().and_then(|value| value.as_integer()));
        let first = values.next().flatten();
        let wanted = first.filter(|_| values.all(|value| value == first));
        let found = |entries: &mut Entries| wanted.and_then(|value| entries.get(&value).cloned());
        *scan = FoundRows { rows: with_entries(descriptor.index(), found).unwrap_or_default(), returned: 0 };
    }

    fn next(scan: &mut FoundRows, descriptor: &ScanDescriptor<'_, ()>) -> bool {
        check_for_interrupts();
        let Some(&row) = scan.rows.get(scan.returned) else { return false };
        scan.returned += 1;
        let is_rechecked = !descriptor.has_mvcc_snapshot();
        descriptor.give_row(row, is_rechecked);
        true
    }

    fn fill(scan: &mut FoundRows, _: &ScanDescriptor<'_, ()>, mut bitmap: TidBitmap<'_>) -> u64 {
        let are_rechecked = false;
        bitmap.add(&mut scan.rows, are_rechecked);
        scan.rows.len() as u64
    }
}

/// Whether the check says so of a row.
fn is_set(row: ItemPointerData, check: DeadRowCheck<'_>) -> bool {
    let page = u32::from(row.ip_blkid.bi_hi) << 16 | u32::from(row.ip_blkid.bi_lo);
    let one = 1;
    check.are_dead(page, row.ip_posid, one) != 0
}

impl IndexCostFunction for Remembered {
    fn cost(search: PlannedSearch<'_>) -> IndexCost {
        let general = search.general_estimate();
        IndexCost {
            startup: general.indexStartupCost,
            total: general.indexTotalCost,
            selectivity: general.indexSelectivity,
            pages: general.numIndexPages,
        }
    }
}
