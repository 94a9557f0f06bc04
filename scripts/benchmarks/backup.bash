# W9: a backup compared with restic alone. E1: evicting and downloading files.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

# Both store the same files: all except two excluded directories. Each has its own cache and repository,
# which is empty before the first backup and contains it before the second.
measure_W9() {
    local name
    command -v restic > /dev/null || { skip W9 'there is no restic'; return 0; }
    [[ -x $resval_backup ]] || { skip W9 'there is no resval-backup'; return 0; }
    export RESTIC_PASSWORD=benchmark
    need_backup_tree
    restic --quiet init --repo "$work/empty-repository"
    printf '%s/*\n' "$backup_tree"/excluded-{1,2} > "$work/excludes"
    for name in first rerun; do
        competitor W9 "$name-restic" s restic --quiet --repo "$work/restic-repository" \
            --cache-dir "$work/restic-cache" backup --exclude-file "$work/excludes" "$backup_tree"
        competitor W9 "$name-resval" s env "RESTIC_CACHE_DIR=$work/resval-cache" \
            "$resval_backup" create --progress never --repository "$work/resval-repository" \
            "$backup_tree"
    done
    target W9 at-most first-resval first-restic 1.1
    target W9 at-most rerun-resval rerun-restic 1.25

    take_turns W9 empty_repositories first-restic first-resval
    # The preparation of the last round emptied the repository of the other competitor.
    run_competitor W9/first-restic > /dev/null || accept_exit W9/first-restic $?
    same_backups
    take_turns W9 nothing_to_prepare rerun-restic rerun-resval
}

empty_repositories() {
    local name
    for name in restic resval; do
        rm -rf -- "$work/$name-repository" "$work/$name-cache"
        cp -r -- "$work/empty-repository" "$work/$name-repository"
    done
    sync -f -- "$work"
}

# Requires that both snapshots contain the same paths of the tree. resval-backup also stores a record.
same_backups() {
    local name
    for name in restic resval; do
        restic --quiet --repo "$work/$name-repository" --no-lock ls latest |
            grep --fixed-strings -- "$backup_tree/" | sort > "$work/$name-paths"
    done
    cmp -s -- "$work/restic-paths" "$work/resval-paths" ||
        die "W9: the snapshots differ: $(diff "$work/restic-paths" "$work/resval-paths" | head -n 3)"
    [[ $(wc -l < "$work/restic-paths") -ge $backup_files ]] || die 'W9: the snapshots lack files'
}

# Makes 2 GiB of incompressible data in 65,536 files, and two excluded directories.
need_backup_tree() {
    local number directories=64
    [[ $quick == false ]] || directories=1
    backup_tree=$work/backup-tree
    backup_files=$(( directories * 1024 ))
    note "making $backup_tree"
    for (( number = 1; number <= directories; number++ )); do
        mkdir -p -- "$backup_tree/$number"
        head -c 32M /dev/urandom | split -b 32K -a 4 -d - "$backup_tree/$number/file-"
    done
    for number in 1 2; do
        mkdir -- "$backup_tree/excluded-$number"
        setfattr -n "$mark" -v true -- "$backup_tree/excluded-$number"
        head -c 1M /dev/urandom > "$backup_tree/excluded-$number/file"
    done
    sync -f -- "$backup_tree"
}

# Evicts and downloads 200 files of 100,000 bytes, beside reading their content from the repository alone.
measure_E1() {
    local number files=$work/evicted-files
    command -v restic > /dev/null || { skip E1 'there is no restic'; return 0; }
    [[ -x $resval_backup ]] || { skip E1 'there is no resval-backup'; return 0; }
    export RESTIC_PASSWORD=benchmark
    mkdir -- "$files"
    for (( number = 1; number <= 200; number++ )); do
        head -c 100000 /dev/urandom > "$files/$number"
    done
    (cd -- "$files" && sha256sum -- *) > "$work/evicted-sums"
    restic --quiet init --repo "$work/evicted-repository"
    restic --quiet --repo "$work/evicted-repository" backup "$files"
    local environment=(
        env "HOME=$work/evicted-home" "RESTIC_CACHE_DIR=$work/evicted-cache"
        "RESVAL_BACKUP_REPOSITORY=$work/evicted-repository"
    )
    mkdir -- "$work/evicted-home"
    competitor E1 dump s restic --quiet --repo "$work/evicted-repository" \
        --cache-dir "$work/evicted-cache" dump --archive tar latest --path "$files" "$files"
    competitor E1 together s "${environment[@]}" sh -c \
        '"$0" evict -R --yes "$1" && "$0" download -R "$1"' "$resval_backup" "$files"
    target E1 below together - 3
    take_turns E1 sync_work dump together
    (cd -- "$files" && sha256sum --quiet --check -- "$work/evicted-sums") ||
        die 'E1: a downloaded file differs'
}

sync_work() { sync -f -- "$work"; }
