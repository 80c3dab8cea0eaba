//! Changes of pages that survive a crash together or not at all.
//!
//! Records are those of Postgres's generic WAL, which every server can replay without having this library
//! loaded. Postgres's own functions for it copy each page and compare it byte by byte with the copy. That
//! takes 2 µs for a page, and an insert changes four pages, so it would be most of the time of an insert. We
//! know what we change, and write the same record by hand: for each page a list of offset, length, bytes, or
//! its whole image.
//!
//! A record holds all pages of a change and is written while all of them are locked. A page cannot reach the
//! disk before its record has (its LSN says so). The first record about a page after a checkpoint holds its
//! image, from which a half-written page is restored. So replay arrives at all of a change or, if the record
//! was not written, at nothing of it: a torn change is not possible.

use super::guard::Exclusive;
use crate::pg::compat::new_file_transaction;
use hamming_index::page::Edit;
use pgrx::pg_sys;

/// What a record says of one page.
struct Registered {
    buffer: pg_sys::Buffer,
    /// None if the record has the whole image.
    delta: Option<Vec<u8>>,
}

/// Postgres's InvalidSubTransactionId.
const NO_TRANSACTION: pg_sys::SubTransactionId = 0;

/// Whether changes of a relation have to be logged: Postgres's RelationNeedsWAL.
///
/// # Safety
/// The relation must be open.
pub(super) unsafe fn needs_wal(relation: pg_sys::Relation) -> bool {
    // SAFETY: open; a setting that does not change.
    unsafe {
        let has_new_file = new_file_transaction(&*relation) != NO_TRANSACTION;
        let is_new = (*relation).rd_createSubid != NO_TRANSACTION || has_new_file;
        let is_permanent = (*(*relation).rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let wal_is_needed = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        is_permanent && (wal_is_needed || !is_new)
    }
}

/// Changes pages that are locked, at most four, in the order in which they may be locked: replay locks
/// them in the same order, and so does not wait in a circle with readers on a standby.
pub(super) fn commit(changes: &mut [(&mut Exclusive<'_>, Edit)], is_logged: bool) {
    // Nothing may fail once pages begin to change, so memory is taken before.
    let registered: Vec<Registered> = changes.iter().map(|(page, edit)| register(page, edit)).collect();
    // SAFETY: the buffers are pinned and locked by us; between the two lines about the critical section
    // pages, buffers and log are changed in the order that Postgres prescribes.
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

fn register(page: &Exclusive<'_>, edit: &Edit) -> Registered {
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
/// In a critical section, with all buffers locked and changed.
unsafe fn write_record(registered: &[Registered]) -> pg_sys::XLogRecPtr {
    // SAFETY: as promised; deltas live until the record is written.
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
