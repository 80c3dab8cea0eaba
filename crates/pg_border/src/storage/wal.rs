//! Atomic changes of several pages: after a crash, all of the pages are changed or none.
//!
//! The records belong to PostgreSQL's generic WAL, so every server can replay them without this library.
//! PostgreSQL's own functions for generic WAL copy each page, and compare it byte by byte with the copy. That
//! takes 2 µs per page, which would be most of the time of an insert, since an insert changes four pages. We
//! know what we change, and write such a record ourselves: for each page a list of (offset, length, bytes),
//! or its full image. The format is that of generic_xlog.c in PostgreSQL 15 to 19, as its first comment says.
//! Our lists contain all that we write, PostgreSQL's only the bytes that differ, joined if they are close. So
//! `tests/t/037_wal.pl` compares no records, but the pages after replay (`wal_consistency_checking`).
//!
//! One record has all pages of a change, and is written while all of them are locked. A page's LSN keeps it
//! from reaching the disk before its record. The first record about a page after a checkpoint has the page's
//! full image, from which replay restores a torn page. So replay restores the whole change, or, if the record
//! was not written, nothing of it.

use super::guard::ExclusivePage;
use crate::compat::new_file_transaction;
use crate::report::UnwrapOrReport;
use hamming_index::page::Edit;
use hamming_index::store::{NumberedPage, check_changed_pages};
use pgrx::pg_sys;

/// The part of a record about one page.
struct Registered {
    buffer: pg_sys::Buffer,
    /// The changes on the page; `None` if the record has its full image.
    delta: Option<Vec<u8>>,
}

/// PostgreSQL's InvalidSubTransactionId.
const NO_TRANSACTION: pg_sys::SubTransactionId = 0;

/// Whether changes of a relation need WAL, as PostgreSQL's RelationNeedsWAL says.
///
/// # Safety
/// The relation must be open.
pub(super) unsafe fn needs_wal(relation: pg_sys::Relation) -> bool {
    // SAFETY: the relation is open, and the setting does not change.
    unsafe {
        let has_new_file = new_file_transaction(&*relation) != NO_TRANSACTION;
        let is_new = (*relation).rd_createSubid != NO_TRANSACTION || has_new_file;
        let is_permanent = (*(*relation).rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let wal_is_needed = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        is_permanent && (wal_is_needed || !is_new)
    }
}

/// Changes up to four locked pages. More pages are an error, and none of them is changed, because recovery
/// has an array of four. They must be in the order in which pages are locked: replay locks them in this
/// order, and so cannot deadlock with readers on a standby.
pub(super) fn commit(changes: &mut [(&mut ExclusivePage<'_>, Edit)], is_logged: bool) {
    check_changed_pages(changes.len()).unwrap_or_report();
    debug_assert!(are_different(changes), "a record has each page once");
    // Nothing may fail once pages begin to change, so memory is allocated before.
    let registered: Vec<Registered> = changes.iter().map(|(page, edit)| register(page, edit)).collect();
    // SAFETY: the buffers are pinned and exclusively locked. In the critical section, pages, buffers and WAL
    // are changed in the order that PostgreSQL requires.
    unsafe {
        pg_sys::CritSectionCount += 1;
        for (page, edit) in changes.iter_mut() {
            page.content_mut().apply(edit);
            pg_sys::MarkBufferDirty(page.buffer());
        }
        if is_logged {
            let lsn = write_record(&registered);
            for (page, _) in changes.iter_mut() {
                page.set_lsn(lsn);
            }
        }
        pg_sys::CritSectionCount -= 1;
    }
}

fn are_different(changes: &[(&mut ExclusivePage<'_>, Edit)]) -> bool {
    let numbers = || changes.iter().map(|(page, _)| page.page_number());
    numbers().enumerate().all(|(place, number)| numbers().take(place).all(|other| other != number))
}

fn register(page: &ExclusivePage<'_>, edit: &Edit) -> Registered {
    let delta = match edit {
        Edit::Replace(_) => None,
        Edit::Patch(patches) => {
            let mut delta = Vec::with_capacity(64); // Bounded: what changes on a page.
            for patch in patches {
                delta.extend_from_slice(&patch.offset.to_ne_bytes());
                delta.extend_from_slice(&(patch.bytes().len() as u16).to_ne_bytes());
                delta.extend_from_slice(patch.bytes());
            }
            Some(delta)
        }
    };
    Registered { buffer: page.buffer(), delta }
}

/// # Safety
/// Must be called in a critical section, after all buffers were locked and changed.
unsafe fn write_record(registered: &[Registered]) -> pg_sys::XLogRecPtr {
    // SAFETY: as the caller promises. The deltas live until the record is written.
    unsafe {
        pg_sys::XLogBeginInsert();
        for (id, page) in (0..).zip(registered) {
            let standard = pg_sys::REGBUF_STANDARD as u8;
            match &page.delta {
                None => {
                    pg_sys::XLogRegisterBuffer(id, page.buffer, standard | pg_sys::REGBUF_FORCE_IMAGE as u8)
                }
                Some(delta) => {
                    pg_sys::XLogRegisterBuffer(id, page.buffer, standard);
                    pg_sys::XLogRegisterBufData(id, delta.as_ptr().cast_mut().cast(), delta.len() as _);
                }
            }
        }
        pg_sys::XLogInsert(pg_sys::RmgrIds::RM_GENERIC_ID as u8, 0)
    }
}
