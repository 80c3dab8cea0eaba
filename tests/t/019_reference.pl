# docs/reference.md names every object of the extension, and every parameter of the functions that users can call.

use strict;
use warnings;
use Test::More;
use SimhashTest;

my $node = start_node('reference');
open my $file, '<:raw', "$ENV{DOCS}/docs/reference.md" or die "cannot read docs/reference.md: $!";
my $reference = do { local $/; <$file> };
close $file;

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

done_testing();
