# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Waiting for what comes to be.  A machine may stand still for minutes (one on which tests ran did, for 100 s), and nothing that is
# waited for goes on meanwhile: so one look never counts for more than a tenth of the time.
#
#   look_until SECONDS PAUSE CMD...   CMD until it succeeds, with a pause of so many seconds after each look; 1 when the time is over
#
# CMD sees what is local here: hence the names.
look_until() {
  local look_left=$(($1 * 1000000)) look_most=$(($1 * 100000)) look_pause=$2 look_began look_took
  shift 2
  look_began=${EPOCHREALTIME/./}
  until "$@"; do
    [ $look_left -gt 0 ] || return 1
    sleep "$look_pause"
    look_took=$((${EPOCHREALTIME/./} - look_began))
    look_began=$((look_began + look_took))
    look_left=$((look_left - (look_took < look_most ? look_took : look_most)))
  done
}
