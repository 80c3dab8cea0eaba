# Generates what 036_whose_rights.pl warms, changes and runs again: a table whose code is harmless when a session uses
# it for the first time, and is changed by the owner of the table while that session stays open.
#
# By then, the session has cached relations and plans, in which PostgreSQL has simplified the harmless code. A function
# in SQL that returns its argument, a constant CASE, and a domain without constraints have disappeared from them, so
# that a query by a plain column matches an index on an expression. No session is told when such code changes, and what
# the catalogs contain is the code as it was written.
#
# A canary is code at one place of the table, such as an index expression, a predicate, a policy or a view. It has one
# of several forms, and is changed in one of several ways. A canary that has been changed sings: it writes into the
# server's log as whom it runs, and for which row.
package ChangedCanaries;

use strict;
use warnings;
use List::Util qw(shuffle);

# The types of columns. An argument of a function has no length, but a column may have one. `plain` is how a query
# refers to the column, and `cast` gives an expression the length that an index needs. The last ten bits of a code are
# the number of its row.
my %types = (
	bigint => { argument => 'bigint', column => 'bigint', row => '(%s & 1023)::integer', bits => '(%s)::bit(64)',
		operator => '<~>',
		value => '((hashint8extended(%1$s / 3, %2$d) & ~1023::bigint) | (%1$s)::bigint)' },
	'bit' => { argument => '"bit"', column => '"bit"', plain => '%s::bit(256)', cast => '::bit(256)' },
	'bit(256)' => { argument => '"bit"', column => 'bit(256)', cast => '::bit(256)' },
	'varbit(256)' => { argument => 'varbit', column => 'varbit(256)', cast => '::varbit(256)' },
	integer => { argument => 'integer', column => 'integer', row => 'NULL' },
	id => { argument => 'integer', column => 'integer', row => '%s' });
for my $type (@types{ 'bit', 'bit(256)', 'varbit(256)' })
{
	my $hashes = join ' || ', map { "hashint8extended(%1\$s / 3, %2\$d + $_)::bit(" . ($_ == 3 ? 54 : 64)
		. ')' } 0 .. 3;
	@$type{qw(row bits value operator)} = ('substring(%s from 247 for 10)::integer', '%s',
		"($hashes || (%1\$s)::bit(10))$type->{cast}", '<^>');
}

# The forms of a canary. `use` is simplified to the column as long as the canary is harmless.
my %forms = (
	function => { arguments => '{argument}', returns => '{argument}', body => '$1', use => 'hostile.{name}({column})' },
	constant => { arguments => '', returns => 'boolean', body => 'true',
		use => '(CASE WHEN hostile.{name}() THEN {column} END)' },
	operator => { arguments => '{argument}, integer', returns => '{argument}', body => '$1',
		use => '({column} OPERATOR(hostile.{symbol}) 1)',
		after => 'CREATE OPERATOR hostile.{symbol} (FUNCTION = hostile.{name}, LEFTARG = {argument}, '
			. 'RIGHTARG = integer);' },
	cast => { arguments => '{argument}', returns => 'hostile.of_{name}', body => 'ROW($1)::hostile.of_{name}',
		use => '({column}::hostile.of_{name}).v',
		before => 'CREATE TYPE hostile.of_{name} AS (v {type});',
			after => 'CREATE CAST ({argument} AS hostile.of_{name}) WITH FUNCTION hostile.{name};' },
	domain => { use => '{column}::hostile.{name}', before => 'CREATE DOMAIN hostile.{name} AS {type};' });

# What the owner does to the function of a canary, in one step or in two.
my $function = 'CREATE OR REPLACE FUNCTION hostile.{name}({arguments}) RETURNS {returns} IMMUTABLE PARALLEL SAFE';
my $sings = q{$$ BEGIN PERFORM hostile.sing('{place}', {row}); RETURN {body}; END $$};
my %changes = (
	'PL/pgSQL' => ["$function LANGUAGE plpgsql AS $sings"],
	'SQL that is inlined' => [qq{$function LANGUAGE sql AS \$\$ SELECT CASE
		WHEN hostile.heard('{place}', {row}) THEN {body} END \$\$}],
	'SQL that is not inlined' => [qq{$function LANGUAGE sql AS \$\$ SELECT hostile.sing('{place}', {row});
		SELECT {body} \$\$}],
	'SET' => [ $function . q{ LANGUAGE plpgsql AS $$ BEGIN IF current_setting('geqo_seed') = '0.5' THEN PERFORM
		hostile.sing('{place}', {row}); END IF; RETURN {body}; END $$},
		q{ALTER FUNCTION hostile.{name} SET geqo_seed = 0.5} ],
	'SET, then PL/pgSQL' => [ 'ALTER FUNCTION hostile.{name} SET search_path = hostile',
		"$function LANGUAGE plpgsql AS $sings" ],
	'SECURITY' => [ "$function LANGUAGE plpgsql SECURITY DEFINER AS $sings",
		'ALTER FUNCTION hostile.{name} SECURITY INVOKER' ],
	'COST' => [ "$function LANGUAGE plpgsql COST 10000 AS $sings", 'ALTER FUNCTION hostile.{name} COST 0.0001' ]);
