# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash

# Keys are other users' text: they are compared and quoted, and never given to compgen -W, which would expand them.
_pinfold_offer_jobs() {
    local word=$1 key quoted
    while IFS= read -r key; do
        printf -v quoted %q "$key"
        [[ $key == "$word"* || $quoted == "$word"* ]] && COMPREPLY+=("$quoted")
    done < <(pinfold list --no-legend --no-pager -o key 2>/dev/null)
}

_pinfold() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb='' i
    local limits='--memory-max --memory-high --memory-low --memory-swap-max --memory-zswap-max --oom-policy --cpu-quota --cpu-weight --allowed-cpus --allowed-memory-nodes --tasks-max --io-weight --io-read-bandwidth-max --io-write-bandwidth-max --io-read-iops-max --io-write-iops-max --device-profile --run-time-max --run-time-grace --kill-signal --kill-grace'
    local globals='--json --no-legend --no-pager --full --bytes --color --help'
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]}; break; }
    done
    local words='' jobs=no
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
    --oom-policy) words='job process' ;;
    --result) words='exited signaled stopped timeout out-of-memory supervisor-lost node-shutdown node-lost lost' ;;
    --state) words='creating running suspended ending accounting' ;;
    *)
        case $verb in
        '') words="run list status show ps top why history logs events strays stop wait kill limits suspend resume drain undrain reconcile open end adopt vacuum check-config config reload doctor version --version $globals" ;;
        list) words="-u --user --state -o --columns --sort $globals" ;;
        top) words="-s --sort -u --user -b --batch -n --iterations -d --delay $globals" ;;
        run) words="--job --exec --batch --task --cpus --gpus --cpu-list --gpu-list --exclusive $limits --dry-run --" ;;
        limits) jobs=yes words="$limits --force --dry-run $globals" ;;
        suspend | resume) jobs=yes words="--dry-run $globals" ;;
        history) words="-S --since -E --until -u --user -j --job -n --number --result --scheduler --failed --unknown --leftovers -P --parsable $globals" ;;
        drain) words="--reason --wait --timeout $globals" ;;
        reconcile | undrain) words="--dry-run $globals" ;;
        strays) words="--mode --min-uid --max-uid --users --exempt-users --exempt-groups --exempt-units --min-age --min-cpu --commands --without-job --kinds --max-kills --grace --files --remove --dry-run -P --parsable $globals" ;;
        vacuum) words="--max-age --max-size $globals" ;;
        status | ps | why) jobs=yes words=$globals ;;
        show) jobs=yes words="-p --property --value $globals" ;;
        stop) jobs=yes words="--grace --wait --timeout --dry-run $globals" ;;
        wait) jobs=yes words="--timeout $globals" ;;
        kill) jobs=yes words="-s --signal --dry-run $globals" ;;
        adopt) jobs=yes words="--owner --batch --dry-run $globals" ;;
        open) words="--uid --slots --linger --report-within --cpus --gpus --cpu-list --gpu-list --exclusive $limits $globals" ;;
        end) jobs=yes words="--exit-status --exit-signal --timeout $globals" ;;
        logs) jobs=yes words="-f --follow -n --lines $globals" ;;
        events) words='--json --help' ;;
        check-config | config) words="--root $globals" ;;
        esac
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    [[ $jobs == no ]] || _pinfold_offer_jobs "$word"
}

complete -F _pinfold pinfold
