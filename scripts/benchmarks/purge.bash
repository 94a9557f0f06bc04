# W8, P1, P2 and M8: purge plans and purges, in directories where every file may be deleted.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

# The size that the small plan is to free.
readonly few=64M

# Plans that need a small part of all units, and all of them. The floor inspects each entry as a plan
# must, with as many threads, but keeps, sorts and prints nothing.
measure_W8() {
    local threads
    can_purge W8 || return 0
    floor_runs W8 || return 0
    need_caches
    threads=$(( 2 * $(nproc) < 8 ? 2 * $(nproc) : 8 ))
    competitor W8 floor s "$floors/floor-walk" -s -j "$threads" "$caches"
    plan_competitor W8 few "$caches" "$few"
    plan_competitor W8 all "$caches" "$(bytes_of_units "$caches")"
    target W8 at-most few floor 1.35
    target W8 at-most all floor 1.6
    floor_sees_all
    right_plans
    take_turns W8 nothing_to_prepare floor few all
}

# plan_competitor WORKLOAD NAME ROOT BYTES [OPTION…]: ROOT is in $purge_home, the command's HOME.
plan_competitor() {
    competitor "$1" "$2" "${unit_of_plans:-s}" env -i "HOME=$purge_home" "$resval_purge" plan "$3" \
        --free "$4" --min-age 0 --smallest 0 "${@:5}"
}

can_purge() {
    [[ -x $resval_purge ]] || { skip "$1" 'there is no resval-purge'; return 1; }
    case $(filesystem_of "$work") in
        ext4 | f2fs | xfs | btrfs) ;;
        *) skip "$1" 'nothing is purged on this filesystem'; return 1 ;;
    esac
}

# Requires that the floor reports the same sum as find.
floor_sees_all() {
    local seen expected
    seen=$(run_competitor W8/floor) || accept_exit W8/floor $?
    expected=$(bytes_below 1 "$caches")
    [[ $seen == "$expected 0" ]] || die "W8: the floor saw $seen bytes and marks, not $expected 0"
}

# Requires that the plan of all units names each entry of the cache's directories once and nothing else,
# and that the small plan is the beginning of it, and no longer than necessary.
right_plans() {
    local size
    plan_paths all > "$work/planned-all"
    plan_paths few > "$work/planned-few"
    find "$caches" -mindepth 2 -maxdepth 2 | sort | cmp -s - <(sort "$work/planned-all") ||
        die 'W8: the plan does not name exactly the entries of the directories in the cache'
    head -n "$(wc -l < "$work/planned-few")" "$work/planned-all" | cmp -s - "$work/planned-few" ||
        die 'W8: the small plan is not the beginning of the large one'
    size=$(xargs -a "$work/planned-few" -d '\n' du -ks | awk '{ sum += $1 } END { print sum }')
    (( size >= 65536 && size <= 65536 + 1024 )) ||
        die "W8: the small plan frees $size KiB, not 65536"
}

plan_paths() {
    run_competitor "W8/$1" > "$work/plan" || accept_exit "W8/$1" $?
    sed -n 's|^caches .* \(/.*[^/]\)/\{0,1\}$|\1|p' -- "$work/plan"
}

# Prints the allocated bytes of all units below a directory for caches.
bytes_of_units() { printf "%sB" "$(bytes_below 2 "$1")"; }

# bytes_below DEPTH DIRECTORY
bytes_below() {
    find "$2" -mindepth "$1" -printf '%b\n' |
        awk '{ sum += $1 } END { printf "%.0f\n", sum * 512 }'
}

# Purges of directories: few large ones, which resval-purge moves aside and examines twice, and its
# competitors just delete.
measure_P1() {
    can_compare_purges P1 || return 0
    measure_purge P1 '' 1 0 100 50
    target P1 at-most resval tmpfiles 2.5
}

# Purges of many small directories, and of many files.
measure_P2() {
    can_compare_purges P2 || return 0
    measure_purge P2 -directories 1 0 2000 10
    target P2 at-most resval-directories tmpfiles-directories 10
    measure_purge P2 -files 1 0 0 20000
    target P2 at-most resval-files tmpfiles-files 2.5
}

can_compare_purges() {
    can_purge "$1" || return 1
    command -v systemd-tmpfiles > /dev/null || { skip "$1" 'there is no systemd-tmpfiles'; return 1; }
}

