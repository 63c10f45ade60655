#!/bin/sh
# scheduler.sh KEY USER COMMAND [ARGS...]: run a job in its own scope. If the exit status is 99, nothing has run: requeue the job.
if [ $# -lt 3 ]; then
    echo "usage: scheduler.sh KEY USER COMMAND [ARGS...]" >&2
    exit 2
fi
key=$1 user=$2
shift 2
group=$(id -g "$user") || exit 2

# Create the job before its first process exists. The job waits for its script without a time limit.
pinfold open "$key" --uid "$user" --linger infinity --memory-max 256M >/dev/null || exit 99

# Run the job script: setpriv changes to the user and starts pinfold-run, which becomes task 0 and then executes the command.
setpriv --reuid "$user" --regid "$group" --init-groups pinfold-run --job "$key" --batch --exec -- "$@"
status=$?
if [ "$status" -eq 125 ]; then # pinfold-run itself failed
    pinfold end "$key" >/dev/null
    exit 99
fi

# A shell reports an end by signal N as status 128 + N.
if [ "$status" -gt 128 ]; then
    how="--exit-signal $((status - 128))"
else
    how="--exit-status $status"
fi
# When `pinfold end` returns, no process of the job is left.
# shellcheck disable=SC2086 # $how is two words
pinfold end "$key" $how >/dev/null
pinfold why "$key" >&2
exit "$status"
