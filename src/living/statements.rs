//! The statements of living clusters, for all linkages, types and orders.
//!
//! All rows that count are in the table of clusters, so only the first statement of a refresh,
//! [`Statements::copy_changes`], looks at the table that is clustered.

use super::columns::Column;
use super::objects::Clustered;
use hamming::clusters::Linkage;

/// Makes statements for a table.
pub(super) struct Statements<'a>(pub(super) &'a Clustered);

impl Statements<'_> {
    fn key(&self) -> &str {
        &self.0.columns.key.name
    }

    fn clusters(&self) -> &str {
        &self.0.names.clusters
    }

    /// The columns that are copied, each of the given row.
    fn copied(&self, row: &str) -> String {
        let columns = self.0.columns.copied().map(|column| format!("{row}.{}", column.name));
        columns.collect::<Vec<_>>().join(", ")
    }

    fn distance(&self, a: &str, b: &str) -> String {
        format!("{}.hamming({a}.code, {b}.code)", self.0.names.extension)
    }

    /// Whether two rows are near each other, and of one tenant.
    fn near(&self, a: &str, b: &str) -> String {
        self.near_values(a, &|column| format!("{b}.{}", column.name))
    }

    /// Whether a row is near one with these values, and of the same tenant.
    fn near_values(&self, row: &str, value: &dyn Fn(&Column) -> String) -> String {
        let (extension, definition, columns) = (&self.0.names.extension, &self.0.definition, &self.0.columns);
        let within = |column: &Column, radius| {
            let distance = format!("{extension}.hamming({row}.{}, {})", column.name, value(column));
            format!("{distance} OPERATOR(pg_catalog.<=) {radius}")
        };
        let mut all = vec![within(&columns.code, definition.radius)];
        if let (Some(look), Some(radius)) = (&columns.look, definition.look_radius) {
            all.push(within(look, radius));
        }
        all.extend(columns.within.iter().map(|column| column.same_as(row, &value(column))));
        all.join(" AND ")
    }

    /// Whether row `a` comes after `b` in the order; keys decide between equal rows.
    fn after(&self, a: &str, b: &str) -> String {
        let columns = self.0.columns.first.iter().zip(&self.0.definition.first);
        let by_key = self.0.columns.key.after(a, b, false, false);
        columns.rev().fold(by_key, |rest, (column, direction)| {
            let after = column.after(a, b, direction.descending, direction.nulls_first);
            format!("({after} OR {} AND {rest})", column.same(a, b))
        })
    }

    /// What to sort rows by.
    fn order(&self, row: &str) -> String {
        let columns = self.0.columns.first.iter().zip(&self.0.definition.first);
        let mut all: Vec<_> =
            columns.map(|(column, direction)| format!("{row}.{} {}", column.name, direction.sql())).collect();
        all.push(format!("{row}.{}", self.key()));
        all.join(", ")
    }

    /// The window function that clusters rows, and names a cluster by the given value of its keeper.
    fn near_cluster(&self, named: &str, row: &str) -> String {
        let definition = &self.0.definition;
        let linkage = if definition.linkage == Linkage::Leader { "leader" } else { "connected" };
        let look = definition.look_radius.map(|radius| format!(", {row}.look, {radius}")).unwrap_or_default();
        let within: Vec<_> =
            self.0.columns.within.iter().map(|column| format!("{row}.{}", column.name)).collect();
        let partition =
            if within.is_empty() { String::new() } else { format!("PARTITION BY {} ", within.join(", ")) };
        format!(
            "{}.near_cluster({row}.{named}, {row}.code, {}{look}, '{linkage}') OVER ({partition}ORDER BY {})",
            self.0.names.extension,
            definition.radius,
            self.order(row)
        )
    }

    /// Fills an empty table from scratch. A cluster is named by the whole row of its keeper, whose code is at
    /// hand then.
    pub(super) fn fill(&self) -> String {
        let (key, clusters, rows) = (self.key(), self.clusters(), &self.0.names.rows);
        let (of_row, keeper) = (self.copied("c"), self.near_cluster("*", "r"));
        let distance = self.distance("c", "(c.keeper)");
        format!(
            "INSERT INTO {clusters}
             SELECT c.{key}, (c.keeper).{key}, coalesce({distance}, 0), {of_row}
             FROM (SELECT r.*, {keeper} AS keeper FROM {rows} AS r) AS c"
        )
    }

    /// Copies rows that have changed, without a cluster. Returns the clusters that have lost a row, or with
    /// leader linkage their keeper, and how many rows have changed.
    ///
    /// With `all`, every row is compared. Keys become distinct by UNION, since the planner takes 200 for the
    /// number of DISTINCT ones. A row as it is now is one value, so that its columns may have any names.
    pub(super) fn copy_changes(&self, all: bool) -> String {
        let (key, clusters, names) = (self.key(), self.clusters(), &self.0.names);
        let (changes, rows) = (&names.changes, &names.rows);
        let columns = &self.0.columns;
        let (taken, keys) = if all {
            (String::new(), format!("SELECT {key} FROM {rows} UNION SELECT {key} FROM {clusters}"))
        } else {
            (format!(" WHERE {key} IS NOT NULL"), "TABLE noted UNION TABLE noted".to_owned())
        };
        let is_same: Vec<_> = columns.copied().map(|column| column.same("c", "r")).collect();
        let names_of: Vec<_> = columns.copied().map(|column| column.name.as_str()).collect();
        let set: Vec<_> = names_of.iter().map(|name| format!("{name} = (j.now).{name}")).collect();
        let left = match self.0.definition.linkage {
            Linkage::Leader => columns.key.equal_values("j.cluster", "j.was"),
            Linkage::Connected => "j.cluster IS NOT NULL".to_owned(),
        };
        format!(
            "WITH noted AS (DELETE FROM {changes}{taken} RETURNING {key}),
             keys AS MATERIALIZED ({keys}),
             j AS MATERIALIZED (
                 SELECT ROW(r.*)::{rows} AS now, c.ctid AS place, c.{key} AS was, c.cluster AS cluster,
                     r.{key} IS NOT NULL AND ({is_same}) IS TRUE AS is_same
                 FROM keys LEFT JOIN {rows} AS r ON {keys_r} LEFT JOIN {clusters} AS c ON {c_keys}),
             gone AS (DELETE FROM {clusters} AS c USING j WHERE c.ctid = j.place AND (j.now).{key} IS NULL RETURNING 1),
             changed AS (UPDATE {clusters} AS c SET cluster = NULL, distance = NULL, {set} FROM j
                         WHERE c.ctid = j.place AND (j.now).{key} IS NOT NULL AND NOT j.is_same RETURNING 1),
             added AS (INSERT INTO {clusters} ({key}, {names_of}) SELECT (j.now).{key}, {of_now} FROM j
                       WHERE j.place IS NULL AND (j.now).{key} IS NOT NULL RETURNING 1)
             SELECT (SELECT pg_catalog.array_agg(DISTINCT j.cluster) FROM j WHERE NOT j.is_same AND {left}),
                 (SELECT count(*) FROM gone) + (SELECT count(*) FROM changed) + (SELECT count(*) FROM added)",
            keys_r = columns.key.equal("keys", "r"),
            c_keys = columns.key.equal("c", "keys"),
            is_same = is_same.join(" AND "),
            set = set.join(", "),
            names_of = names_of.join(", "),
            of_now = self.copied("(j.now)"),
        )
    }

    /// Unsettles all rows of clusters, which are given as an array. Returns how many they are.
    pub(super) fn unsettle(&self) -> String {
        let member = self.0.columns.key.equal_values("cluster", "ANY ($1)");
        format!(
            "WITH u AS (UPDATE {} SET cluster = NULL, distance = NULL WHERE {member} RETURNING 1)
             SELECT count(*) FROM u",
            self.clusters()
        )
    }

    /// Clusters unsettled rows together with the keepers near them. Where a keeper is none any more, its
    /// members are affected; where a row has become one, those of later keepers that are near it. If there
    /// are any, they are unsettled, and no row is settled. Returns how many rows were unsettled, and how
    /// many settled. The planner takes half of all rows for those with a boolean, and far too few for those
    /// with equal columns.
    pub(super) fn settle_leaders(&self) -> String {
        let (key, clusters) = (self.key(), self.clusters());
        let by = &self.0.columns.key;
        let of_d = self.copied("d");
        let is_keeper = |row: &str| by.equal_values(&format!("{row}.cluster"), &format!("{row}.{key}"));
        format!(
            "WITH d AS MATERIALIZED (SELECT d.{key}, d.cluster, {of_d}, d.ctid AS place FROM {clusters} AS d WHERE d.cluster IS NULL),
             c AS (
                 SELECT s.*, {keeper} AS keeper
                 FROM (TABLE d UNION ALL
                       SELECT DISTINCT k.{key}, k.cluster, {of_k}, NULL::tid FROM d JOIN {clusters} AS k ON {near_d} WHERE {k_keeps}) AS s),
             s AS MATERIALIZED (
                 SELECT s.*, {s_kept} AND NOT {s_keeps} AS is_lost,
                     s.cluster IS NULL AND {s_keeps} AND s.code IS NOT NULL AS is_gained FROM c AS s),
             lost AS (SELECT s.* FROM s WHERE s.is_lost),
             gained AS (SELECT s.* FROM s WHERE s.is_gained),
             affected AS MATERIALIZED (
                 SELECT m.ctid AS place FROM lost JOIN {clusters} AS m ON {m_lost}
                 UNION
                 SELECT m.ctid FROM gained AS x JOIN {clusters} AS m ON {near_x} JOIN {clusters} AS k ON {k_of_m}
                 WHERE NOT {m_keeps} AND {after}),
             t AS (
                 SELECT a.place, NULL::{type_} AS keeper, NULL::integer AS distance FROM affected AS a
                 UNION ALL
                 SELECT s.place, s.keeper, coalesce({distance}, 0) FROM s JOIN s AS k ON {keeper_k}
                 WHERE s.cluster IS NULL AND NOT EXISTS (SELECT FROM affected)),
             settled AS (UPDATE {clusters} AS c SET cluster = t.keeper, distance = t.distance FROM t
                         WHERE c.ctid = t.place RETURNING c.cluster IS NULL AS again)
             SELECT count(*) FILTER (WHERE again), count(*) FILTER (WHERE NOT again) FROM settled",
            keeper = self.near_cluster(key, "s"),
            of_k = self.copied("k"),
            near_d = self.near("k", "d"),
            k_keeps = is_keeper("k"),
            s_kept = is_keeper("s"),
            s_keeps = by.equal_values("s.keeper", &format!("s.{key}")),
            m_lost = by.equal_values("m.cluster", &format!("lost.{key}")),
            near_x = self.near("m", "x"),
            k_of_m = by.equal_values(&format!("k.{key}"), "m.cluster"),
            m_keeps = is_keeper("m"),
            after = self.after("k", "x"),
            type_ = by.type_name(),
            distance = self.distance("s", "k"),
            keeper_k = by.equal_values("s.keeper", &format!("k.{key}")),
        )
    }

    /// Connects unsettled rows and rows of the given clusters with each other, and with the clusters near
    /// them, of which each counts as one row. Of equal rows one looks for such clusters. Each group gets the
    /// name of its first row. Returns how many rows were written. The planner takes a third of all rows for
    /// those up to a number, and far too few for those that are DISTINCT.
    pub(super) fn settle_connected(&self) -> String {
        let (key, clusters, extension) = (self.key(), self.clusters(), &self.0.names.extension);
        let by = &self.0.columns.key;
        let is_left = |row: &str| by.equal_values(&format!("{row}.cluster"), "ANY ($1)");
        let compared: Vec<_> = self.0.columns.compared().map(|column| format!("d.{}", column.name)).collect();
        format!(
            "WITH d AS MATERIALIZED (
                 SELECT d.{key}, {of_d}, d.ctid AS place FROM {clusters} AS d WHERE d.cluster IS NULL
                 UNION ALL
                 SELECT d.{key}, {of_d}, d.ctid FROM {clusters} AS d WHERE {d_left}),
             x AS (SELECT d.{key} AS key, {of_d}, pg_catalog.row_number() OVER (PARTITION BY {compared}) AS number FROM d),
             p (a, b) AS (
                 SELECT d.{key}, {keeper} FROM d
                 UNION ALL
                 SELECT DISTINCT x.key, k.cluster FROM x JOIN {clusters} AS k ON {near_x}
                 WHERE x.number OPERATOR(pg_catalog.<=) 1 AND k.cluster IS NOT NULL AND ({k_left}) IS NOT TRUE),
             g AS MATERIALIZED (
                 SELECT g.key, g.cluster
                 FROM (SELECT pg_catalog.array_agg(p.a) AS a, pg_catalog.array_agg(p.b) AS b FROM p) AS p,
                     {extension}.clusters_of_pairs(p.a, p.b, 'connected') AS g),
             n AS MATERIALIZED (
                 SELECT DISTINCT ON (g.cluster) g.cluster, c.{key}, c.code FROM g JOIN {clusters} AS c ON {g_c}
                 ORDER BY g.cluster, {order}),
             t AS (
                 SELECT m.place, n.{key} AS keeper, coalesce({distance}, 0) AS distance
                 FROM (SELECT d.place, d.{key}, d.code FROM d UNION ALL
                       SELECT c.ctid, c.cluster, c.code
                       FROM g JOIN n ON {n_g} AND NOT {is_named} JOIN {clusters} AS c ON {c_of_g}
                       WHERE ({c_left}) IS NOT TRUE) AS m (place, node, code)
                     JOIN g ON {g_m} JOIN n ON {n_g}),
             settled AS (UPDATE {clusters} AS c SET cluster = t.keeper, distance = t.distance FROM t
                         WHERE c.ctid = t.place AND ({unchanged} AND c.distance = t.distance) IS NOT TRUE RETURNING 1)
             SELECT count(*) FROM settled",
            d_left = is_left("d"),
            k_left = is_left("k"),
            c_left = is_left("c"),
            of_d = self.copied("d"),
            compared = compared.join(", "),
            keeper = self.near_cluster(key, "d"),
            near_x = self.near("k", "x"),
            g_c = by.equal_values("g.key", &format!("c.{key}")),
            order = self.order("c"),
            distance = self.distance("m", "n"),
            is_named = by.equal_values("g.key", &format!("n.{key}")),
            c_of_g = by.equal_values("c.cluster", "g.key"),
            g_m = by.equal_values("g.key", "m.node"),
            n_g = by.equal_values("n.cluster", "g.cluster"),
            unchanged = by.equal_values("c.cluster", "t.keeper"),
        )
    }

    /// The cluster that a code would join. Parameters are the code, the second code, and the tenants.
    pub(super) fn look_up(&self) -> String {
        let (key, clusters, columns) = (self.key(), self.clusters(), &self.0.columns);
        let near = self.near_values("m", &|column| {
            let place = columns.compared().position(|other| other.name == column.name);
            format!("${}", place.map_or(1, |place| place + 1))
        });
        let by = &columns.key;
        match self.0.definition.linkage {
            Linkage::Leader => format!(
                "SELECT m.{key} FROM {clusters} AS m WHERE {near} AND {} ORDER BY {} LIMIT 1",
                by.equal_values("m.cluster", &format!("m.{key}")),
                self.order("m")
            ),
            Linkage::Connected => format!(
                "SELECT k.{key} FROM {clusters} AS m JOIN {clusters} AS k ON {} WHERE {near} ORDER BY {} LIMIT 1",
                by.equal_values(&format!("k.{key}"), "m.cluster"),
                self.order("k")
            ),
        }
    }

    /// Whether ANALYZE has found a cluster of nearly half of the rows.
    pub(super) fn has_large(&self) -> String {
        format!(
            "SELECT count(*) FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
                 JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = t.relname
             WHERE t.oid = {} AND s.attname = 'cluster' AND s.most_common_freqs[1] >= 0.4",
            self.0.clusters.to_u32()
        )
    }

    /// The keeper of the largest cluster, as text, its rows, and all rows.
    pub(super) fn largest(&self) -> String {
        format!(
            "SELECT cluster::text, count(*), sum(count(*)) OVER ()::bigint FROM {} GROUP BY cluster
             ORDER BY count(*) DESC LIMIT 1",
            self.clusters()
        )
    }
}
