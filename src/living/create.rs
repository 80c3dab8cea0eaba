//! `near_clusters_create` sets up the clusters of a table.

use super::definition::{Definition, Direction, escaped};
use super::error;
use super::objects::{Clustered, Names, Source, derived};
use super::refresh::warn_of_large;
use super::spi::{SAFE_PATH, as_owner, name_at, quoted, run, set};
use super::statements::Statements;
use crate::pg::call::{Call, pg_function};
use crate::pg::code::CodeType;
use crate::pg::elements::ArrayElements;
use crate::pg::encoding::{for_message, to_database, to_utf8};
use crate::pg::query::code_column::CodeColumn;
use crate::pg::report::{self, SqlError};
use crate::pg::varlena::c_string;
use hamming::clusters::Linkage;
use limits::Limit;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{FromDatum, pg_sys};
use std::ffi::CStr;

/// Columns that a key must not be called: of the table of clusters, and of statements of a refresh.
const RESERVED: [&str; 8] =
    ["cluster", "distance", "code", "look", "keeper", "is_lost", "is_gained", "place"];

/// What a user has asked for.
struct Request {
    key: String,
    code: String,
    radius: i32,
    linkage: Linkage,
    first: Vec<String>,
    within: Vec<String>,
    filter: Option<String>,
    look: Option<(String, i32)>,
}

pg_function!(
    pg_finfo_near_clusters_create,
    fn near_clusters_create(call) {
        // SAFETY: declared so in `sql/living.sql`.
        unsafe { create_for(call) }.unwrap_or_report().into()
    }
);

/// # Safety
/// The function must be declared with a table, two names, an integer, a text, two arrays of text, a text, a
/// name and an integer.
unsafe fn create_for(call: Call) -> Result<pg_sys::Oid, SqlError> {
    for (index, name) in ["relation", "key", "code", "radius", "linkage"].into_iter().enumerate() {
        if call.is_null(index) {
            return Err(error::null_argument(name));
        }
    }
    // SAFETY: declared so, as the caller promises; not NULL.
    let (table, function, request) = unsafe {
        let table = pg_sys::Oid::from_datum(call.datum(0), false).unwrap_or(pg_sys::InvalidOid);
        (table, (*(*call.info()).flinfo).fn_oid, Request::of(call)?)
    };
    let (source, defined) = Source::of(table)?;
    source.check_owner()?;
    if let Some((definition, _)) = defined {
        return Err(error::has_clusters(&source.name, &definition.table));
    }
    if source.kind != pg_sys::RELKIND_RELATION || source.persistence == pg_sys::RELPERSISTENCE_TEMP {
        return Err(error::not_a_table(&source.name));
    }
    let owner = source.owner;
    // SAFETY: the setting is a string.
    let path = unsafe { name_at(pg_sys::namespace_search_path) };
    as_owner(owner, || request.create(source, function, &path))
}

impl Request {
    /// # Safety
    /// As for [`create_for`]; the first five arguments are not NULL.
    unsafe fn of(call: Call) -> Result<Self, SqlError> {
        // SAFETY: declared so, as the caller promises. A name is a string.
        unsafe {
            let name = |index| for_message(CStr::from_ptr(call.pointer(index)));
            let text = |index| to_utf8(call.text(index)).map(|text| text.into_owned());
            let look = match (call.is_null(8), call.is_null(9)) {
                (true, true) => None,
                (false, false) => Some((name(8), call.integer(9))),
                _ => return Err(error::half_a_look()),
            };
            Ok(Self {
                key: name(1),
                code: name(2),
                radius: call.integer(3),
                linkage: text(4)?.parse().map_err(report::problem)?,
                first: if call.is_null(5) { Vec::new() } else { texts(call.datum(5), "first")? },
                within: if call.is_null(6) { Vec::new() } else { texts(call.datum(6), "within")? },
                filter: if call.is_null(7) { None } else { Some(text(7)?) },
                look,
            })
        }
    }

