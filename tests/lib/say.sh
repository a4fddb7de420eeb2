# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Messages for people, and long steps on one line with their output in a log.

say_red='' say_green='' say_yellow='' say_plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  say_red=$'\e[31m' say_green=$'\e[32m' say_yellow=$'\e[33m' say_plain=$'\e[0m'
fi

note() { printf '%s\n' "$*"; }

fail() { # STATUS TEXT
  printf '%srun: %s%s\n' "$say_red" "$2" "$say_plain" >&2
  exit "$1"
}

# step "what is done" LOG CMD...: one line; on a terminal with the log's last line while it runs.  Returns what CMD returns;
# when that is not 0 the log's tail is shown.
step() {
  local what=$1 log=$2 st=0 t0=$SECONDS pid width
  shift 2
  mkdir -p "$(dirname "$log")"
  if [ -t 1 ]; then
    width=$(tput cols 2>/dev/null || echo 80)
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
      printf '\r\e[K%.*s' $((width - 1)) "$what ($((SECONDS - t0)) s)  $(tail -n 1 "$log" 2>/dev/null | tr -d '\r\t')"
      sleep 0.2
    done
    wait $pid || st=$?
    printf '\r\e[K'
  else
    "$@" >"$log" 2>&1 </dev/null || st=$?
  fi
  if [ $st = 0 ]; then
    printf '%s %sok%s (%d s)\n' "$what" "$say_green" "$say_plain" $((SECONDS - t0))
  else
    printf '%s %sFAILED%s (%d s)\n' "$what" "$say_red" "$say_plain" $((SECONDS - t0))
    tail -n 40 "$log" | sed 's/^/    /'
    printf '    the whole log: %s\n' "$log"
  fi
  return $st
}
