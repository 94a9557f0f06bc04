# Messages and exit codes of the benchmark.
#
# Variables are shared with scripts/benchmark and its other parts:
# shellcheck shell=bash disable=SC2034,SC2154

note() { printf 'benchmark: %s\n' "$*" >&2; }

die() {
    printf 'benchmark: %s\n' "$*" >&2
    exit 2
}

usage() {
    printf 'benchmark: %s (--help shows the options)\n' "$*" >&2
    exit 64
}
