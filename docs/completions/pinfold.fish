# SPDX-License-Identifier: LGPL-2.1-or-later

function __pinfold_jobs
    pinfold list --no-legend --no-pager -o key 2>/dev/null
end

function __pinfold_ended_jobs
    pinfold history --no-pager -n 200 --json 2>/dev/null | string replace -rf '^ *"key": "([^"\\\\]*)",?$' '$1' | sort -u
end

set -l verbs run list status show ps top why history logs events strays stop wait kill limits suspend resume drain undrain reconcile open end adopt vacuum check-config config reload doctor version
complete -c pinfold -f
complete -c pinfold -n "not __fish_seen_subcommand_from $verbs" -a "$verbs"
complete -c pinfold -l json -d 'Print one JSON document'
complete -c pinfold -l no-legend -d 'Print no column headers'
complete -c pinfold -l no-pager -d 'Do not use a pager'
complete -c pinfold -l full -d 'Do not cut long lines'
complete -c pinfold -l bytes -d 'Print sizes in bytes and times in microseconds'
complete -c pinfold -l color -xa 'auto always never'
complete -c pinfold -n '__fish_seen_subcommand_from status show ps why logs stop wait kill limits suspend resume adopt end' -a '(__pinfold_jobs)'
complete -c pinfold -n '__fish_seen_subcommand_from status why logs wait' -a '(__pinfold_ended_jobs)'
complete -c pinfold -n '__fish_seen_subcommand_from history' -s j -l job -xa '(__pinfold_ended_jobs)'
complete -c pinfold -n '__fish_seen_subcommand_from list history top' -s u -l user -xa '(__fish_complete_users)'
complete -c pinfold -n '__fish_seen_subcommand_from list' -l state -xa 'creating running suspended ending accounting'
complete -c pinfold -n '__fish_seen_subcommand_from list' -s o -l columns -x
complete -c pinfold -n '__fish_seen_subcommand_from list' -l sort -x
complete -c pinfold -n '__fish_seen_subcommand_from top' -s s -l sort -xa 'cpu memory io tasks time key'
complete -c pinfold -n '__fish_seen_subcommand_from top' -s b -l batch
complete -c pinfold -n '__fish_seen_subcommand_from top' -s n -l iterations -x
complete -c pinfold -n '__fish_seen_subcommand_from top' -s d -l delay -x
complete -c pinfold -n '__fish_seen_subcommand_from show' -s p -l property -x
complete -c pinfold -n '__fish_seen_subcommand_from show' -l value
complete -c pinfold -n '__fish_seen_subcommand_from stop' -l grace -x
complete -c pinfold -n '__fish_seen_subcommand_from stop' -l wait
complete -c pinfold -n '__fish_seen_subcommand_from stop wait end drain' -l timeout -x
complete -c pinfold -n '__fish_seen_subcommand_from stop drain' -l wait
complete -c pinfold -n '__fish_seen_subcommand_from drain' -l reason -x
complete -c pinfold -n '__fish_seen_subcommand_from kill' -s s -l signal -xa 'TERM KILL INT HUP STOP CONT USR1 USR2'
complete -c pinfold -n '__fish_seen_subcommand_from stop kill limits suspend resume adopt run reconcile undrain strays' -l dry-run
for limit in memory-max memory-high memory-low memory-swap-max memory-zswap-max oom-policy cpu-quota cpu-weight allowed-cpus allowed-memory-nodes tasks-max io-weight io-read-bandwidth-max io-write-bandwidth-max io-read-iops-max io-write-iops-max device-profile run-time-max run-time-grace kill-signal kill-grace
    complete -c pinfold -n '__fish_seen_subcommand_from run open limits' -l $limit -x
end
for option in cpus gpus cpu-list gpu-list
    complete -c pinfold -n '__fish_seen_subcommand_from run open' -l $option -x
end
complete -c pinfold -n '__fish_seen_subcommand_from run open' -l exclusive
complete -c pinfold -n '__fish_seen_subcommand_from limits' -l force
complete -c pinfold -n '__fish_seen_subcommand_from history' -s S -l since -x
complete -c pinfold -n '__fish_seen_subcommand_from history' -s E -l until -x
complete -c pinfold -n '__fish_seen_subcommand_from history' -s n -l number -x
complete -c pinfold -n '__fish_seen_subcommand_from history' -s P -l parsable
complete -c pinfold -n '__fish_seen_subcommand_from logs' -s f -l follow
complete -c pinfold -n '__fish_seen_subcommand_from logs' -s n -l lines -x
complete -c pinfold -n '__fish_seen_subcommand_from history' -l result -xa 'exited signaled stopped timeout out-of-memory supervisor-lost node-shutdown node-lost lost'
complete -c pinfold -n '__fish_seen_subcommand_from history' -l scheduler -x
complete -c pinfold -n '__fish_seen_subcommand_from history' -l failed
complete -c pinfold -n '__fish_seen_subcommand_from history' -l unknown
complete -c pinfold -n '__fish_seen_subcommand_from history' -l leftovers
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l mode -xa 'report warn stop kill configured'
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l kinds -xa 'session user-manager linger cron at service batch-system container moved supervisor other'
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l users -xa '(__fish_complete_users)'
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l exempt-users -xa '(__fish_complete_users)'
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l exempt-groups -xa '(__fish_complete_groups)'
for option in min-uid max-uid exempt-units min-age min-cpu commands max-kills grace
    complete -c pinfold -n '__fish_seen_subcommand_from strays' -l $option -x
end
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l without-job
complete -c pinfold -n '__fish_seen_subcommand_from strays' -s P -l parsable
complete -c pinfold -n '__fish_seen_subcommand_from vacuum' -l max-age -x
complete -c pinfold -n '__fish_seen_subcommand_from vacuum' -l max-size -x
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l files
complete -c pinfold -n '__fish_seen_subcommand_from strays' -l remove
complete -c pinfold -n '__fish_seen_subcommand_from check-config config' -l root -r
complete -c pinfold -n '__fish_seen_subcommand_from run' -l exec
complete -c pinfold -n '__fish_seen_subcommand_from run adopt open' -l batch
complete -c pinfold -n '__fish_seen_subcommand_from adopt open' -l owner -x
complete -c pinfold -n '__fish_seen_subcommand_from run' -l task
complete -c pinfold -n '__fish_seen_subcommand_from open' -l uid -xa '(__fish_complete_users)'
complete -c pinfold -n '__fish_seen_subcommand_from open' -l replace
complete -c pinfold -n '__fish_seen_subcommand_from open' -l adopt -x
complete -c pinfold -n '__fish_seen_subcommand_from status' -l jobs
complete -c pinfold -n '__fish_seen_subcommand_from open' -l slots -x
complete -c pinfold -n '__fish_seen_subcommand_from open' -l linger -x
complete -c pinfold -n '__fish_seen_subcommand_from open' -l report-within -x
complete -c pinfold -n '__fish_seen_subcommand_from end' -l exit-status -x
complete -c pinfold -n '__fish_seen_subcommand_from end' -l exit-signal -x
