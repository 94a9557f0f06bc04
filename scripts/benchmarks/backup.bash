# W9: a backup compared with restic alone. R1, R2: restoring, likewise. E1: evicting and downloading files.
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
            "$resval_backup" create --repository "$work/resval-repository" \
            "$backup_tree"
    done
    target W9 at-most first-resval first-restic 1.1
    target W9 at-most rerun-resval rerun-restic 1.6

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
    [[ -z ${backup_tree-} ]] || return 0
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

# R1: everything W9 stored, restored by an ordinary user. R2: one deleted file by its path, which the snapshot
# before the newest has; restic is told the snapshot.
measure_R1() {
    local user=()
    need_restore_repository R1 || return 0
    [[ $EUID != 0 ]] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups env "HOME=$work/restored")
    competitor R1 restic s "${user[@]}" restic --quiet --no-lock --repo "$work/restore-repository" \
        --no-cache restore latest --target "$work/restored/all"
    competitor R1 resval s "${user[@]}" "$resval_backup" restore --yes --snapshot latest \
        --repository "$work/restore-repository" --target "$work/restored/all"
    target R1 at-most resval restic 1.2
    take_turns R1 empty_target restic resval
    diff -r --no-dereference -- "$backup_tree" "$work/restored/all$backup_tree" |
        grep --invert-match --quiet 'Only in .*excluded-' && die 'R1: a restored file differs'
    return 0
}

measure_R2() {
    local file identifier
    need_restore_repository R2 || return 0
    file=$backup_tree/1/file-0001
    identifier=$(restic --repo "$work/restore-repository" snapshots --json | jq -r '.[0].short_id')
    setfattr -n "$mark" -v true -- "$file"
    "$resval_backup" create --repository "$work/restore-repository" "$backup_tree" > /dev/null 2>&1
    competitor R2 restic s restic --quiet --repo "$work/restore-repository" restore "$identifier" \
        --include "$file" --target /
    competitor R2 resval s "$resval_backup" restore --repository "$work/restore-repository" \
        "$file"
    take_turns R2 remove_file restic resval
    [[ -s $file ]] || die 'R2: the file was not restored'
}

need_restore_repository() {
    command -v restic > /dev/null || { skip "$1" 'there is no restic'; return 1; }
    [[ -x $resval_backup ]] || { skip "$1" 'there is no resval-backup'; return 1; }
    [[ ! -d $work/restore-repository ]] || return 0
    export RESTIC_PASSWORD=benchmark
    need_backup_tree
    restic --quiet init --repo "$work/restore-repository"
    "$resval_backup" create --repository "$work/restore-repository" "$backup_tree" > /dev/null
    chmod -R a+rX -- "$work"
    chmod -R a+rwX -- "$work/restore-repository"
}

empty_target() {
    rm -rf -- "$work/restored"
    mkdir -- "$work/restored"
    chmod a+rwx -- "$work/restored"
    sync -f -- "$work"
}

remove_file() { rm -f -- "$backup_tree/1/file-0001"; }

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
