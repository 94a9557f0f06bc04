# Prepares the measurements: tools, executables, a working directory.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

declare -A package_with=(
    [bfs]=bfs [getfattr]=attr [hyperfine]=hyperfine [gcc]=gcc [jq]=jq [/usr/bin/time]=time
)

install_missing_packages() {
    local tool missing=() as_root=()
    for tool in "${!package_with[@]}"; do
        command -v "$tool" > /dev/null || missing+=("${package_with[$tool]}")
    done
    [[ -e /usr/include/stdio.h ]] || missing+=(libc6-dev)
    (( ${#missing[@]} > 0 )) || return 0

    if (( EUID != 0 )); then
        sudo -n true 2> /dev/null || die "missing; install with: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    command -v apt-get > /dev/null || die "no apt-get here; install by hand: ${missing[*]}"
    note "installing ${missing[*]}"
    {
        "${as_root[@]}" apt-get update -q
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "${missing[@]}"
    } >&2 || die "could not install ${missing[*]}"
}

# Sets `resval`, `resval_backup` and `resval_purge`, and `two_keys`, `foundation_tool` and
# `without_calls` (empty when they are missing).
find_executables() {
    if [[ -n ${RESVAL_BIN-} ]]; then
        resval=$(realpath -m -- "$RESVAL_BIN")/resval
        resval_backup=$(realpath -m -- "$RESVAL_BIN")/resval-backup
        resval_purge=$(realpath -m -- "$RESVAL_BIN")/resval-purge
    else
        "$repository/scripts/build-release" >&2 || die 'scripts/build-release failed'
        build_helpers >&2 || die 'the helpers of the benchmark could not be built'
        resval=$repository/.build/release-static/resval
        resval_backup=$repository/.build/release-static/resval-backup
        resval_purge=$repository/.build/release-static/resval-purge
    fi
    [[ -x $resval ]] || die "$resval: not an executable"
    two_keys=$(find_helper two-keys)
    foundation_tool=$(find_helper foundation-tool)
    without_calls=$(find_helper without-calls)
}

build_helpers() {
    local product
    for product in two-keys foundation-tool without-calls; do
        swift build --package-path "$repository" --configuration release --product "$product"
    done
}

find_helper() {
    local directory
    for directory in "${RESVAL_BIN-}" "$repository/.build/release"; do
        if [[ -n $directory && -x $directory/$1 ]]; then
            realpath -- "$directory/$1"
            return
        fi
    done
}

make_working_directory() {
    work=$(mktemp -d -- "${TMPDIR:-/var/tmp}/benchmark.XXXXXXXX")
    work=$(realpath -- "$work")
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    samples=$work/samples.tsv commands=$work/commands.tsv
    targets=$work/targets.tsv skips=$work/skips.tsv
    touch "$samples" "$commands" "$targets" "$skips"
    large_tree='' tree_entries=null two_keys_directory='' purge_home=''
    note "working in $work, on $(filesystem_of "$work")"
}

clean_up() {
    rm -rf -- "${tree:-$work/tree}.incomplete"
    if [[ $keep == true ]]; then
        note "left behind: $work"
    else
        rm -rf -- "$work"
    fi
}

# If mounts are stacked, the last one listed is on top.
filesystem_of() {
    findmnt --noheadings --output FSTYPE --target "$1" | tail -n 1
}

build_floors() {
    local source
    floors=$work/floors
    mkdir -- "$floors"
    for source in "$parts"/*.c; do
        gcc -std=c11 -O2 -Wall -Wextra -pthread -o "$floors/$(basename -- "$source" .c)" "$source"
    done
}

# Sets `busy_percent`: the share of all processors used by other processes while this script sleeps.
look_for_others() {
    local before after all_before all_after
    read -r _ before < /proc/stat
    sleep 2
    read -r _ after < /proc/stat
    all_before=$(( ${before// /+} )) all_after=$(( ${after// /+} ))
    read -r -a before <<< "$before"
    read -r -a after <<< "$after"
    busy_percent=$(( 100 - 100 * (after[3] + after[4] - before[3] - before[4])
        / (all_after - all_before) ))
    (( busy_percent < 5 )) ||
        note "other programs use $busy_percent % of the processors: the figures will be rough"
}
