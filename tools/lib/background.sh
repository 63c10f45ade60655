# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by tools/test: runs several commands at the same time. None of the commands outlives the script.

# The commands that run in the background, by process id. Each command has its own process group, which ends as a whole.
declare -A background=()

# inBackground NAME COMMAND…: starts a command in the background.
inBackground() {
    set -m # job control gives each command its own process group, and leaves SIGINT to the command
    "${@:2}" </dev/null &
    set +m
    background[$!]=$1
}

# Ends all commands, politely at first, so that tests clean up after themselves.
# shellcheck disable=SC2317  # called by the trap
endAll() {
    trap '' INT TERM HUP
    local signal pid patience
    # `jobs -p` also lists a command that has been started, but is not in the array yet.
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

# inForeground NAME COMMAND…: runs a command and waits for it. The command is a background job too, because bash does not react to
# a signal while it waits for a foreground command.
inForeground() {
    local status=0 pid
    inBackground "$@"
    pid=$!
    wait "$pid" || status=$?
    unset "background[$pid]"
    return "$status"
}

# waitForOne: waits until one of the commands has ended. The process id of this command is then in $ended, and its exit status in
# $status.
waitForOne() {
    local alive
    while :; do
        alive=" $(jobs -rp | tr '\n' ' ') "
        for ended in "${!background[@]}"; do
            [[ $alive != *" $ended "* ]] || continue
            # This function does not use wait -n, because wait -n forgets commands whose end bash saw between two calls.
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
