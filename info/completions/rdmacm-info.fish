# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Completion of rdmacm-info for fish.
complete -c rdmacm-info -f
complete -c rdmacm-info -n __fish_use_subcommand -a check -d 'what is missing on this machine'
complete -c rdmacm-info -n __fish_use_subcommand -a route -d 'which device would carry a connection'
complete -c rdmacm-info -n __fish_use_subcommand -a ping -d 'measure to a server'
complete -c rdmacm-info -n __fish_use_subcommand -a serve -d 'echo for ping'
complete -c rdmacm-info -n __fish_use_subcommand -a top -d 'what a running process counts'
complete -c rdmacm-info -n '__fish_seen_subcommand_from top' -a '(__fish_complete_pids)'
complete -c rdmacm-info -n __fish_use_subcommand -a trace -d 'where the time of connections went'
complete -c rdmacm-info -n '__fish_seen_subcommand_from trace' -F
complete -c rdmacm-info -s o -l output -r -d 'where the timeline of trace goes'
complete -c rdmacm-info -s n -l lanes -x -d 'lanes in the timeline of trace'
complete -c rdmacm-info -n '__fish_seen_subcommand_from route ping' -a '(__fish_print_hostnames)'
complete -c rdmacm-info -s c -l config -d 'variables and files with their values'
complete -c rdmacm-info -s p -l port -x -d 'port of route, ping and serve'
complete -c rdmacm-info -l once -d 'one table of top'
complete -c rdmacm-info -l json -d 'print JSON'
complete -c rdmacm-info -s h -l help -d usage
complete -c rdmacm-info -s V -l version -d version
