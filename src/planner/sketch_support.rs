//! What the planner asks the functions on sketches: can you be searched by an index, how many rows pass, what
//! do you cost?

use super::hook::install_hook;
use super::support::{answer, request};
use crate::estimate::sketch::{SketchCondition, cost, selectivity};
use crate::gin::number_of;
use crate::pg::call::pg_function;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::{OVERLAP_OPERATOR, SketchOids};
use crate::pg::nodes::{cast, constant, elements, function, integer, list_of, operator};
use pgrx::pg_sys::{self, Node, NodeTag, Oid};
use text::sketch::threshold::Measure;

pg_function!(
    pg_finfo_sketch_support,
    fn sketch_support(call) {
        // SAFETY: each request is passed to what answers it.
        answer(unsafe {
            if let Some(request) = request::<pg_sys::SupportRequestSimplify>(call, NodeTag::T_SupportRequestSimplify) {
                // Makes this session know our objects before the conditions of the query are rewritten.
                install_hook();
                ExtensionOids::of_sketches((*request.fcall).funcid);
                None
            } else if let Some(request) = request(call, NodeTag::T_SupportRequestIndexCondition) {
                index_condition(request)
            } else if let Some(request) = request(call, NodeTag::T_SupportRequestSelectivity) {
                estimate(request)
            } else if let Some(request) = request(call, NodeTag::T_SupportRequestCost) {
                estimate_cost(request)
            } else {
                None
            }
        })
    }
);

/// A condition on an indexed sketch, whichever of the two sketches that is.
struct IndexedSketch {
    stored: *mut Node,
    query: *mut Node,
    /// The share that is asked for, and what it is a share of. None asks for a common value.
    share: Option<(Measure, *mut Node)>,
}

impl IndexedSketch {
    /// # Safety
    /// The request must be one that PostgreSQL has made, with all that it points to.
    unsafe fn read(request: &pg_sys::SupportRequestIndexCondition) -> Option<Self> {
        // SAFETY: a request has the condition that it is about.
        unsafe {
            let condition = cast::<pg_sys::FuncExpr>(request.node, NodeTag::T_FuncExpr)?;
            let (&mut [a, b] | &mut [a, b, _]) = elements(condition.args) else { return None };
            let [of_first, of_second] = measures(request.funcid)?;
            let (stored, query, measure) = match request.indexarg {
                0 => (a, b, of_first),
                1 => (b, a, of_second),
                _ => return None,
            };
            let Some(measure) = measure else { return Some(Self { stored, query, share: None }) };
            let &mut [_, _, least] = elements(condition.args) else { return None };
            Some(Self { stored, query, share: Some((measure, least)) })
        }
    }

    /// `stored @@ query`, if the family of the index has the operator.
    ///
    /// # Safety
    /// The expressions that it has must be alive.
    unsafe fn by_share(&self, family: Oid, sketches: &SketchOids) -> Option<*mut Node> {
        // SAFETY: the function makes a query of these arguments.
        unsafe {
            let (measure, least) = self.share?;
            let matches = sketches.match_operator(family)?;
            let measure = integer(number_of(measure) as i32);
            let query = function(sketches.query, sketches.query_type, &[self.query, measure, least]);
            Some(operator(matches, pg_sys::BOOLOID, self.stored, query))
        }
    }

    /// `stored && query`, if the family has the operator: `array_ops` for one. Rows without a common value
    /// pass if the share may be 0.
    ///
    /// # Safety
    /// The expressions that it has must be alive.
    unsafe fn by_overlap(&self, family: Oid) -> Option<*mut Node> {
        // SAFETY: the operator takes two arrays of one type. The share is a double precision.
        unsafe {
            let is_positive = self.share.is_none_or(|(_, least)| {
                constant(least).is_some_and(|least| f64::from_bits(least.value() as u64) > 0.0)
            });
            (is_positive && pg_sys::op_in_opfamily(OVERLAP_OPERATOR, family))
                .then(|| operator(OVERLAP_OPERATOR, pg_sys::BOOLOID, self.stored, self.query))
        }
    }
}

/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn index_condition(request: &mut pg_sys::SupportRequestIndexCondition) -> Option<*mut Node> {
    // SAFETY: a request has the index.
    unsafe {
        let indexed = IndexedSketch::read(request)?;
        let sketches = ExtensionOids::of_sketches(request.funcid)?;
        let by_share = indexed.by_share(request.opfamily, &sketches);
        let condition = by_share.or_else(|| indexed.by_overlap(request.opfamily))?;
        let &mut [_, query] = elements((*condition.cast::<pg_sys::OpExpr>()).args) else { return None };
        if !pg_sys::is_pseudo_constant_for_index(request.root, query, request.index) {
            return None;
        }
        request.lossy = by_share.is_none() && indexed.share.is_some();
        Some(list_of(&[pg_sys::eval_const_expressions(request.root, condition)]).cast())
    }
}

/// What a condition compares if its first sketch is the stored one, and if its second one is; None asks for a
/// common value.
fn measures(function: Oid) -> Option<[Option<Measure>; 2]> {
    let sketches = ExtensionOids::of_sketches(function)?;
    Some(match function {
        _ if function == sketches.overlaps => [None; 2],
        _ if function == sketches.similar => [Some(Measure::Similarity); 2],
        _ if function == sketches.contained => [Measure::OfSketch, Measure::OfQuery].map(Some),
        _ => return None,
    })
}

/// The condition that a function stands for, or the share that it computes.
///
/// # Safety
/// `args` must be a list of expressions of the query that is being planned.
unsafe fn condition(function: Oid, args: *mut pg_sys::List) -> Option<SketchCondition> {
    // SAFETY: the arguments of the function.
    unsafe {
        let sketches = ExtensionOids::of_sketches(function)?;
        match *elements(args) {
            [a, b] if [sketches.overlaps, sketches.similarity, sketches.containment].contains(&function) => {
                Some(SketchCondition { a, b, least: None })
            }
            [a, b, least] if [sketches.similar, sketches.contained].contains(&function) => {
                Some(SketchCondition { a, b, least: Some(least) })
            }
            _ => None,
        }
    }
}

/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn estimate(request: &mut pg_sys::SupportRequestSelectivity) -> Option<*mut Node> {
    // SAFETY: a request has the arguments of the call that it is about.
    unsafe {
        let condition = condition(request.funcid, request.args)?;
        request.selectivity = selectivity(request.root, &condition, request.varRelid);
    }
    Some(std::ptr::from_mut(request).cast())
}

/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn estimate_cost(request: &mut pg_sys::SupportRequestCost) -> Option<*mut Node> {
    // SAFETY: a request may have the call that it is about.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(request.node, NodeTag::T_FuncExpr)?;
        let condition = condition(request.funcid, call.args)?;
        (request.startup, request.per_tuple) = (0.0, cost(request.root, &condition));
    }
    Some(std::ptr::from_mut(request).cast())
}
