//! The types of joins, and which rows each of them returns.

use pgrx::pg_sys::JoinType;
use std::ffi::CStr;

/// What becomes of rows with a partner, and of those without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JoinKind {
    Inner,
    Left,
    Full,
    Right,
    Semi,
    Anti,
}

impl JoinKind {
    pub(super) const ALL: [Self; 6] =
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
    pub(super) const fn name(self) -> &'static CStr {
        match self {
            Self::Inner => c"Near Join",
            Self::Left => c"Near Left Join",
            Self::Full => c"Near Full Join",
            Self::Right => c"Near Right Join",
            Self::Semi => c"Near Semi Join",
            Self::Anti => c"Near Anti Join",
        }
    }

    /// Whether rows without a partner get NULLs. Then conditions of WHERE are not those of the join.
    pub(super) fn is_outer(self) -> bool {
        !matches!(self, Self::Inner | Self::Semi)
    }

    /// Whether outer rows without a partner are returned.
    pub(super) fn keeps_outer(self) -> bool {
        matches!(self, Self::Left | Self::Full | Self::Anti)
    }

    /// Whether inner rows without a partner are returned.
    pub(super) fn keeps_inner(self) -> bool {
        matches!(self, Self::Right | Self::Full)
    }

    /// Whether pairs are returned. An anti join returns none.
    pub(super) fn returns_pairs(self) -> bool {
        self != Self::Anti
    }

    /// For the outer side and the inner side: whether the join has to know which rows have a partner.
    pub(super) fn notes_partners(self) -> [bool; 2] {
        [self.keeps_outer() || self.needs_one_partner(), self.keeps_inner()]
    }

    /// Whether one partner is enough for an outer row.
    pub(super) fn needs_one_partner(self) -> bool {
        matches!(self, Self::Semi | Self::Anti)
    }
}
