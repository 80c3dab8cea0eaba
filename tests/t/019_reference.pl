# docs/reference.md and docs/developers/reference-internal.md list every object of the extension, every parameter of the
# functions for users, and every configuration parameter.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('reference');
my @pages = map { { name => $_, text => read_page($_) } } qw(docs/reference.md docs/developers/reference-internal.md);
my $reference = join '', map { $_->{text} } @pages;

# Everything but functions: their names, and the symbols of operators.
my $names = $node->safe_psql('postgres', q{
	SELECT DISTINCT coalesce(oprname, opcname, amname, typname)
	FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg'
		LEFT JOIN pg_operator ON d.classid = 'pg_operator'::regclass AND pg_operator.oid = d.objid
		LEFT JOIN pg_opclass ON d.classid = 'pg_opclass'::regclass AND pg_opclass.oid = d.objid
		LEFT JOIN pg_am ON d.classid = 'pg_am'::regclass AND pg_am.oid = d.objid
		LEFT JOIN pg_type ON d.classid = 'pg_type'::regclass AND pg_type.oid = d.objid AND typcategory <> 'A'
	WHERE d.deptype = 'e' AND coalesce(oprname, opcname, amname, typname) IS NOT NULL ORDER BY 1});
for my $name (split /\n/, $names)
{
	like($reference, qr/[\s`(]\Q$name\E[\s`),]/, "$name is in the reference");
}

# Functions with the names of their parameters. Nobody can call one that takes an internal value.
my $functions = $node->safe_psql('postgres', q{
	SELECT proname || ' ' || CASE WHEN 'internal'::regtype = ANY (proargtypes) THEN ''
		ELSE coalesce(array_to_string(proargnames[1:pronargs], ' '), '') END
	FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'simhash_pg' ORDER BY 1});
for my $function (split /\n/, $functions)
{
	my ($name, @parameters) = split / /, $function;
	my $call = join '[^`|]*', @parameters ? "$name\\(" : $name, map { "\\b\Q$_\E\\b" } @parameters;
	like($reference, qr/(?<!\w)$call/, "$name(" . join(', ', @parameters) . ') is in the reference');
}

# A configuration parameter, with its type and its default.
my $parameters = $node->safe_psql('postgres', q{LOAD 'simhash_pg';
	SELECT name || ' ' || replace(vartype, 'bool', 'boolean') || ' ' || boot_val FROM pg_settings
		WHERE name LIKE 'simhash\_pg.%' ORDER BY 1});
for my $parameter (split /\n/, $parameters)
{
	my ($name, $type, $default) = split / /, $parameter;
	like($reference, qr/^- `\Q$name\E` \(`\Q$type\E`\):(?:(?!^- ).)*The default is `\Q$default\E`/ms,
		"$name is in the reference");
}

# An empty line ends a table: rows after it have no header, and are shown as plain text.
for my $page (@pages)
{
	my @tables = grep { /^\|/ } split /\n{2,}/, $page->{text};
	ok(@tables > 0, "$page->{name} has tables");
	like($_, qr/\A\|.*\n\|(?:-+\|)+\n/, "$page->{name}: a table has a header: " . substr($_, 0, 40)) for @tables;
}

done_testing();

sub read_page
{
	my ($page) = @_;
	open my $file, '<:raw', "$ENV{DOCS}/$page" or die "cannot read $page: $!";
	local $/;
	return <$file>;
}
