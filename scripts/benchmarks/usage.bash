# U1, U2, U3 and MU: where the space goes, and what re-creates itself, of the tree of W1.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

# The programs to compare with that are installed; each prints a total and no more.
others_of_usage() {
    local workload=$1
    others=(du)
    competitor "$workload" du s du -s -B1 "$tree"
    other_of_usage ncdu ncdu -0 -o /dev/null "$tree"
    other_of_usage gdu gdu -n -p -c -s --no-prefix "$tree"
    other_of_usage dust dust -d 0 "$tree"
    other_of_usage dua dua aggregate "$tree"
    other_of_usage pdu pdu --max-depth 1 "$tree"
    other_of_usage diskus diskus "$tree"
}

# other_of_usage NAME COMMAND…
other_of_usage() {
    if command -v "$1" > /dev/null; then
        competitor "$workload" "$1" s "${@:2}"
        others+=("$1")
    else
        note "$workload: there is no $1 to compare with"
    fi
}

# usage_competitors WORKLOAD THREADS: the floor makes one statx and one listxattrat for each entry.
usage_competitors() {
    local other
    competitor "$1" floor s "$floors/floor-walk" -s -j "$2" "$tree"
    competitor "$1" resval s "$resval" usage --no-locations -j "$2" "$tree"
    others_of_usage "$1"
    target "$1" at-most resval floor 1.25
    for other in "${others[@]}"; do target "$1" faster resval "$other" 1; done
    same_total "$1"
}

# Requires that resval counts what du counts.
same_total() {
    local counted expected
    note "$1: comparing the total with that of du"
    counted=$("$resval" usage --json --top 1 --no-locations "$tree" |
        jq 'select(.type == "totals") | .allocatedBytes')
    expected=$(run_competitor "$1/du" | cut -f 1)
    [[ $counted == "$expected" ]] || die "$1: resval counts $counted bytes, du $expected"
}

measure_U1() {
    local others
    floor_runs U1 || return 0
    need_tree
    usage_competitors U1 "$(( 2 * $(nproc) < 8 ? 2 * $(nproc) : 8 ))"
    take_turns U1 nothing_to_prepare floor resval "${others[@]}"
}

measure_U2() {
    local others
    floor_runs U2 || return 0
    need_tree
    case $(filesystem_of "$tree") in
        tmpfs | ramfs) skip U2 'a filesystem in memory has no cold caches'; return 0 ;;
    esac
    can_drop_caches || { skip U2 'dropping caches needs root'; return 0; }
    usage_competitors U2 8
    take_turns U2 drop_caches floor resval "${others[@]}"
}

# Measures the search for what re-creates itself, which reads directories only. The floor reads the
# status and the attributes of every entry.
measure_U3() {
    local project=$work/project suggested threads="$(( 2 * $(nproc) < 8 ? 2 * $(nproc) : 8 ))"
    floor_runs U3 || return 0
    need_tree
    competitor U3 floor s "$floors/floor-walk" -s -j "$threads" "$tree"
    competitor U3 resval s "$resval" suggest "$tree" "$project"
    target U3 at-most resval floor 1.25
    mkdir -p -- "$project/node_modules"
    touch -- "$project/package.json"
    note 'U3: comparing what is suggested with what is there'
    suggested=$(run_competitor U3/resval | sed -n 's/^ *[^ ]* [KMGi]*B  \(.*\): re-creatable: .*$/\1/p')
    [[ $suggested == "$project/node_modules" ]] || die "U3: resval suggests '$suggested'"
    take_turns U3 nothing_to_prepare floor resval
}

# Measures the peak memory for 2 million entries in 40,000 directories.
measure_MU() {
    local round status
    need_large_tree
    competitor MU resval KiB "$resval" usage --no-locations "$large_tree"
    # 200 bytes for each directory, besides what the program takes for a small tree.
    target MU below resval - 32768
    for (( round = 1; round <= runs; round++ )); do
        note "MU: round $round of $runs"
        status=0
        /usr/bin/time --quiet -f %M -o "$work/peak" \
            "$resval" usage --no-locations "$large_tree" > /dev/null 2> "$work/errors" || status=$?
        accept_exit MU/resval "$status"
        sample MU resval "$(cat -- "$work/peak")"
    done
}
