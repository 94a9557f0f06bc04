# Options for building the package for tests. To be sourced.

# shellcheck disable=SC2034 # used by those who source this
# A separate build directory, so that `swift build` without options does not rebuild everything.
build_directory=.build/optimised
# shellcheck disable=SC2034 # used by those who source this
# What `swift test` runs, in the build directory. Started by itself, several at the same time do not wait
# for the package manager's plan.
test_program=debug/ResourceValuesPackageTests.xctest
# shellcheck disable=SC2034 # used by those who source this
# Options of swift build: optimized, like the installed programs. Without optimization,
# tests that interrupt a run at every step take ten times as long.
build_options=(-Xswiftc -O --scratch-path "$build_directory")
