# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Completion of rdmacm-info for bash.
_rdmacm_info() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case ${COMP_WORDS[index]} in
      check | route | ping | serve | top | trace | help) command=${COMP_WORDS[index]}; break ;;
    esac
  done
  COMPREPLY=()
  case $before in
    -p | --port | -n | --lanes) return ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  local options="--json -h --help"
  case $command in
    '') options+=" -c --config -p --port -V --version" ;;
    route | ping | serve) options+=" -p --port" ;;
    top) options+=" --once" ;;
    trace) options+=" -o --output -n --lanes" ;;
  esac
  case $command:$word in
    *:-*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    :*) mapfile -t COMPREPLY < <(compgen -W "check route ping serve top trace help" -- "$word") ;;
    route:* | ping:* | serve:*) mapfile -t COMPREPLY < <(compgen -A hostname -- "$word") ;;
    # The user's own.
    top:*) mapfile -t COMPREPLY < <(compgen -W "$(pgrep -u "$(id -u)")" -- "$word") ;;
    trace:*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -F _rdmacm_info rdmacm-info
