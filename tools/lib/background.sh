# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# tools/test sources this file to run several commands at the same time. When tools/test ends, all its commands end.

# The array `background` maps the process id of each running command to the command's name. Each command has its own process group, so that
# one signal reaches all processes of the command.
declare -A background=()

# inBackground NAME COMMAND…: starts a command in the background.
inBackground() {
    set -m # with job control, the command has its own process group and does not ignore SIGINT
    "${@:2}" </dev/null &
    set +m
    background[$!]=$1
}

# Ends all commands. endAll first sends SIGINT and SIGTERM, so that tests can clean up before the end of the tests.
# shellcheck disable=SC2317  # called by the trap
endAll() {
    trap '' INT TERM HUP
    local signal pid patience
    # A signal can arrive after the start of a command, but before the command is in the array `background`. endAll uses `jobs -p`, because
    # `jobs -p` lists all commands that run.
    for pid in $(jobs -p); do
        background[$pid]=
    done
    for signal in INT TERM KILL; do
        for pid in "${!background[@]}"; do
            kill -s "$signal" -- "-$pid" 2>/dev/null || unset "background[$pid]"
        done
        for ((patience = 50; patience > 0; --patience)); do
            for pid in "${!background[@]}"; do
                kill -0 -- "-$pid" 2>/dev/null || unset "background[$pid]"
            done
            ((${#background[@]})) || return 0
            sleep 0.1
        done
    done
}

# inForeground NAME COMMAND…: runs a command and waits for it. inForeground starts the command in the background, because bash handles no
# signal while a foreground command runs.
inForeground() {
    local status=0 pid
    inBackground "$@"
    pid=$!
    wait "$pid" || status=$?
    unset "background[$pid]"
    return "$status"
}

# waitForOne: waits until one of the commands has ended. Sets the variable `ended` to the process id of the ended command, and the variable
# `status` to the exit status of the command.
waitForOne() {
    local alive
    while :; do
        alive=" $(jobs -rp | tr '\n' ' ') "
        for ended in "${!background[@]}"; do
            [[ $alive != *" $ended "* ]] || continue
            # `wait -n` would not report a command that ends between two calls of `wait -n`.
            status=0
            wait "$ended" || status=$?
            return
        done
        sleep 0.5
    done
}

trap endAll EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
