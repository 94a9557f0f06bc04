# The workloads. Each registers its competitors, compares their answers, measures them in turns and
# sets the targets.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

readonly mark=user.resval.isExcludedFromBackup

# Fails when the kernel lacks the system call that the floor needs.
floor_runs() {
    local status=0
    "$floors/floor-walk" "$floors" > /dev/null 2>&1 || status=$?
    (( status == 0 )) || skip "$1" 'the floor needs listxattrat, which came with Linux 6.13'
    return "$status"
}

measure_W1() {
    local names=(floor resval bfs getfattr)
    floor_runs W1 || return 0
    need_tree
    competitor W1 floor s "$floors/floor-walk" -j 2 "$tree"
    competitor W1 resval s "$resval" find --excluded "$tree"
    competitor W1 bfs s bfs "$tree" -xattrname "$mark"
    competitor W1 getfattr s getfattr -R -n "$mark" --absolute-names "$tree"
    # getfattr reports every file without the attribute as an error, and exits with 1.
    tolerated_exit[W1/getfattr]=1 errors_to[W1/getfattr]=/dev/null
    target W1 at-most resval floor 1.08
    target W1 faster resval bfs 4
    target W1 faster resval getfattr 4

    if [[ -n $without_calls ]]; then
        launcher_works
        competitor W1 fallback s "$without_calls" xattrat ENOSYS "$resval" find --excluded "$tree"
        target W1 at-most fallback floor 1.3
        names+=(fallback)
    else
        skip W1 'the walk without xattrat calls: there is no without-calls'
    fi
    same_paths W1 "${names[@]}"
    take_turns W1 nothing_to_prepare "${names[@]}"
}

# A tree of this machine, with some 9 entries in a directory.
measure_W1u() {
    floor_runs W1u || return 0
    competitor W1u floor s "$floors/floor-walk" -j 2 /usr
    competitor W1u resval s "$resval" find --excluded /usr
    target W1u at-most resval floor 1.15
    [[ $(run_competitor W1u/floor | sort) == "$(run_competitor W1u/resval | sort)" ]] ||
        die 'W1u: floor and resval print different paths'
    take_turns W1u nothing_to_prepare floor resval
}

measure_W1x() {
    floor_runs W1x || return 0
    need_attributed_tree
    competitor W1x floor s "$floors/floor-walk" -j 2 "$attributed_tree"
    competitor W1x resval s "$resval" find --excluded "$attributed_tree"
    target W1x at-most resval floor 1.2
    same_paths W1x floor resval
    take_turns W1x nothing_to_prepare floor resval
}

measure_W2() {
    floor_runs W2 || return 0
    need_tree
    case $(filesystem_of "$tree") in
        tmpfs | ramfs) skip W2 'a filesystem in memory has no cold caches'; return 0 ;;
    esac
    can_drop_caches || { skip W2 'dropping caches needs root'; return 0; }
    competitor W2 floor s "$floors/floor-walk" -j 8 "$tree"
    competitor W2 resval s "$resval" find --excluded "$tree"
    competitor W2 bfs s bfs "$tree" -xattrname "$mark"
    target W2 at-most resval floor 1.05
    target W2 faster resval bfs 2
    same_paths W2 floor resval bfs
    take_turns W2 drop_caches floor resval bfs
}

measure_W3() {
    local file=$work/one-file
    need_installed_programs
    touch -- "$file"
    setfattr -n "$mark" -v true -- "$file"
    competitor W3 getfattr s "$installed/getfattr" --absolute-names -n "$mark" "$file"
    competitor W3 resval s "$installed/resval" get isExcludedFromBackup "$file"
    target W3 at-most resval getfattr 1.1
    [[ $(run_competitor W3/resval) == true ]] ||
        die "W3: resval did not print the mark: $(head -n 3 -- "$work/errors")"
    [[ $(run_competitor W3/getfattr) == *"$mark=\"true\""* ]] ||
        die "W3: getfattr did not print the mark: $(head -n 3 -- "$work/errors")"
    take_starts W3 getfattr resval
}

measure_W3s() {
    local file=$work/one-file-to-set
    need_installed_programs
    touch -- "$file"
    competitor W3s setfattr s "$installed/setfattr" -n "$mark" -v true "$file"
    competitor W3s resval s "$installed/resval" set isExcludedFromBackup=true "$file"
    target W3s at-most resval setfattr 1.5
    run_competitor W3s/resval > /dev/null || accept_exit W3s/resval $?
    [[ $(getfattr --absolute-names --only-values -n "$mark" -- "$file") == true ]] ||
        die "W3s: resval did not store the mark: $(head -n 3 -- "$work/errors")"
    take_starts W3s setfattr resval
}

measure_W3b() {
    local name names=(resval-backup resval-purge)
    need_installed_programs
    for name in "${names[@]}"; do
        [[ -x $installed/$name ]] || { skip W3b "there is no $name"; return 0; }
    done
    for name in "${names[@]}"; do
        competitor W3b "$name" s "$installed/$name" --version
        target W3b below "$name" - 0.002
        [[ -n $(run_competitor "W3b/$name") ]] || die "W3b: $name did not print its version"
    done
    take_starts W3b "${names[@]}"
}

# Sets `installed`, a directory with copies of programs, made as an installation makes them: how a program
# came into the page cache changes how long it takes to start.
need_installed_programs() {
    local program
    [[ -z ${installed-} ]] || return 0
    installed=$work/installed
    mkdir -- "$installed"
    for program in "$(command -v getfattr)" "$(command -v setfattr)" "$resval" "$resval_backup" "$resval_purge"; do
        [[ ! -x $program ]] || install -- "$program" "$installed"
    done
}

