//! What the rows of a window are clustered by: codes with radii, the linkage, and the type of their keys.

use crate::exec::rows::JoinSide;
use crate::pg::code::CodeType;
use crate::pg::code::list::CodeReader;
use crate::pg::report::SqlError;
use crate::pg::row_store::RowStore;
use base::{Heartbeat, Limit, Problem};
use hamming::clusters::{Linkage, keepers};
use hamming::near_pairs::CodeRadii;
use pgrx::pg_sys::Oid;

/// How rows are clustered.
pub(crate) struct ClusterForm {
    pub(crate) linkage: Linkage,
    /// The types of the codes, and a radius for each of them.
    pub(crate) types: Vec<CodeType>,
    pub(crate) radii: Vec<ClusterRadius>,
    /// The type of the keys.
    pub(crate) key: Oid,
}

/// A radius, the name of its argument, and a hint for values that are out of range.
pub(crate) struct ClusterRadius {
    pub(crate) bits: i32,
    pub(crate) name: &'static str,
    pub(crate) hint: Option<&'static str>,
}

impl ClusterForm {
    /// No rows, for rows with keys.
    pub(super) fn keyed_rows(&self) -> JoinSide {
        self.rows(RowStore::of_values(self.key))
    }

    /// No rows, for rows without keys that have codes of these lengths.
    pub(super) fn open_rows(&self, lengths: &[u32]) -> JoinSide {
        let mut rows = self.rows(RowStore::of_nothing());
        rows.expect_lengths(lengths);
        rows
    }

    fn rows(&self, keys: RowStore) -> JoinSide {
        // Bounded: as many codes as the function has.
        let readers = self.types.iter().map(|&type_| CodeReader::new(type_)).collect();
        JoinSide::new(keys, true, readers)
    }

    /// The radii, each of which is at most the number of bits of a code.
    pub(super) fn radii(&self, rows: &JoinSide) -> Result<CodeRadii, SqlError> {
        let radii =
            self.radii.iter().zip(&rows.readers).map(|(&ClusterRadius { bits, name, hint }, reader)| {
                let most = reader.bits().map_or(i32::MAX.into(), i64::from);
                let with_hint = |problem| Problem { hint: hint.map(str::to_owned), ..problem };
                Limit::new(name, 0, most).of(bits).map_err(with_hint)
            });
        Ok(rows.radii(&radii.collect::<Result<Vec<u32>, Problem>>()?))
    }

    /// For each code in memory, the place of its keeper's code.
    pub(super) fn keepers(
        &self,
        rows: &JoinSide,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<u32>, SqlError> {
        Ok(keepers(rows.codes(), self.radii(rows)?, self.linkage, heartbeat)?)
    }
}
