# Registers competitors and measures them in turns. All results are written to tab-separated files, from
# which the report is made:
#   samples   workload, competitor, value
#   commands  workload, competitor, unit, summary (median or highest), command as shown
#   targets   workload, kind, subject, reference, limit
#   skips     workload, reason
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

declare -A command_of tolerated_exit errors_to

# competitor WORKLOAD NAME UNIT COMMAND…
competitor() {
    local workload=$1 name=$2 unit=$3 summary=median
    [[ $unit != KiB ]] || summary=highest
    command_of[$workload/$name]=$(printf '%q ' "${@:4}")
    printf '%s\t%s\t%s\t%s\t%s\n' \
        "$workload" "$name" "$unit" "$summary" "$(shown "${@:4}")" >> "$commands"
}

# Prints a command for the report: without the directories of this run.
shown() {
    local word words=()
    for word in "$@"; do
        word=${word//"${tree:-$work/tree}"/TREE}
        word=${word//"$work/large-tree"/TREE}
        word=${word//"$work/purge-home"/\~}
        word=${word//"${two_keys_directory:-$work/two-keys}"/DIRECTORY}
        word=${word//"$work/paths.list"/LIST}
        [[ $word != /*/* ]] || word=${word##*/}
        words+=("$word")
    done
    printf '%s' "${words[*]}"
}

# target WORKLOAD at-most SUBJECT REFERENCE LIMIT   subject ÷ reference ≤ limit
# target WORKLOAD faster  SUBJECT REFERENCE LIMIT   reference ÷ subject ≥ limit
# target WORKLOAD below   SUBJECT -         LIMIT   subject ≤ limit, in the subject's unit
target() {
    printf '%s\t%s\t%s\t%s\t%s\n' "$@" >> "$targets"
}

skip() {
    note "$1 skipped: $2"
    printf '%s\t%s\n' "$1" "$2" >> "$skips"
}

sample() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$samples"
}

# take_turns WORKLOAD PREPARATION NAME…: times each competitor once per round. PREPARATION is a
# function that runs, untimed, before each of them.
take_turns() {
    local workload=$1 preparation=$2 name round
    for (( round = 1; round <= runs; round++ )); do
        note "$workload: round $round of $runs (${*:3})"
        for name in "${@:3}"; do
            "$preparation"
            time_once "$workload" "$name"
        done
    done
}

time_once() {
    local key=$1/$2 status=0 begin end microseconds
    begin=${EPOCHREALTIME/./}
    run_competitor "$key" > /dev/null || status=$?
    end=${EPOCHREALTIME/./}
    accept_exit "$key" "$status"
    microseconds=$(( end - begin ))
    sample "$1" "$2" "$(( microseconds / 1000000 )).$(printf %06d $(( microseconds % 1000000 )))"
}

run_competitor() {
    eval "${command_of[$1]}" 2> "${errors_to[$1]:-$work/errors}"
}

accept_exit() {
    (( $2 == 0 || $2 == ${tolerated_exit[$1]:-0} )) ||
        die "$1 exited $2: ${command_of[$1]}: $(head -n 3 -- "${errors_to[$1]:-$work/errors}")"
}

nothing_to_prepare() { :; }

can_drop_caches() { [[ $EUID == 0 ]] && sync && echo 3 2> /dev/null > /proc/sys/vm/drop_caches; }

drop_caches() {
    sync
    echo 3 > /proc/sys/vm/drop_caches
}
