#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each example as a single rank gives what its plain serial form gives, and refuses wrong options.
set -u
bin=$top_builddir/examples
photo=/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg
failed=0
. "$top_srcdir/tests/lib/mpi.sh"
export LB_POLICY=off

bad() {
    echo "not ok: $*"
    failed=1
}

# same PROGRAM OPTION...: the two forms print the same checksum
same() {
    program=$1
    shift
    serial=$("$bin/$program" --serial "$@" | grep '^checksum=') || bad "$program --serial $* prints no checksum"
    # Open MPI leaks of its own accord: with sanitizers only the serial form is looked through for leaks
    one=$(ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-} "$bin/$program" --check "$@" 2>"$top_builddir/serial.err") || bad "$program --check $* fails: $(cat "$top_builddir/serial.err")"
    case $one in
    *"$serial"*"identical=yes"*) echo "ok: $program $* $serial" ;;
    *) bad "$program $*: serial $serial, one rank $one" ;;
    esac
}

refused() {
    "$@" >/dev/null 2>&1
    [ $? = 2 ] || bad "$* is not refused with 2"
}

for n in 0 1 2 67; do same matmul --n "$n"; done
for n in 0 1 30 4001; do same primes --limit "$n" --block 30; done
for kind in stepped pipelined; do
    for n in 0 1 2 67; do same matmul --n "$n" --kind $kind --steps 5; done
    for n in 0 1 30 4001; do same primes --limit "$n" --block 30 --kind $kind --steps 7; done
    same matmul --n 9 --kind $kind --steps 20 --work 3
    same primes --limit 500 --block 3 --kind $kind --steps 20
done
for n in 0 1 2 67; do same jacobi --n "$n" --steps 9; done
same jacobi --n 20 --steps 0
same jacobi --n 20 --steps 3 --work 3
for n in 0 1 2 67; do same sor --n "$n" --steps 9 --work 2; done
if [ -r "$photo" ]; then
    for n in 0 1 9; do same denoise --width 60 --search 2 --height "$n"; done
    same denoise --width 40 --noise 0 --radius 0
else
    echo "skipped: denoise: no $photo (Debian: python-matplotlib-data)"
fi

# the sum of the primes below 100 is known, and so is that they differ from those below 102
case $("$bin/primes" --serial --limit 100) in
*"count=25 sum=1060"*) ;;
*) bad "primes below 100" ;;
esac
[ "$("$bin/primes" --serial --limit 100 --block 7)" != "$("$bin/primes" --serial --limit 102 --block 7)" ] ||
    bad "the checksum does not tell 100 from 102"
[ "$("$bin/matmul" --serial --n 9)" != "$("$bin/matmul" --serial --n 9 --seed 2)" ] || bad "the checksum does not tell seeds apart"

[ "$("$bin/jacobi" --serial --n 9 --steps 4)" != "$("$bin/jacobi" --serial --n 9 --steps 5)" ] || bad "the checksum does not tell steps apart"
[ "$("$bin/sor" --serial --n 9 --steps 4)" != "$("$bin/sor" --serial --n 9 --steps 5)" ] || bad "the checksum does not tell steps of sor apart"
refused "$bin/matmul" --n -1
refused "$bin/matmul" --n 1x
refused "$bin/matmul" --n
refused "$bin/primes" --serial --nonsense
refused "$bin/primes" --serial=1
refused "$bin/primes" extra
refused "$bin/primes" --kind=steppd
refused "$bin/matmul" --kind=
refused "$bin/denoise" --progress=often
"$bin/denoise" --serial --input "$top_srcdir/COPYING" >/dev/null 2>&1 && bad "denoise takes a text for a photograph"
"$bin/matmul" --help | grep -q -e '--serial' || bad "matmul --help says nothing of --serial"
rm -f "$top_builddir/serial.err"
exit $failed
