# Writes benchmark.json, prints the table made from it, and determines the exit code.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

write_report() {
    make_report > "$work/benchmark.json"
    cat -- "$work/benchmark.json" > "$output" || die "$output: could not be written"
    jq -r -f "$parts/table.jq" "$work/benchmark.json"
    note "samples are in $output"
    [[ $check == true ]] || return 0
    jq -r '.workloads[] | .id as $id
        | (.targets[] | select(.reached | not) | "\($id): \(.subject) missed \(.text)"),
          (.skipped[] | "\($id): skipped: \(.)")' "$work/benchmark.json" > "$work/missed"
    [[ ! -s $work/missed ]] || { sed 's/^/benchmark: /' "$work/missed" >&2; exit 1; }
}

make_report() {
    jq -n --rawfile samples "$samples" --rawfile commands "$commands" \
        --rawfile targets "$targets" --rawfile skips "$skips" \
        --argjson runs "$runs" --argjson quick "$quick" --argjson machine "$(machine_facts)" \
        --argjson tree_entries "$tree_entries" \
        -f "$parts/report.jq"
}

machine_facts() {
    local measured=${tree:-$work} mount
    [[ -e $measured ]] || measured=$work
    mount=$(findmnt --json --output FSTYPE,SOURCE,OPTIONS --target "$measured")
    jq -n --argjson mount "$mount" \
        --arg date "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
        --arg kernel "$(uname -sr)" --arg architecture "$(uname -m)" \
        --arg distribution "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)" \
        --arg processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
        --argjson processors "$(nproc)" \
        --argjson memory "$(( $(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) * 1024 ))" \
        --argjson busy "$busy_percent" \
        --arg commit "$(git -C "$repository" describe --always --dirty 2> /dev/null || true)" \
        --arg bfs "$(bfs --version | head -n 1)" --arg getfattr "$(getfattr --version)" \
        --arg hyperfine "$(hyperfine --version)" \
        '{date: $date, kernel: $kernel, architecture: $architecture, distribution: $distribution,
          processor: $processor, processors: $processors, memoryBytes: $memory,
          busyPercentBefore: $busy, commit: $commit,
          filesystem: ($mount.filesystems[-1] | {type: .fstype, source, options}),
          tools: {bfs: $bfs, getfattr: $getfattr, hyperfine: $hyperfine}}'
}