    /// Makes table, view, notes and triggers, and fills the table.
    fn create(self, source: Source, function: pg_sys::Oid, path: &str) -> Result<pg_sys::Oid, SqlError> {
        let numbered = self.key.starts_with("within_") || self.key.starts_with("first_");
        if numbered || RESERVED.contains(&self.key.as_str()) {
            return Err(error::reserved_key(&self.key));
        }
        let table = derived(&source.name, "clusters")?;
        let names = Names::of(&source, &table, function)?;
        // Whoever has written must have committed before the rows are read, and later writers note it.
        run(&format!("LOCK TABLE ONLY {} IN SHARE ROW EXCLUSIVE MODE", names.source), &[])?;
        source.check_key(&self.key)?;
        self.check_codes(&source)?;
        let items: Vec<_> = self.first.iter().map(|item| Direction::split(item)).collect();
        let first = items.iter().map(|&(_, direction)| direction).collect();
        let look_radius = self.look.as_ref().map(|&(_, radius)| radius);
        let definition = Definition {
            table,
            key: self.key.clone(),
            radius: self.radius,
            linkage: self.linkage,
            look_radius,
            first,
        };
        let expressions: Vec<_> = items.iter().map(|&(expression, _)| expression).collect();
        self.make_relations(&source, &names, &expressions, path)?;
        make_triggers(&names, &definition)?;
        let clustered = Clustered::of(source.oid, function)?;
        let key = &clustered.columns.key;
        // SAFETY: looks the type up.
        if unsafe { pg_sys::get_base_element_type(key.type_) } != pg_sys::InvalidOid {
            return Err(error::array_key(&self.key, &key.type_name()));
        }
        clustered.fill()?;
        clustered.record_dependencies()?;
        Ok(clustered.clusters)
    }

    /// Codes are `bigint` or `bit(n)`, second codes `bit(n)`; a radius is at most the number of bits.
    fn check_codes(&self, source: &Source) -> Result<(), SqlError> {
        let column = |name: &str| {
            let name = c_string(&[&to_database(name.to_owned())?]);
            // SAFETY: a string.
            CodeColumn::of(source.oid, unsafe { CStr::from_ptr(name.cast_mut_ptr()) }, None)
        };
        let check = |name, column: &CodeColumn, radius| {
            let most = column.bits.map_or(i32::MAX.into(), i64::from);
            Limit::new(name, 0, most).of::<i32>(radius).map_err(report::problem)
        };
        check("radius", &column(&self.code)?, self.radius)?;
        if let Some((look, radius)) = &self.look {
            let column = column(look)?;
            if column.codes == CodeType::Bigint {
                return Err(error::look_is_bigint(look));
            }
            check("look_radius", &column, *radius)?;
        }
        Ok(())
    }

    /// The columns of the view: expressions of the caller's, and their names.
    fn columns<'a>(&'a self, first: &[&'a str]) -> Vec<(String, String)> {
        let key = quoted(&self.key);
        let mut columns = vec![(key.clone(), key), (quoted(&self.code), "code".to_owned())];
        columns.extend(self.look.iter().map(|(look, _)| (quoted(look), "look".to_owned())));
        let within = self.within.iter().enumerate();
        columns.extend(within.map(|(index, item)| (item.clone(), format!("within_{}", index + 1))));
        let first = first.iter().enumerate();
        columns.extend(first.map(|(index, &item)| (item.to_owned(), format!("first_{}", index + 1))));
        columns
    }

    /// Makes the view and the two tables. The view has the caller's expressions, which are read by the
    /// caller's search path.
    fn make_relations(
        &self,
        source: &Source,
        names: &Names,
        first: &[&str],
        path: &str,
    ) -> Result<(), SqlError> {
        let columns = self.columns(first);
        let select: Vec<_> = columns.iter().map(|(item, name)| format!("({item}) AS {name}")).collect();
        let copied: Vec<_> = columns.iter().skip(1).map(|(_, name)| format!("r.{name}")).collect();
        let filter = self.filter.as_ref().map(|filter| format!(" WHERE ({filter})")).unwrap_or_default();
        let Names { source: table, clusters, changes, rows, .. } = names;
        set(c"search_path", path)?;
        run(&format!("CREATE VIEW {rows} AS SELECT {} FROM ONLY {table}{filter}", select.join(", ")), &[])?;
        set(c"search_path", SAFE_PATH)?;
        let unlogged =
            if source.persistence == pg_sys::RELPERSISTENCE_UNLOGGED { "UNLOGGED TABLE" } else { "TABLE" };
        let (key, copied) = (quoted(&self.key), copied.join(", "));
        run(
            &format!(
                "CREATE {unlogged} {clusters} USING heap AS
                 SELECT r.{key}, r.{key} AS cluster, NULL::integer AS distance, {copied} FROM {rows} AS r WITH NO DATA"
            ),
            &[],
        )?;
        run(
            &format!("CREATE {unlogged} {changes} USING heap AS SELECT {key} FROM {rows} WITH NO DATA"),
            &[],
        )?;
        // A publication of all tables would not let a refresh take notes from a table without a key.
        run(&format!("ALTER TABLE {changes} REPLICA IDENTITY FULL"), &[])?;
        Ok(())
    }
}

