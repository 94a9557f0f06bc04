# Counts the instructions that W1, W1u, W7 and W8 take in user space, with callgrind. Unlike times, these
# counts do not depend on what else the machine does.
#
# The trees are small and always the same. callgrind knows no xattrat calls: what is counted is the walk of a
# kernel without them. It knows no openat2 either, which deleting needs, so no purge is counted.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

readonly counts=$repository/.build/instructions.tsv

count_instructions() {
    local commit
    commit=$(git -C "$repository" describe --always --dirty 2> /dev/null) || commit=unknown
    # The commit of the binaries that were given is not known.
    [[ -z ${RESVAL_BIN-} ]] || commit=$commit-dirty
    mkdir -p -- "${counts%/*}"
    touch -- "$counts"
    printf '| workload | command | instructions | before | at commit | ratio |\n'
    printf '| --- | --- | --: | --: | --- | --: |\n'
    note 'making trees'
    make_tree "$work/tree" 10 10 10 50 -e 100 > /dev/null
    make_tree "$work/small" 10 20 50 8 -e 100 > /dev/null
    need_purge_home
    count W1 "$resval" find --excluded "$work/tree"
    count W1u "$resval" find --excluded "$work/small"
    count W7 "$resval_backup" plan --no-locations --excluded-only "$work/tree"
    can_purge W8 || return 0
    make_tree "$purge_home/.cache" 50 10 0 5 -b -l 500 > /dev/null
    count W8 env -i "HOME=$purge_home" "$resval_purge" plan "$purge_home/.cache" \
        --free 16M --min-age 0 --smallest 0
}

# count WORKLOAD COMMAND…: prints a row. The count is stored unless the sources differ from the commit.
count() {
    local workload=$1 counted before='' at='' ratio=''
    note "$workload: counting"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --trace-children=yes "${@:2}" \
        > "$work/counted" 2> "$work/errors" ||
        die "$workload exited $?: $(tail -n 3 -- "$work/errors")"
    counted=$(sed -n 's/^==[0-9]*== Collected : //p' "$work/errors" | tail -n 1)
    [[ $counted =~ ^[0-9]+$ ]] || die "$workload: callgrind printed no count"
    read -r at before < <(
        awk -v workload="$workload" -v commit="$commit" \
            '$1 == workload && $2 != commit { last = $2 " " $3 } END { print last }' "$counts"
    )
    [[ -z $before ]] ||
        ratio=$(awk "BEGIN { printf \"%.3f ×\", $counted / $before }")
    printf "| %s | \`%s\` | %s | %s | %s | %s |\\n" "$workload" "$(shown "${@:2}")" "$counted" \
        "${before:-–}" "${at:-–}" "${ratio:-–}"
    [[ $commit == *-dirty || $commit == unknown ]] ||
        printf '%s\t%s\t%s\n' "$workload" "$commit" "$counted" >> "$counts"
}
