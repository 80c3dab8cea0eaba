//! What `near_clusters_create` was told, as arguments of its triggers.

use super::error;
use crate::pg::catalog::ours::is_clusters_trigger;
use crate::pg::encoding::for_message;
use crate::pg::report::{self, SqlError};
use hamming::clusters::Linkage;
use pgrx::pg_sys;
use std::ffi::CStr;
use std::fmt::Write;

/// Radius, linkage and order of living clusters.
pub(super) struct Definition {
    /// The name of the table of clusters, which is in the schema of the clustered table.
    pub(super) table: String,
    pub(super) key: String,
    pub(super) radius: i32,
    pub(super) linkage: Linkage,
    /// Of the second code, if there is one.
    pub(super) look_radius: Option<i32>,
    /// How each column of the order is sorted.
    pub(super) first: Vec<Direction>,
}

/// A definition with the triggers that say it.
pub(super) type WithTriggers = (Definition, Vec<pg_sys::Oid>);

/// How a column is sorted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
}

impl Direction {
    /// Splits `expression [ASC | DESC] [NULLS FIRST | LAST]`.
    pub(super) fn split(item: &str) -> (&str, Self) {
        let (rest, nulls_first) = match without_word(item, "first").or(without_word(item, "last")) {
            Some(before) => match without_word(before, "nulls") {
                Some(rest) => (rest, Some(without_word(item, "first").is_some())),
                None => (item, None),
            },
            None => (item, None),
        };
        let (expression, descending) = match (without_word(rest, "desc"), without_word(rest, "asc")) {
            (Some(expression), _) => (expression, true),
            (_, Some(expression)) => (expression, false),
            _ => (rest, false),
        };
        (expression.trim(), Self { descending, nulls_first: nulls_first.unwrap_or(descending) })
    }

    /// The end of an item of ORDER BY.
    pub(super) fn sql(self) -> &'static str {
        match (self.descending, self.nulls_first) {
            (false, false) => "ASC NULLS LAST",
            (false, true) => "ASC NULLS FIRST",
            (true, false) => "DESC NULLS LAST",
            (true, true) => "DESC NULLS FIRST",
        }
    }
}

/// What comes before the last word, if that is the given one.
fn without_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_end();
    let start = text.len().checked_sub(word.len())?;
    let is_word = text.is_char_boundary(start) && text[start..].eq_ignore_ascii_case(word);
    let before = is_word.then(|| &text[..start])?;
    before.ends_with(char::is_whitespace).then_some(before)
}

impl Definition {
    /// The arguments of the triggers, as strings of SQL.
    pub(super) fn trigger_arguments(&self) -> String {
        let mut all = format!("'table={}', 'key={}'", escaped(&self.table), escaped(&self.key));
        let linkage = if self.linkage == Linkage::Leader { "leader" } else { "connected" };
        let _ = write!(all, ", 'radius={}', 'linkage={linkage}'", self.radius);
        if let Some(radius) = self.look_radius {
            let _ = write!(all, ", 'look_radius={radius}'");
        }
        if !self.first.is_empty() {
            let _ = write!(
                all,
                ", 'first={}'",
                self.first.iter().map(|f| f.sql()).collect::<Vec<_>>().join(", ")
            );
        }
        all
    }

    /// What the triggers of a table say, if it has living clusters.
    ///
    /// # Safety
    /// The relation must be open.
    pub(super) unsafe fn of(relation: pg_sys::Relation) -> Result<Option<WithTriggers>, SqlError> {
        // SAFETY: open, as the caller promises; its triggers live as long, and have as many arguments as they
        // say.
        unsafe {
            let Some(triggers) = (*relation).trigdesc.as_ref() else { return Ok(None) };
            let triggers = std::slice::from_raw_parts(triggers.triggers, triggers.numtriggers as usize);
            let ours: Vec<_> =
                triggers.iter().filter(|trigger| is_clusters_trigger(trigger.tgfoid)).collect();
            let Some(trigger) = ours.first() else { return Ok(None) };
            let arguments =
                (0..trigger.tgnargs as usize).map(|index| CStr::from_ptr(*trigger.tgargs.add(index)));
            let definition = Self::parse(arguments.map(for_message))?;
            Ok(Some((definition, ours.iter().map(|trigger| trigger.tgoid).collect())))
        }
    }

    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, SqlError> {
        let (mut table, mut key, mut radius, mut linkage) = (None, None, None, None);
        let (mut look_radius, mut first) = (None, Vec::new());
        for argument in arguments {
            match argument.split_once('=') {
                Some(("table", name)) => table = Some(name.to_owned()),
                Some(("key", name)) => key = Some(name.to_owned()),
                Some(("radius", number)) => radius = number.parse().ok(),
                Some(("linkage", name)) => linkage = Some(name.parse().map_err(report::problem)?),
                Some(("look_radius", number)) => look_radius = number.parse().ok(),
                Some(("first", list)) => {
                    // Of each item, only the direction is there; the expression is in the view.
                    first = list.split(", ").map(|item| Direction::split(&format!(" {item}")).1).collect();
                }
                _ => return Err(error::unknown_argument(&argument)),
            }
        }
        match (table, key, radius, linkage) {
            (Some(table), Some(key), Some(radius), Some(linkage)) => {
                Ok(Self { table, key, radius, linkage, look_radius, first })
            }
            _ => Err(error::missing_arguments()),
        }
    }
}

/// The inside of a string of SQL.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\'', "''")
}
