# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Completion of rdmacm-info for bash.
_rdmacm_info() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  case $before in
    -p | --port | -n | --lanes) return ;;
    trace | -o | --output)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    top)
      mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$word")
      return
      ;;
    route | ping)
      mapfile -t COMPREPLY < <(compgen -A hostname -- "$word")
      return
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W \
    "check route ping serve top trace -c --config -p --port --once -o --output -n --lanes --json -h --help -V --version" -- "$word")
}
complete -F _rdmacm_info rdmacm-info
