#!/bin/sh
# scheduler.sh KEY USER COMMAND [ARGS...]: run a job in its own scope. Exit status 99: nothing has run, requeue it.
if [ $# -lt 3 ]; then
    echo "usage: scheduler.sh KEY USER COMMAND [ARGS...]" >&2
    exit 2
fi
key=$1 user=$2
shift 2
group=$(id -g "$user") || exit 2

# The job is there before its first process is, and waits for its script as long as it takes.
pinfold open "$key" --uid "$user" --linger infinity --memory-max 256M >/dev/null || exit 99

# The job script: setpriv becomes the user and then pinfold-run, which becomes task 0, and then the command.
setpriv --reuid "$user" --regid "$group" --init-groups pinfold-run --job "$key" --batch --exec -- "$@"
status=$?
if [ "$status" -eq 125 ]; then # pinfold-run's own
    pinfold end "$key" >/dev/null
    exit 99
fi

# A shell tells the end by signal N as status 128 + N.
if [ "$status" -gt 128 ]; then
    how="--exit-signal $((status - 128))"
else
    how="--exit-status $status"
fi
# Whatever is left of the job is gone when this returns.
# shellcheck disable=SC2086 # two words
pinfold end "$key" $how >/dev/null
pinfold why "$key" >&2
exit "$status"
