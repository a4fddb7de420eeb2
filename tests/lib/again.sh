# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Waiting for what comes to be.  A machine may stand still for minutes (one on which tests ran did, for 100 s), and nothing that is
# waited for goes on meanwhile: so one look never counts for more than a tenth of the time.
#
#   again SECONDS PAUSE CMD...   CMD until it succeeds, with a pause of so many seconds after each look; 1 when the time is over
again() {
  local left=$(($1 * 1000000)) most=$(($1 * 100000)) pause=$2 began took
  shift 2
  began=${EPOCHREALTIME/./}
  until "$@"; do
    [ $left -gt 0 ] || return 1
    sleep "$pause"
    took=$((${EPOCHREALTIME/./} - began))
    began=$((began + took))
    left=$((left - (took < most ? took : most)))
  done
}
