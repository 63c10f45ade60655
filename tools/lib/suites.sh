# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by tools/test and tools/lib/suite: has the names of the suites, the place where each runs, and functions for its results.

# The suites are in the order in which they are started: first those that compute, with the longest one at the head, then those
# that mostly wait.
# shellcheck disable=SC2034  # used by those who source this
suites=(vm unit cluster container chaos hostile fuzz package static bus archive fresh batch reboot)
# These suites run only if they are named, because they compile all sources themselves: that takes more than five minutes.
# shellcheck disable=SC2034
byName=(sanitized reproducible)

# placeOf SUITE: prints "host", or the kind of box. The tests are in tests/SUITE; those of "sanitized" are the tests of unit and
# bus.
placeOf() {
    case $1 in
    unit | bus | archive | static | fuzz | fresh | sanitized | reproducible) echo host ;;
    cluster | vm) echo "$1" ;;
    batch | reboot) echo vm ;;
    *) echo container ;;
    esac
}

# boxesOf SUITE…: prints the kinds of boxes that these suites need, one on each line.
boxesOf() {
    local suite
    for suite in "$@"; do
        placeOf "$suite"
    done | sort -u | grep -vx host || true
}

# toolsOf SUITE…: prints the groups of tools/lib/install-deps that these suites need on the host besides build and test, one on
# each line.
toolsOf() {
    local suite
    for suite in "$@"; do
        case $suite in
        static) echo static ;;
        fuzz | sanitized) echo clang ;;
        reproducible) echo packages ;;
        package) echo rpm ;;
        fresh) echo container ;;
        esac
    done | sort -u
}

# buildsItself SUITE: succeeds if the suite itself compiles everything that it runs.
buildsItself() { [[ $1 == fuzz || $1 == sanitized ]]; }

# Prints the junit files of a suite in the directory $results, one on each line.
filesOf() { find "${results:?}/$1" -name '*.xml' -not -path '*/skip/*' 2>/dev/null | sort; }

# counts SUITE…: prints "PASSED FAILED SKIPPED"
counts() {
    local suite files=()
    for suite in "$@"; do
        mapfile -t -O "${#files[@]}" files < <(filesOf "$suite")
    done
    "${lib:?}/junit" count "${files[@]}"
}

# note SUITE skipped|failed REASON: writes a result for which there is no test runner
note() { "${lib:?}/junit" note "$results/$1" "$2" "$1" "$3"; }
