# W6: the URL API beside Foundation's own: two keys, facts about a volume, and the items below a
# directory.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

measure_W6() {
    [[ -n $foundation_tool ]] || { skip W6 'there is no foundation-tool'; return 0; }
    measure_two_keys_of_URLs
    measure_volume_facts
    measure_enumeration
}

# Foundation on Linux does not support marks, so only its sizes can be compared.
measure_two_keys_of_URLs() {
    local round name rounds=100 answer expected sizes
    [[ $quick == false ]] || rounds=2
    need_two_keys_directory
    competitor W6 foundation ns "$foundation_tool" url-keys foundation "$two_keys_directory" "$rounds"
    competitor W6 library ns "$foundation_tool" url-keys library "$two_keys_directory" "$rounds"
    target W6 faster library foundation 12
    sizes=$(( rounds * 1000 ))
    for (( round = 1; round <= runs; round++ )); do
        note "W6: round $round of $runs"
        for name in foundation library; do
            answer=$(run_competitor "W6/$name") || accept_exit "W6/$name" $?
            expected="$sizes 0"
            [[ $name == foundation ]] || expected="$sizes $(( sizes / 2 ))"
            [[ $answer =~ ^[0-9]+(\.[0-9]+)?\ [0-9]+\ [0-9]+$ && ${answer#* } == "$expected" ]] ||
                die "W6: $name must print nanoseconds, then $expected, not: $answer"
            sample W6 "$name" "${answer%% *}"
        done
    done
}

# Measures, with the mounts of this machine and with 500 more, the key for which the library is slowest
# beside Foundation.
measure_volume_facts() {
    volume_facts few "$foundation_tool"
    if (( EUID != 0 )); then
        skip W6 'facts about a volume beside 500 mounts: mounting needs root'
        return 0
    fi
    make_mounts 500
    volume_facts many "$work/with-mounts" "$foundation_tool"
}

# Makes a program that starts another one with more mounts, which nobody else sees.
make_mounts() {
    local number
    for (( number = 0; number < $1; number++ )); do
        mkdir -p -- "$work/mounts/$number"
        printf '%s %s none bind 0 0\n' "$work/mounts/$number" "$work/mounts/$number"
    done > "$work/mounts.fstab"
    cat > "$work/with-mounts" << END
#!/bin/sh
exec unshare --mount --propagation private sh -c \
    'mount --all --fstab "\$0" && exec "\$@"' "$work/mounts.fstab" "\$@"
END
    chmod +x -- "$work/with-mounts"
}

# volume_facts NAME COMMAND…
volume_facts() {
    local name=$1 calls=1000 key who round
    [[ $quick == false ]] || calls=10
    volume_answers "${@:2}"
    key=$(slowest_key)
    for who in foundation library; do
        competitor W6 "$who-$name" ns "${@:2}" volume-keys "$who" "$work" "$calls" "$key"
    done
    target W6 at-most "library-$name" "foundation-$name" 1
    for (( round = 1; round <= runs; round++ )); do
        note "W6: round $round of $runs ($key, $name mounts)"
        for who in foundation library; do
            sample W6 "$who-$name" "$(run_competitor "W6/$who-$name" | cut -d ' ' -f 2)"
        done
    done
}

# Writes what both answer, and requires that it is the same where Foundation reads what there is.
volume_answers() {
    local who key
    for who in foundation library; do
        "$@" volume-keys "$who" "$work" "$calls" | sort > "$work/volume-keys.$who"
    done
    for key in VolumeTotalCapacity VolumeIsReadOnly; do
        cmp -s <(grep "^$key " "$work/volume-keys.foundation" | cut -d ' ' -f 3) \
            <(grep "^$key " "$work/volume-keys.library" | cut -d ' ' -f 3) ||
            die "W6: the answers to $key differ"
    done
}

slowest_key() {
    join "$work/volume-keys.foundation" "$work/volume-keys.library" |
        awk '$4 / $2 > ratio { ratio = $4 / $2; key = $1 } END { print key }'
}

# Measures the enumeration of 100,000 files, without values and with three of each. What find prints
# are the same three.
measure_enumeration() {
    local who
    need_paths
    for who in foundation library; do
        competitor W6 "enumerate-$who" s "$foundation_tool" enumerate "$who" "$work/paths"
        competitor W6 "values-$who" s "$foundation_tool" enumerate "$who" "$work/paths" keys
    done
    competitor W6 find s find "$work/paths" -mindepth 1 -printf '%y %s %T@\n'
    target W6 at-most enumerate-library enumerate-foundation 0.7
    target W6 at-most values-library find 2
    same_output W6 enumerate-foundation enumerate-library
    same_output W6 values-foundation values-library
    same_tally
    take_turns W6 nothing_to_prepare {enumerate,values}-{foundation,library} find
}

# Requires that the library saw the items, directories, sizes and times that find did.
same_tally() {
    local expected
    expected=$(run_competitor W6/find | awk '
        { items++; seconds += int($3) }
        $1 == "d" { directories++ }
        $1 != "d" { bytes += $2 }
        END { printf "%d %d %.0f %.0f\n", items, directories, bytes, seconds }')
    [[ $(run_competitor W6/values-library) == "$expected" ]] ||
        die "W6: the library saw other items than find, which saw $expected"
}
