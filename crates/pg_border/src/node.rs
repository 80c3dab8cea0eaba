//! Nodes of a query that is being planned, mostly expressions, which are read and built without `unsafe`.
//!
//! PostgreSQL passes pointers to trees of nodes. The unsafe functions here, such as [`Node::new`], make a
//! [`Node`] of such a pointer: the caller promises that it is an expression that lives until we return to
//! PostgreSQL. All nodes below it belong to the same tree, which PostgreSQL does not change meanwhile. A list
//! is read cell by cell and never borrowed as a slice, so it may be changed during an iteration.

use super::catalog::families::strategy_in;
use super::node_structs::{Tagged, Unchanged};
use pgrx::pg_sys::{self, Datum, NodeTag, Oid};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// The length of a type whose values have different lengths, as PostgreSQL writes it.
pub(crate) const VARIABLE_LENGTH: i32 = -1;

/// How PostgreSQL passes the values of a type.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Passed {
    ByValue,
    ByReference,
}

/// A node of an expression tree: a value, a condition, or another node.
#[derive(Clone, Copy, PartialEq)]
pub struct Node<'p>(NonNull<pg_sys::Node>, PhantomData<&'p pg_sys::Node>);

impl<'p> Node<'p> {
    /// # Safety
    /// `node` must be an expression of the query that is being planned, and not null.
    pub unsafe fn new<T>(node: *mut T) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(node.cast()) }, PhantomData)
    }

    /// The node, unless the pointer is null.
    ///
    /// # Safety
    /// `node` must be an expression of the query that is being planned, or null.
    pub unsafe fn at<T>(node: *mut T) -> Option<Self> {
        NonNull::new(node.cast()).map(|node| Self(node, PhantomData))
    }

    /// The node that a reference points to.
    pub(super) fn of<T: Tagged>(node: &'p T) -> Self {
        Self(NonNull::from(node).cast(), PhantomData)
    }

    /// The pointer to the node.
    pub fn pointer(self) -> *mut pg_sys::Node {
        self.0.as_ptr()
    }

    pub(super) fn tag(self) -> NodeTag {
        // SAFETY: every node begins with its tag.
        unsafe { self.0.as_ref().type_ }
    }

    /// The node as the struct `T`, if it has the tag of `T`.
    pub fn cast<T: Unchanged>(self) -> Option<&'p T> {
        self.as_struct()
    }

    /// The node as the struct `T`, if it has the tag of `T`. The border must not change the struct while it
    /// has the reference.
    pub(super) fn as_struct<T: Tagged>(self) -> Option<&'p T> {
        // SAFETY: a node's tag names its struct.
        (self.tag() == T::TAG).then(|| unsafe { self.0.cast().as_ref() })
    }

    /// The expression of a PlaceHolderVar.
    pub fn in_placeholder(self) -> Option<Self> {
        let placeholder = self.cast::<pg_sys::PlaceHolderVar>()?;
        // SAFETY: a PlaceHolderVar has an expression.
        Some(unsafe { Self::new(placeholder.phexpr) })
    }

    /// The expression without casts that only give the value another type, as from bit varying, or from a
    /// domain to its base type.
    pub fn without_relabels(self) -> Self {
        let mut expr = self;
        while let Some(relabeled) = expr.cast::<pg_sys::RelabelType>() {
            // SAFETY: the argument of a RelabelType is an expression.
            expr = unsafe { Self::new(relabeled.arg) };
        }
        expr
    }

    /// Whether the node is a struct `T`.
    pub fn is<T: Tagged>(self) -> bool {
        self.tag() == T::TAG
    }

    /// `a operator b`.
    pub fn as_operator(self) -> Option<Applied<'p>> {
        self.cast::<pg_sys::OpExpr>().map(|it| Applied { id: it.opno, args: Nodes(it.args, PhantomData) })
    }

    /// `function(args…)`.
    pub fn as_function(self) -> Option<Applied<'p>> {
        self.cast::<pg_sys::FuncExpr>().map(Applied::of_function)
    }

    /// The kind, AND, OR or NOT, and the arguments.
    pub fn as_boolean(self) -> Option<(pg_sys::BoolExprType::Type, Nodes<'p>)> {
        // SAFETY: the tag was checked. The fields are copied.
        (self.tag() == NodeTag::T_BoolExpr).then(|| unsafe {
            let node = self.0.cast::<pg_sys::BoolExpr>().as_ref();
            (node.boolop, Nodes(node.args, PhantomData))
        })
    }

    /// Whether this is the constant NULL.
    pub fn is_null(self) -> bool {
        self.cast::<pg_sys::Const>().is_some_and(|it| it.constisnull)
    }

    /// The type of the value.
    pub fn type_(self) -> Oid {
        // SAFETY: the node is an expression.
        unsafe { pg_sys::exprType(self.pointer()) }
    }

    /// The type and its modifier; for a domain, those of its base type.
    pub fn base_type(self) -> (Oid, i32) {
        // SAFETY: the node is an expression.
        unsafe {
            let mut modifier = pg_sys::exprTypmod(self.pointer());
            let type_ = pg_sys::getBaseTypeAndTypmod(self.type_(), &raw mut modifier);
            (type_, modifier)
        }
    }

    /// Whether the expression calls a volatile function.
    pub fn has_volatile_functions(self) -> bool {
        // SAFETY: the node is an expression.
        unsafe { pg_sys::contain_volatile_functions(self.pointer()) }
    }

    /// Whether the expression must not be evaluated twice: it is volatile, or contains a subquery.
    pub fn is_volatile(self) -> bool {
        // SAFETY: the node is an expression.
        self.has_volatile_functions() || unsafe { pg_sys::contain_subplans(self.pointer()) }
    }

    /// Whether the expression contains columns of the query's own level.
    pub fn has_columns(self) -> bool {
        // SAFETY: the node is an expression.
        unsafe { pg_sys::contain_var_clause(self.pointer()) }
    }

    /// The columns in the expression.
    pub fn columns(self) -> impl Iterator<Item = &'p pg_sys::Var> {
        self.variables(pg_sys::PVC_RECURSE_PLACEHOLDERS).iter().filter_map(Self::cast)
    }

    /// The columns and the PlaceHolderVars in the expression, without those inside a PlaceHolderVar.
    pub fn inputs(self) -> Nodes<'p> {
        self.variables(pg_sys::PVC_INCLUDE_PLACEHOLDERS)
    }

    fn variables(self, of_placeholders: u32) -> Nodes<'p> {
        let into_all = pg_sys::PVC_RECURSE_AGGREGATES | pg_sys::PVC_RECURSE_WINDOWFUNCS;
        // SAFETY: the node is an expression, and the list is new.
        let list = unsafe { pg_sys::pull_var_clause(self.pointer(), (into_all | of_placeholders) as i32) };
        Nodes(list, PhantomData)
    }

    /// Whether both are the same column or the same PlaceHolderVar. Their `varnullingrels` may differ.
    pub fn is_same_input(self, other: Self) -> bool {
        let column = |expr: Self| expr.cast::<pg_sys::Var>().map(|it| (it.varno, it.varattno));
        let placeholder = |expr: Self| expr.cast::<pg_sys::PlaceHolderVar>().map(|it| it.phid);
        column(self).is_some_and(|it| column(other) == Some(it))
            || placeholder(self).is_some_and(|it| placeholder(other) == Some(it))
    }

    /// A deep copy.
    pub fn copy(self) -> Self {
        // SAFETY: the copy of an expression is an expression.
        unsafe { Self::new(pg_sys::copyObjectImpl(self.pointer().cast()).cast::<pg_sys::Node>()) }
    }

    /// The expression with its constant parts evaluated.
    pub fn simplified(self) -> Self {
        // SAFETY: the node is an expression.
        unsafe { Self::new(pg_sys::eval_const_expressions(null_mut(), self.pointer())) }
    }

    /// `a operator b`. The operator must return this type, and take the types of a and b.
    pub fn operator(operator: Oid, result: Oid, a: Self, b: Self) -> Self {
        // SAFETY: builds a node from two expressions, and looks its function up. The operator takes no
        // collation.
        unsafe {
            let no_collation = pg_sys::InvalidOid;
            let returns_set = false;
            debug_assert!(takes(pg_sys::get_opcode(operator), result, &[a, b]), "the types of the operator");
            let a = a.pointer().cast();
            let b = b.pointer().cast();
            let node = pg_sys::make_opclause(operator, result, returns_set, a, b, no_collation, no_collation);
            pg_sys::set_opfuncid(node.cast());
            Self::new(node)
        }
    }

    /// `function(args…)`. The function must return this type, and take the types of the arguments.
    pub fn function(function: Oid, result: Oid, args: &[Self]) -> Self {
        let no_collation = pg_sys::InvalidOid;
        let format = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        debug_assert!(takes(function, result, args), "the types of the function");
        let args = Nodes::of(args).0;
        // SAFETY: builds a node from expressions; the function takes no collation.
        unsafe { Self::new(pg_sys::makeFuncExpr(function, result, args, no_collation, no_collation, format)) }
    }

    /// `expr IS NULL`.
    pub fn null_test(self, kind: pg_sys::NullTestType::Type) -> Self {
        // SAFETY: the node is a test of an expression, in zeroed memory as PostgreSQL makes nodes.
        unsafe {
            let test = pg_sys::palloc0(size_of::<pg_sys::NullTest>()).cast::<pg_sys::NullTest>();
            (*test).xpr.type_ = NodeTag::T_NullTest;
            (*test).arg = self.pointer().cast();
            (*test).nulltesttype = kind;
            (*test).location = -1;
            Self::new(test)
        }
    }

    /// A constant of type integer.
    pub fn integer(value: i32) -> Self {
        Self::new_constant(pg_sys::INT4OID, size_of::<i32>() as i32, Passed::ByValue, value.into())
    }

    /// A constant of type double precision.
    pub fn double(value: f64) -> Self {
        Self::new_constant(
            pg_sys::FLOAT8OID,
            size_of::<f64>() as i32,
            Passed::ByValue,
            value.to_bits().into(),
        )
    }

    /// A constant of a type of this length.
    pub(crate) fn new_constant(type_: Oid, length: i32, passed: Passed, value: Datum) -> Self {
        const NO_MODIFIER: i32 = -1;
        let no_collation = pg_sys::InvalidOid;
        let is_null = false;
        let by_value = passed == Passed::ByValue;
        // SAFETY: the callers pass values of these types.
        unsafe {
            Self::new(pg_sys::makeConst(type_, NO_MODIFIER, no_collation, length, value, is_null, by_value))
        }
    }
}

