//! Our hook that the planner calls for each relation of a query. It rewrites the query, and changes the
//! descriptions of the relation's indexes.

use super::indexes::prepare;
use super::order::rewrite_order;
use super::rewrite::{rewrite_and, rewritten};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::planner::Planner;
use crate::pg::relation::Relation;
use crate::pg::relation_hook::{RelationHook, install_relation_hook};

struct RewrittenConditions;

/// Installs our hook, if it is not in place. Called when the library is loaded, and again whenever a query on
/// distances is simplified: libraries that were loaded later may have replaced our hook.
pub(crate) fn install_hook() {
    install_relation_hook::<RewrittenConditions>();
}

impl RelationHook for RewrittenConditions {
    fn on_relation(planner: Planner<'_>, relation: Relation<'_>) {
        // Since 19, the hook is also called for items of FROM that are not tables.
        if !relation.is_table() {
            return;
        }
        let Some(ours) = ExtensionOids::known() else { return };
        if relation.is_base() {
            if planner.is_first_table(relation) {
                rewrite_conditions(planner, &ours);
            }
            rewrite_order(planner, relation, &ours);
        } else if let Some(united) = planner.union_of(relation) {
            // If a query has no tables but those of a UNION ALL, the planner has assigned the conditions to
            // the UNION ALL before it calls our hook for the first table. It copies them for each table after
            // the hook has returned, and then divides AND into conditions of their own. The conditions of
            // partitions, which are copied in the same way, have been rewritten in the query.
            united.change_conditions(&mut |list| rewrite_and(list, &ours));
            if rewrite_order(planner, united, &ours) {
                planner.read_sort_keys();
            }
        }
        prepare(planner, relation, &ours);
    }
}

/// Rewrites the conditions of all tables of the query, and adds the FILTER of aggregates to WHERE.
fn rewrite_conditions(planner: Planner<'_>, ours: &ExtensionOids) {
    let query = planner.query();
    let filter = planner.filter_of_aggregates().filter(|filter| !filter.is_volatile());
    if let Some(condition) = filter.and_then(|filter| rewritten(filter.copy(), ours)) {
        query.add_condition(condition);
    }
    query.change_conditions(&mut |list| rewrite_and(list, ours));
}
