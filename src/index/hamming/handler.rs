//! The access method: what PostgreSQL asks of it, and `hamming_handler`, which returns its functions and
//! properties.

use super::build::{build, build_empty, phase_name};
use super::hamming_cost::estimate;
use super::index_only::can_return;
use super::insert::Inserts;
use super::options::OPTIONS;
use super::scan::ScanState;
use super::vacuum::{clean_up, remove_dead_rows, visit_rows};
use super::validate::is_valid;
use crate::estimate::path_cost::CostedPath;
use crate::pg::access_method::{
    AccessMethod, BuiltIndex, DeadRowCheck, IndexOptions, IndexPages, IndexRow, Properties, RemovedRows,
    ScanDescriptor, TableScan, TidBitmap, VacuumInfo, handler,
};
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::operator_classes::OperatorClass;
use crate::pg::catalog::strategy::DISTANCE;
use crate::pg::code::CodeType;
use crate::pg::index_cost::{IndexCost, IndexCostFunction, PlannedSearch};
use crate::pg::open_index::OpenIndex;
use crate::pg::planned_index::PlannedIndex;
use hamming_index::SharedStretches;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CStr;

pg_functions!(hamming_handler);

fn hamming_handler(_: Call) -> Datum {
    handler::<Hamming>()
}

/// Whether an index has our access method.
pub(crate) fn is_hamming(index: PlannedIndex<'_>) -> bool {
    index.has_cost::<Hamming>()
}

/// The access method.
pub(super) struct Hamming;

impl AccessMethod for Hamming {
    const PROPERTIES: Properties = Properties {
        strategies: DISTANCE as u16,
        can_order_by_operator: true,
        // The first column has the codes; conditions on other columns filter rows.
        can_multicolumn: true,
        // The index could answer without a condition, but not always should:
        // `src/plan/conditions/indexes.rs`.
        optional_key: false,
        search_nulls: true,
        use_maintenance_work_mem: false,
        // One worker may vacuum the index while others vacuum other indexes of the table.
        parallel_vacuum: (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL
            | pg_sys::VACUUM_OPTION_PARALLEL_COND_CLEANUP) as u8,
        // For indexes where workers do not help, this is changed: `src/plan/conditions/indexes.rs`.
        can_parallel: true,
    };
    const OPTIONS: &'static IndexOptions = &OPTIONS;

    type Inserts = Inserts;
    type Scan = ScanState;
    type Shared = SharedStretches;

    fn build(index: OpenIndex<'_>, table: TableScan<'_>) -> BuiltIndex {
        build(index, table)
    }

    fn build_empty(index: OpenIndex<'_>) {
        build_empty(index);
    }

    fn phase_name(phase: i64) -> Option<&'static CStr> {
        phase_name(phase)
    }

    fn begin_inserts(index: OpenIndex<'_>) -> Inserts {
        Inserts::begin(index)
    }

    fn insert(inserts: &mut Inserts, row: IndexRow<'_>) {
        inserts.insert(row);
    }

    fn remove_dead_rows(vacuum: VacuumInfo<'_>, dead: DeadRowCheck<'_>) -> RemovedRows {
        remove_dead_rows(vacuum, dead)
    }

    fn visit_rows(vacuum: VacuumInfo<'_>, visited: DeadRowCheck<'_>) -> u64 {
        visit_rows(vacuum, visited)
    }

    fn clean_up(vacuum: VacuumInfo<'_>) -> IndexPages {
        clean_up(vacuum)
    }

    fn can_return(index: OpenIndex<'_>, column: usize) -> bool {
        column == 0 && can_return(index)
    }

    fn can_order_by_distance(column: usize, class_type: Oid) -> bool {
        column == 0 && CodeType::of(class_type).is_some()
    }

    fn is_valid(class: &OperatorClass) -> bool {
        is_valid(class)
    }

    fn begin_scan(index: OpenIndex<'_>) -> ScanState {
        ScanState::begin(index)
    }

    fn search(scan: &mut ScanState, descriptor: &ScanDescriptor<'_, SharedStretches>) {
        scan.search(descriptor);
    }

    fn next(scan: &mut ScanState, descriptor: &ScanDescriptor<'_, SharedStretches>) -> bool {
        scan.next(descriptor)
    }

    fn fill(
        scan: &mut ScanState,
        descriptor: &ScanDescriptor<'_, SharedStretches>,
        bitmap: TidBitmap<'_>,
    ) -> u64 {
        scan.fill(descriptor, bitmap)
    }
}

impl IndexCostFunction for Hamming {
    fn cost(search: PlannedSearch<'_>) -> IndexCost {
        estimate(&CostedPath::of(search))
    }
}
