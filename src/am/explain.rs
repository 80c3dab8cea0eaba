//! `EXPLAIN (ANALYZE, HAMMING)`, since PostgreSQL 18: what the searches of an index have done.

use super::scan::{ambeginscan, work_of};
use crate::pg::compat::add_explain_option;
use hamming_index::SearchWork;
use pgrx::pg_sys;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

/// Makes the option known. Called once, when the library is loaded.
pub(super) fn register() {
    add_explain_option(c"hamming", explain);
}

/// Shows the work of a node that scans an index of ours, if it was run.
///
/// # Safety
/// EXPLAIN must be at this node, and its scan not have ended.
unsafe fn explain(node: *mut pg_sys::PlanState, to: *mut pg_sys::ExplainState) {
    // SAFETY: EXPLAIN is at this node, and its scan has not ended, as the caller promises.
    unsafe {
        let Some((index, scan)) = index_scan(node) else { return };
        // An index is not even open if the plan is not run.
        if !(*to).analyze || index.is_null() || !is_ours(index) {
            return;
        }
        let (work, has_words) = if scan.is_null() { Default::default() } else { work_of(scan) };
        show(&work, has_words, to);
    }
}

/// The index and the scan of a node that scans an index; the scan is null before the node is first asked.
///
/// # Safety
/// It must be a node of a plan.
unsafe fn index_scan(node: *mut pg_sys::PlanState) -> Option<(pg_sys::Relation, pg_sys::IndexScanDesc)> {
    // SAFETY: every node has the struct that its tag names.
    unsafe {
        match (*node).type_ {
            pg_sys::NodeTag::T_IndexScanState => {
                let node = &*node.cast::<pg_sys::IndexScanState>();
                Some((node.iss_RelationDesc, node.iss_ScanDesc))
            }
            pg_sys::NodeTag::T_IndexOnlyScanState => {
                let node = &*node.cast::<pg_sys::IndexOnlyScanState>();
                Some((node.ioss_RelationDesc, node.ioss_ScanDesc))
            }
            pg_sys::NodeTag::T_BitmapIndexScanState => {
                let node = &*node.cast::<pg_sys::BitmapIndexScanState>();
                Some((node.biss_RelationDesc, node.biss_ScanDesc))
            }
            _ => None,
        }
    }
}

/// Whether the index is of our access method.
///
/// # Safety
/// The index must be open.
unsafe fn is_ours(index: pg_sys::Relation) -> bool {
    // SAFETY: an open index knows the functions of its access method.
    let begin = unsafe { (*(*index).rd_indam).ambeginscan };
    begin.is_some_and(|begin| begin as *const () == ambeginscan as *const ())
}

/// Shows the work of a scan.
///
/// # Safety
/// EXPLAIN must be at the node of the scan.
unsafe fn show(work: &SearchWork, has_words: bool, to: *mut pg_sys::ExplainState) {
    // SAFETY: EXPLAIN is at the node, as the caller promises, and copies what it gets.
    unsafe {
        let number = |label: &CStr, number: u64| {
            pg_sys::ExplainPropertyInteger(label.as_ptr(), null(), number as i64, to);
        };
        if let Some(radius) = work.radius {
            number(c"Radius", radius.into());
        }
        if !work.shares.is_empty() {
            let label = if has_words { c"Radius of Words" } else { c"Radius of Bands" };
            pg_sys::ExplainPropertyList(label.as_ptr(), texts_of(&work.shares), to);
        }
        number(c"Trees Searched", work.trees);
        number(c"Leaves Read", work.leaves);
        number(c"Entries Read", work.entries);
        if has_words {
            number(c"Candidates", work.candidates);
            number(c"Rows Looked Up", work.looked_up);
        }
    }
}

/// A list of strings: the numbers, or `-` for a part that was not searched.
fn texts_of(shares: &[Option<u32>]) -> *mut pg_sys::List {
    shares.iter().fold(null_mut(), |list, share| {
        let text = share.map_or_else(|| "-".to_owned(), |share| share.to_string());
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: copies the string; appending to NIL makes a list.
        unsafe { pg_sys::lappend(list, pg_sys::pstrdup(text.as_ptr()).cast()) }
    })
}
