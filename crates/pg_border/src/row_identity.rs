//! Paths of a table that also return the ctid, by which PostgreSQL identifies a row.

use super::path::{NewPath, Path};
use super::planner::Planner;
use super::relation::Relation;
use pgrx::pg_sys::{self, NodeTag, PathTarget};

impl<'p> Path<'p> {
    /// A copy of an index path or a bitmap path of a table that also returns the ctid. It is repeated so
    /// often; `None` for other paths.
    pub fn with_ctid(self, planner: Planner<'p>, searches: f64) -> Option<NewPath<'p>> {
        let node = self.node();
        let copy: *mut pg_sys::Path = if let Some(index) = node.as_struct::<pg_sys::IndexPath>() {
            let copy = planner.make::<pg_sys::IndexPath>();
            *copy = *index;
            if copy.path.pathtype == NodeTag::T_IndexOnlyScan {
                // An index-only scan does not return the ctid.
                copy.path.pathtype = NodeTag::T_IndexScan;
                // SAFETY: the path belongs to the query.
                unsafe { pg_sys::cost_index(copy, planner.pointer(), searches, false) };
            }
            std::ptr::from_mut(copy).cast()
        } else {
            let copy = planner.make::<pg_sys::BitmapHeapPath>();
            *copy = *node.as_struct::<pg_sys::BitmapHeapPath>()?;
            std::ptr::from_mut(copy).cast()
        };
        // SAFETY: the path has a relation, which is the table of the index. Nobody else has a pointer to the
        // copy.
        unsafe {
            let table = Relation::new(self.info().parent);
            (*copy).pathtarget = with_ctid(self.info().pathtarget, table, 0);
            need_ctid(planner, table);
            Some(NewPath::new(copy))
        }
    }
}

/// The columns that a path of a table returns, followed by the ctid. As a grouping column, it has this
/// number; 0 if it is none.
pub(super) fn with_ctid(columns: *mut PathTarget, table: Relation, reference: u32) -> *mut PathTarget {
    // SAFETY: the function changes a copy, to which it adds a column of the table.
    unsafe {
        let columns = pg_sys::copy_pathtarget(columns);
        let place = pg_sys::SelfItemPointerAttributeNumber as i16;
        let no_collation = pg_sys::InvalidOid;
        let ctid = pg_sys::makeVar(table.number() as i32, place, pg_sys::TIDOID, -1, no_collation, 0);
        pg_sys::add_column_to_pathtarget(columns, ctid.cast(), reference);
        columns
    }
}

/// Marks the ctid of a table as needed. Otherwise a scan may return all columns of the table instead of the
/// columns of its path.
fn need_ctid(planner: Planner, table: Relation) {
    // SAFETY: the table has such a set for each column from `min_attr` on. The set lives as long as the
    // table's RelOptInfo, which may be longer than the join.
    unsafe {
        let place = pg_sys::SelfItemPointerAttributeNumber - i32::from(table.info().min_attr);
        let needed = table.info().attr_needed.add(place as usize);
        let caller = pg_sys::MemoryContextSwitchTo((*planner.pointer()).planner_cxt);
        *needed = pg_sys::bms_add_members(*needed, table.info().relids);
        pg_sys::MemoryContextSwitchTo(caller);
    }
}
