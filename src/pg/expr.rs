//! Expressions of a query that is being planned, read and put together without `unsafe`.
//!
//! PostgreSQL passes pointers to trees of nodes. Where one comes in, [`Expr::new`] and its relatives take the
//! promise that it is what it should be, for as long as PostgreSQL's call of us lasts. What is reached from
//! there belongs to the same trees, which PostgreSQL keeps alive and shows to nobody else. Lists are read
//! cell by cell and never lent as slices, so they may be changed while somebody goes through them.

use super::catalog::families::strategy_in;
use super::code::bits::Bits;
use super::nodes::{Tagged, make};
use pgrx::pg_sys::{self, Datum, Node, NodeTag, Oid};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// An expression of the query: a value, a condition, or another node of such a tree.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Expr<'p>(NonNull<Node>, PhantomData<&'p Node>);

impl<'p> Expr<'p> {
    /// # Safety
    /// `node` must be an expression of the query that is being planned, and not null.
    pub(crate) unsafe fn new<T>(node: *mut T) -> Self {
        // SAFETY: not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(node.cast()) }, PhantomData)
    }

    /// What may be missing.
    ///
    /// # Safety
    /// `node` must be an expression of the query that is being planned, or null.
    pub(crate) unsafe fn at<T>(node: *mut T) -> Option<Self> {
        NonNull::new(node.cast()).map(|node| Self(node, PhantomData))
    }

    /// A node that was read before.
    pub(crate) fn of<T: Tagged>(node: &'p T) -> Self {
        Self(NonNull::from(node).cast(), PhantomData)
    }

    pub(crate) fn pointer(self) -> *mut Node {
        self.0.as_ptr()
    }

    pub(super) fn tag(self) -> NodeTag {
        // SAFETY: every node begins with its tag.
        unsafe { self.0.as_ref().type_ }
    }

