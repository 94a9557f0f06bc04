# Checks that competitors give the same answer, before they are measured.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

# same_paths WORKLOAD NAME…: requires that all print the same paths, in any order, and, if this run made
# the tree, that the first prints as many as were marked.
same_paths() {
    local workload=$1 name reference=$2
    for name in "${@:2}"; do
        note "$workload: comparing the answer of $name"
        paths_from "$workload" "$name" | sort > "$work/answer.$name"
        cmp -s -- "$work/answer.$reference" "$work/answer.$name" || die \
            "$workload: $name found $(wc -l < "$work/answer.$name") paths, $reference found" \
            "$(wc -l < "$work/answer.$reference"); first difference:" \
            "$(diff -- "$work/answer.$reference" "$work/answer.$name" | sed -n 2p)"
    done
    [[ -s $work/answer.$reference ]] || die "$workload: nothing in the tree is marked"
    if [[ -e $work/tree-numbers ]]; then
        [[ $(wc -l < "$work/answer.$reference") == "$(cut -d ' ' -f 2 "$work/tree-numbers")" ]] ||
            die "$workload: $reference did not find every marked file"
    fi
}

# getfattr prints a comment line for each path and the attribute below it.
paths_from() {
    local status=0
    run_competitor "$1/$2" > "$work/answer" || status=$?
    accept_exit "$1/$2" "$status"
    if [[ $2 == getfattr ]]; then
        sed -n 's/^# file: //p' -- "$work/answer"
    else
        cat -- "$work/answer"
    fi
}

# same_output WORKLOAD NAME NAME: requires that both print the same bytes.
same_output() {
    local workload=$1 name
    for name in "$2" "$3"; do
        run_competitor "$workload/$name" > "$work/answer.$name" || accept_exit "$workload/$name" $?
    done
    [[ -s $work/answer.$2 ]] || die "$workload: $2 printed nothing"
    cmp -- "$work/answer.$2" "$work/answer.$3" >&2 || die "$workload: $2 and $3 differ"
}

# Requires that the xattrat calls fail under the launcher: the floor, which needs them, then exits with 3.
launcher_works() {
    local status=0
    "$without_calls" xattrat ENOSYS "$floors/floor-walk" "$work/floors" > /dev/null 2>&1 || status=$?
    (( status == 3 )) || die "without-calls: the xattrat calls still work under it (exit $status)"
}
