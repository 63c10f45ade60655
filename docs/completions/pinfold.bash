# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash

_pinfold_live_jobs() { pinfold list --no-legend --no-pager -o key 2>/dev/null; }

_pinfold_ended_jobs() { pinfold history --no-pager -n 200 --json 2>/dev/null | sed -n 's/^ *"key": "\([^"\\]*\)",\{0,1\}$/\1/p' | sort -u; }

# Keys are other users' text: they are compared and quoted, and never given to compgen -W, which would expand them.
_pinfold_offer() {
    local word=$1 key quoted
    while IFS= read -r key; do
        printf -v quoted %q "$key"
        [[ $key == "$word"* || $quoted == "$word"* ]] && COMPREPLY+=("$quoted")
    done
}

_pinfold_limits='--memory-max --memory-high --memory-low --memory-swap-max --memory-zswap-max --oom-policy --cpu-quota --cpu-weight --allowed-cpus --allowed-memory-nodes --tasks-max --io-weight --io-read-bandwidth-max --io-write-bandwidth-max --io-read-iops-max --io-write-iops-max --device-profile --run-time-max --run-time-grace --kill-signal --kill-grace'

# What follows an option that pinfold and pinfold-run have in common. False: it is another one.
_pinfold_offer_value() {
    local words=''
    case $2 in
    --oom-policy) words='job process' ;;
    --kill-signal) words='TERM KILL INT HUP QUIT USR1 USR2' ;;
    --cpus | --gpus | --cpu-list | --gpu-list) ;;
    *) [[ $2 == --* && " $_pinfold_limits " == *" $2 "* ]] || return 1 ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$1")
}

# Where the command is that is to be run, among the words from $1 on: 0 while there is none.
_pinfold_command_at() {
    local i
    for ((i = $1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)) && return ;;
        --exec | --batch | --task | --exclusive | --dry-run | --*=*) ;;
        -*) ((++i)) ;;
        *) echo "$i" && return ;;
        esac
    done
    echo 0
}

# The words from $1 on are those of pinfold-run. $2: the options that only this command has.
_pinfold_offer_run() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command
    command=$(_pinfold_command_at "$1")
    if ((command > 0 && command < COMP_CWORD)); then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$command"
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
    elif ((command > 0)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    elif [[ $previous == -j || $previous == --job ]]; then
        _pinfold_offer "$word" < <(_pinfold_live_jobs)
    elif _pinfold_offer_value "$word" "$previous"; then
        return
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "-j --job --exec --batch --task --cpus --gpus --cpu-list --gpu-list --exclusive $_pinfold_limits $2 --" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    fi
}

_pinfold_run() { _pinfold_offer_run 1 '--help --version'; }

_pinfold() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb='' i
    local globals='--json --no-legend --no-pager --full --bytes --color --help'
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]}; break; }
    done
    if [[ $verb == run ]]; then
        _pinfold_offer_run $((i + 1)) '--dry-run --help'
        return
    elif [[ $verb == history && ($previous == -j || $previous == --job) ]]; then
        _pinfold_offer "$word" < <(_pinfold_ended_jobs)
        return
    fi
    _pinfold_offer_value "$word" "$previous" && return
    local words='' jobs=no ended=no
    case $previous in
    --color) words='auto always never' ;;
    -u | --user | --uid | --users | --exempt-users) words=$(compgen -u) ;;
    --exempt-groups) words=$(compgen -g) ;;
    --mode) words='report warn stop kill configured' ;;
    --kinds) words='session user-manager linger cron at service batch-system container moved supervisor other' ;;
    -s | --signal | --sort)
        [[ $verb == kill ]] && words='TERM KILL INT HUP STOP CONT USR1 USR2'
        [[ $verb == top ]] && words='cpu memory io tasks time key'
        ;;
    --result) words='exited signaled stopped timeout out-of-memory supervisor-lost node-shutdown node-lost lost' ;;
    --state) words='creating running suspended ending accounting' ;;
    *)
        case $verb in
        '') words="run list status show ps top why history logs events strays stop wait kill limits suspend resume drain undrain reconcile open end adopt vacuum check-config config reload doctor version --version $globals" ;;
        list) words="-u --user --state -o --columns --sort $globals" ;;
        top) words="-s --sort -u --user -b --batch -n --iterations -d --delay $globals" ;;
        limits) jobs=yes words="$_pinfold_limits --force --dry-run $globals" ;;
        suspend | resume) jobs=yes words="--dry-run $globals" ;;
        history) words="-S --since -E --until -u --user -j --job -n --number --result --scheduler --failed --unknown --leftovers -P --parsable $globals" ;;
        drain) words="--reason --wait --timeout $globals" ;;
        reconcile | undrain) words="--dry-run $globals" ;;
        strays) words="--mode --min-uid --max-uid --users --exempt-users --exempt-groups --exempt-units --min-age --min-cpu --commands --without-job --kinds --max-kills --grace --files --remove --dry-run -P --parsable $globals" ;;
        vacuum) words="--max-age --max-size $globals" ;;
        ps) jobs=yes words=$globals ;;
        status) jobs=yes ended=yes words="--jobs $globals" ;;
        why) jobs=yes ended=yes words=$globals ;;
        show) jobs=yes words="-p --property --value $globals" ;;
        stop) jobs=yes words="--grace --wait --timeout --dry-run $globals" ;;
        wait) jobs=yes ended=yes words="--timeout $globals" ;;
        kill) jobs=yes words="-s --signal --dry-run $globals" ;;
        adopt) jobs=yes words="--owner --batch --dry-run $globals" ;;
        open) words="--uid --slots --linger --report-within --cpus --gpus --cpu-list --gpu-list --exclusive $_pinfold_limits --replace --adopt --owner --batch $globals" ;;
        end) jobs=yes words="--exit-status --exit-signal --timeout $globals" ;;
        logs) jobs=yes ended=yes words="-f --follow -n --lines $globals" ;;
        events) words='--json --help' ;;
        check-config | config) words="--root $globals" ;;
        esac
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    [[ $jobs == no ]] || _pinfold_offer "$word" < <(_pinfold_live_jobs)
    [[ $ended == no ]] || _pinfold_offer "$word" < <(_pinfold_ended_jobs)
}

complete -F _pinfold pinfold
complete -F _pinfold_run pinfold-run
