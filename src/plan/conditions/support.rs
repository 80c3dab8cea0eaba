//! The planner's questions about calls of our functions: what else can be written, which index condition,
//! which selectivity?

use super::expressions::CodePair;
use super::hook::install_hook;
use crate::estimate::condition::Within;
use crate::estimate::selectivity::{UNKNOWN, of_join, selectivity};
use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::families::function_of;
use crate::pg::catalog::oids::{CodeOids, ExtensionOids};
use crate::pg::catalog::ours::is_ours;
use crate::pg::node::{Applied, Node};
use crate::pg::planner::Planner;
use crate::pg::support_function::{
    EstimatorCall, IndexCondition, IndexRequest, SelectivityRequest, SupportFunction, answer,
};
use pgrx::pg_sys::{self, Datum};

pg_functions!(hamming_support, hamming_ball_sel, hamming_ball_joinsel);

fn hamming_support(call: Call) -> Datum {
    answer::<DistanceFunction>(call)
}

struct DistanceFunction;

impl SupportFunction for DistanceFunction {
    fn simplify<'p>(call: Applied<'p>) -> Option<Node<'p>> {
        install_hook();
        // The planner calls this for the operators, too. From now on the session has looked up our objects.
        let (_, oids) = ExtensionOids::of(call.id)?;
        distance(call, oids).or_else(|| equality(call, oids))
    }

    /// `a <@ hamming_ball(b, radius)`, or the same with a and b exchanged.
    fn index_condition<'p>(request: &IndexRequest<'p>) -> Option<IndexCondition<'p>> {
        let oids = oids_of_within(request.call.id)?;
        let [a, b, radius] = request.call.args()?;
        let (stored, center) = match request.indexed_argument {
            0 => (a, b),
            1 => (b, a),
            _ => return None,
        };
        let operator = oids.ball_operator(request.family)?;
        if !is_ours(function_of(operator), oids.codes.kind().within_ball) {
            return None;
        }
        // PostgreSQL would compute the ball of constants by its executor, once for each time that it asks.
        let query = Node::ball(oids.codes, oids.ball_type, center, radius)
            .unwrap_or_else(|| Node::function(oids.ball, oids.ball_type, &[center, radius]));
        Some(IndexCondition { operator, stored, query, is_lossy: false })
    }

    fn selectivity(request: &SelectivityRequest<'_>) -> Option<f64> {
        oids_of_within(request.call.id)?;
        let [a, b, radius] = request.call.args()?;
        let pairs = selectivity(request.planner, &Within { a, b, radius }, request.relation);
        Some(of_join(pairs, request))
    }

    fn cost<'p>(_planner: Option<Planner<'p>>, _call: Applied<'p>) -> Option<f64> {
        None
    }
}

/// `hamming(a, b)` becomes `a <~> b` or `a <^> b`, both in queries and in the index definitions that the
/// planner compares with queries. The catalog keeps index definitions as users wrote them.
fn distance<'p>(call: Applied<'p>, oids: CodeOids) -> Option<Node<'p>> {
    let [a, b] = call.args().filter(|_| call.id == oids.hamming)?;
    Some(CodePair { oids, a, b }.distance())
}

/// `hamming_within(a, b, 0)` of fingerprints is `a = b`.
fn equality<'p>(call: Applied<'p>, oids: CodeOids) -> Option<Node<'p>> {
    let [a, b, radius] = call.args().filter(|_| call.id == oids.within)?;
    let simplified = CodePair { oids, a, b }.as_condition(radius);
    simplified.as_operator().is_some().then_some(simplified)
}

/// Our objects for this type of codes, if the function is `hamming_within`. A user may declare another
/// function, with other arguments, that has the same support function.
fn oids_of_within(function: pg_sys::Oid) -> Option<CodeOids> {
    ExtensionOids::of(function).map(|(_, oids)| oids).filter(|oids| oids.within == function)
}

fn hamming_ball_sel(asked: EstimatorCall<'_>, call: Call) -> f64 {
    estimate_ball(&asked, call.integer(3))
}

fn hamming_ball_joinsel(asked: EstimatorCall<'_>) -> f64 {
    estimate_ball(&asked, 0)
}

/// The selectivity of `a <@ ball`.
fn estimate_ball(asked: &EstimatorCall<'_>, relation: i32) -> f64 {
    let condition = asked.operands().and_then(|[code, ball]| Within::ball(code, ball));
    let planner = asked.planner();
    planner.zip(condition).map_or(UNKNOWN, |(planner, condition)| selectivity(planner, &condition, relation))
}
