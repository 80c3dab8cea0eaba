//! Conversions between row numbers of PostgreSQL and of the index.

use hamming_index::key::RowId;
use pgrx::pg_sys;

/// The row that PostgreSQL identifies by a TID.
pub fn row_of(tid: pg_sys::ItemPointerData) -> RowId {
    RowId::new(u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo), tid.ip_posid)
}

/// The TID of a row.
pub fn tid_of(row: RowId) -> pg_sys::ItemPointerData {
    let page = row.page();
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData { bi_hi: (page >> 16) as u16, bi_lo: page as u16 },
        ip_posid: row.offset(),
    }
}