my $of_domain = 'a constraint of a domain';
my %all_changes = (%changes,
	$of_domain => [q{ALTER DOMAIN hostile.{name} ADD CONSTRAINT sings CHECK (hostile.heard('{place}', {row}))}]);

sub kinds_of_changes { return sort keys %all_changes }

sub pick { return $_[ rand @_ ] }

# Draws one of several, so that all of them have been drawn before one is drawn again.
sub in_turn
{
	my ($self, $name, @all) = @_;
	my $left = $self->{left}{$name} //= [];
	@$left = shuffle(sort @all) unless @$left;
	return shift @$left;
}

# Puts a canary at a place, and returns the expression that contains it.
sub canary
{
	my ($self, $place, $column, $type) = @_;
	my ($kind) = $place =~ /^(\w+)/;
	my $form = $self->in_turn("form of $kind", keys %forms);
	my $change = $form eq 'domain' ? $of_domain : $self->in_turn('change', keys %changes);
	my $row = $form eq 'constant' ? 'NULL' : sprintf $types{$type}{row}, $form eq 'domain' ? 'value' : '$1';
	my %words = (%{ $forms{$form} }, name => $place =~ s/\W/_/gr, place => $place, column => $column, row => $row,
		argument => $types{$type}{argument},
		type => $types{$type}{column}, symbol => '@#' . '@' x keys %{ $self->{canaries} });
	my $written = sub { my ($sql) = @_; 1 while $sql =~ s/\{(\w+)\}/$words{$1}/; return $sql };
	$self->{sql} .= join '', map { $written->($_) . "\n" } $words{before} // '',
		$words{body} ? "$function LANGUAGE sql AS 'SELECT {body}';" : '', $words{after} // '';
	my @steps = map { $written->($_) } @{ $all_changes{$change} };
	push @{ $self->{steps}[$_] }, $steps[$_] for 0 .. $#steps;
	$self->{canaries}{$place} = { form => $form, change => $change };
	return $written->($words{use});
}

# The columns with codes, each of which has an index: the type, the access method, and whether the index is on an
# expression.
my @columns = (
	(map { [ $_, '%AM%', 1 ] } ('bigint') x 2, ('bit') x 3, ('varbit(256)') x 5),
	[ 'bigint', '%GIST%', 1 ],
	(map { [ $_, '%AM%', 0 ] } 'bigint', 'bit(256)', 'varbit(256)'));

