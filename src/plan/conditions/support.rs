//! The planner's questions about calls of our functions: what else can be written, which index condition,
//! which selectivity?

use super::expressions::CodePair;
use super::hook::install_hook;
use super::request::{IndexRequest, NO, Request, simplified};
use crate::estimate::condition::Within;
use crate::estimate::selectivity::{UNKNOWN, selectivity};
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::families::function_of;
use crate::pg::catalog::oids::{CodeOids, ExtensionOids};
use crate::pg::catalog::ours::is_ours;
use crate::pg::node::{Applied, Node, Nodes};
use crate::pg::planner::Planner;
use pgrx::pg_sys::{self, Datum};

pg_functions!(hamming_support, hamming_ball_sel, hamming_ball_joinsel);

fn hamming_support(call: Call) -> Datum {
    match Request::of(call) {
        Request::Simplify(call) => {
            install_hook();
            // The planner calls this for the operators, too. From now on the session has looked up our
            // objects.
            let Some((_, oids)) = ExtensionOids::of(call.id) else { return NO };
            simplified(distance(call, &oids).or_else(|| equality(call, &oids)))
        }
        Request::IndexCondition(request) => index_condition(request).unwrap_or(NO),
        Request::Selectivity(request) => {
            let call = request.call();
            match call.args().filter(|_| oids_of_within(call.id).is_some()) {
                Some([a, b, radius]) => request
                    .answer(|planner, relation| selectivity(planner, &Within { a, b, radius }, relation)),
                None => NO,
            }
        }
        _ => NO,
    }
}

/// `hamming(a, b)` becomes `a <~> b` or `a <^> b`, both in queries and in the index definitions that the
/// planner compares with queries. The catalog keeps index definitions as users wrote them.
fn distance<'p>(call: Applied<'p>, oids: &'p CodeOids) -> Option<Node<'p>> {
    let [a, b] = call.args().filter(|_| call.id == oids.hamming)?;
    Some(CodePair { oids, a, b }.distance())
}

/// `hamming_within(a, b, 0)` of fingerprints is `a = b`.
fn equality<'p>(call: Applied<'p>, oids: &'p CodeOids) -> Option<Node<'p>> {
    let [a, b, radius] = call.args().filter(|_| call.id == oids.within)?;
    let simplified = CodePair { oids, a, b }.as_condition(radius);
    simplified.as_operator().is_some().then_some(simplified)
}

/// Our objects for this type of codes, if the function is `hamming_within`. A user may declare another
/// function, with other arguments, that has the same support function.
fn oids_of_within(function: pg_sys::Oid) -> Option<CodeOids> {
    ExtensionOids::of(function).map(|(_, oids)| oids).filter(|oids| oids.within == function)
}

/// The index condition `a <@ hamming_ball(b, radius)`, or the same with a and b exchanged.
fn index_condition(request: IndexRequest) -> Option<Datum> {
    let call = request.call()?;
    let oids = oids_of_within(call.id)?;
    let [a, b, radius] = call.args()?;
    let (key, center) = match request.indexed_argument() {
        0 => (a, b),
        1 => (b, a),
        _ => return None,
    };
    let contained = oids.ball_operator(request.family())?;
    if !is_ours(function_of(contained), oids.codes.kind().within_ball) {
        return None;
    }
    // PostgreSQL would compute the ball of constants by its executor, once for each time that it asks.
    let ball = Node::ball(oids.codes, oids.ball_type, center, radius)
        .unwrap_or_else(|| Node::function(oids.ball, oids.ball_type, &[center, radius]));
    Some(request.answer(contained, [key, ball], false))
}

fn hamming_ball_sel(call: Call) -> f64 {
    estimate_ball(call, call.integer(3))
}

fn hamming_ball_joinsel(call: Call) -> f64 {
    estimate_ball(call, 0)
}

/// The selectivity of `a <@ ball`.
fn estimate_ball(asked: Call, relation: i32) -> f64 {
    let root = asked.pointer(0);
    // SAFETY: PostgreSQL calls an estimator of conditions or of joins with the planner's query as the first
    // argument, and the list of the operator's arguments as the third.
    let (planner, args) = unsafe { (Planner::new(&root), Nodes::new(asked.pointer(2))) };
    let condition =
        Applied::new(pg_sys::InvalidOid, args).args().and_then(|[code, ball]| Within::ball(code, ball));
    planner.zip(condition).map_or(UNKNOWN, |(planner, condition)| selectivity(planner, &condition, relation))
}
