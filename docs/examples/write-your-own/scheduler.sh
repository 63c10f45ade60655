#!/bin/sh
# scheduler.sh KEY USER COMMAND [ARGS...]: run a job in its own scope. Exit status 99: nothing has run, requeue it.
key=$1 user=$2
shift 2

# The job is there before its first process is, and waits for its script as long as it takes.
pinfold open "$key" --uid "$user" --linger infinity --memory-max 256M >/dev/null || exit 99

# The job script: setpriv becomes the user and then pinfold-run, which becomes task 0, and then the command.
setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups pinfold-run --job "$key" --batch --exec -- "$@"
status=$?
if [ "$status" -eq 125 ]; then # pinfold-run's own
    pinfold end "$key" >/dev/null
    exit 99
fi

# Whatever is left of the job is gone when this returns.
pinfold end "$key" --exit-status "$status" >/dev/null
pinfold why "$key" >&2
exit "$status"
