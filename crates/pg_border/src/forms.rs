//! Forms of SQL that contain another condition, or a value that is one of several: AND, OR, IS TRUE, IS NOT
//! FALSE, CASE, COALESCE, LEAST, GREATEST, and comparisons with the elements of an array.
//!
//! PostgreSQL evaluates the arguments of some of these forms only if it needs them, and a query may rely on
//! that to avoid an error. So only arguments that are always evaluated are returned, and constants.

use super::node::{Applied, Node, Nodes};
use super::value::Value;
use pgrx::pg_sys::{self, BoolExprType, BoolTestType, Datum};

impl<'p> Node<'p> {
    /// Whether this is the constant `true`.
    fn is_true(self) -> bool {
        self.constant().and_then(Value::as_boolean) == Some(true)
    }

    /// Whether this is a constant that is false or NULL, which no row fulfills as a condition.
    pub fn is_never_true(self) -> bool {
        self.constant().and_then(Value::as_boolean) == Some(false) || self.is_null()
    }

    /// The condition, if this one is written as `condition IS NOT FALSE`.
    pub fn as_not_false(self) -> Option<Self> {
        let test = self.cast::<pg_sys::BooleanTest>()?;
        // SAFETY: the test has an argument.
        (test.booltesttype == BoolTestType::IS_NOT_FALSE).then(|| unsafe { Self::new(test.arg) })
    }

    /// The condition that the same rows fulfill, if this one is written as `condition IS TRUE`,
    /// `CASE WHEN condition THEN true ELSE false END`, or `coalesce(condition, false)`.
    pub fn as_same_condition(self) -> Option<Self> {
        if let Some(test) = self.cast::<pg_sys::BooleanTest>() {
            // SAFETY: the test has an argument.
            return (test.booltesttype == BoolTestType::IS_TRUE).then(|| unsafe { Self::new(test.arg) });
        }
        if let Some(coalesce) = self.cast::<pg_sys::CoalesceExpr>() {
            // SAFETY: the node has a list of arguments.
            let args = unsafe { Nodes::new(coalesce.args) };
            return args.get(0).filter(|first| {
                first.type_() == pg_sys::BOOLOID && args.iter().skip(1).all(Self::is_never_true)
            });
        }
        let case = self.cast::<pg_sys::CaseExpr>()?;
        // SAFETY: a CASE has a list of branches, each with a condition and a value, and may have another
        // value.
        unsafe {
            let mut branches = Nodes::new(case.args).all::<pg_sys::CaseWhen>();
            let otherwise = Self::at(case.defresult);
            let first = branches.next().filter(|first| Self::new(first.result).is_true())?;
            let is_last = branches.all(|other| Self::new(other.result).is_never_true());
            // `CASE value WHEN other THEN …` compares a value that its conditions do not contain.
            let is_same = case.arg.is_null() && is_last && otherwise.is_none_or(Self::is_never_true);
            is_same.then(|| Self::new(first.expr))
        }
    }

    /// The values of which this value is one: those of LEAST and GREATEST, or the first one of COALESCE, if
    /// the others are constants, and these.
    pub fn choices(self) -> Option<Nodes<'p>> {
        if let Some(least_or_greatest) = self.cast::<pg_sys::MinMaxExpr>() {
            // SAFETY: the node has a list of arguments.
            return Some(unsafe { Nodes::new(least_or_greatest.args) });
        }
        let coalesce = self.cast::<pg_sys::CoalesceExpr>()?;
        // SAFETY: the node has a list of arguments.
        let args = unsafe { Nodes::new(coalesce.args) };
        args.iter().skip(1).all(|other| other.is::<pg_sys::Const>()).then_some(args)
    }

    /// `value operator ANY (array)`, or IN: the operator with the value and the array.
    pub fn as_any(self) -> Option<Applied<'p>> {
        let any = self.cast::<pg_sys::ScalarArrayOpExpr>().filter(|any| any.useOr)?;
        // SAFETY: the node has a list of two arguments.
        Some(Applied::new(any.opno, unsafe { Nodes::new(any.args) }))
    }

    /// The elements of an array that are not NULL: those of `ARRAY[…]`, or constants.
    pub fn elements(self) -> Option<Nodes<'p>> {
        if let Some(array) = self.cast::<pg_sys::ArrayExpr>().filter(|array| !array.multidims) {
            // SAFETY: the node has a list of elements.
            let elements = unsafe { Nodes::new(array.elements) };
            return Some(elements.iter().filter(|element| !element.is_null()).collect());
        }
        let array = self.constant()?.datum();
        // SAFETY: the value is of the type, which is an array if it has elements.
        unsafe {
            let type_ = pg_sys::get_element_type(self.type_());
            if type_ == pg_sys::InvalidOid {
                return None;
            }
            let mut length: i16 = 0;
            let mut by_value = false;
            let mut align: i8 = 0;
            pg_sys::get_typlenbyvalalign(type_, &raw mut length, &raw mut by_value, &raw mut align);
            let array = pg_sys::pg_detoast_datum(array.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
            let mut values: *mut Datum = std::ptr::null_mut();
            let mut nulls: *mut bool = std::ptr::null_mut();
            let mut count = 0;
            pg_sys::deconstruct_array(
                array,
                type_,
                length.into(),
                by_value,
                align,
                &raw mut values,
                &raw mut nulls,
                &raw mut count,
            );
            let known = (0..count as usize).filter(|&place| !*nulls.add(place));
            let constant = |place| {
                let value = *values.add(place);
                let none = pg_sys::InvalidOid;
                Self::new(pg_sys::makeConst(type_, -1, none, length.into(), value, false, by_value))
            };
            Some(known.map(constant).collect())
        }
    }

    /// A copy of an operator expression with other arguments, simplified.
    pub fn with_arguments(self, args: [Self; 2]) -> Self {
        let copy = self.copy();
        if let Some(operator) = copy.cast::<pg_sys::OpExpr>() {
            let operator: *const pg_sys::OpExpr = operator;
            // SAFETY: nobody else has the copy.
            unsafe { (*operator.cast_mut()).args = Nodes::of(&args.map(Self::copy)).pointer() }
        }
        copy.simplified()
    }

    /// The conditions whose AND or OR this is: the arguments of a node of this kind, or the condition alone.
    pub fn parts(self, kind: BoolExprType::Type) -> Nodes<'p> {
        match self.as_boolean() {
            Some((own, args)) if own == kind => args,
            _ => Nodes::of(&[self]),
        }
    }

    /// `a OR b …`; `None` without any.
    pub fn any_of(alternatives: Nodes<'p>) -> Option<Self> {
        match alternatives.len() {
            0 | 1 => alternatives.get(0),
            // SAFETY: builds a node from a list of conditions.
            _ => Some(unsafe { Self::new(pg_sys::make_orclause(alternatives.pointer())) }),
        }
    }

    /// `a AND b …`; `None` without any.
    pub fn all_of(conditions: Nodes<'p>) -> Option<Self> {
        match conditions.len() {
            0 | 1 => conditions.get(0),
            // SAFETY: builds a node from a list of conditions.
            _ => Some(unsafe { Self::new(pg_sys::make_andclause(conditions.pointer())) }),
        }
    }
}
