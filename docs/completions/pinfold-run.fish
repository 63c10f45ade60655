# SPDX-License-Identifier: LGPL-2.1-or-later

complete -c pinfold-run -x -a '(__fish_complete_subcommand)'
complete -c pinfold-run -s j -l job -xa '(pinfold list --no-legend --no-pager -o key 2>/dev/null)'
for option in exec batch task exclusive help version
    complete -c pinfold-run -l $option
end
for option in cpus gpus cpu-list gpu-list
    complete -c pinfold-run -l $option -x
end
complete -c pinfold-run -l oom-policy -xa 'job process'
complete -c pinfold-run -l kill-signal -xa 'TERM KILL INT HUP QUIT USR1 USR2'
for limit in memory-max memory-high memory-low memory-swap-max memory-zswap-max cpu-quota cpu-weight allowed-cpus allowed-memory-nodes tasks-max io-weight io-read-bandwidth-max io-write-bandwidth-max io-read-iops-max io-write-iops-max device-profile run-time-max run-time-grace kill-grace
    complete -c pinfold-run -l $limit -x
end
