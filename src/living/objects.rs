//! The table that is clustered, and what was made next to it.

use super::columns::Columns;
use super::definition::{Definition, WithTriggers, escaped};
use super::error;
use super::spi::{name_at, number, quoted};
use crate::pg::encoding::to_database;
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use pgrx::pg_sys::{self, Oid};

/// A table with living clusters.
pub(super) struct Clustered {
    pub(super) table: Source,
    pub(super) definition: Definition,
    pub(super) triggers: Vec<Oid>,
    pub(super) names: Names,
    pub(super) clusters: Oid,
    pub(super) columns: Columns,
}

/// The table that is clustered.
pub(super) struct Source {
    pub(super) oid: Oid,
    pub(super) owner: Oid,
    pub(super) schema: Oid,
    pub(super) name: String,
    pub(super) kind: u8,
    pub(super) persistence: u8,
}

/// The objects, as SQL writes them.
pub(super) struct Names {
    pub(super) source: String,
    pub(super) clusters: String,
    pub(super) changes: String,
    pub(super) rows: String,
    /// The schema of the extension.
    pub(super) extension: String,
}

impl Source {
    /// Looks the table up, of which the caller must be an owner, and what its triggers say.
    pub(super) fn of(oid: Oid) -> Result<(Self, Option<WithTriggers>), SqlError> {
        // SAFETY: opened and closed here; the lock stays until the transaction ends. The name was read
        // before.
        unsafe {
            let relation = pg_sys::relation_open(oid, pg_sys::AccessShareLock as i32);
            let form = &*(*relation).rd_rel;
            let source = Self {
                oid,
                owner: form.relowner,
                schema: form.relnamespace,
                name: name_at(form.relname.data.as_ptr()),
                kind: form.relkind as u8,
                persistence: form.relpersistence as u8,
            };
            let definition = Definition::of(relation);
            pg_sys::relation_close(relation, pg_sys::NoLock as i32);
            Ok((source, definition?))
        }
    }

    /// Only the owner may, and who has the owner's rights.
    pub(super) fn check_owner(&self) -> Result<(), SqlError> {
        // SAFETY: compares roles.
        let is_owner = unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), self.owner) };
        if is_owner { Ok(()) } else { Err(error::not_owner(&self.name)) }
    }

    /// Keys must be unique, and not NULL.
    pub(super) fn check_key(&self, key: &str) -> Result<(), SqlError> {
        let found = number(
            &format!(
                "SELECT count(*) FROM pg_attribute AS a JOIN pg_index AS i
                     ON i.indrelid = a.attrelid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
                        AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum
                 WHERE a.attrelid = {} AND a.attname = '{}' AND a.attnotnull",
                self.oid.to_u32(),
                escaped(key)
            ),
            &[],
        )?;
        if found > 0 { Ok(()) } else { Err(error::key_not_unique(key)) }
    }
}

impl Names {
    pub(super) fn of(source: &Source, clusters: &str, function: Oid) -> Result<Self, SqlError> {
        // SAFETY: looks names up; new strings.
        let (schema, extension) = unsafe {
            (
                quoted(&name_at(pg_sys::get_namespace_name(source.schema))),
                quoted(&name_at(pg_sys::get_namespace_name(pg_sys::get_func_namespace(function)))),
            )
        };
        let qualified = |name: &str| format!("{schema}.{}", quoted(name));
        Ok(Self {
            source: qualified(&source.name),
            clusters: qualified(clusters),
            changes: qualified(&derived(clusters, "changes")?),
            rows: qualified(&derived(clusters, "rows")?),
            extension,
        })
    }
}

/// `name_label`, shortened as PostgreSQL shortens names of indexes.
pub(super) fn derived(name: &str, label: &str) -> Result<String, SqlError> {
    let (name, label) = (c_string(&[&to_database(name.to_owned())?]), c_string(&[label.as_bytes()]));
    // SAFETY: strings; the result is a new one.
    Ok(unsafe {
        name_at(pg_sys::makeObjectName(name.cast_mut_ptr(), std::ptr::null(), label.cast_mut_ptr()))
    })
}

