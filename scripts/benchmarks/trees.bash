# Makes the trees to measure. Each need_… function makes its tree once.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

# make_tree ROOT TOP MIDDLE LEAF FILES [OPTION…]: prints "ENTRIES MARKED".
make_tree() {
    local root=$1 top=$2 middle=$3 leaf=$4 files=$5 loose=0 kibibytes=1
    [[ " ${*:6} " != *' -b '* ]] || kibibytes=5
    [[ ! " ${*:6} " =~ ' -l '([0-9]+) ]] || loose=${BASH_REMATCH[1]}
    check_room "$root" "$kibibytes" "$(( (top ? top : 1) * (1 + loose + (middle ? middle : 1) *
        (1 + (leaf ? leaf : 1) * (1 + files))) ))"
    "$floors/make-tree" "${@:6}" "$root" "$top" "$middle" "$leaf" "$files" ||
        die "$root: the tree could not be made"
}

# check_room PATH KIBIBYTES ENTRIES: requires a free inode and KIBIBYTES for each entry. To be safe on
# any filesystem, an empty file counts as 1 KiB.
check_room() {
    local directory needed=$(( $2 * $3 )) entries=$3 inodes all_inodes kibibytes
    directory=$(dirname -- "$1")
    read -r all_inodes inodes kibibytes < <(
        df -k --output=itotal,iavail,avail -- "$directory" | tail -n 1
    )
    [[ $kibibytes -ge $needed ]] || die "$directory: $needed KiB of free space are needed"
    # Filesystems that allocate inodes dynamically report none.
    [[ $all_inodes == 0 || $all_inodes == - || $inodes -ge $entries ]] ||
        die "$directory: $entries free inodes are needed"
}

# 10,000 directories × 50 empty files, 1 % marked. Sets `tree`.
need_tree() {
    local shape=(10 20 50 50)
    [[ -z ${tree_is_ready-} ]] || return 0
    [[ $quick == false ]] || shape=(10 2 5 50)
    tree=${tree:-$work/tree}
    if [[ ! -e $tree ]]; then
        note "making $tree"
        make_tree "$tree.incomplete" "${shape[@]}" -e 100 > "$work/tree-numbers"
        mv -- "$tree.incomplete" "$tree"
        sync -f -- "$tree"
    fi
    tree_entries=$(find "$tree" -mindepth 1 -printf x | wc -c)
    tree_is_ready=true
}

# The shape of W1's tree with another attribute on every file, as SELinux, IMA or Samba have it. Sets
# `attributed_tree`.
need_attributed_tree() {
    local shape=(10 20 50 50)
    [[ $quick == false ]] || shape=(10 2 5 50)
    attributed_tree=$work/attributed-tree
    note "making $attributed_tree"
    make_tree "$attributed_tree" "${shape[@]}" -e 100 > /dev/null
    find "$attributed_tree" -type f -print0 |
        xargs -0 setfattr -n user.xdg.comment -v 'an attribute of another program'
    sync -f -- "$attributed_tree"
}

# 100,000 marked files in 1,000 directories, and a list of their paths. Sets `paths_list`.
need_paths() {
    local shape=(1 20 50 100)
    [[ -z ${paths_list-} ]] || return 0
    [[ $quick == false ]] || shape=(1 2 5 100)
    paths_list=$work/paths.list
    note "making $work/paths"
    make_tree "$work/paths" "${shape[@]}" -e 1 > "$work/paths-numbers"
    find "$work/paths" -type f -print0 > "$paths_list"
}

# 1,000 files in one directory, every second one with both marks. Sets `two_keys_directory`.
need_two_keys_directory() {
    [[ -z $two_keys_directory ]] || return 0
    make_tree "$work/two-keys" 1 1 1 1000 -e 2 -p 2 > /dev/null
    two_keys_directory=$work/two-keys/top00/middle00/leaf00
}

# 40,000 directories × 50 empty files, 1 % marked. Sets `large_tree`.
need_large_tree() {
    [[ -z $large_tree ]] || return 0
    local shape=(40 20 50 50)
    [[ $quick == false ]] || shape=(40 2 5 50)
    large_tree=$work/large-tree
    note "making $large_tree"
    make_tree "$large_tree" "${shape[@]}" -e 100 > "$work/large-tree-numbers"
    sync -f -- "$large_tree"
}
