//! The numbers (OIDs) of the functions on sketches.

use super::families::{function_of, operator_in};
use super::lookup::{find_function, result_of};
use super::ours::is_sketch_match;
use super::strategy::MATCHES;
use pgrx::pg_sys::{self, Oid, SysCacheIdentifier};
use text::sketch::threshold::Measure;

/// PostgreSQL's operator `anyarray && anyarray`.
pub(crate) const OVERLAP_OPERATOR: Oid = Oid::from_u32(pg_sys::OID_ARRAY_OVERLAP_OP);

/// The functions on sketches that the planner meets or makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SketchOids {
    pub(crate) similarity: Oid,
    pub(crate) containment: Oid,
    /// What the comparison of a share with a number becomes: `sketch_similar` and `sketch_contained`.
    pub(crate) similar: Oid,
    pub(crate) contained: Oid,
    pub(crate) overlaps: Oid,
    pub(crate) above: Oid,
    pub(crate) query_type: Oid,
    /// The function that makes a query.
    pub(crate) query: Oid,
}

impl SketchOids {
    /// What a condition compares if its first sketch is the stored one, and if its second one is; None asks
    /// for a common value.
    pub(crate) fn measures(&self, function: Oid) -> Option<[Option<Measure>; 2]> {
        Some(match function {
            _ if function == self.overlaps => [None; 2],
            _ if function == self.similar => [Some(Measure::Similarity); 2],
            _ if function == self.contained => [Measure::OfSketch, Measure::OfQuery].map(Some),
            _ => return None,
        })
    }

    pub(super) fn look_up(namespace: Oid) -> Option<Self> {
        let (sketch, double) = (pg_sys::INT8ARRAYOID, pg_sys::FLOAT8OID);
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

    /// The operator `bigint[] @@ sketch_query` of an operator family, if that is the family of `sketch_ops`.
    pub(crate) fn match_operator(&self, family: Oid) -> Option<Oid> {
        operator_in(family, pg_sys::INT8ARRAYOID, self.query_type, MATCHES)
            .filter(|&operator| is_sketch_match(function_of(operator)))
    }

    /// Whether these are the functions of the extension as it is now. It may have been dropped since.
    pub(super) fn are_there(&self) -> bool {
        let cache = SysCacheIdentifier::PROCOID as i32;
        let null = pg_sys::Datum::null();
        // SAFETY: looks a function up by its OID.
        unsafe { pg_sys::SearchSysCacheExists(cache, self.overlaps.into(), null, null, null) }
    }
}