/// The relation of this name, if there is one.
pub(super) fn relation(schema: Oid, name: &str) -> Result<Option<Oid>, SqlError> {
    let name = c_string(&[&to_database(name.to_owned())?]);
    // SAFETY: looks a name up.
    let oid = unsafe { pg_sys::get_relname_relid(name.cast_mut_ptr(), schema) };
    Ok((oid != pg_sys::InvalidOid).then_some(oid))
}

impl Clustered {
    /// Looks up what `near_clusters_create` has made for a table. The function is one of the extension.
    pub(super) fn of(table: Oid, function: Oid) -> Result<Self, SqlError> {
        let (table, definition) = Source::of(table)?;
        let Some((definition, triggers)) = definition else { return Err(error::no_clusters(&table.name)) };
        let names = Names::of(&table, &definition.table, function)?;
        let missing = || error::table_is_gone(&table.name, &definition.table);
        let clusters = relation(table.schema, &definition.table)?.ok_or_else(missing)?;
        let columns = Columns::of(clusters, &definition.key)?.ok_or_else(missing)?;
        for label in ["changes", "rows"] {
            let name = derived(&definition.table, label)?;
            relation(table.schema, &name)?
                .ok_or_else(|| error::part_is_gone(&table.name, &definition.table, &name))?;
        }
        Ok(Self { table, definition, triggers, names, clusters, columns })
    }

    /// After a crash, tables that are not logged are empty, and others are not.
    pub(super) fn check_persistence(&self) -> Result<(), SqlError> {
        let mut differ = Vec::new();
        for name in [self.definition.table.clone(), derived(&self.definition.table, "changes")?] {
            let Some(oid) = relation(self.table.schema, &name)? else { continue };
            // SAFETY: looks the table up.
            let persistence = unsafe { pg_sys::get_rel_persistence(oid) };
            if persistence as u8 != self.table.persistence {
                differ.push(name);
            }
        }
        let logged = self.table.persistence == pg_sys::RELPERSISTENCE_PERMANENT;
        if differ.is_empty() {
            Ok(())
        } else {
            Err(error::other_persistence(&self.table.name, &differ, logged))
        }
    }

    /// Records what goes with what: with the table, all of it; with the table of clusters, the notes, the
    /// view and the triggers. A dump does not have this, so each refresh looks.
    pub(super) fn record_dependencies(&self) -> Result<(), SqlError> {
        let (class, trigger) = (pg_sys::RelationRelationId, pg_sys::TriggerRelationId);
        let known = number(
            &format!(
                "SELECT count(*) FROM pg_depend WHERE classid = {0} AND objid = {1} AND refclassid = {0} AND refobjid = {2}
                     AND deptype = 'a'",
                class.to_u32(), self.clusters.to_u32(), self.table.oid.to_u32()
            ),
            &[],
        )?;
        if known > 0 {
            return Ok(());
        }
        let goes_with = |class, object, other| {
            let address =
                |class, object| pg_sys::ObjectAddress { classId: class, objectId: object, objectSubId: 0 };
            let (object, other) = (address(class, object), address(pg_sys::RelationRelationId, other));
            // SAFETY: addresses of objects that exist, which are locked.
            unsafe {
                pg_sys::recordDependencyOn(
                    &raw const object,
                    &raw const other,
                    pg_sys::DependencyType::DEPENDENCY_AUTO,
                )
            };
        };
        goes_with(class, self.clusters, self.table.oid);
        for label in ["changes", "rows"] {
            if let Some(object) = relation(self.table.schema, &derived(&self.definition.table, label)?)? {
                goes_with(class, object, self.table.oid);
                goes_with(class, object, self.clusters);
            }
        }
        self.triggers.iter().for_each(|&object| goes_with(trigger, object, self.clusters));
        Ok(())
    }
}