    /// The node as a struct, if it is of that kind.
    pub(crate) fn cast<T: Tagged>(self) -> Option<&'p T> {
        // SAFETY: a node has the struct that its tag names.
        (self.tag() == T::TAG).then(|| unsafe { self.0.cast().as_ref() })
    }

    pub(crate) fn is<T: Tagged>(self) -> bool {
        self.tag() == T::TAG
    }

    /// `a operator b`.
    pub(crate) fn as_operator(self) -> Option<Applied<'p>> {
        self.cast::<pg_sys::OpExpr>().map(|it| Applied { id: it.opno, args: Exprs(it.args, PhantomData) })
    }

    /// `function(args…)`.
    pub(crate) fn as_function(self) -> Option<Applied<'p>> {
        self.cast::<pg_sys::FuncExpr>().map(Applied::of_function)
    }

    /// AND or OR, with its arguments.
    pub(crate) fn as_boolean(self) -> Option<(pg_sys::BoolExprType::Type, Exprs<'p>)> {
        // SAFETY: checked to be of this kind. What it has is copied.
        (self.tag() == NodeTag::T_BoolExpr).then(|| unsafe {
            let node = self.0.cast::<pg_sys::BoolExpr>().as_ref();
            (node.boolop, Exprs(node.args, PhantomData))
        })
    }

    /// Gives AND or OR other arguments.
    pub(crate) fn set_arguments(self, args: Exprs<'p>) {
        if self.tag() == NodeTag::T_BoolExpr {
            // SAFETY: checked to be of this kind; nobody has a reference to one.
            unsafe { self.0.cast::<pg_sys::BoolExpr>().as_mut().args = args.0 }
        }
    }

    /// The value of a constant that is not NULL.
    pub(crate) fn value(self) -> Option<Datum> {
        self.cast::<pg_sys::Const>().and_then(|it| (!it.constisnull).then_some(it.constvalue))
    }

    pub(crate) fn is_null(self) -> bool {
        self.cast::<pg_sys::Const>().is_some_and(|it| it.constisnull)
    }

    pub(crate) fn type_(self) -> Oid {
        // SAFETY: an expression.
        unsafe { pg_sys::exprType(self.pointer()) }
    }

    /// The type below domains, with its modifier.
    pub(crate) fn base_type(self) -> (Oid, i32) {
        // SAFETY: an expression.
        unsafe {
            let mut modifier = pg_sys::exprTypmod(self.pointer());
            let type_ = pg_sys::getBaseTypeAndTypmod(self.type_(), &raw mut modifier);
            (type_, modifier)
        }
    }

    pub(crate) fn has_volatile_functions(self) -> bool {
        // SAFETY: an expression.
        unsafe { pg_sys::contain_volatile_functions(self.pointer()) }
    }

    /// Whether it may not be evaluated twice: it is volatile, or costs as much as a query.
    pub(crate) fn is_volatile(self) -> bool {
        // SAFETY: an expression.
        self.has_volatile_functions() || unsafe { pg_sys::contain_subplans(self.pointer()) }
    }

    pub(crate) fn has_columns(self) -> bool {
        // SAFETY: an expression.
        unsafe { pg_sys::contain_var_clause(self.pointer()) }
    }

    /// The columns that it mentions.
    pub(crate) fn columns(self) -> impl Iterator<Item = &'p pg_sys::Var> {
        self.variables(pg_sys::PVC_RECURSE_PLACEHOLDERS).iter().filter_map(Self::cast)
    }

    /// The columns and the placeholders that it mentions. What is within a placeholder is not among them.
    pub(crate) fn inputs(self) -> Exprs<'p> {
        self.variables(pg_sys::PVC_INCLUDE_PLACEHOLDERS)
    }

    fn variables(self, of_placeholders: u32) -> Exprs<'p> {
        let into_all = pg_sys::PVC_RECURSE_AGGREGATES | pg_sys::PVC_RECURSE_WINDOWFUNCS;
        // SAFETY: an expression; the list is a new one.
        let list = unsafe { pg_sys::pull_var_clause(self.pointer(), (into_all | of_placeholders) as i32) };
        Exprs(list, PhantomData)
    }

    /// Whether both are the same column or the same placeholder, apart from the outer joins that they may be
    /// NULL by.
    pub(crate) fn is_same_input(self, other: Self) -> bool {
        let column = |expr: Self| expr.cast::<pg_sys::Var>().map(|it| (it.varno, it.varattno));
        let placeholder = |expr: Self| expr.cast::<pg_sys::PlaceHolderVar>().map(|it| it.phid);
        column(self).is_some_and(|it| column(other) == Some(it))
            || placeholder(self).is_some_and(|it| placeholder(other) == Some(it))
    }

    /// A copy, in nodes of its own.
    pub(crate) fn copy(self) -> Self {
        // SAFETY: an expression, whose copy is one.
        unsafe { Self::new(pg_sys::copyObjectImpl(self.pointer().cast()).cast::<Node>()) }
    }

    /// What is left when all is computed that is known without a query.
    pub(crate) fn simplified(self) -> Self {
        // SAFETY: an expression.
        unsafe { Self::new(pg_sys::eval_const_expressions(null_mut(), self.pointer())) }
    }

    /// `a operator b`. The operator returns that type, and takes values of the types of the two.
    pub(crate) fn operator(operator: Oid, result: Oid, a: Self, b: Self) -> Self {
        // SAFETY: makes a node of two others; the operator takes no collation. Its function is looked up.
        unsafe {
            let none = pg_sys::InvalidOid;
            let (a, b) = (a.pointer().cast(), b.pointer().cast());
            let node = pg_sys::make_opclause(operator, result, false, a, b, none, none);
            pg_sys::set_opfuncid(node.cast());
            Self::new(node)
        }
    }

    /// `function(args…)`. The function returns that type, and takes values of the types of these.
    pub(crate) fn function(function: Oid, result: Oid, args: &[Self]) -> Self {
        let (none, format) = (pg_sys::InvalidOid, pg_sys::CoercionForm::COERCE_EXPLICIT_CALL);
        // SAFETY: makes a node of others; the function takes no collation.
        unsafe { Self::new(pg_sys::makeFuncExpr(function, result, Exprs::of(args).0, none, none, format)) }
    }

    /// `a AND b`.
    pub(crate) fn and(a: Self, b: Self) -> Self {
        // SAFETY: makes a node of others.
        unsafe { Self::new(pg_sys::make_andclause(Exprs::of(&[a, b]).0)) }
    }

    /// `self IS NOT NULL`.
    pub(crate) fn is_not_null(self) -> Self {
        // SAFETY: the struct is that of the tag.
        unsafe {
            let test = make::<pg_sys::NullTest>();
            test.arg = self.pointer().cast();
            test.nulltesttype = pg_sys::NullTestType::IS_NOT_NULL;
            Self::new(test)
        }
    }

    /// A value that is known when the plan runs, of which nothing is known now.
    pub(crate) fn unknown(type_: Oid) -> Self {
        // SAFETY: the struct is that of the tag.
        unsafe {
            let unknown = make::<pg_sys::Param>();
            unknown.paramkind = pg_sys::ParamKind::PARAM_EXEC;
            unknown.paramtype = type_;
            Self::new(unknown)
        }
    }

    pub(crate) fn integer(value: i32) -> Self {
        Self::constant(pg_sys::INT4OID, size_of::<i32>() as i32, value.into())
    }

    pub(crate) fn bigint(value: i64) -> Self {
        Self::constant(pg_sys::INT8OID, size_of::<i64>() as i32, value.into())
    }

    pub(crate) fn double(value: f64) -> Self {
        Self::constant(pg_sys::FLOAT8OID, size_of::<f64>() as i32, value.to_bits().into())
    }

    pub(crate) fn bits(value: Bits) -> Self {
        Self::constant(pg_sys::BITOID, -1, value.datum())
    }

    /// A constant of a type of this length. One of variable length has -1, and is passed by reference.
    fn constant(type_: Oid, length: i32, value: Datum) -> Self {
        let (no_modifier, none) = (-1, pg_sys::InvalidOid);
        // SAFETY: the callers have values of these types.
        unsafe { Self::new(pg_sys::makeConst(type_, no_modifier, none, length, value, false, length > 0)) }
    }
}

