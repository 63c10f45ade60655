# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# tools/test and tools/lib/suite source this file. The file has the names of the suites, the place where each suite runs, and functions for
# the results of a suite.

# tools/test starts the suites in the order of the array `suites`, and passes over a suite that must wait for an emulated machine to end. The
# suites in emulated machines run one after the other, and take longest together. So these suites come first, and then the other suites that
# take more than five minutes. The suites `unit` and `fuzz` compile with a low priority, so each of them runs beside the suites `cluster` and
# `container`, which wait for most of their time. The short suites at the end of `suites` fill the gaps.
# shellcheck disable=SC2034  # used by those who source this
suites=(vm batch reboot unit cluster fuzz container archive package chaos hostile bus static fresh)
# The suites of the array `byName` run only if the user names them. Each suite of `byName` compiles all sources itself, which takes more
# than five minutes.
# shellcheck disable=SC2034
byName=(sanitized reproducible)

# placeOf SUITE: prints "host", or the kind of box in which the suite runs. The tests of a suite are in tests/SUITE. The suite "sanitized"
# runs the tests of the suites "unit" and "bus".
placeOf() {
    case $1 in
    unit | bus | archive | static | fuzz | fresh | sanitized | reproducible) echo host ;;
    cluster | vm) echo "$1" ;;
    batch | reboot) echo vm ;;
    *) echo container ;;
    esac
}

# boxesOf SUITE…: prints the kinds of boxes that the suites need, one kind on each line.
boxesOf() {
    local suite
    for suite in "$@"; do
        placeOf "$suite"
    done | sort -u | grep -vx host || true
}

# toolsOf SUITE…: prints the groups of packages that the suites need on the host, one group on each line. tools/lib/install-deps defines
# the groups of packages. toolsOf does not print the groups "build" and "test", which all suites need.
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

# Prints the paths of the junit files of a suite, one path on each line. The junit files are in the directory $results.
filesOf() { find "${results:?}/$1" -name '*.xml' -not -path '*/skip/*' 2>/dev/null | sort; }

# counts SUITE…: prints how many tests of the suites passed, failed and were skipped, in the form "PASSED FAILED SKIPPED"
counts() {
    local suite files=()
    for suite in "$@"; do
        mapfile -t -O "${#files[@]}" files < <(filesOf "$suite")
    done
    "${lib:?}/junit" count "${files[@]}"
}

# note SUITE skipped|failed REASON: writes a junit file with a result that no test runner has written
note() { "${lib:?}/junit" note "$results/$1" "$2" "$1" "$3"; }
