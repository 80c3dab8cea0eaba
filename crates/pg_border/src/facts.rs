//! What follows from the FROM clause and the conditions of a query for every row of its result.

use super::compat::is_declared_not_null;
use super::join_tree::JoinTree;
use super::node::{Node, Nodes};
use super::planner::Planner;
use super::query_tree::Query;
use super::relation::Relation;
use pgrx::pg_sys;

/// Facts about every row of a query: these conditions hold, and no outer join makes a column of these
/// relations NULL.
struct Facts<'p> {
    /// The conditions that hold.
    conditions: Nodes<'p>,
    /// The relations, by their numbers in the query.
    relations: Vec<pg_sys::Index>,
}

impl<'p> Facts<'p> {
    /// What follows from the FROM clause and the conditions of the query.
    fn of(query: Query<'p>) -> Self {
        let mut facts = Self { conditions: Nodes::NONE, relations: Vec::new() };
        facts.gather(query.join_tree());
        facts
    }

    /// Adds the facts that follow from a part of the join tree.
    fn gather(&mut self, item: Option<JoinTree<'p>>) {
        use pg_sys::JoinType::{JOIN_ANTI, JOIN_INNER, JOIN_LEFT, JOIN_SEMI};
        let conditions = match item {
            Some(JoinTree::From { items, conditions }) => {
                items.iter().for_each(|item| self.gather(JoinTree::of(item)));
                conditions
            }
            Some(JoinTree::Join { kind, sides: [left, right], conditions }) => {
                if [JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI].contains(&kind) {
                    self.gather(JoinTree::of(left));
                }
                if kind != JOIN_INNER {
                    return;
                }
                self.gather(JoinTree::of(right));
                conditions
            }
            Some(JoinTree::Table(table)) => return self.relations.push(table),
            None => return,
        };
        self.conditions = self.conditions.and(conditions.list().unwrap_or(Nodes::NONE));
    }
}

impl<'p> Planner<'p> {
    /// Whether an expression on a relation is NULL in no row of the query's result, or in all rows.
    pub fn is_never_null(self, relation: Relation<'p>, expr: Node<'p>) -> bool {
        if !expr.has_columns() {
            return true;
        }
        let facts = Facts::of(self.query());
        let is_declared = expr.cast::<pg_sys::Var>().is_some_and(|column| {
            let number = column.varno as pg_sys::Index;
            number == relation.number()
                && relation.is_table()
                && facts.relations.contains(&number)
                && is_declared_not_null(self.info(), relation.info(), column.varattno)
        });
        let not_null = expr.null_test(pg_sys::NullTestType::IS_NOT_NULL);
        is_declared || Nodes::of(&[not_null]).follows_from(facts.conditions)
    }
}
