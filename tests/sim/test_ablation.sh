#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbsim-without is lbsim but for the mechanism that is switched off, and what each brings stays.
set -u
. "$(dirname "$0")/../lib/checks.sh"
unset SIM_WITHOUT
seeds=6
job() { "$build/$1" --ranks=8 --speeds=0.3.. --loaded=0.5 --load=0.5 --csv "${@:2}"; }

# figure PROGRAM COLUMN OPTION...: its sum over the seeds
figure() {
    local seed
    for ((seed = 1; seed <= seeds; seed++)); do job "$1" --seed=$seed "${@:3}" | tail -n 1; done |
        sed 's/^"[^"]*",//' | awk -F, -v c="$2" '{ sum += $c } END { print sum }'
}
# brings MECHANISM COLUMN FACTOR OPTION...: without it the figure is at least so many times as great
brings() {
    local with without
    with=$(figure lbsim "$2" "${@:4}")
    without=$(export SIM_WITHOUT="$1" && figure tests/sim/lbsim-without "$2" "${@:4}")
    echo "without $1: $without, with it $with (column $2 of ${*:4})"
    awk -v a="$with" -v b="$without" -v f="$3" 'BEGIN { exit !(a > 0 && b >= f * a) }'
}
seconds_column=3 moves_column=8 # columns

for kind in doall stepped doacross; do
    [ "$(job lbsim --kind=$kind --n=500)" = "$(job tests/sim/lbsim-without --kind=$kind --n=500)" ] || bad "$kind: nothing is switched off"
done
SIM_WITHOUT=nothing "$build/tests/sim/lbsim-without" 2>/dev/null && bad "a mechanism that there is not"

brings least $seconds_column 1.02 --kind=stepped --n=60 || bad "the least time"
brings profile $seconds_column 1.2 --kind=stepped --shape=front || bad "the profile, blocks"
brings profile $moves_column 20 --shape=front || bad "the profile, any to any"
brings nearness $moves_column 1.05 --kind=stepped --row=400000 --bandwidth=1e8 || bad "nearness"
# Planted: what is not switched off brings nothing, and that is seen.
brings pairs $seconds_column 1.02 --kind=stepped --n=60 && bad "a mechanism that stayed on seems to bring something"
exit $failed
