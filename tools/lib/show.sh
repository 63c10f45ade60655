# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts that demonstrate pinfold: prints a line, or shows a command with its output.

tell() { printf '\n# %s\n' "$*"; }

show() {
    printf '$ %s\n' "$*"
    "$@"
}
