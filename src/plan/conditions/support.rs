//! What the planner asks about a call of our functions: can it be written otherwise, can an index answer it,
//! what is its selectivity?

use super::expressions::CodePair;
use super::hook::install_hook;
use super::request::{IndexRequest, NO, Request, simplified};
use crate::estimate::condition::Within;
use crate::estimate::selectivity::{UNKNOWN, selectivity};
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::families::function_of;
use crate::pg::catalog::oids::{CodeOids, ExtensionOids};
use crate::pg::catalog::ours::is_within_ball;
use crate::pg::expr::{Applied, Expr, Exprs};
use crate::pg::planner::Planner;
use pgrx::pg_sys::{self, Datum};

pg_functions!(hamming_support, hamming_within_support, hamming_ball_sel, hamming_ball_joinsel);

fn hamming_support(call: Call) -> Datum {
    match Request::of(call) {
        Request::Simplify(call) => {
            install_hook();
            // For a call of `hamming` that an operator stands for, too: from now on the session knows our
            // objects.
            ExtensionOids::of(call.id).map_or(NO, |(_, oids)| simplified(distance(call, &oids)))
        }
        _ => NO,
    }
}

fn hamming_within_support(call: Call) -> Datum {
    match Request::of(call) {
        Request::Simplify(call) => {
            oids_of_within(call.id).map_or(NO, |oids| simplified(equality(call, &oids)))
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

/// `hamming(a, b)` is `a <~> b`, or `a <^> b`: in queries, and in what Postgres keeps of index definitions to
/// compare with them. The catalog has definitions as they were written.
fn distance<'p>(call: Applied<'p>, oids: &'p CodeOids) -> Option<Expr<'p>> {
    let [a, b] = call.args().filter(|_| call.id == oids.hamming)?;
    Some(CodePair { oids, a, b }.distance())
}

/// `hamming_within(a, b, 0)` of fingerprints is `a = b`.
fn equality<'p>(call: Applied<'p>, oids: &'p CodeOids) -> Option<Expr<'p>> {
    let [a, b, radius] = call.args()?;
    let simplified = CodePair { oids, a, b }.within(radius);
    simplified.as_operator().is_some().then_some(simplified)
}

/// The objects for the type of codes, if the function is `hamming_within`. Another function with its planner
/// support may have other arguments.
fn oids_of_within(function: pg_sys::Oid) -> Option<CodeOids> {
    ExtensionOids::of(function).map(|(_, oids)| oids).filter(|oids| oids.within == function)
}

/// `a <@ hamming_ball(b, radius)`, whichever of the two values is in the index.
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
    if !is_within_ball(function_of(contained), oids.codes) {
        return None;
    }
    let ball = Expr::function(oids.ball, oids.ball_type, &[center, radius]);
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
    // SAFETY: an estimator of conditions, or of joins, is called with the query first and the arguments of
    // the operator third.
    let (planner, args) = unsafe { (Planner::new(asked.pointer(0)), Exprs::new(asked.pointer(2))) };
    let condition =
        Applied::new(pg_sys::InvalidOid, args).args().and_then(|[code, ball]| Within::ball(code, ball));
    planner.zip(condition).map_or(UNKNOWN, |(planner, condition)| selectivity(planner, &condition, relation))
}
