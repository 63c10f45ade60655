# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by what demonstrates: says a line, shows a command with its output.

tell() { printf '\n# %s\n' "$*"; }

show() {
    printf '$ %s\n' "$*"
    "$@"
}
