# The tree that scripts/quickstart backs up, and the checks of a restored copy.
#
# shellcheck shell=bash disable=SC2154

hostile_names=(
    $'new\nline' $'trailing newline\n' $'carriage\rreturn' $'trailing carriage return\r'
    $'tab\tstop' ' leading space' 'trailing space ' ' ' '-rf' '-C' '# comment' '; comment'
    "*?[a-z]{b,c}\\" "back\\slash\\n\\x41\\101" "\$HOME \${HOME} \$\$ \`id\` \$(id)"
    "'single' \"double\" '" '+ **' $'b\x80a\xffd\xe2\x82' $'\e[31mred\e]0;title\a'
)
printf -v longest 'é%.0s' {1..127}
hostile_names+=("${longest}x")

# make_home REPOSITORY PROGRAMS
make_home() {
    local item
    mkdir -p "$HOME"/{project/build,.cache/thumbnails,secrets,links,modes/closed,empty}
    for item in "$1"/* "$1/.git"; do cp -a "$item" "$HOME/project/"; done
    cp "$2"/resval "$2"/resval-backup "$HOME/project/build/"
    head -c 100000 /dev/urandom >"$HOME/.cache/thumbnails/1.png"
    echo 'not for everyone' >"$HOME/secrets/letter"
    make_hostile_names "$HOME/hostile/keep"
    make_hostile_names "$HOME/hostile/drop"
    make_special_files
}

make_hostile_names() {
    local name
    mkdir -p "$1"
    for name in "${hostile_names[@]}"; do printf 'in %s' "$name" >"$1/$name"; done
}

make_special_files() {
    echo 'one file, two names' >"$HOME/links/one"
    ln "$HOME/links/one" "$HOME/links/two"
    ln -s one "$HOME/links/to-one"
    ln -s /nowhere "$HOME/links/dangling"
    mkfifo "$HOME/links/fifo"

    # A sparse file of 64 MiB with data at the beginning, in the middle and at the end.
    truncate --size=64M "$HOME/sparse"
    for place in 0 8000 16383; do
        head -c 4096 /dev/urandom |
            dd of="$HOME/sparse" bs=4096 seek=$place conv=notrunc status=none
    done

    echo 'read-only' >"$HOME/modes/read-only"
    setfattr --name=user.comment --value=$'two\nlines' "$HOME/modes/read-only"
    echo 'in a closed directory' >"$HOME/modes/closed/file"
    echo 'runs' >"$HOME/modes/program"
    head -c 65536 /dev/zero >>"$HOME/modes/program"
    chmod 4751 "$HOME/modes/program"
    mkdir -m 1777 "$HOME/modes/sticky"
    : >"$HOME/modes/no-content"
    touch -d '1999-12-31 23:59:59.123456789 UTC' "$HOME/modes/no-content"
}

# Checks that find prints exactly the names of the marked files.
check_found_names() {
    cmp <(find hostile/drop -type f -print0 | sort --zero-terminated) \
        <(resval find -0 --excluded hostile | sort --zero-terminated) ||
        fail 'resval find printed other names than were marked'
    say 'the same 20 names, byte for byte'
}

# Copies the home as the snapshot will have it: the record of what is stored is written into it later.
copy_home() {
    cp -a "$HOME" "$work/expected"
    "$repository/scripts/compare-trees" "$HOME" "$work/expected" ||
        fail 'cp -a made no faithful copy'
}

# Compares the restored home with its copy, from which excluded items were removed. `cp` and the
# comparison are independent of this project.
compare_with_expectation() {
    local expected=$work/expected restored=$work/restored$HOME
    if "$repository/scripts/compare-trees" "$expected" "$restored" >/dev/null; then
        fail 'the comparison does not notice excluded items'
    fi
    for directory in project/build .cache hostile/drop; do
        touch -r "$expected/$directory" "$work/time"
        find "$expected/$directory" -mindepth 1 -delete
        touch -r "$work/time" "$expected/$directory"
    done
    say 'expected: a copy of the home by cp, without what the plan excludes'
    say 'compared: names, kinds, modes, owners, sizes, times, contents, link targets, extended'
    say '          attributes, hard links'
    run "$repository/scripts/compare-trees" "$expected" "$restored"
    say 'no difference'
}

# Checks that holes are restored: restic keeps those of whole pieces.
check_holes() {
    local source restored
    sync --file-system "$HOME/sparse" "$work/restored$HOME/sparse"
    source=$(stat --format=%b "$HOME/sparse")
    restored=$(stat --format=%b "$work/restored$HOME/sparse")
    say "sparse file of 64 MiB: $((source / 2)) KiB on disk, restored $((restored / 2)) KiB"
    ((restored <= source + 4096)) || fail 'the restored file has lost its holes'
}

# Checks that the thumbnails were deleted as a unit, and nothing else.
check_what_was_freed() {
    local before=$work/before
    [[ ! -e $HOME/.cache/thumbnails ]] || fail 'the thumbnails are still there'
    rm -r "$before/.cache/thumbnails"
    touch -r "$before/.cache" "$HOME/.cache"
    "$repository/scripts/compare-trees" "$before" "$HOME" || fail 'something else has changed'
    say 'the thumbnails are gone, and everything else is as it was'
}
