# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash

_pinfold_jobs() { pinfold list --no-legend --no-pager -o key 2>/dev/null; }

_pinfold() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb='' i
    local globals='--json --no-legend --no-pager --full --bytes --color --help'
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]}; break; }
    done
    local words=''
    case $previous in
    --color) words='auto always never' ;;
    -u | --user) words=$(compgen -u) ;;
    -s | --signal) words='TERM KILL INT HUP STOP CONT USR1 USR2' ;;
    --state) words='creating running ending accounting' ;;
    *)
        case $verb in
        '') words="run list status show ps why history stop kill adopt check-config version $globals" ;;
        list) words="-u --user --state -o --columns --sort $globals" ;;
        run) words='--job --exec --memory-max --cpu-quota --cpu-weight --allowed-cpus --tasks-max --run-time-max --dry-run --' ;;
        history) words="-S --since -E --until -u --user -j --job -n --number -P --parsable $globals" ;;
        status | ps | why) words="$(_pinfold_jobs) $globals" ;;
        show) words="$(_pinfold_jobs) -p --property --value $globals" ;;
        stop) words="$(_pinfold_jobs) --grace --wait --timeout --dry-run $globals" ;;
        kill) words="$(_pinfold_jobs) -s --signal --dry-run $globals" ;;
        adopt) words="$(_pinfold_jobs) --dry-run $globals" ;;
        check-config) words="--root $globals" ;;
        esac
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _pinfold pinfold
