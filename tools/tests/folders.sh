# shellcheck shell=sh
# Sourced by the other tools. A run of tests has a folder of its own, and removes the folders of earlier runs that were
# killed, together with the servers that are still running there.
#
# Beside each folder is a file FOLDER.run, which belongs to the user who called the tool: the folder itself may belong to the
# user that servers run as. Its first line names the process that made the folder. The second names the process of the net,
# for example of `make test-matrix`, which calls `make test` for each PostgreSQL. A third line, "kept", says that the run
# failed, and that its logs are of interest. Those of the last net that failed remain.

# Usage: process_name PID   Prints a name that no other process has had since the machine was started: the PID namespace,
# the PID, and the time at which the process started, in clock ticks. A process that has ended has no name, even if
# its parent has not waited for it.
process_name() {
    # The name of the program is in parentheses, and may contain spaces and parentheses.
    ticks=$(sed -n 's/^.*) //p' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }')
    [ -z "$ticks" ] || echo "$(readlink /proc/self/ns/pid | tr -cd '0-9'):$1:$ticks"
}

# Usage: may_run NAME   Whether the process with this name may be running, as any process of another namespace may.
may_run() {
    case $1 in
    "$(readlink /proc/self/ns/pid | tr -cd '0-9'):"*)
        pid=${1#*:}
        [ "$(process_name "${pid%:*}")" = "$1" ]
        ;;
    esac
}

# The first of the tools that a net consists of.
[ -n "${SIMHASH_PG_NET:-}" ] || SIMHASH_PG_NET=$(process_name $$)
export SIMHASH_PG_NET

# Usage: make_folder PREFIX   Makes a folder with a name that begins with PREFIX, and prints it. Without /proc, no later run
# removes it.
make_folder() {
    remove_left_folders "$1" >&2
    new_folder=$(mktemp -d "$1XXXXXX")
    [ -z "$SIMHASH_PG_NET" ] || printf '%s\n%s\n' "$(process_name $$)" "$SIMHASH_PG_NET" >"$new_folder.run"
    echo "$new_folder"
}

# Usage: keep_folder FOLDER   The run has failed, so the folder remains until a later net has failed as well.
keep_folder() {
    [ ! -e "$1.run" ] || echo kept >>"$1.run"
}

# Usage: remove_folder FOLDER
remove_folder() {
    # What is mounted in the folder must not be removed with it.
    mounted_in "$1" | sort -r | while read -r place; do umount "$place"; done
    [ -z "$(mounted_in "$1")" ] || return 1
    # The file is the last, so that a removal that was interrupted is continued by the next run.
    rm -rf "$1" && rm -f "$1.run"
}

mounted_in() {
    [ ! -e /proc/self/mounts ] || awk -v folder="$1/" 'index($2, folder) == 1 { print $2 }' /proc/self/mounts
}

# Usage: remove_left_folders PREFIX   Removes the folders of this user's earlier runs whose processes have ended.
remove_left_folders() {
    kept_net=
    # From the newest file on. The names contain no spaces.
    # shellcheck disable=SC2012
    { ls -t "$1"*.run 2>/dev/null || true; } | while read -r file; do
        [ -O "$file" ] && [ ! -L "$file" ] || continue
        folder=${file%.run}
        { read -r run && read -r net && { read -r state || state=; }; } <"$file" || continue
        ! may_run "$run" && ! may_run "$net" || continue
        if [ "$state" = kept ] && [ -d "$folder" ]; then
            kept_net=${kept_net:-$net}
            [ "$net" != "$kept_net" ] || continue
        fi
        if [ -n "$(workers_in "$folder")" ]; then
            echo "not removed: $folder, where processes that a killed run has started are still running"
            continue
        fi
        stop_servers "$folder"
        remove_folder "$folder" || echo "cannot remove $folder"
    done
}

# Usage: workers_in FOLDER   Prints the programs whose working directory is in the folder, except servers, and clients that
# end with their server.
workers_in() {
    real=$(readlink -f "$1") || return 0
    { find /proc/[0-9]*/cwd -maxdepth 0 \( -lname "$real" -o -lname "$real/*" \) 2>/dev/null || true; } | while read -r cwd; do
        program=$(readlink "${cwd%cwd}exe") || continue
        case ${program% (deleted)} in
        */postgres | */psql | */pgbench | */pg_receivewal | */pg_recvlogical) ;;
        *) echo "$program" ;;
        esac
    done
}

# Usage: stop_servers FOLDER   Stops the servers that have their data in the folder, as the users that they run as. The PID in
# postmaster.pid may be another process's by now, whose working directory is another one.
stop_servers() {
    { find "$1" -name postmaster.pid 2>/dev/null || true; } | while read -r file; do
        data=$(readlink -f "${file%/postmaster.pid}") && owner=$(stat -c %u "$file" 2>/dev/null) || continue
        pid=$(head -n 1 "$file" 2>/dev/null | tr -cd '0-9') || continue
        for signal in QUIT KILL; do
            ! is_server "$pid" "$data" || send "$signal" "$pid" "$owner"
            waited=0
            while is_server "$pid" "$data" && [ "$waited" -lt 100 ]; do
                waited=$((waited + 1))
                sleep .1
            done
        done
    done
}

# Usage: is_server PID DATA
is_server() {
    [ -n "$1" ] && [ "$(readlink "/proc/$1/cwd")" = "$2" ]
}

# Usage: send SIGNAL PID UID   Root sends it as the user, who cannot end processes of others.
send() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid "$3" --clear-groups sh -c 'kill -"$0" "$1"' "$1" "$2"
    else
        kill -"$1" "$2"
    fi 2>/dev/null || true
}
