//! The row for which a BEFORE trigger was fired.

use super::call::Call;
use super::encoding;
use super::report::SqlError;
use pgrx::pg_sys;
use std::borrow::Cow;
use std::ffi::CStr;
use std::num::NonZeroUsize;

/// The row that is being written, and the trigger.
pub struct TriggerRow<'a> {
    trigger: &'a pg_sys::TriggerData,
    tuple: pg_sys::HeapTuple,
}

/// A column of the table.
pub struct TriggerColumn {
    table: pg_sys::Oid,
    /// The column's number, from 1.
    number: NonZeroUsize,
    /// The column's type; for a domain, its base type.
    base_type: pg_sys::Oid,
    /// The type as declared.
    pub declared_type: pg_sys::Oid,
    /// Whether PostgreSQL computes the values.
    pub is_generated: bool,
}

impl<'a> TriggerRow<'a> {
    /// The row of a call, if it is of a trigger BEFORE INSERT OR UPDATE … FOR EACH ROW; otherwise what the
    /// function must be.
    pub fn being_written(call: Call) -> Result<Self, &'static str> {
        // SAFETY: the call is in progress.
        if !unsafe { pgrx::trigger_support::called_as_trigger(call.info()) } {
            return Err("must be called by a trigger");
        }
        // SAFETY: the context of a trigger call is its TriggerData.
        let trigger = unsafe { &*(*call.info()).context.cast::<pg_sys::TriggerData>() };
        let event = trigger.tg_event;
        if event & pg_sys::TRIGGER_EVENT_ROW == 0 {
            return Err("must be fired FOR EACH ROW");
        }
        if event & pg_sys::TRIGGER_EVENT_TIMINGMASK != pg_sys::TRIGGER_EVENT_BEFORE {
            return Err("must be fired BEFORE the row is written");
        }
        let tuple = match event & pg_sys::TRIGGER_EVENT_OPMASK {
            pg_sys::TRIGGER_EVENT_INSERT => trigger.tg_trigtuple,
            pg_sys::TRIGGER_EVENT_UPDATE => trigger.tg_newtuple,
            _ => return Err("must be fired by INSERT or UPDATE"),
        };
        Ok(Self { trigger, tuple })
    }

    /// The arguments of CREATE TRIGGER, in the encoding of the database.
    pub fn trigger_arguments(&self) -> Vec<&'a CStr> {
        // SAFETY: a fired trigger has a definition, in which `tgargs` points to `tgnargs` C strings. All of
        // them live as long as the call.
        unsafe {
            let definition = &*self.trigger.tg_trigger;
            let count = definition.tgnargs as usize;
            (0..count).map(|index| CStr::from_ptr(*definition.tgargs.add(index))).collect()
        }
    }

    /// The column of this name, if there is one.
    pub fn column(&self, name: &CStr) -> Option<TriggerColumn> {
        let description = self.description();
        // SAFETY: the description belongs to the table, and the name is a C string.
        let number = unsafe { pg_sys::SPI_fnumber(description, name.as_ptr()) };
        // Numbers below 1 are system columns, or mean that there is no such column.
        let index = usize::try_from(number).ok().and_then(NonZeroUsize::new)?;
        let table = self.table();
        // SAFETY: the column exists, and the table is open while its trigger runs.
        let (declared_type, base_type, is_generated) = unsafe {
            let declared_type = pg_sys::SPI_gettypeid(description, number);
            let is_generated = pg_sys::get_attgenerated(table, number as pg_sys::AttrNumber) != 0;
            (declared_type, pg_sys::getBaseType(declared_type), is_generated)
        };
        Some(TriggerColumn { table, number: index, base_type, declared_type, is_generated })
    }

    /// Whether a column has this name in other letters, upper or lower case.
    pub fn has_column_like(&self, name: &CStr) -> bool {
        let description = self.description();
        // SAFETY: the description belongs to the table, and has so many columns. Each name is a string in the
        // current memory context.
        unsafe {
            (1..=(*description).natts).any(|number| {
                let column = CStr::from_ptr(pg_sys::SPI_fname(description, number));
                column.to_bytes().eq_ignore_ascii_case(name.to_bytes())
            })
        }
    }

    /// The text of a column that satisfies [`TriggerColumn::is_text`]; `None` if it is NULL.
    pub fn text(&self, column: &TriggerColumn) -> Result<Option<Cow<'_, str>>, SqlError> {
        assert!(column.table == self.table() && column.is_text(), "the column is a text of this table");
        // SAFETY: the tuple and the description belong to the table, which has the column. A value of a text
        // type is a varlena; its detoasted copy lives in the memory context of the row.
        let bytes = unsafe {
            let Some(datum) = pgrx::htup::heap_getattr_raw(self.tuple, column.number, self.description())
            else {
                return Ok(None);
            };
            pgrx::varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr()))
        };
        encoding::to_utf8(if column.is_padded() { without_padding(bytes) } else { bytes }).map(Some)
    }

    /// The trigger's result: the row with one bigint column changed.
    pub fn with_bigint(&self, column: &TriggerColumn, value: Option<i64>) -> pg_sys::Datum {
        let is_bigint = column.declared_type == pg_sys::INT8OID;
        assert!(column.table == self.table() && is_bigint, "the column is a bigint of this table");
        let mut number = column.number.get() as i32;
        let mut datum = pg_sys::Datum::from(value.unwrap_or_default());
        let mut is_null = value.is_none();
        // SAFETY: the tuple and the description belong to the table. Each of the three lists has one element,
        // and the value is of the column's type.
        let changed = unsafe {
            pg_sys::heap_modify_tuple_by_cols(
                self.tuple,
                self.description(),
                1,
                &raw mut number,
                &raw mut datum,
                &raw mut is_null,
            )
        };
        pg_sys::Datum::from(changed)
    }

    fn table(&self) -> pg_sys::Oid {
        // SAFETY: the table is open while its trigger runs.
        unsafe { (*self.trigger.tg_relation).rd_id }
    }

    fn description(&self) -> pg_sys::TupleDesc {
        // SAFETY: the table is open while its trigger runs.
        unsafe { (*self.trigger.tg_relation).rd_att }
    }

    /// The name of the table.
    pub fn table_name(&self) -> String {
        // SAFETY: the table is open while its trigger runs, and its name is a C string.
        encoding::for_message(unsafe {
            CStr::from_ptr((*(*self.trigger.tg_relation).rd_rel).relname.data.as_ptr())
        })
    }
}

impl TriggerColumn {
    /// Whether the values are stored as text is: text, varchar, char, citext, and domains over them.
    pub fn is_text(&self) -> bool {
        // SAFETY: the function looks two types up.
        self.is_padded() || unsafe { pg_sys::IsBinaryCoercible(self.base_type, pg_sys::TEXTOID) }
    }

    /// The name of the type as declared.
    pub fn type_name(&self) -> String {
        encoding::type_name(self.declared_type)
    }

    /// Whether the type is char(n), whose trailing blanks are not significant.
    fn is_padded(&self) -> bool {
        self.base_type == pg_sys::BPCHAROID
    }
}

fn without_padding(mut bytes: &[u8]) -> &[u8] {
    while let [rest @ .., b' '] = bytes {
        bytes = rest;
    }
    bytes
}
