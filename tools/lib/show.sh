# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The scripts that demonstrate pinfold source this file. `tell` prints a line, and `show` prints a command and its output.

tell() { printf '\n# %s\n' "$*"; }

show() {
    printf '$ %s\n' "$*"
    "$@"
}
