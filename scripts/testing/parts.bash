# Runs tests in parts at the same time: most of them wait for a lock, a disk or a process, and a
# test that waits keeps a thread. To be sourced.

# shellcheck disable=SC2034 # used by those who source this
# Options of swift test, one line for each part: together they choose every test once, but for those
# that kill commands at many moments.
test_parts=(
    '--skip KillTests --skip ResvalBackupTests'
    '--skip KillTests --filter ResvalBackupTests\.[A-E]'
    '--skip KillTests --filter ResvalBackupTests\.[F-M]'
    '--skip KillTests --filter ResvalBackupTests\.[N-Z]'
)

# What sanitizers look at: all that runs in one process, and commands that go through most of the
# code. The rest would spend the time in other programs.
sanitizer_parts=(
    '--skip KillTests --skip CrashTests --skip ResvalBackupTests'
    '--filter ResvalBackupTests\.(ArchiveRoundTrip|Evict|Restore|RoundTrip|Run)Tests'
)

# The tests that kill commands at many moments.
kill_parts=(
    '--filter EvictionTests\..*KillTests'
    '--filter PurgeExecutingTests\..*KillTests'
    '--filter ResvalTests\..*KillTests'
    '--filter ResvalBackupTests\.ArchiveKillTests'
    '--filter ResvalBackupTests\.EvictKillTests'
    '--filter ResvalBackupTests\.KillTests'
    '--filter ResvalBackupTests\.RunKillTests'
)

# run_parts LOG COMMAND... -- PART...
#
# Runs a command once for each part, with its options, and shows what failed and what a sanitizer
# reported. All that part N prints is in LOG-N.log.
run_parts() {
    local log=$1 command=() processes=() number=0 status=0 options
    shift
    while [[ $1 != -- ]]; do
        command+=("$1")
        shift
    done
    shift
    for part in "$@"; do
        number=$((number + 1))
        read -ra options <<< "$part"
        "${command[@]}" "${options[@]}" > "$log-$number.log" 2>&1 &
        processes+=($!)
    done
    for ((number = 1; number <= ${#processes[@]}; number++)); do
        if wait "${processes[number - 1]}"; then
            tail --lines 1 "$log-$number.log"
        else
            status=1
            grep --text --after-context 12 '^✘' "$log-$number.log" |
                grep --text --invert-match '^[◇✔]' || tail --lines 40 "$log-$number.log"
            grep --text --after-context 24 --max-count 3 -E '(WARNING|ERROR): [A-Za-z]*Sanitizer' \
                "$log-$number.log" | cut --characters 1-160 || true
        fi
    done
    return "$status"
}
