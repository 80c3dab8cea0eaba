//! An index that a user has named, opened for inspection.

use super::access_method::{AccessMethod, TableScan, has_method};
use super::compat::{lock_buffer, restrict_search_path};
use super::error;
use super::open_index::OpenIndex;
use super::report::SqlError;
use super::storage::pages::{Pages, PagesState};
use super::storage::row_address::tid_of;
use hamming_index::key::RowId;
use pgrx::pg_sys;
use std::ffi::CStr;

/// Why an index cannot be inspected.
pub enum Obstacle {
    /// There is no relation with this OID. It may have been dropped since the OID was read from the catalog.
    Missing(pg_sys::Oid),
    /// The index has no contents on this server at the moment.
    NoContents(SqlError),
    /// It is not an index of type hamming, or of a kind that cannot be inspected.
    WrongKind(SqlError),
}

impl Obstacle {
    /// The error for a function that needs the index.
    pub fn into_error(self) -> SqlError {
        match self {
            Self::Missing(relation) => error::no_such_relation(relation),
            Self::NoContents(error) | Self::WrongKind(error) => error,
        }
    }
}

/// What others must not do with an index and its table while they are inspected.
#[derive(Clone, Copy)]
pub enum InspectionLock {
    /// Drop or rebuild them.
    AgainstDrop,
    /// Write, either.
    AgainstWrites,
}

impl InspectionLock {
    fn mode(self) -> pg_sys::LOCKMODE {
        match self {
            Self::AgainstDrop => pg_sys::AccessShareLock as pg_sys::LOCKMODE,
            Self::AgainstWrites => pg_sys::ShareLock as pg_sys::LOCKMODE,
        }
    }
}

/// An index of type hamming and its table. Both are locked while this exists.
///
/// While this exists, the current user is the owner of the table, in a security-restricted operation. So an
/// expression or predicate of the index does not run with the rights of the inspecting user.
pub struct InspectedIndex {
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    state: PagesState,
    lock: InspectionLock,
    /// Whether the locks are kept until the end of the transaction.
    keeps_locks: bool,
    /// The user and the security context to restore.
    caller: (pg_sys::Oid, i32),
    settings_level: i32,
}

impl InspectedIndex {
    /// Locks and opens an index and its table. The locks are released when this is dropped, so that a query
    /// that inspects many indexes locks one at a time, and there is no deadlock with a transaction that drops
    /// several indexes.
    pub fn open<A: AccessMethod>(index: pg_sys::Oid, lock: InspectionLock) -> Result<Self, Obstacle> {
        let mode = lock.mode();
        // SAFETY: relations are looked up and opened; after an error, the end of the transaction closes them.
        // The table is locked first, as everywhere in PostgreSQL. A relation that was dropped before the lock
        // was there is not opened.
        unsafe {
            let table_id = pg_sys::IndexGetRelation(index, true);
            if table_id == pg_sys::InvalidOid {
                return Err(not_an_index(index));
            }
            let table = pg_sys::try_relation_open(table_id, mode);
            if table.is_null() {
                return Err(Obstacle::Missing(index));
            }
            let opened = pg_sys::try_relation_open(index, mode);
            if opened.is_null() {
                pg_sys::relation_close(table, mode);
                return Err(Obstacle::Missing(index));
            }
            let mut caller = (pg_sys::InvalidOid, 0);
            pg_sys::GetUserIdAndSecContext(&raw mut caller.0, &raw mut caller.1);
            let restricted = caller.1 | pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
            pg_sys::SetUserIdAndSecContext((*(*table).rd_rel).relowner, restricted);
            let settings_level = pg_sys::NewGUCNestLevel();
            restrict_search_path();
            let state = PagesState::of(OpenIndex::new(opened));
            let keeps_locks = false;
            let inspected = Self { table, index: opened, state, lock, keeps_locks, caller, settings_level };
            inspected.check_kind::<A>(table_id).map_err(Obstacle::WrongKind)?;
            inspected.check_contents().map_err(Obstacle::NoContents)?;
            Ok(inspected)
        }
    }

    /// Opens an index for a check, and locks it until the end of the transaction. If it is compared with its
    /// table, or if changes of it are not logged, other sessions must not write meanwhile.
    pub fn to_check<A: AccessMethod>(index: pg_sys::Oid, against_table: bool) -> Result<Self, Obstacle> {
        let lock = if against_table { InspectionLock::AgainstWrites } else { InspectionLock::AgainstDrop };
        let mut inspected = Self::open::<A>(index, lock)?;
        inspected.keeps_locks = true;
        if !against_table && !inspected.pages().is_logged {
            drop(inspected);
            inspected = Self::open::<A>(index, InspectionLock::AgainstWrites)?;
            inspected.keeps_locks = true;
        }
        Ok(inspected)
    }

    /// It is an error if the relation is not an index of type hamming, is partitioned, or belongs to another
    /// session.
    fn check_kind<A: AccessMethod>(&self, table: pg_sys::Oid) -> Result<(), SqlError> {
        // SAFETY: the index is open.
        unsafe {
            let class = &*(*self.index).rd_rel;
            let name = self.as_open().name();
            if !has_method::<A>(self.index) || (*(*self.index).rd_index).indrelid != table {
                return Err(error::not_a_hamming_index(name));
            }
            if self.as_open().is_partitioned() {
                return Err(error::partitioned_index(name));
            }
            if class.relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP && !(*self.index).rd_islocaltemp {
                return Err(error::other_session(name));
            }
        }
        Ok(())
    }

