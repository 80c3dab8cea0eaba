//! What the planner asks our functions: can you be written otherwise, searched by an index, estimated?

use super::expressions::CodePair;
use super::hook::install_hook;
use crate::estimate::condition::Within;
use crate::estimate::selectivity::{UNKNOWN, selectivity};
use crate::pg::call::{Call, pg_function};
use crate::pg::catalog::oids::{CodeOids, ExtensionOids};
use crate::pg::catalog::ours::is_within_ball;
use crate::pg::nodes::{cast, elements, function, list_of, operator};
use pgrx::pg_sys::{self, Datum, Node, NodeTag};

/// The request as a struct of its tag.
pub(super) fn request<'a, T>(call: Call, tag: NodeTag) -> Option<&'a mut T> {
    // SAFETY: support functions are called with a request, which is a node.
    unsafe { cast(call.pointer(0), tag) }
}

/// The answer to a request; NULL says no.
pub(super) fn answer(node: Option<*mut Node>) -> Datum {
    node.map_or(Datum::null(), Datum::from)
}

pg_function!(
    pg_finfo_hamming_support,
    fn hamming_support(call) {
        let simplify = request(call, NodeTag::T_SupportRequestSimplify);
        // SAFETY: the request is passed to what answers it.
        answer(simplify.and_then(|request| unsafe { simplify_hamming(request) }))
    }
);

pg_function!(
    pg_finfo_hamming_within_support,
    fn hamming_within_support(call) {
        // SAFETY: each request is passed to what answers it.
        answer(unsafe {
            if let Some(request) = request(call, NodeTag::T_SupportRequestSimplify) {
                simplify_within(request)
            } else if let Some(request) = request(call, NodeTag::T_SupportRequestIndexCondition) {
                index_condition(request)
            } else if let Some(request) = request(call, NodeTag::T_SupportRequestSelectivity) {
                estimate(request)
            } else {
                None
            }
        })
    }
);

/// `hamming(a, b)` is `a <~> b`, or `a <^> b`: in queries, and in what Postgres keeps of index definitions to
/// compare with them. The catalog has definitions as they were written.
///
/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn simplify_hamming(request: &mut pg_sys::SupportRequestSimplify) -> Option<*mut Node> {
    // SAFETY: a request has the call that it is about.
    unsafe {
        let call = &*request.fcall;
        install_hook();
        // Also makes this session know our objects, when the operator was written.
        let (_, oids) = ExtensionOids::of(call.funcid)?;
        match elements(call.args) {
            &mut [a, b] if call.funcid == oids.hamming => Some(CodePair { oids: &oids, a, b }.distance()),
            _ => None,
        }
    }
}

/// The objects for the type of codes, if the function is `hamming_within`. Another function with its planner
/// support may have other arguments.
fn oids_of_within(function: pg_sys::Oid) -> Option<CodeOids> {
    ExtensionOids::of(function).map(|(_, oids)| oids).filter(|oids| oids.within == function)
}

/// `hamming_within(a, b, 0)` of fingerprints is `a = b`.
///
/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn simplify_within(request: &mut pg_sys::SupportRequestSimplify) -> Option<*mut Node> {
    // SAFETY: a request has the call that it is about.
    unsafe {
        let call = &*request.fcall;
        let oids = oids_of_within(call.funcid)?;
        let &mut [a, b, radius] = elements(call.args) else { return None };
        let simplified = CodePair { oids: &oids, a, b }.within(radius);
        (cast::<pg_sys::OpExpr>(simplified, NodeTag::T_OpExpr).is_some()).then_some(simplified)
    }
}

/// `a <@ hamming_ball(b, radius)`, whichever of the two values is in the index.
///
/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn index_condition(request: &mut pg_sys::SupportRequestIndexCondition) -> Option<*mut Node> {
    // SAFETY: a request has the condition that it is about, and the index.
    unsafe {
        let oids = oids_of_within(request.funcid)?;
        let condition = cast::<pg_sys::FuncExpr>(request.node, NodeTag::T_FuncExpr)?;
        let &mut [a, b, radius] = elements(condition.args) else { return None };
        let (key, center) = match request.indexarg {
            0 => (a, b),
            1 => (b, a),
            _ => return None,
        };
        let contained = oids.ball_operator(request.opfamily)?;
        if !is_within_ball(pg_sys::get_opcode(contained), oids.codes) {
            return None;
        }
        let ball = function(oids.ball, oids.ball_type, &[center, radius]);
        if !pg_sys::is_pseudo_constant_for_index(request.root, ball, request.index) {
            return None;
        }
        let ball = pg_sys::eval_const_expressions(request.root, ball);
        request.lossy = false;
        Some(list_of(&[operator(contained, pg_sys::BOOLOID, key, ball)]).cast())
    }
}

/// The selectivity of `hamming_within(a, b, radius)`.
///
/// # Safety
/// The request must be one that PostgreSQL has made, with all that it points to.
unsafe fn estimate(request: &mut pg_sys::SupportRequestSelectivity) -> Option<*mut Node> {
    // SAFETY: a request has the arguments of the call that it is about.
    unsafe {
        oids_of_within(request.funcid)?;
        let &mut [a, b, radius] = elements(request.args) else { return None };
        request.selectivity = selectivity(request.root, &Within { a, b, radius }, request.varRelid);
    }
    Some(std::ptr::from_mut(request).cast())
}

pg_function!(
    pg_finfo_hamming_ball_sel,
    fn hamming_ball_sel(call) {
        // SAFETY: an estimator of conditions gets the query, the operator, its arguments and a relation.
        unsafe { estimate_ball(call, call.integer(3)) }.to_bits().into()
    }
);

pg_function!(
    pg_finfo_hamming_ball_joinsel,
    fn hamming_ball_joinsel(call) {
        // SAFETY: an estimator of joins gets the query, the operator and its arguments first.
        unsafe { estimate_ball(call, 0) }.to_bits().into()
    }
);

/// The selectivity of `a <@ ball`.
///
/// # Safety
/// The call must be that of an estimator, with the query first and the arguments of the operator third.
unsafe fn estimate_ball(call: Call, relation: i32) -> f64 {
    // SAFETY: the call is that of an estimator, with the query first and the arguments of the operator
    // third, as the caller promises.
    unsafe {
        let (root, args) = (call.pointer(0), call.pointer(2));
        let condition = match elements(args) {
            &mut [code, ball] => Within::ball(code, ball),
            _ => None,
        };
        condition.map_or(UNKNOWN, |condition| selectivity(root, &condition, relation))
    }
}