/// An operator or a function, with the arguments that it is applied to.
#[derive(Clone, Copy)]
pub(crate) struct Applied<'p> {
    pub(crate) id: Oid,
    pub(crate) args: Exprs<'p>,
}

impl<'p> Applied<'p> {
    pub(crate) fn of_function(call: &'p pg_sys::FuncExpr) -> Self {
        Self { id: call.funcid, args: Exprs(call.args, PhantomData) }
    }

    pub(crate) fn new(id: Oid, args: Exprs<'p>) -> Self {
        Self { id, args }
    }

    /// The arguments, if there are so many.
    pub(crate) fn args<const N: usize>(self) -> Option<[Expr<'p>; N]> {
        self.args.array()
    }

    /// The strategy of the operator in a family; 0 if it is not of the family.
    pub(crate) fn strategy_in(self, family: Oid) -> i32 {
        strategy_in(self.id, family)
    }
}

/// A list of expressions, which may be empty.
#[derive(Clone, Copy)]
pub(crate) struct Exprs<'p>(*mut pg_sys::List, PhantomData<&'p Node>);

impl<'p> Exprs<'p> {
    pub(crate) const NONE: Self = Self(null_mut(), PhantomData);

    /// # Safety
    /// `list` must be a list of expressions of the query that is being planned, or null.
    pub(crate) unsafe fn new(list: *mut pg_sys::List) -> Self {
        Self(list, PhantomData)
    }

    pub(crate) fn of(exprs: &[Expr<'p>]) -> Self {
        exprs.iter().copied().collect()
    }

    /// The list as a node, unless it is empty.
    pub(crate) fn node(self) -> Option<Expr<'p>> {
        NonNull::new(self.0.cast()).map(|list| Expr(list, PhantomData))
    }

    /// The nodes of this kind.
    pub(crate) fn all<T: Tagged + 'p>(self) -> impl Iterator<Item = &'p T> {
        self.iter().filter_map(Expr::cast)
    }

    pub(crate) fn pointer(self) -> *mut pg_sys::List {
        self.0
    }

    pub(crate) fn len(self) -> usize {
        // SAFETY: a list, or null.
        unsafe { self.0.as_ref() }.map_or(0, |list| list.length as usize)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// An expression by its place, counted from 0.
    pub(crate) fn get(self, place: usize) -> Option<Expr<'p>> {
        // SAFETY: a list has `length` cells, and those of a list of expressions are pointers to them. A
        // column that was dropped has none.
        unsafe { Expr::at((place < self.len()).then(|| (*(*self.0).elements.add(place)).ptr_value)?) }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Expr<'p>> {
        (0..self.len()).filter_map(move |place| self.get(place))
    }

    fn array<const N: usize>(self) -> Option<[Expr<'p>; N]> {
        let mut all = self.iter();
        let array = std::array::from_fn(|_| all.next());
        (self.len() == N && array.iter().all(Option::is_some)).then(|| array.map(Option::unwrap))
    }

    pub(crate) fn contains(self, expr: Expr) -> bool {
        // SAFETY: a list of nodes, and a node.
        unsafe { pg_sys::list_member(self.0, expr.pointer().cast()) }
    }

    /// Puts an expression in the place of another one.
    pub(crate) fn set(self, place: usize, expr: Expr<'p>) {
        if place < self.len() {
            // SAFETY: the list has this cell.
            unsafe { (*(*self.0).elements.add(place)).ptr_value = expr.pointer().cast() }
        }
    }

    /// The list with one more expression, in its place.
    pub(crate) fn with(self, expr: Expr<'p>) -> Self {
        // SAFETY: a list of expressions, or null, which makes a list.
        Self(unsafe { pg_sys::lappend(self.0, expr.pointer().cast()) }, PhantomData)
    }

    /// The list with all of another one, in its place.
    pub(crate) fn and(self, other: Self) -> Self {
        // SAFETY: lists of expressions.
        Self(unsafe { pg_sys::list_concat(self.0, other.0) }, PhantomData)
    }

    /// A copy, in nodes of its own.
    pub(crate) fn copy(self) -> Self {
        // SAFETY: a list of expressions, or null.
        Self(unsafe { pg_sys::copyObjectImpl(self.0.cast()).cast() }, PhantomData)
    }

    /// Whether it follows from other conditions, which hold.
    pub(crate) fn follows_from(self, others: Self) -> bool {
        // SAFETY: lists of conditions.
        unsafe { pg_sys::predicate_implied_by(self.0, others.0, false) }
    }
}

impl<'p> FromIterator<Expr<'p>> for Exprs<'p> {
    fn from_iter<I: IntoIterator<Item = Expr<'p>>>(exprs: I) -> Self {
        exprs.into_iter().fold(Self::NONE, Self::with)
    }
}