# Draws the index of the n-th column, which may have a second column to filter by, and a predicate. A search of the
# index is written with plain columns, or with the expressions of the index.
sub draw_index
{
	my ($self, $n) = @_;
	my ($type, $am, $is_expression) = @{ $columns[ $n - 1 ] };
	my $index = { n => $n, name => "t_$n", type => $type, is_expression => $is_expression };
	my $plain = { code => sprintf($types{$type}{plain} // '%s', "c$n"), row => 'x < 9999', filter => '' };
	my $named = { filter => '' };
	@$index{qw(plain named)} = ($plain, $named);
	@$named{qw(code row)} = @$plain{qw(code row)};
	if ($is_expression)
	{
		my $place = "key of t_$n";
		my $canary = $self->canary($place, "c$n", $type);
		# A domain over bit varying(256) has a length already.
		$named->{code} = "($canary)" . ($type eq 'varbit(256)' && $self->{canaries}{$place}{form} eq 'domain' ? ''
			: $types{$type}{cast} // '');
	}
	my @indexed = ($is_expression ? "($named->{code})" : $named->{code}) . ($am eq '%GIST%' ? ' %GIST_OPS%' : '');
	if ($am eq '%AM%' && (!$is_expression || rand() < 0.5))
	{
		my ($column, $value) = @{ pick([ 'grp', 1 ], [ 'x', 13 ]) };
		my $canary = $self->canary("filter of t_$n", $column, $column eq 'x' ? 'id' : 'integer');
		push @indexed, "($canary)", $is_expression ? () : 'typed';
		($plain->{filter}, $named->{filter}) = map { " AND $_ = $value" } $column, $canary;
	}
	my $options = $is_expression || $type eq 'bigint' ? '' : " WITH (trees = ${\pick('words', 'both', 'whole')})";
	my $predicate = '';
	if (rand() < ($is_expression ? 0.4 : 0.8))
	{
		$named->{row} = $self->canary("predicate of t_$n", 'x', 'id') . ' < 9999';
		$predicate = " WHERE $named->{row}";
	}
	$self->{sql} .= "CREATE INDEX t_$n ON hostile.t USING $am (" . join(', ', @indexed) . ")$options$predicate;\n";
	push @{ $self->{indexes} }, $index;
}

# The code of a row, which is near to those of two others.
sub code_of
{
	my ($index, $row) = @_;
	return sprintf $types{ $index->{type} }{value}, $row, 10 * $index->{n};
}

# Whether row security hides a row from the reader.
sub is_hidden { return $_[0] % 10 != 3 }

# Statements that insert the rows i of a series into both tables.
sub insertions
{
	my ($self, $series) = @_;
	my $names = join ', ', map { "c$_->{n}" } @{ $self->{indexes} };
	my $codes = join ', ', map { code_of($_, 'i') } @{ $self->{indexes} };
	return ("INSERT INTO hostile.t (id, x, grp, typed, body, $names) "
		. "SELECT i, i, i % 3, i, 'some words of text ' || i, $codes FROM $series AS i",
		'INSERT INTO hostile.excluding SELECT i, i, ' . sprintf($types{bigint}{value}, '3 * i', 5)
			. " FROM $series AS i");
}

# Draws a table. The words between percent signs in its definition differ between the extension and a B-tree.
sub new
{
	my ($class) = @_;
	my $self = bless { left => {}, canaries => {}, indexes => [], steps => [ [], [], [] ], sql => q{
		CREATE FUNCTION hostile.sing(place text, of_row integer) RETURNS void LANGUAGE plpgsql PARALLEL SAFE AS $$
			BEGIN RAISE LOG 'canary % sings as % in % during % of row %', place, current_user, current_database(),
				current_setting('application_name'), of_row; END $$;
		CREATE FUNCTION hostile.heard(place text, of_row integer) RETURNS boolean
			LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
			BEGIN PERFORM hostile.sing(place, of_row); RETURN true; END $$;
		CREATE FUNCTION hostile.triggered() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN coalesce(new, old);
			END $$;
		CREATE DOMAIN hostile.changed_type AS integer CHECK (hostile.heard('changed type', value));
		} }, $class;
	my %of = map { $_ => $self->canary($_, 'x', 'id') } 'generated column', 'check constraint', 'statistics object',
		'view column', 'view condition', 'policy of rows', 'exclusion predicate';
	my $default = $self->canary('default value', '7', 'id');
	my $excluded = $self->canary('exclusion key', 'code', 'bigint');
	my $columns = join ', ', map { "c$_ $types{ $columns[ $_ - 1 ][0] }{column}" } 1 .. @columns;
	$self->{sql} .= "
		CREATE TABLE hostile.t (id integer PRIMARY KEY, x integer, grp integer, typed integer, body text, $columns,
			note integer DEFAULT $default,
			made integer GENERATED ALWAYS AS ($of{'generated column'}) STORED, CHECK ($of{'check constraint'} > 0));
		CREATE TABLE hostile.excluding (id integer, x integer, code bigint, CONSTRAINT disjoint EXCLUDE
			USING %AM% (%BALL%$excluded%RADIUS% WITH %NEAR%) WHERE ($of{'exclusion predicate'} < 9999));
		CREATE TRIGGER triggered BEFORE INSERT OR UPDATE
			OR DELETE ON hostile.t FOR EACH ROW EXECUTE FUNCTION hostile.triggered();
		CREATE STATISTICS hostile.s ON ($of{'statistics object'}), grp FROM hostile.t;\n";
	$self->draw_index($_) for 1 .. @columns;
	my @codes = map { "c$_" } 1 .. @columns;
	my $view = 'SELECT id, grp, ' . join(', ', @codes);
	my $rows = join '', map { "$_;\n" } $self->insertions('generate_series(1, 60)');
	$self->{sql} .= "
		$rows
		CREATE VIEW hostile.v AS $view, ($of{'view column'})::integer AS x FROM hostile.t
			WHERE $of{'view condition'} > 0;
		CREATE POLICY p ON hostile.t USING ($of{'policy of rows'} % 10 = 3);
		ALTER TABLE hostile.t ENABLE ROW LEVEL SECURITY;
		CREATE TABLE hostile.small AS SELECT id AS small, " . join(', ', map { "c$_ AS s$_" } 1 .. @columns)
			. ' FROM hostile.t WHERE id <= 20;
		GRANT ALL ON ALL TABLES IN SCHEMA hostile TO reader;
		ANALYZE hostile.t, hostile.excluding, hostile.small;';
	# PostgreSQL tells sessions that have cached the table of the changes in the last step, but not of those to
	# functions.
	push @{ $self->{steps}[0] }, q{CREATE OR REPLACE FUNCTION hostile.triggered() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM hostile.sing(CASE WHEN tg_name = 'triggered' THEN 'trigger' ELSE 'added trigger' END,
			coalesce(new.id, old.id)); RETURN coalesce(new, old); END $$};
	push @{ $self->{steps}[2] },
		q{ALTER POLICY p ON hostile.t USING (hostile.heard('changed policy', id) AND id % 10 = 3)},
	  "CREATE OR REPLACE VIEW hostile.v AS $view, x FROM hostile.t WHERE hostile.heard('changed view', id)",
	  'CREATE TRIGGER added BEFORE INSERT OR UPDATE '
		. 'OR DELETE ON hostile.t FOR EACH ROW EXECUTE FUNCTION hostile.triggered()',
	  'ALTER TABLE hostile.t ALTER typed TYPE hostile.changed_type';
	$self->{canaries}{$_} = { form => 'none', change => $_ } for 'trigger', 'changed type', 'changed policy',
		'changed view', 'added trigger';
	return $self;
}

# Statements that search an index by a code C, under the condition W, or X without a filter. S is a column of the small
# table, and Q and R are codes. {near|a|b|radius} and {distance|a|b} are written with the extension or with arithmetic.
my %searches = (
	range => 'SELECT id FROM hostile.t WHERE {near|C|Q|9} AND W',
	nearest => 'SELECT id FROM hostile.t WHERE X ORDER BY {distance|C|Q} LIMIT 3',
	all => 'SELECT id, {distance|C|Q} FROM hostile.t WHERE X ORDER BY {distance|C|Q}',
	filtered => 'SELECT id FROM hostile.t WHERE W ORDER BY {distance|C|Q} LIMIT 3',
	between => 'SELECT id FROM hostile.t WHERE {distance|C|Q} BETWEEN 1 AND 9 AND W',
	either => 'SELECT id FROM hostile.t WHERE ({near|C|Q|5} OR {near|C|R|5}) AND W',
	equal => 'SELECT id FROM hostile.t WHERE C = Q AND W',
	lock => 'SELECT id FROM hostile.t WHERE {near|C|Q|9} AND W FOR UPDATE',
	join => 'SELECT count(*) FROM hostile.t JOIN hostile.small ON {near|C|S|5} WHERE W',
	'left join' => 'SELECT count(*), count(small) FROM hostile.t '
		. 'LEFT JOIN hostile.small ON {near|C|S|5} AND id <> small WHERE W',
	exists => 'SELECT count(*) FROM hostile.t WHERE EXISTS (SELECT FROM hostile.small '
		. 'WHERE {near|C|S|5} AND id <> small) AND W',
	'not exists' => 'SELECT count(*) FROM hostile.t WHERE NOT EXISTS (SELECT FROM hostile.small WHERE {near|C|S|5}) '
		. 'AND W',
	lateral => 'SELECT count(*) FROM hostile.small, LATERAL (SELECT id FROM hostile.t WHERE W '
		. 'ORDER BY {distance|C|S} LIMIT 2) AS l',
	clusters => 'SELECT {cluster|id|C} OVER (ORDER BY id) FROM hostile.t WHERE W',
	update => 'UPDATE hostile.t SET note = 3 WHERE {near|C|Q|9} AND W',
	delete => 'DELETE FROM hostile.t USING hostile.small WHERE {near|C|S|5} AND id <> small AND W');
my %by_column = (
	view => 'SELECT id FROM hostile.v WHERE {near|C|Q|9} AND W',
	'nearest of view' => 'SELECT id FROM hostile.v WHERE W ORDER BY {distance|C|Q} LIMIT 3',
	histogram => [ q{SELECT * FROM hamming_histogram('hostile.t', 'COLUMN', 50)}, 'SELECT COLUMN FROM hostile.t' ],
	'histogram of view' => [ q{SELECT * FROM hamming_histogram('hostile.v', 'COLUMN', 50)},
		'SELECT COLUMN FROM hostile.v' ],
	differences => [ q{SELECT * FROM near_differences('hostile.t', 'COLUMN', 'body', 3)},
		'SELECT id, COLUMN, body FROM hostile.t' ]);

# A search with the extension (0) or with arithmetic (1).
sub written
{
	my ($search, $index, $which) = @_;
	my $type = $types{ $index->{type} };
	my $distance = sub { my ($a, $b) = @_; $which ? 'bit_count(' . sprintf($type->{bits}, "$a # $b") . ')'
		: "hamming($a, $b)" };
	my $near = sub {
		my ($a, $b, $radius) = @_;
		return $distance->($a, $b) . " <= $radius" if $which;
		return ("hamming($a, $b) <= $radius", "hamming_within($a, $b, $radius)", "$a $type->{operator} $b <= $radius",
			"$a <@ hamming_ball($b, $radius)")[ $index->{n} % 4 ];
	};
	return $search =~ s/\{near\|(.*?)\|(.*?)\|(.*?)\}/$near->($1, $2, $3)/ger
		=~ s/\{distance\|(.*?)\|(.*?)\}/$distance->($1, $2)/ger
	  =~ s/\{cluster\|(.*?)\|(.*?)\}/$which ? "first_value($1 + length(($2)::text))" : "near_cluster($1, $2, 2)"/ger;
}

# What a session does again and again: pairs of statements with the extension and with arithmetic, and the index that
# they search, either by its plain columns or by its expressions.
sub statements
{
	my ($self) = @_;
	my @all;
	for my $index (@{ $self->{indexes} })
	{
		for my $by ('plain', $index->{is_expression} ? 'named' : ())
		{
			my %draws = (%searches, $by eq 'plain' ? %by_column : ());
			my @often = ('range', 'nearest', 'all');
			my ($code, $row, $filter) = @{ $index->{$by} }{qw(code row filter)};
			my %words = (C => $code, W => "$row$filter", X => $row, S => "s$index->{n}", COLUMN => "c$index->{n}",
				R => code_of($index, 33));
			for my $name (@often, map { $self->in_turn("search by $by", grep {
				!/^(range|nearest|all)$/ } keys %draws) } 1 .. 4)
			{
				my $search = $draws{$name};
				my @pair = map { my $which = $_; (ref $search ? $search->[$which] : written($search, $index, $which))
					=~ s/\b(C|W|X|S|R|COLUMN)\b/$words{$1}/gr } 0, 1;
				push @all, { name => $name, pair => \@pair, index => $index->{name}, by => $by,
					query => code_of($index, 13), argument => $types{ $index->{type} }{argument} };
			}
		}
	}
	my $excluded = sprintf $types{bigint}{value}, 39, 5;
	my @others = map { [ $_, $_ ] } $self->insertions('generate_series(903, 923, 10)'),
		'UPDATE hostile.excluding SET x = x + 1 WHERE id < 9', 'UPDATE hostile.t SET body = body || 1 WHERE id < 9';
	push @others, [ map { "SELECT id FROM hostile.excluding WHERE $_ AND x < 9999" } "hamming_ball(code, 1) ~ "
		. "hamming_ball($excluded, 1)", "code = $excluded" ];
	push @all, map { { name => 'other', pair => $_, index => '', by => '', query => '' } } @others;
	return @all;
}

# Maintenance by a superuser. REINDEX and ANALYZE call the canaries of the table as the owner.
sub maintenance
{
	my ($self) = @_;
	my @indexes = grep { $columns[ $_->{n} - 1 ][1] eq '%AM%' } @{ $self->{indexes} };
	my @checks = map { ("SELECT * FROM hamming_index_check('hostile.$_', true)",
		"SELECT * FROM hamming_index_stats('hostile.$_')") } (map { $_->{name} } @indexes), 'disjoint';
	return ((map { [ $_, 'SELECT 1' ] } 'SELECT * FROM hamming_indexes', @checks),
		map { [ $_, $_ ] } 'VACUUM hostile.t', 'VACUUM hostile.excluding', 'ANALYZE hostile.t',
			'REINDEX TABLE hostile.t', 'REINDEX TABLE CONCURRENTLY hostile.t', 'REINDEX TABLE hostile.excluding',
			'CLUSTER hostile.t USING t_pkey');
}

1;
