# shellcheck shell=sh disable=SC2034 # what is set here is for the tools that source it
# Sourced by the tools that need another Debian than this machine's: it lies in a folder, which root enters by chroot.

cache_dir=${XDG_CACHE_HOME:-$HOME/.cache}/simhash_pg
# Where tools/tests/make-in-debian works: a folder for each major.
matrix_dir=${MATRIX_DIR:-$cache_dir/matrix}
# Where tools/tests/cassert works. The user that servers run as cannot enter the home of root.
if [ "$(id -u)" = 0 ]; then cassert_dir=/var/cache/simhash_pg/cassert; else cassert_dir=$cache_dir/cassert; fi
cassert_dir=${CASSERT_DIR:-$cassert_dir}

# Usage: suite_of MAJOR   The Debian suite that ships this PostgreSQL.
suite_of() {
    case $1 in
    15) echo bookworm ;;
    17) echo trixie ;;
    18) echo forky ;;
    19) echo experimental ;;
    *)
        echo "no Debian suite known for PostgreSQL $1" >&2
        return 77
        ;;
    esac
}

# Usage: make_root FOLDER SUITE PACKAGES [ARCHITECTURE]   Makes a small Debian with these packages (a,b) in the folder,
# if it is not there. The caller's working directory is that of the repository.
make_root() {
    [ "$(id -u)" = 0 ] || {
        echo 'a folder with another Debian is made, and entered, by root alone' >&2
        exit 77
    }
    [ ! -e "$1/.complete" ] || return 0
    tools/packages/prepare debian
    # What is in experimental is put on top of sid.
    suite=$2
    [ "$2" != experimental ] || suite=sid
    # A debootstrap older than the suite does not know it; all suites are made like sid.
    script=
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/sid
    echo "making a Debian $2 in $1"
    # A debootstrap that was killed may have left /proc mounted there.
    rm -rf --one-file-system "$1"
    mkdir -p "$1"
    # shellcheck disable=SC2086 # a script, or none
    debootstrap --variant=minbase ${4:+"--arch=$4"} --include="$3" "$suite" "$1" \
        "$(debian_mirror)" $script >"$1.log" 2>&1 || {
        tail -n 5 "$1.log" >&2
        echo "failed: debootstrap $2; see $1.log" >&2
        exit 1
    }
    # A mirror may lag behind: suites that are not released say until when their lists are good.
    echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/lagging-mirror"
    # Packages must neither start servers nor create clusters.
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod +x "$1/usr/sbin/policy-rc.d"
    mkdir -p "$1/etc/postgresql-common"
    echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.conf"
    [ "$suite" = "$2" ] || {
        echo "deb $(debian_mirror) $2 main" >>"$1/etc/apt/sources.list"
        printf 'Package: *postgresql* libpq*\nPin: release a=%s\nPin-Priority: 500\n' "$2" >"$1/etc/apt/preferences"
    }
    touch "$1/.complete"
}

# The mirror that this machine's own packages come from, or Debian's if it is no Debian, or has no lists of packages yet.
debian_mirror() {
    apt-get indextargets --format '$(SITE)|$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
        sed -n 's/.*|//p' | awk '!/security/ && !mirror { mirror = $0 } END { print mirror ? mirror : "http://deb.debian.org/debian" }'
}
