# How the package is built for tests. To be sourced.

# shellcheck disable=SC2034 # used by those who source this
# Where: a directory of its own, so that `swift build` without options does not build all anew.
build_directory=.build/optimised
# shellcheck disable=SC2034 # used by those who source this
# Options of swift build and swift test: optimised, as what is installed is. Tests that come to every
# moment of a run take ten times as long without.
build_options=(-Xswiftc -O --scratch-path "$build_directory")
