//! `near_clusters_trigger` notes the keys of rows that have changed.
//!
//! A note is written by itself, never over another one, so that writers do not wait for each other. It
//! belongs to the transaction that has changed the row: it is there if and when the change is.
//!
//! Row triggers are also fired for partitions, by foreign keys, and by the apply worker of logical
//! replication, which fires no triggers of statements. A note is written without SPI, in a microsecond.

use super::error;
use super::objects::derived;
use super::spi::name_at;
use crate::pg::call::pg_function;
use crate::pg::encoding::to_database;
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{htup::heap_getattr_raw, pg_sys};
use std::ffi::CStr;
use std::num::NonZeroUsize;

pg_function!(
    pg_finfo_near_clusters_trigger,
    fn near_clusters_trigger(call) {
        // SAFETY: the information of the call in progress.
        unsafe { note(call.info()) }.unwrap_or_report();
        // What an AFTER trigger returns is ignored, but must not be NULL.
        pg_sys::Datum::null()
    }
);

/// Notes the row that a trigger is fired for, or all rows after TRUNCATE.
///
/// # Safety
/// The information must be that of the call in progress.
unsafe fn note(call: pg_sys::FunctionCallInfo) -> Result<(), SqlError> {
    // SAFETY: checks first that it is the call of a trigger; then its data is there, and the relation is
    // open.
    unsafe {
        if !pgrx::trigger_support::called_as_trigger(call) {
            return Err(error::misfired());
        }
        let trigger = &*(*call).context.cast::<pg_sys::TriggerData>();
        let event = trigger.tg_event;
        let operation = event & pg_sys::TRIGGER_EVENT_OPMASK;
        let is_truncate = operation == pg_sys::TRIGGER_EVENT_TRUNCATE;
        let is_after = event & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_AFTER;
        if !is_after || (event & pg_sys::TRIGGER_EVENT_ROW == 0) != is_truncate {
            return Err(error::misfired());
        }
        let changes = Changes::of(trigger)?;
        if is_truncate {
            changes.add(None);
        } else {
            changes.add(changes.key_of(trigger.tg_trigtuple));
            if operation == pg_sys::TRIGGER_EVENT_UPDATE && changes.has_other_key(trigger) {
                changes.add(changes.key_of(trigger.tg_newtuple));
            }
        }
        pg_sys::relation_close(changes.relation, pg_sys::NoLock as i32);
    }
    Ok(())
}

/// Where keys are noted.
struct Changes {
    relation: pg_sys::Relation,
    source: pg_sys::TupleDesc,
    key: NonZeroUsize,
}

impl Changes {
    /// Opens the table that the trigger's arguments name, if it is one that only the owner of the clustered
    /// table has made: whoever writes a row may not write there.
    ///
    /// # Safety
    /// The data must be that of the trigger in progress.
    unsafe fn of(trigger: &pg_sys::TriggerData) -> Result<Self, SqlError> {
        // SAFETY: the trigger's definition and relation are there, as the caller promises. The table is
        // opened before anything is read of it.
        unsafe {
            let definition = &*trigger.tg_trigger;
            let argument = |index: usize, prefix: &str| {
                let argument = (index < definition.tgnargs as usize)
                    .then(|| CStr::from_ptr(*definition.tgargs.add(index)).to_bytes());
                argument.and_then(|argument| argument.strip_prefix(prefix.as_bytes()))
            };
            let (Some(table), Some(key)) = (argument(0, "table="), argument(1, "key=")) else {
                return Err(error::missing_arguments());
            };
            let source = &*trigger.tg_relation;
            let source_form = &*source.rd_rel;
            let (table, key_name) = (name_at(c_string(&[table]).cast_mut_ptr()), c_string(&[key]));
            let changes = derived(&table, "changes")?;
            let missing = || error::no_changes(&name_at(source_form.relname.data.as_ptr()), &changes);
            let name = c_string(&[&to_database(changes.clone())?]);
            let oid = pg_sys::get_relname_relid(name.cast_mut_ptr(), source_form.relnamespace);
            let number = pg_sys::SPI_fnumber(source.rd_att, key_name.cast_mut_ptr());
            let Some(key) = usize::try_from(number).ok().and_then(NonZeroUsize::new) else {
                let name = name_at(source_form.relname.data.as_ptr());
                return Err(error::key_is_gone(&name, &table, &name_at(key_name.cast_mut_ptr())));
            };
            if oid == pg_sys::InvalidOid {
                return Err(missing());
            }
            let relation = pg_sys::relation_open(oid, pg_sys::RowExclusiveLock as i32);
            let form = &*(*relation).rd_rel;
            let columns = (*relation).rd_att;
            let is_ours = form.relowner == source_form.relowner
                && form.relkind as u8 == pg_sys::RELKIND_RELATION
                && form.relam == pg_sys::HEAP_TABLE_AM_OID
                && !form.relhasindex
                && form.relnatts == 1
                && pg_sys::SPI_gettypeid(columns, 1) == pg_sys::SPI_gettypeid(source.rd_att, number);
            if is_ours { Ok(Self { relation, source: source.rd_att, key }) } else { Err(missing()) }
        }
    }

    /// # Safety
    /// The row must be one of the clustered table.
    unsafe fn key_of(&self, row: pg_sys::HeapTuple) -> Option<pg_sys::Datum> {
        // SAFETY: a row of that table, as the caller promises, which has the column.
        unsafe { heap_getattr_raw(row, self.key, self.source) }
    }

    /// Whether an update has changed the bytes of the key.
    ///
    /// # Safety
    /// The trigger must be fired by an update of the clustered table.
    unsafe fn has_other_key(&self, trigger: &pg_sys::TriggerData) -> bool {
        // SAFETY: both rows are there, and values of the type of the column.
        unsafe {
            let (old, new) = (self.key_of(trigger.tg_trigtuple), self.key_of(trigger.tg_newtuple));
            let (mut length, mut by_value) = (0, false);
            pg_sys::get_typlenbyval(
                pg_sys::SPI_gettypeid(self.source, self.key.get() as i32),
                &raw mut length,
                &raw mut by_value,
            );
            match (old, new) {
                (Some(old), Some(new)) => !pg_sys::datum_image_eq(old, new, by_value, length.into()),
                (old, new) => old.is_some() != new.is_some(),
            }
        }
    }

    /// Adds a note.
    ///
    /// # Safety
    /// The key must be a value of the type of the column.
    unsafe fn add(&self, key: Option<pg_sys::Datum>) {
        let (mut is_null, mut key) = (key.is_none(), key.unwrap_or(pg_sys::Datum::null()));
        // SAFETY: the table is open, has one column of the type, and no indexes.
        unsafe {
            let row = pg_sys::heap_form_tuple((*self.relation).rd_att, &raw mut key, &raw mut is_null);
            pg_sys::simple_heap_insert(self.relation, row);
            pg_sys::heap_freetuple(row);
        }
    }
}