/// Whether a function returns this type, and takes the types of these arguments.
fn takes(function: Oid, result: Oid, args: &[Node]) -> bool {
    let mut types: *mut Oid = null_mut();
    let mut count = 0;
    // SAFETY: the function looks a function up, and makes an array with a type for each argument.
    unsafe {
        pg_sys::get_func_signature(function, &raw mut types, &raw mut count) == result
            && count as usize == args.len()
            && args
                .iter()
                .enumerate()
                .all(|(place, arg)| pg_sys::IsBinaryCoercible(arg.type_(), *types.add(place)))
    }
}

/// An operator or a function, with its arguments.
#[derive(Clone, Copy)]
pub struct Applied<'p> {
    /// The OID of the operator or function.
    pub id: Oid,
    /// The arguments.
    pub args: Nodes<'p>,
}

impl<'p> Applied<'p> {
    /// The function of a call, with its arguments.
    pub fn of_function(call: &'p pg_sys::FuncExpr) -> Self {
        Self { id: call.funcid, args: Nodes(call.args, PhantomData) }
    }

    /// An operator or a function with these arguments.
    pub fn new(id: Oid, args: Nodes<'p>) -> Self {
        Self { id, args }
    }

    /// The arguments, if there are exactly N.
    pub fn args<const N: usize>(self) -> Option<[Node<'p>; N]> {
        self.args.array()
    }

