//! Support functions: what PostgreSQL's planner asks about calls of a function, and estimators of operators.

use super::call::{Argument, Call};
use super::node::{Applied, Node, Nodes};
use super::planner::Planner;
use pgrx::pg_sys::{self, Datum, JoinType, NodeTag, Oid};
use std::marker::PhantomData;
use std::ptr::from_mut;

/// The answer "no".
const NO: Datum = Datum::null();

/// The answers to what the planner asks about calls of a function. `None` means that the function has no
/// answer, and PostgreSQL proceeds as without it.
pub trait SupportFunction {
    /// What else can be written for the call?
    fn simplify<'p>(call: Applied<'p>) -> Option<Node<'p>>;

    /// Which condition lets an index answer the call?
    fn index_condition<'p>(request: &IndexRequest<'p>) -> Option<IndexCondition<'p>>;

    /// What fraction of the rows, or of the pairs of rows, does the call select?
    fn selectivity(request: &SelectivityRequest<'_>) -> Option<f64>;

    /// What does the call cost for each row? There is no query if PostgreSQL asks for another reason.
    fn cost<'p>(planner: Option<Planner<'p>>, call: Applied<'p>) -> Option<f64>;
}

/// Answers the request with which PostgreSQL has called a support function.
pub fn answer<T: SupportFunction>(asked: Call) -> Datum {
    let request: *mut pg_sys::Node = asked.pointer(0);
    // SAFETY: PostgreSQL calls a support function with a request: a node whose tag names its struct. The
    // request, and what it points to, lives until the function returns.
    unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => {
                let request = &*request.cast::<pg_sys::SupportRequestSimplify>();
                let simplified = T::simplify(Applied::of_function(&*request.fcall));
                simplified.map_or(NO, |expr| Datum::from(expr.pointer()))
            }
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(&mut *request.cast()),
            NodeTag::T_SupportRequestSelectivity => selectivity::<T>(&mut *request.cast()),
            NodeTag::T_SupportRequestCost => cost::<T>(&mut *request.cast()),
            _ => NO,
        }
    }
}

/// Asks for an index condition that replaces a call, one of whose arguments is in the index.
pub struct IndexRequest<'p> {
    /// The call.
    pub call: Applied<'p>,
    /// The number of the argument that is in the index, from 0.
    pub indexed_argument: i32,
    /// The operator family of the index column.
    pub family: Oid,
}

/// The condition `stored operator query` that an index can be searched by.
pub struct IndexCondition<'p> {
    /// The operator, which returns a boolean and takes the types of the two operands.
    pub operator: Oid,
    /// The argument that is in the index.
    pub stored: Node<'p>,
    /// What the index is searched for.
    pub query: Node<'p>,
    /// Whether the call has to be tested for the rows that the index finds.
    pub is_lossy: bool,
}

/// # Safety
/// The request must be one of PostgreSQL.
unsafe fn index_condition<T: SupportFunction>(request: &mut pg_sys::SupportRequestIndexCondition) -> Datum {
    // SAFETY: a request contains the condition that it is about.
    let call = unsafe { Node::new(request.node) }.as_function();
    // The condition may also be an operator, which has the same support function.
    let Some(call) = call.filter(|call| call.id == request.funcid) else { return NO };
    let asked = IndexRequest { call, indexed_argument: request.indexarg, family: request.opfamily };
    let Some(condition) = T::index_condition(&asked) else { return NO };
    let IndexCondition { operator, stored, query, is_lossy } = condition;
    // SAFETY: a request has the query that is being planned, and the index.
    let Some(query) = (unsafe { searched_for(request, query) }) else { return NO };
    request.lossy = is_lossy;
    Nodes::of(&[Node::operator(operator, pg_sys::BOOLOID, stored, query)]).pointer().into()
}

