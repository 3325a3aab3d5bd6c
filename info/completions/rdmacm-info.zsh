#compdef rdmacm-info
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
_arguments \
  '(-c --config)'{-c,--config}'[variables and files with their values]' \
  '(-p --port)'{-p,--port}'[port of route, ping and serve]:port:' \
  '--once[one table of top]' \
  '(-o --output)'{-o,--output}'[where the timeline of trace goes]:file:_files' \
  '(-n --lanes)'{-n,--lanes}'[lanes in the timeline of trace]:number:' \
  '--json[print JSON]' \
  '(-h --help)'{-h,--help}'[usage]' \
  '(-V --version)'{-V,--version}'[version]' \
  '1:command:((check\:"what is missing on this machine" route\:"which device would carry a connection" ping\:"measure to a server" serve\:"echo for ping" top\:"what a running process counts" trace\:"where the time of connections went"))' \
  '*:address or file:_alternative "hosts:host:_hosts" "files:file:_files"'
