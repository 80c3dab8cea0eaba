//! The types of joins, their two sides, and which rows each of them returns.

use pgrx::pg_sys::JoinType;
use std::ffi::CStr;
use std::ops::{Index, IndexMut};

/// A side of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Outer,
    Inner,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Outer, Self::Inner];
}

/// One thing for each side of a join, the outer side's first.
#[derive(Clone, Copy, Default)]
pub(crate) struct BySide<T>(pub(crate) [T; 2]);

impl<T> BySide<T> {
    pub(crate) fn of(make: impl FnMut(Side) -> T) -> Self {
        Self(Side::BOTH.map(make))
    }

    pub(crate) fn map<U>(self, make: impl FnMut(T) -> U) -> BySide<U> {
        BySide(self.0.map(make))
    }
}

impl<T> Index<Side> for BySide<T> {
    type Output = T;

    #[inline]
    fn index(&self, side: Side) -> &T {
        &self.0[side as usize]
    }
}

impl<T> IndexMut<Side> for BySide<T> {
    #[inline]
    fn index_mut(&mut self, side: Side) -> &mut T {
        &mut self.0[side as usize]
    }
}

/// What becomes of matched rows and of unmatched ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinKind {
    Inner,
    Left,
    Full,
    Right,
    Semi,
    Anti,
}

impl JoinKind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Inner, Self::Left, Self::Full, Self::Right, Self::Semi, Self::Anti];

    /// `None` for types that PostgreSQL derives from another type, which it proposes too.
    pub(super) fn of(type_: JoinType::Type) -> Option<Self> {
        Some(match type_ {
            JoinType::JOIN_INNER => Self::Inner,
            JoinType::JOIN_LEFT => Self::Left,
            JoinType::JOIN_FULL => Self::Full,
            JoinType::JOIN_RIGHT => Self::Right,
            JoinType::JOIN_SEMI => Self::Semi,
            JoinType::JOIN_ANTI => Self::Anti,
            _ => return None,
        })
    }

    /// The name of the node in EXPLAIN.
    pub(crate) const fn name(self) -> &'static CStr {
        match self {
            Self::Inner => c"Near Join",
            Self::Left => c"Near Left Join",
            Self::Full => c"Near Full Join",
            Self::Right => c"Near Right Join",
            Self::Semi => c"Near Semi Join",
            Self::Anti => c"Near Anti Join",
        }
    }

    /// Whether this is an outer join in SQL's sense, where conditions of WHERE are not those of the join.
    pub(super) fn is_outer(self) -> bool {
        !matches!(self, Self::Inner | Self::Semi)
    }

    /// Whether unmatched rows of a side are returned, with NULLs for the other side.
    pub(crate) fn fills(self, side: Side) -> bool {
        match side {
            Side::Outer => matches!(self, Self::Left | Self::Full | Self::Anti),
            Side::Inner => matches!(self, Self::Right | Self::Full),
        }
    }

    /// Whether the join has to note which rows of a side are matched.
    pub(crate) fn notes_matches(self, side: Side) -> bool {
        self.fills(side) || side == Side::Outer && self.needs_one_match()
    }

    /// Whether one match is enough for an outer row.
    pub(crate) fn needs_one_match(self) -> bool {
        matches!(self, Self::Semi | Self::Anti)
    }
}