    /// The strategy of the operator in a family; 0 if it does not belong to the family.
    pub fn strategy_in(self, family: Oid) -> i32 {
        strategy_in(self.id, family)
    }
}

/// A list of expressions, which may be empty.
#[derive(Clone, Copy)]
pub struct Nodes<'p>(*mut pg_sys::List, PhantomData<&'p pg_sys::Node>);

impl<'p> Nodes<'p> {
    /// The empty list.
    pub const NONE: Self = Self(null_mut(), PhantomData);

    /// # Safety
    /// `list` must be a list of expressions of the query that is being planned, or null, the empty list.
    pub unsafe fn new(list: *mut pg_sys::List) -> Self {
        Self(list, PhantomData)
    }

    /// A new list of these expressions.
    pub fn of(exprs: &[Node<'p>]) -> Self {
        exprs.iter().copied().collect()
    }

    /// The list as a node, unless it is empty.
    pub fn node(self) -> Option<Node<'p>> {
        NonNull::new(self.0.cast()).map(|list| Node(list, PhantomData))
    }

    /// The nodes that are `T`.
    pub(super) fn all<T: Tagged + 'p>(self) -> impl Iterator<Item = &'p T> {
        self.iter().filter_map(Node::as_struct)
    }

    /// The pointer to the list, which is null for the empty list.
    pub fn pointer(self) -> *mut pg_sys::List {
        self.0
    }

