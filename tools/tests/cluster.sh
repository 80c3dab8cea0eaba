# shellcheck shell=sh disable=SC2034 # what is set here is for the tools that source it
# Sourced by the other tools: a folder of our own, the user that servers run as, and a private
# cluster there, reached by its socket alone. Everything is gone afterwards, unless a step failed. The caller's working
# directory is that of the repository.

. tools/tests/folders.sh

pg_config=${PG_CONFIG:-pg_config}
pg_bindir=$("$pg_config" --bindir)
pgxs_test_dir=$(dirname "$("$pg_config" --pgxs)")/../test

unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGOPTIONS PGSERVICE PGCLIENTENCODING RUST_BACKTRACE

# PostgreSQL refuses to run as root, and its user may not be able to enter our folder. Debian's packages of servers create
# the user postgres; where PostgreSQL was compiled, there may be no such user.
if [ "$(id -u)" = 0 ]; then
    server_user=${TEST_USER:-$(id -un postgres 2>/dev/null || echo nobody)}
    id "$server_user" >/dev/null 2>&1 || {
        echo "missing: a user to run PostgreSQL as (TEST_USER=$server_user)" >&2
        exit 1
    }
    as_server() { (cd "$work_dir" && runuser -u "$server_user" -- "$@"); }
else
    as_server() { (cd "$work_dir" && "$@"); }
fi

[ "$(df -Pk /var/tmp | awk 'NR == 2 { print int($4 / 1024) }')" -ge 1024 ] || {
    echo "less than 1 GB is free in /var/tmp, where servers of tests and demos have their data" >&2
    exit 1
}
# Sockets have short names, so this is not under TMPDIR, which may be long, or missing; and /tmp may be in memory.
work_dir=$(make_folder /var/tmp/simhash_pg.)
export TMPDIR="$work_dir/tmp"
mkdir "$TMPDIR"
keep_work_dir=

own_work_dir() {
    [ "$(id -u)" != 0 ] || chown -R "$server_user" "$work_dir"
}

clean_up() {
    [ ! -e "$work_dir/data/postmaster.pid" ] || stop_cluster
    # Those of a test that was killed.
    stop_servers "$work_dir"
    if [ -n "$keep_work_dir" ]; then keep_folder "$work_dir"; else remove_folder "$work_dir"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

start_cluster() {
    own_work_dir
    as_server "$pg_bindir/initdb" -D "$work_dir/data" -U postgres --encoding UTF8 --locale C \
        --auth trust --no-sync >"$work_dir/initdb.log"
    as_server "$pg_bindir/pg_ctl" -D "$work_dir/data" -l "$work_dir/server.log" --wait start \
        -o "-c listen_addresses='' -c unix_socket_directories='$work_dir' -c fsync=off $*" \
        >"$work_dir/pg_ctl.log" || {
        cat "$work_dir/server.log" >&2
        exit 1
    }
}

stop_cluster() {
    as_server "$pg_bindir/pg_ctl" -D "$work_dir/data" --mode fast --wait stop >"$work_dir/pg_ctl.log"
}

run_psql() {
    as_server "$pg_bindir/psql" -X -P pager=off -h "$work_dir" -U postgres -v ON_ERROR_STOP=1 "$@" postgres
}

# Usage: list_texts FILE   Lists, as COPY reads it, the text files of 2 kB to 2 MB that Debian's packages bring.
list_texts() {
    as_server find /usr/share /usr/include /usr/lib/python3 -type f -size +2k -size -2000k -readable \
        \( -name '*.txt' -o -name '*.h' -o -name '*.py' -o -name '*.pm' -o -name '*.pod' -o -name '*.html' -o -name copyright -o -name 'README*' \) \
        -exec grep -IlP -m1 '[a-z]{3}' {} + 2>/dev/null | grep -v '[\\[:cntrl:]]' >"$1" || true
}

# Usage: tally LOG   How many tests have passed, and a line for each that has failed, by the lines of pg_regress (of
# PostgreSQL 15, where those of a group are indented, and of 16 on), cargo and prove.
tally() {
    awk '
        /^ok / || /^(test|    ) .*\.\.\. ok/ { passed++ }
        /^not ok / { failed[$5] }
        /^test .*\.\.\. .*FAILED/ { failed[$2] }
        /^     .*\.\.\. .*FAILED/ { failed[$1] }
        /^Files=.*Tests=/ { sub(/.*Tests=/, ""); passed += $0 + 0 }
        /\.pl +\(Wstat: .* Failed: [0-9]+\)/ {
            name = $1; sub(/.*\//, "", name); failed[name]
            sub(/.*Failed: /, ""); passed -= $0 + 0
        }
        END { print passed + 0; for (name in failed) print name }' "$1"
}
