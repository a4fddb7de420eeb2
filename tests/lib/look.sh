# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Waiting for what comes to be.  A machine may stand still for minutes (one on which tests ran did, for 100 s), and nothing that is
# waited for goes on meanwhile: so one look never counts for more than a tenth of the time.
#
#   look_until SECONDS PAUSE CMD...   CMD until it succeeds, with a pause of so many seconds after each look; 1 when the time is over
#
# A pause is as long as the look before it at least, up to a second: what is waited for needs the processors, too.
# CMD sees what is local here: hence the names.
look_until() {
  local look_left=$(($1 * 1000000)) look_most=$(($1 * 100000)) look_pause look_began look_took look_rest
  printf -v look_pause %.0f "${2}e6"
  shift 2
  look_began=${EPOCHREALTIME/./}
  until "$@"; do
    [ $look_left -gt 0 ] || return 1
    look_took=$((${EPOCHREALTIME/./} - look_began))
    look_rest=$((look_took < look_pause ? look_pause : look_took < 1000000 ? look_took : 1000000))
    printf -v look_rest %d.%06d $((look_rest / 1000000)) $((look_rest % 1000000))
    sleep "$look_rest"
    look_took=$((${EPOCHREALTIME/./} - look_began))
    look_began=$((look_began + look_took))
    look_left=$((look_left - (look_took < look_most ? look_took : look_most)))
  done
}