/// Makes the triggers that note changes. They are fired whoever writes: a session, or the apply worker of
/// logical replication.
fn make_triggers(names: &Names, definition: &Definition) -> Result<(), SqlError> {
    let (Names { source, extension, .. }, arguments) = (names, definition.trigger_arguments());
    for (name, event) in [
        ("near_clusters_rows", "INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW"),
        ("near_clusters_truncate", "TRUNCATE ON {} FOR EACH STATEMENT"),
    ] {
        let event = event.replace("{}", source);
        run(
            &format!(
                "CREATE TRIGGER {name} AFTER {event} EXECUTE FUNCTION {extension}.near_clusters_trigger({arguments})"
            ),
            &[],
        )?;
        run(&format!("ALTER TABLE ONLY {source} ENABLE ALWAYS TRIGGER {name}"), &[])?;
    }
    Ok(())
}

impl Clustered {
    /// Computes all clusters, and makes the indexes.
    fn fill(&self) -> Result<(), SqlError> {
        let Names { clusters, changes, extension, .. } = &self.names;
        let key = &self.columns.key;
        run(&Statements(self).fill(), &[])?;
        // SAFETY: reads the level of isolation of the transaction.
        if unsafe { pg_sys::XactIsoLevel } >= pg_sys::XACT_REPEATABLE_READ as i32 {
            // Rows may be missing that were committed after the snapshot.
            run(&format!("INSERT INTO {changes} VALUES (NULL)"), &[])?;
        }
        run(&format!("ALTER TABLE {clusters} ADD PRIMARY KEY ({})", key.name), &[])?;
        run(&format!("CREATE INDEX ON {clusters} (cluster)"), &[])?;
        let keeps = key.equal_values("cluster", &key.name);
        let index =
            format!("CREATE INDEX ON {clusters} USING hamming (code {extension}.{})", self.operator_class());
        match self.definition.linkage {
            Linkage::Leader => {
                run(&format!("{index} WHERE {keeps}"), &[])?;
                run(&format!("{index} WHERE NOT {keeps}"), &[])?;
            }
            Linkage::Connected => {
                run(&index, &[])?;
            }
        }
        self.comment()?;
        run(&format!("ANALYZE {clusters}"), &[])?;
        warn_of_large(self)
    }

    fn operator_class(&self) -> &'static str {
        if self.columns.code.type_ == pg_sys::INT8OID { "hamming_ops" } else { "hamming_bit_ops" }
    }

    /// Says in the catalog what the objects are.
    fn comment(&self) -> Result<(), SqlError> {
        let Names { source, clusters, changes, rows, .. } = &self.names;
        let Definition { radius, linkage, .. } = self.definition;
        let linkage = if linkage == Linkage::Leader { "leader" } else { "connected" };
        let refresh = format!("near_clusters_refresh('{source}')");
        for (object, comment) in [
            (
                format!("TABLE {clusters}"),
                format!(
                    "clusters of {source} within {radius} bits, linkage {linkage}, as of the last {refresh}"
                ),
            ),
            (
                format!("COLUMN {clusters}.{}", self.columns.key.name),
                format!("{linkage} clusters of {source} within {radius} bits, as of the last {refresh}"),
            ),
            (format!("COLUMN {clusters}.cluster"), "the key of the row that keeps the cluster".to_owned()),
            (format!("COLUMN {clusters}.distance"), "the distance to the keeper, in bits".to_owned()),
            (
                format!("COLUMN {clusters}.code"),
                format!("a copy, as all further columns; {rows} says of what"),
            ),
            (
                format!("TABLE {changes}"),
                format!(
                    "keys of rows of {source} that have changed since the last refresh; NULL for all rows"
                ),
            ),
            (
                format!("VIEW {rows}"),
                format!("the rows of {source} that are clustered, and what of them counts"),
            ),
        ] {
            run(&format!("COMMENT ON {object} IS '{}'", escaped(&comment)), &[])?;
        }
        Ok(())
    }
}

/// The elements of an array of text, none of which may be NULL.
///
/// # Safety
/// The datum must be an array of text.
unsafe fn texts(array: pg_sys::Datum, name: &str) -> Result<Vec<String>, SqlError> {
    // SAFETY: an array, as the caller promises; its elements are texts.
    let elements = unsafe { ArrayElements::of(array) };
    if elements.nulls.contains(&true) {
        return Err(error::null_argument(name));
    }
    let text = |&value: &pg_sys::Datum| {
        // SAFETY: a text that is not NULL.
        let text = unsafe { <&[u8]>::from_datum(value, false) }.unwrap_or_default();
        to_utf8(text).map(|text| text.into_owned())
    };
    elements.values.iter().map(text).collect()
}
