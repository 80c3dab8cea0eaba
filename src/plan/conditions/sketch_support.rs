//! The planner's questions about calls of the sketch functions: which index condition, which selectivity,
//! which cost?

use super::hook::install_hook;
use crate::estimate::selectivity::of_join;
use crate::estimate::sketch::{SketchCondition, cost, selectivity};
use crate::index::gin::number_of;
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::families::is_in;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::{OVERLAP_OPERATOR, SketchOids};
use crate::pg::node::{Applied, Node};
use crate::pg::planner::Planner;
use crate::pg::support_function::{
    IndexCondition, IndexRequest, SelectivityRequest, SupportFunction, answer,
};
use crate::pg::value::Value;
use pgrx::pg_sys::{Datum, Oid};
use text::sketch::threshold::Measure;

pg_functions!(sketch_support);

fn sketch_support(call: Call) -> Datum {
    answer::<SketchFunction>(call)
}

struct SketchFunction;

impl SupportFunction for SketchFunction {
    fn simplify<'p>(call: Applied<'p>) -> Option<Node<'p>> {
        // The session looks up our objects now, before the hook rewrites the conditions of the query.
        install_hook();
        ExtensionOids::of_sketches(call.id);
        None
    }

    fn index_condition<'p>(request: &IndexRequest<'p>) -> Option<IndexCondition<'p>> {
        let indexed = IndexedSketch::read(request.call, request.indexed_argument)?;
        let by_share = indexed.by_share(request.family, &ExtensionOids::of_sketches(request.call.id)?);
        let is_lossy = by_share.is_none() && indexed.share.is_some();
        let (operator, query) = by_share.or_else(|| indexed.by_overlap(request.family))?;
        Some(IndexCondition { operator, stored: indexed.stored, query, is_lossy })
    }

    fn selectivity(request: &SelectivityRequest<'_>) -> Option<f64> {
        let condition = condition(request.call)?;
        Some(of_join(selectivity(request.planner, &condition, request.relation), request))
    }

    fn cost<'p>(planner: Option<Planner<'p>>, call: Applied<'p>) -> Option<f64> {
        Some(cost(planner, &condition(call)?))
    }
}

/// A condition on two sketches, one of which is in the index.
struct IndexedSketch<'p> {
    stored: Node<'p>,
    query: Node<'p>,
    /// The least share, and of which values it is a share. `None` if one common value is enough.
    share: Option<(Measure, Node<'p>)>,
}

impl<'p> IndexedSketch<'p> {
    /// Reads a call. `indexed` is the number of the argument that is in the index.
    fn read(call: Applied<'p>, indexed: i32) -> Option<Self> {
        let SketchCondition { a, b, least } = condition(call)?;
        let [of_first, of_second] = ExtensionOids::of_sketches(call.id)?.measures(call.id)?;
        let (stored, query, measure) = match indexed {
            0 => (a, b, of_first),
            1 => (b, a, of_second),
            _ => return None,
        };
        Some(Self { stored, query, share: measure.zip(least) })
    }

    /// `stored @@ query`: its operator, if the operator family has it, and the query.
    fn by_share(&self, family: Oid, sketches: &SketchOids) -> Option<(Oid, Node<'p>)> {
        let (measure, least) = self.share?;
        let matches = sketches.match_operator(family)?;
        let args = [self.query, Node::integer(number_of(measure) as i32), least];
        Some((matches, Node::function(sketches.query, sketches.query_type, &args)))
    }

    /// `stored && query`: its operator, if the operator family has it, as `array_ops` does, and the query.
    /// Not if the share may be 0: then rows without a common value match too.
    fn by_overlap(&self, family: Oid) -> Option<(Oid, Node<'p>)> {
        let is_positive = self.share.is_none_or(|(_, least)| {
            least.constant().and_then(Value::as_double).is_some_and(|least| least > 0.0)
        });
        (is_positive && is_in(OVERLAP_OPERATOR, family)).then_some((OVERLAP_OPERATOR, self.query))
    }
}

/// The condition that a call tests. For a call that computes a share: that the sketches overlap.
fn condition(call: Applied) -> Option<SketchCondition> {
    let sketches = ExtensionOids::of_sketches(call.id)?;
    if [sketches.overlaps, sketches.similarity, sketches.containment].contains(&call.id) {
        call.args().map(|[a, b]| SketchCondition { a, b, least: None })
    } else if [sketches.similar, sketches.contained].contains(&call.id) {
        call.args().map(|[a, b, least]| SketchCondition { a, b, least: Some(least) })
    } else {
        None
    }
}