    /// It is an error if the index is invalid, or an unlogged index on a standby.
    fn check_contents(&self) -> Result<(), SqlError> {
        // SAFETY: the index is open, and the second function reads a shared flag.
        unsafe {
            let name = self.as_open().name();
            if !(*(*self.index).rd_index).indisvalid {
                return Err(error::invalid_index(name));
            }
            let persistence = (*(*self.index).rd_rel).relpersistence as u8;
            if persistence == pg_sys::RELPERSISTENCE_UNLOGGED && pg_sys::RecoveryInProgress() {
                return Err(error::unlogged_in_recovery(name));
            }
        }
        Ok(())
    }

    /// Whether the index may lack rows that the snapshot of this transaction sees.
    pub fn is_too_new(&self) -> bool {
        // SAFETY: the index is open, and the isolation level belongs to the transaction.
        unsafe {
            pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32
                && (*(*self.index).rd_index).indcheckxmin
        }
    }

    /// Whether some trees may lack the row: nobody can see it any more, so a vacuum will remove it, or it is
    /// being inserted. A vacuum, or the insert, may have stopped midway.
    pub fn may_differ(&self, row: RowId) -> bool {
        // SAFETY: the table is open, so nobody shortens it, and the page is locked while it is read.
        unsafe {
            let main = pg_sys::ForkNumber::MAIN_FORKNUM;
            if row.page() >= pg_sys::RelationGetNumberOfBlocksInFork(self.table, main) {
                return false;
            }
            let buffer = pg_sys::ReadBuffer(self.table, row.page());
            lock_buffer(buffer, pg_sys::BUFFER_LOCK_SHARE);
            // (PostgreSQL's functions for this are inline since 16, and therefore not in its library.)
            let start = pg_sys::BufferGetPage(buffer);
            let page = &*start.cast::<pg_sys::PageHeaderData>();
            let bytes = usize::from(page.pd_lower).saturating_sub(size_of::<pg_sys::PageHeaderData>());
            let items = page.pd_linp.as_slice(bytes / size_of::<pg_sys::ItemIdData>());
            let item = usize::from(row.offset()).checked_sub(1).and_then(|place| items.get(place));
            let may_differ = item.is_some_and(|item| match item.lp_flags() {
                pg_sys::LP_DEAD => true,
                pg_sys::LP_NORMAL => self.may_tuple_differ(row, item, start, buffer),
                _ => false,
            });
            pg_sys::UnlockReleaseBuffer(buffer);
            may_differ
        }
    }

    /// Whether some trees may lack a row with this line pointer.
    ///
    /// # Safety
    /// The line pointer must belong to the page, which must be in the buffer and locked.
    unsafe fn may_tuple_differ(
        &self,
        row: RowId,
        item: &pg_sys::ItemIdData,
        page: pg_sys::Page,
        buffer: pg_sys::Buffer,
    ) -> bool {
        // SAFETY: the line pointer belongs to the page, as the caller promises, and the table is open.
        unsafe {
            let header: pg_sys::HeapTupleHeader = page.add(item.lp_off() as usize).cast();
            // The next version in the HOT chain may be visible.
            if u32::from((*header).t_infomask2) & pg_sys::HEAP_HOT_UPDATED != 0 {
                return false;
            }
            let mut tuple = pg_sys::HeapTupleData {
                t_len: item.lp_len(),
                t_self: tid_of(row),
                t_tableOid: (*self.table).rd_id,
                t_data: header,
            };
            let oldest = pg_sys::GetOldestNonRemovableTransactionId(self.table);
            match pg_sys::HeapTupleSatisfiesVacuum(&raw mut tuple, oldest, buffer) {
                pg_sys::HTSV_Result::HEAPTUPLE_DEAD => true,
                // A row that this transaction has inserted is in all trees.
                pg_sys::HTSV_Result::HEAPTUPLE_INSERT_IN_PROGRESS => {
                    !pg_sys::TransactionIdIsCurrentTransactionId((*header).t_choice.t_heap.t_xmin)
                }
                _ => false,
            }
        }
    }

    /// The index.
    pub fn as_open(&self) -> OpenIndex<'_> {
        // SAFETY: the index is open until this is dropped.
        unsafe { OpenIndex::new(self.index) }
    }

    /// The pages of the index.
    pub fn pages(&self) -> Pages<'_> {
        Pages::of(self.as_open(), &self.state)
    }

    /// The rows of the table that a snapshot sees, as for CREATE INDEX CONCURRENTLY: an index that was built
    /// concurrently only has those.
    pub fn table_rows(&self) -> TableScan<'_> {
        // SAFETY: both are open until this is dropped. The description of the index is in the current memory
        // context.
        unsafe {
            let info = pg_sys::BuildIndexInfo(self.index);
            (*info).ii_Concurrent = true;
            TableScan::new(self.table, self.index, info)
        }
    }
}

impl Drop for InspectedIndex {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let mode = if self.keeps_locks { pg_sys::NoLock as pg_sys::LOCKMODE } else { self.lock.mode() };
            // SAFETY: `open` has opened both.
            unsafe {
                pg_sys::AtEOXact_GUC(false, self.settings_level);
                pg_sys::SetUserIdAndSecContext(self.caller.0, self.caller.1);
                pg_sys::index_close(self.index, mode);
                pg_sys::table_close(self.table, mode);
            }
        }
    }
}

/// The obstacle if a relation is not an index: it is of another kind, or does not exist.
fn not_an_index(relation: pg_sys::Oid) -> Obstacle {
    // SAFETY: the function looks the name up; it is a string in the current memory context.
    unsafe {
        match pg_sys::get_rel_name(relation) {
            name if name.is_null() => Obstacle::Missing(relation),
            name => Obstacle::WrongKind(error::not_a_hamming_index(CStr::from_ptr(name))),
        }
    }
}