# measure_purge WORKLOAD SUFFIX SHAPE…: times how long each program takes to delete everything in a
# directory for caches, which is made anew for each.
measure_purge() {
    local workload=$1 suffix=$2 shape=("${@:3}") name round
    [[ $quick == false ]] || shape[-1]=$(( shape[-1] / 10 ))
    need_purge_home
    doomed=$purge_home/.purged
    make_doomed
    printf 'd %s - - - 0\n' "$doomed" > "$work/tmpfiles.conf"
    competitor "$workload" "resval$suffix" s env -i "HOME=$purge_home" "$resval_purge" run \
        "$doomed" --cache "$doomed" --free "$(bytes_of_units "$doomed")" --min-age 0 --smallest 0
    # Its exit code tells that other programs took the space that was freed; what is left is checked.
    tolerated_exit[$workload/resval$suffix]=1
    competitor "$workload" "tmpfiles$suffix" s systemd-tmpfiles --clean "$work/tmpfiles.conf"
    competitor "$workload" "rm$suffix" s rm -r -- "$doomed"
    for (( round = 1; round <= runs; round++ )); do
        note "$workload: round $round of $runs (resval$suffix tmpfiles$suffix rm$suffix)"
        for name in "resval$suffix" "tmpfiles$suffix" "rm$suffix"; do
            make_doomed
            time_once "$workload" "$name"
            [[ ! -d $doomed || -z $(find "$doomed" -mindepth 2 -print -quit) ]] ||
                die "$workload: $name left $(find "$doomed" -mindepth 2 | wc -l) items"
        done
    done
}

# Makes the directory of the shape that is to be deleted.
make_doomed() {
    rm -rf -- "$doomed"
    make_tree "$doomed" "${shape[@]}" -b > /dev/null
    sync -f -- "$doomed"
}

# Measures the peak memory of plans of a quarter of a million and of a million files, each a unit.
measure_M8() {
    local name size count unit_of_plans=KiB
    can_purge M8 || return 0
    need_quarter_million
    need_million
    for size in quarter-million million; do
        plan_competitor M8 "few-$size" "$purge_home/.$size" "$few" --cache "$purge_home/.$size"
        plan_competitor M8 "all-$size" "$purge_home/.$size" \
            "$(bytes_of_units "$purge_home/.$size")" --cache "$purge_home/.$size"
    done
    # Units that are not in the plan need no memory: four times the units, at most a quarter more.
    target M8 below few-million - 65536
    target M8 at-most few-million few-quarter-million 1.25
    # Memory for units in the plan grows with the plan, and no faster.
    target M8 at-most all-million all-quarter-million 4
    for name in {few,all}-{quarter-million,million}; do measure_peak "$name"; done
}

measure_peak() {
    local round name=$1 status
    for (( round = 1; round <= runs; round++ )); do
        note "M8: round $round of $runs ($name)"
        status=0
        eval "/usr/bin/time --quiet -f %M -o $(printf %q "$work/peak") ${command_of[M8/$name]}" \
            > "$work/plan" 2> "$work/errors" || status=$?
        accept_exit "M8/$name" "$status"
        grep -q "^caches: .* of $(units_of "$name") paths" "$work/plan" ||
            die "M8: $name did not find $(units_of "$name") units: $(tail -n 2 "$work/plan")"
        sample M8 "$name" "$(cat -- "$work/peak")"
    done
}

units_of() { find "$purge_home/.${1#*-}" -type f -printf x | wc -c; }

# Makes 505,500 entries in 255,000 units: 500 directories, each with 500 files, which are units, and 10
# directories of 50 files, each one unit. Sets `purge_home` and `caches`.
need_caches() {
    local shape=(500 10 0 50 -l 500)
    [[ $quick == false ]] || shape=(50 10 0 5 -l 500)
    need_purge_home
    caches=$purge_home/.cache
    note "making $caches"
    make_tree "$caches" "${shape[@]:0:4}" -b "${shape[@]:4}" > /dev/null
    sync -f -- "$caches"
}

need_quarter_million() { need_loose_files .quarter-million 500; }

need_million() { need_loose_files .million 2000; }

# Makes directories of 500 files, each file a unit.
need_loose_files() {
    local directories=$2
    [[ $quick == false ]] || directories=$(( directories / 10 ))
    need_purge_home
    note "making $purge_home/$1"
    make_tree "$purge_home/$1" "$directories" 0 0 500 -b > /dev/null
    sync -f -- "$purge_home/$1"
}

need_purge_home() {
    purge_home=$work/purge-home
    mkdir -p -- "$purge_home"
}
