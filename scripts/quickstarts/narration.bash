# Messages, shown commands and exit codes of scripts/quickstart.
#
# shellcheck shell=bash disable=SC2154

started=$SECONDS

step() { printf '\n== %s ==\n' "$*"; }

say() { printf '# %s\n' "$*"; }

fail() {
    printf '\nquickstart: FAILED: %s\n' "$*" >&2
    exit 1
}

# Prints a command, quoted for the shell, and runs it.
run() {
    local word line='$'
    for word in "$@"; do
        [[ $word =~ ^[A-Za-z0-9_./,=:@%+-]+$ ]] || word=${word@Q}
        line+=" $word"
    done
    printf '%s\n' "$line"
    "$@" || fail "$1 ended with exit code $?"
}

# Prints a line of shell code and runs it.
run_shell() {
    printf '$ %s\n' "$1"
    bash -o pipefail -c "$1" || fail "the line above ended with exit code $?"
}

# Makes the directory `work`, which is removed when the script ends, except with --keep.
make_working_directory() {
    work=$(mktemp --directory "${TMPDIR:-/var/tmp}/resval-quickstart.XXXXXX")
    work=$(realpath "$work")
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    setfattr --name=user.quickstart --value=1 "$work" 2>/dev/null ||
        fail "$work cannot have user attributes: set TMPDIR to a directory on ext4, xfs or btrfs"
}

clean_up() {
    if $keeps_work; then
        printf '\nEverything is left in %s\n' "$work"
        return
    fi
    cd /
    chmod --recursive u+rwX "$work"
    rm -rf -- "$work"
}

succeed() {
    printf '\nALL AS IT SHOULD BE, in %d s\n' $((SECONDS - started))
}
