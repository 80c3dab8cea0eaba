//! The OIDs of the functions on sketches.

use super::strategy::MATCHES;
use crate::catalog::families::{function_of, operator_in};
use crate::catalog::lookup::{find_function, result_of};
use crate::catalog::ours::is_ours;
use pgrx::pg_sys::{self, Oid, SysCacheIdentifier};
use text::sketch::threshold::Measure;

/// PostgreSQL's operator `anyarray && anyarray`.
pub const OVERLAP_OPERATOR: Oid = Oid::from_u32(pg_sys::OID_ARRAY_OVERLAP_OP);

/// The functions on sketches that the planner's support reads or puts into queries.
#[derive(Clone, Copy, Debug)]
pub struct SketchOids {
    /// The function `sketch_similarity`.
    pub similarity: Oid,
    /// The function `sketch_containment`.
    pub containment: Oid,
    /// The functions that replace a comparison of a share: `sketch_similar` and `sketch_contained`.
    pub similar: Oid,
    /// See `similar`.
    pub contained: Oid,
    /// The function `sketch_overlaps`.
    pub overlaps: Oid,
    /// The function `sketch_above`.
    pub above: Oid,
    /// The type `sketch_query`.
    pub query_type: Oid,
    /// The function that makes a value of type sketch_query.
    pub query: Oid,
}

impl SketchOids {
    /// The measure of a condition if its first sketch is the stored one, and if its second one is. `None` as
    /// a measure means that one common value is enough.
    pub fn measures(&self, function: Oid) -> Option<[Option<Measure>; 2]> {
        Some(match function {
            _ if function == self.overlaps => [None; 2],
            _ if function == self.similar => [Some(Measure::Similarity); 2],
            _ if function == self.contained => [Measure::OfSketch, Measure::OfQuery].map(Some),
            _ => return None,
        })
    }

    pub(super) fn look_up(namespace: Oid) -> Option<Self> {
        let sketch = pg_sys::INT8ARRAYOID;
        let double = pg_sys::FLOAT8OID;
        let function = |name, args: &[Oid]| find_function(namespace, name, args);
        let query = function(c"sketch_query_of", &[sketch, pg_sys::INT4OID, double])?;
        Some(Self {
            similarity: function(c"sketch_similarity", &[sketch, sketch])?,
            containment: function(c"sketch_containment", &[sketch, sketch])?,
            similar: function(c"sketch_similar", &[sketch, sketch, double])?,
            contained: function(c"sketch_contained", &[sketch, sketch, double])?,
            overlaps: function(c"sketch_overlaps", &[sketch, sketch])?,
            above: function(c"sketch_above", &[double])?,
            query_type: result_of(query),
            query,
        })
    }

    /// The operator `bigint[] @@ sketch_query`, if the operator family is that of `sketch_ops`.
    pub fn match_operator(&self, family: Oid) -> Option<Oid> {
        operator_in(family, pg_sys::INT8ARRAYOID, self.query_type, MATCHES)
            .filter(|&operator| is_ours(function_of(operator), c"sketch_matches"))
    }

    /// Whether the functions still exist. The extension may have been dropped since.
    pub(super) fn are_there(&self) -> bool {
        let cache = SysCacheIdentifier::PROCOID as i32;
        let null = pg_sys::Datum::null();
        // SAFETY: the function looks a function up by its OID.
        unsafe { pg_sys::SearchSysCacheExists(cache, self.overlaps.into(), null, null, null) }
    }
}
