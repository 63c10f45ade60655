# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by tools/test and tools/lib/suite: which suites there are, where each runs, and what came of it.

# In the order in which they are started: what computes first, the longest of all at the head, then what mostly waits.
# shellcheck disable=SC2034  # used by those who source this
suites=(vm unit cluster container chaos hostile fuzz package static bus batch reboot)
# Run only if they are named.
# shellcheck disable=SC2034
byName=(sanitized reproducible)

# placeOf SUITE: "host", or the kind of box. The tests are in tests/SUITE; those of "sanitized" are of unit and bus.
placeOf() {
    case $1 in
    unit | bus | static | fuzz | sanitized | reproducible) echo host ;;
    cluster | vm) echo "$1" ;;
    batch | reboot) echo vm ;;
    *) echo container ;;
    esac
}

# boxesOf SUITE…: the kinds of boxes that these suites need, one a line.
boxesOf() {
    local suite
    for suite in "$@"; do
        placeOf "$suite"
    done | sort -u | grep -vx host || true
}

# toolsOf SUITE…: the groups of tools/lib/install-deps that these suites need on the host, besides build and test; one a line.
toolsOf() {
    local suite
    for suite in "$@"; do
        case $suite in
        static) echo static ;;
        fuzz | sanitized) echo clang ;;
        reproducible) echo packages ;;
        esac
    done | sort -u
}

# The junit files of a suite in the directory $results, one a line.
filesOf() { find "${results:?}/$1" -name '*.xml' -not -path '*/skip/*' 2>/dev/null | sort; }

# counts SUITE…: "PASSED FAILED SKIPPED"
counts() {
    local suite files=()
    for suite in "$@"; do
        mapfile -t -O "${#files[@]}" files < <(filesOf "$suite")
    done
    "${lib:?}/junit" count "${files[@]}"
}

# note SUITE skipped|failed REASON: a result that no test runner wrote
note() { "${lib:?}/junit" note "$results/$1" "$2" "$1" "$3"; }