    /// The number of cells.
    pub fn len(self) -> usize {
        // SAFETY: the pointer is a list or null.
        unsafe { self.0.as_ref() }.map_or(0, |list| list.length as usize)
    }

    /// Whether the list has no cells.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The expression at a place, counted from 0.
    pub fn get(self, place: usize) -> Option<Node<'p>> {
        // SAFETY: a list has `length` cells, each with a pointer to an expression. The pointer is null for a
        // dropped column.
        unsafe { Node::at((place < self.len()).then(|| (*(*self.0).elements.add(place)).ptr_value)?) }
    }

    /// The expressions, without cells that are null.
    pub fn iter(self) -> impl Iterator<Item = Node<'p>> {
        (0..self.len()).filter_map(move |place| self.get(place))
    }

    fn array<const N: usize>(self) -> Option<[Node<'p>; N]> {
        let mut all = self.iter();
        let array = std::array::from_fn(|_| all.next());
        (self.len() == N && array.iter().all(Option::is_some)).then(|| array.map(Option::unwrap))
    }

    /// Whether an expression that is equal to this one is in the list.
    pub fn contains(self, expr: Node) -> bool {
        // SAFETY: the arguments are a list of nodes and a node.
        unsafe { pg_sys::list_member(self.0, expr.pointer().cast()) }
    }

    /// The list with one more expression. The list itself is changed.
    pub fn with(self, expr: Node<'p>) -> Self {
        // SAFETY: the argument is a list of expressions, or null, for which a list is made.
        Self(unsafe { pg_sys::lappend(self.0, expr.pointer().cast()) }, PhantomData)
    }

    /// The list with all expressions of another list. The list itself is changed.
    pub fn and(self, other: Self) -> Self {
        // SAFETY: both are lists of expressions.
        Self(unsafe { pg_sys::list_concat(self.0, other.0) }, PhantomData)
    }

    /// A deep copy.
    pub fn copy(self) -> Self {
        // SAFETY: the copy of a list of expressions is one; the copy of null is null.
        Self(unsafe { pg_sys::copyObjectImpl(self.0.cast()).cast() }, PhantomData)
    }

    /// Whether these conditions follow from other conditions.
    pub fn follows_from(self, others: Self) -> bool {
        // SAFETY: both are lists of conditions.
        unsafe { pg_sys::predicate_implied_by(self.0, others.0, false) }
    }
}

impl<'p> FromIterator<Node<'p>> for Nodes<'p> {
    fn from_iter<I: IntoIterator<Item = Node<'p>>>(exprs: I) -> Self {
        exprs.into_iter().fold(Self::NONE, Self::with)
    }
}