/// What the index is searched for, as a constant if it can be computed now; `None` if it changes from row to
/// row of the index's table.
///
/// # Safety
/// The request must be one of PostgreSQL, and the expression belong to its query.
unsafe fn searched_for<'p>(
    request: &pg_sys::SupportRequestIndexCondition,
    query: Node<'p>,
) -> Option<Node<'p>> {
    if query.is::<pg_sys::Const>() {
        return Some(query);
    }
    // SAFETY: as the caller promises.
    unsafe {
        pg_sys::is_pseudo_constant_for_index(request.root, query.pointer(), request.index)
            .then(|| Node::new(pg_sys::eval_const_expressions(request.root, query.pointer())))
    }
}

/// Asks for the selectivity of a condition.
pub struct SelectivityRequest<'p> {
    /// The planner's state for the query.
    pub planner: Planner<'p>,
    /// The call.
    pub call: Applied<'p>,
    /// The relation whose rows are counted; 0 means all relations.
    pub relation: i32,
    type_: JoinType::Type,
    join: Option<&'p pg_sys::SpecialJoinInfo>,
}

impl SelectivityRequest<'_> {
    /// For a condition of a semi or anti join, which selects outer rows by their matches: the estimated
    /// number of inner rows. `None` for other conditions.
    pub fn rows_to_match(&self) -> Option<f64> {
        let is_one = matches!(self.type_, JoinType::JOIN_SEMI | JoinType::JOIN_ANTI);
        self.join.filter(|_| is_one).map(|join| self.planner.inner_rows(join))
    }
}

/// # Safety
/// The request must be one of PostgreSQL.
unsafe fn selectivity<T: SupportFunction>(request: &mut pg_sys::SupportRequestSelectivity) -> Datum {
    // SAFETY: a request has the query that is being planned, and the arguments of the call that it is about.
    // The join is null or belongs to the query.
    let answer = unsafe {
        let Some(planner) = Planner::new(&request.root) else { return NO };
        T::selectivity(&SelectivityRequest {
            planner,
            call: Applied::new(request.funcid, Nodes::new(request.args)),
            relation: request.varRelid,
            type_: request.jointype,
            join: request.sjinfo.as_ref(),
        })
    };
    let Some(selectivity) = answer else { return NO };
    request.selectivity = selectivity;
    from_mut(request).into()
}

/// # Safety
/// The request must be one of PostgreSQL.
unsafe fn cost<T: SupportFunction>(request: &mut pg_sys::SupportRequestCost) -> Datum {
    // SAFETY: the node is an expression, or null. A request has the query that is being planned, or none.
    let answer = unsafe {
        let call = Node::at(request.node).and_then(Node::as_function);
        call.and_then(|call| T::cost(Planner::new(&request.root), call))
    };
    let Some(cost) = answer else { return NO };
    request.startup = 0.0;
    request.per_tuple = cost;
    from_mut(request).into()
}

/// The arguments of an estimator of an operator's selectivity, as a condition on a relation or of a join.
pub struct EstimatorCall<'p> {
    /// The planner's state for the query.
    root: *mut pg_sys::PlannerInfo,
    /// The operands.
    args: Nodes<'p>,
    life: PhantomData<&'p pg_sys::PlannerInfo>,
}

impl Argument for EstimatorCall<'_> {
    unsafe fn read(call: Call, _: usize) -> Self {
        // SAFETY: PostgreSQL calls an estimator of conditions or of joins with the planner's query as the
        // first argument, and the list of the operator's operands as the third.
        let args = unsafe { Nodes::new(call.pointer(2)) };
        Self { root: call.pointer(0), args, life: PhantomData }
    }
}

impl EstimatorCall<'_> {
    /// The planner's state for the query.
    pub fn planner(&self) -> Option<Planner<'_>> {
        // SAFETY: the query is being planned until the call returns.
        unsafe { Planner::new(&self.root) }
    }

    /// The two operands of the operator.
    pub fn operands(&self) -> Option<[Node<'_>; 2]> {
        Applied::new(pg_sys::InvalidOid, self.args).args()
    }
}
