//! Storage parameters of indexes.

use crate::compat::index_option;
use crate::open_index::OpenIndex;
use pgrx::pg_sys;
use pgrx::pg_sys::relopt_type::{RELOPT_TYPE_ENUM, RELOPT_TYPE_INT};
use std::ffi::{CStr, c_char};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// A storage parameter.
pub struct IndexOption {
    /// The name.
    pub name: &'static CStr,
    /// A description for the catalog.
    pub description: &'static CStr,
    /// The values.
    pub values: OptionValues,
}

/// The values of a storage parameter.
pub enum OptionValues {
    /// A number.
    Integer {
        /// The value if none is set.
        default: i32,
        /// What can be set.
        allowed: RangeInclusive<i32>,
    },
    /// One of several names; the first one if none is set. The value is its place.
    Name {
        /// The names.
        names: &'static [&'static CStr],
        /// The error's DETAIL for other names.
        detail: &'static CStr,
    },
}

/// The storage parameters of an access method.
pub struct IndexOptions {
    options: &'static [IndexOption],
    /// PostgreSQL's number for the parameters of this access method.
    kind: OnceLock<pg_sys::relopt_kind::Type>,
}

/// The lock that changing a parameter takes.
const LOCK: pg_sys::LOCKMODE = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;

impl IndexOptions {
    /// These parameters, whose values have the places of this list.
    pub const fn new(options: &'static [IndexOption]) -> Self {
        Self { options, kind: OnceLock::new() }
    }

    /// Registers the parameters. Called when the library is loaded.
    pub fn register(&self) {
        self.kind.get_or_init(|| {
            // SAFETY: the function returns the next number, or raises an error.
            let kind = unsafe { pg_sys::add_reloption_kind() };
            self.options.iter().for_each(|option| option.register(kind));
            kind
        });
    }

    /// The values in a list of parameters, as PostgreSQL stores them with the index.
    ///
    /// # Safety
    /// The datum must be a list of parameters, or null.
    pub(super) unsafe fn parsed(&self, list: pg_sys::Datum, validate: bool) -> *mut pg_sys::bytea {
        let Some(&kind) = self.kind.get() else { return std::ptr::null_mut() };
        // Bounded: the parameters of an access method.
        let elements: Vec<pg_sys::relopt_parse_elt> =
            (0..).zip(self.options).map(|(place, option)| option.element(offset_of_value(place))).collect();
        let size = offset_of_value(elements.len());
        // SAFETY: the elements describe integers that follow a length, and the size is that of all.
        unsafe {
            let count = elements.len() as i32;
            pg_sys::build_reloptions(list, validate, kind, size, elements.as_ptr(), count).cast()
        }
    }
}

/// Where the value of a parameter is: after the length of the whole, and the values before it.
fn offset_of_value(place: usize) -> usize {
    (place + 1) * size_of::<i32>()
}

impl IndexOption {
    fn register(&self, kind: pg_sys::relopt_kind::Type) {
        let name = self.name.as_ptr();
        let description = self.description.as_ptr();
        match &self.values {
            OptionValues::Integer { default, allowed } => {
                let least = *allowed.start();
                let most = *allowed.end();
                // SAFETY: the strings are constants.
                unsafe { pg_sys::add_int_reloption(kind, name, description, *default, least, most, LOCK) };
            }
            OptionValues::Name { names, detail } => {
                let element = |(number, name): (i32, *const c_char)| pg_sys::relopt_enum_elt_def {
                    string_val: name,
                    symbol_val: number,
                };
                let named = (0..).zip(names.iter().map(|name| name.as_ptr()));
                let end = (0, std::ptr::null());
                // Bounded: the names, and one more element, which ends the list.
                let elements: Vec<_> = named.chain([end]).map(element).collect();
                // PostgreSQL keeps a pointer to the list.
                let elements = elements.leak().as_mut_ptr();
                // SAFETY: the list ends with a null pointer, and the strings are constants.
                unsafe {
                    pg_sys::add_enum_reloption(kind, name, description, elements, 0, detail.as_ptr(), LOCK);
                }
            }
        }
    }

    fn element(&self, offset: usize) -> pg_sys::relopt_parse_elt {
        let type_ = match self.values {
            OptionValues::Integer { .. } => RELOPT_TYPE_INT,
            OptionValues::Name { .. } => RELOPT_TYPE_ENUM,
        };
        index_option(self.name, type_, offset)
    }
}

impl OpenIndex<'_> {
    /// The value of a storage parameter by its place in the access method's [`IndexOptions`]; `None` if no
    /// parameter of the index is set.
    pub fn option(self, place: usize) -> Option<i32> {
        // SAFETY: the index is open. If parameters are set, they begin with the length of the whole in bytes.
        unsafe {
            let options = (*self.pointer()).rd_options;
            if options.is_null() {
                return None;
            }
            let offset = offset_of_value(place);
            assert!(
                offset + size_of::<i32>() <= pgrx::varsize_4b(options.cast()),
                "an index has its options"
            );
            Some(options.cast::<u8>().add(offset).cast::<i32>().read())
        }
    }
}