# take_starts WORKLOAD NAME...: hyperfine starts processes with less noise than a shell. Each round is the
# median of many starts.
take_starts() {
    local workload=$1 round index starts=300 words=()
    shift
    [[ $quick == false ]] || starts=20
    for index in "$@"; do words+=("${command_of[$workload/$index]}"); done
    for (( round = 1; round <= runs; round++ )); do
        note "$workload: round $round of $runs, $starts starts of each"
        hyperfine -N --style none --warmup 20 --runs "$starts" --export-json "$work/starts.json" \
            "${words[@]}" > /dev/null 2> "$work/errors" ||
            die "$workload: hyperfine: $(head -n 3 -- "$work/errors")"
        for (( index = 1; index <= $#; index++ )); do
            sample "$workload" "${!index}" "$(jq ".results[$(( index - 1 ))].median" "$work/starts.json")"
        done
    done
}

measure_W4() {
    need_paths
    competitor W4 get-floor s "$floors/floor-getset" get "$paths_list"
    competitor W4 get-resval s "$resval" get isExcludedFromBackup --files0-from "$paths_list"
    target W4 at-most get-resval get-floor 1.1

    same_output W4 get-floor get-resval
    take_turns W4 nothing_to_prepare get-floor get-resval
}

measure_W5() {
    local round name rounds=200 answer trues expected=''
    [[ -n $two_keys ]] || { skip W5 'there is no two-keys'; return 0; }
    need_two_keys_directory
    competitor W5 floor ns "$floors/floor-two-keys" "$two_keys_directory" "$rounds"
    competitor W5 library ns "$two_keys" "$two_keys_directory" "$rounds"
    target W5 at-most library floor 1.2
    for (( round = 1; round <= runs; round++ )); do
        note "W5: round $round of $runs"
        for name in floor library; do
            answer=$(run_competitor "W5/$name") || accept_exit "W5/$name" $?
            [[ $answer =~ ^[0-9]+(\.[0-9]+)?\ [0-9]+$ ]] ||
                die "W5: $name must print nanoseconds and the number of true answers, not: $answer"
            trues=${answer#* }
            expected=${expected:-$trues}
            [[ $trues == "$expected" && $trues == "$(( rounds * 1000 ))" ]] ||
                die "W5: $name counted $trues true answers of $(( rounds * 1000 ))"
            sample W5 "$name" "${answer% *}"
        done
    done
}

# The query of W1 as a backup plan: the excluded items. The floor makes one statx and one listxattrat for
# each entry. --no-locations, because the tree may be in a directory for temporary files.
measure_W7() {
    local threads=$(( 2 * $(nproc) < 8 ? 2 * $(nproc) : 8 ))
    floor_runs W7 || return 0
    need_tree
    competitor W7 floor s "$floors/floor-walk" -s -j "$threads" "$tree"
    competitor W7 find s "$resval" find --excluded "$tree"
    competitor W7 excluded s "$resval_backup" plan --no-locations --excluded-only "$tree"
    competitor W7 plan s "$resval_backup" plan --no-locations "$tree"
    target W7 at-most excluded floor 1.15
    same_count_left_out
    take_turns W7 nothing_to_prepare floor find excluded plan
}

# Requires that the plan excludes exactly the paths that find prints.
same_count_left_out() {
    local found planned
    found=$(run_competitor W7/find | sort | sha256sum)
    planned=$(run_competitor W7/excluded |
        sed -n 's/^exclude   \(.*\): its mark excludes it$/\1/p' | sort | sha256sum)
    [[ $found == "$planned" ]] || die 'W7: plan excludes something other than what find prints'
}

measure_M1() {
    local round status found marked
    need_large_tree
    marked=$(cut -d ' ' -f 2 "$work/large-tree-numbers")
    competitor M1 resval KiB "$resval" find --excluded "$large_tree"
    target M1 below resval - 65536
    for (( round = 1; round <= runs; round++ )); do
        note "M1: round $round of $runs"
        status=0
        found=$(/usr/bin/time --quiet -f %M -o "$work/peak" \
            "$resval" find --excluded "$large_tree" 2> "$work/errors" | wc -l) || status=$?
        accept_exit M1/resval "$status"
        [[ $found == "$marked" ]] || die "M1: resval found $found of $marked marked files"
        sample M1 resval "$(cat -- "$work/peak")"
    done
}

# Measures the peak memory of plans, and of lists of every stored item, on trees of 0.5 and
# 2 million entries.
measure_M7() {
    local round name status entries
    need_tree
    need_large_tree
    for entries in half-million two-million; do
        local root=$tree
        [[ $entries == half-million ]] || root=$large_tree
        competitor M7 "plan-$entries" KiB "$resval_backup" plan --no-locations "$root"
        competitor M7 "list-$entries" KiB \
            "$resval_backup" plan --no-locations --format nul "$root"
    done
    for name in plan-two-million list-two-million; do target M7 below "$name" - 65536; done
    # Memory does not grow with entries: four times as many, at most a quarter more.
    target M7 at-most plan-two-million plan-half-million 1.25
    for (( round = 1; round <= runs; round++ )); do
        note "M7: round $round of $runs"
        for name in {plan,list}-{half,two}-million; do
            status=0
            eval "/usr/bin/time --quiet -f %M -o $(printf %q "$work/peak") ${command_of[M7/$name]}" \
                > /dev/null 2> "$work/errors" || status=$?
            accept_exit "M7/$name" "$status"
            sample M7 "$name" "$(cat -- "$work/peak")"
        done
    done
}
