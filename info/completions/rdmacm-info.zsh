#compdef rdmacm-info
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
_arguments \
  '(-c --config)'{-c,--config}'[variables and files with their values]' \
  '(-p --port)'{-p,--port}'[port of route, ping and serve]:port:' \
  '--once[one table of top]' \
  '--json[print JSON]' \
  '(-h --help)'{-h,--help}'[usage]' \
  '(-V --version)'{-V,--version}'[version]' \
  '1:command:((check\:"what is missing on this machine" route\:"which device would carry a connection" ping\:"measure to a server" serve\:"echo for ping" top\:"what a running process counts"))' \
  '2:address:_hosts'
