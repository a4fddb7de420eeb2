#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Loops over real processes under mpirun: exact coverage with and without a balancer, and when it dies.
set -u
top_builddir=${top_builddir:-$PWD}
command -v mpirun >/dev/null || { echo "SKIP: mpirun is not installed"; exit 77; }
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/mpi.sh"
# Open MPI leaks by itself, and its processes are not what is looked at here.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
unset LB_POLICY LB_HOST_SPEED LB_BALANCER_DIR
balancer=$top_builddir/lb-balancer
coverage=$top_builddir/tests/mpi/coverage
stepped=$top_builddir/tests/mpi/stepped
doacross=$top_builddir/tests/mpi/doacross
plain=$top_builddir/tests/mpi/plain
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# Of its own: in the one that all share, another mpirun may take away what one has just made.
export OMPI_MCA_orte_tmpdir_base=$dir
failures=0

# say NAME STATUS: what a case came to
say() {
    if [ "$2" = 0 ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        sed 's/^/#   /' "$dir/out" "$dir/err"
        failures=$((failures + 1))
    fi
}

# run NP ARGS...: coverage; its output in out and err
run() {
    local np=$1
    shift
    timeout 120 mpirun -np "$np" "$coverage" "$@" >"$dir/out" 2>"$dir/err"
}

# run_stepped NP ARGS...: the same of a stepped loop
run_stepped() {
    local np=$1
    shift
    timeout 120 mpirun -np "$np" "$stepped" "$@" >"$dir/out" 2>"$dir/err"
}

# run_doacross NP ARGS...: the same of a pipelined loop
run_doacross() {
    local np=$1
    shift
    timeout 120 mpirun -np "$np" "$doacross" "$@" >"$dir/out" 2>"$dir/err"
}

# left KIND [SAYS]: rank 1 of 3 closes the loop early
left() {
    timeout 120 mpirun -np 3 "$top_builddir/tests/mpi/leave" "$1" 60 20 100000 >"$dir/out" 2>"$dir/err" &&
        grep -qx "leave $1 np=3 told=2 wrong=0" "$dir/out" && grep -q "^lb: .* closed loop \"leave\" ${2:-after 20 calls}" "$dir/err"
}

# A balancer that tells its process id.
cat >"$dir/balancer" <<END
#!/bin/sh
echo \$\$ >"$dir/pid"
exec "$balancer" "\$@"
END
# One that says nothing.
cat >"$dir/mute" <<END
#!/bin/sh
echo \$\$ >"$dir/pid"
exec sleep 60
END
# One that says what is no endpoint.
printf '#!/bin/sh\nprintf "\\0\\0\\0\\5hello" >&3\nsleep 1\n' >"$dir/liar"
chmod +x "$dir/balancer" "$dir/mute" "$dir/liar"

is_gone() {
    [ ! -e "$dir/pid" ] || ! kill -0 "$(cat "$dir/pid")" 2>/dev/null
}

# Only whether all of the programs are there and run, with the balancer where it is built.
if [ -n "${LB_TEST_BRIEF:-}${LB_TEST_SHORT:-}" ]; then
    balanced=0
    [ ! -x "$balancer" ] || { export LB_BALANCER=$balancer && balanced=1; }
    run 3 800 3 50 0 4 && grep -q "balanced=$balanced" "$dir/out"
    say "free-running" $?
    run_stepped 3 90 40 1 2000 0 4 && grep -q "balanced=$balanced" "$dir/out"
    say "stepped" $?
    run_doacross 3 60 30 1 20 200 0 4 && grep -q "balanced=$balanced" "$dir/out"
    say "pipelined" $?
    timeout 120 mpirun -np 2 "$top_builddir/tests/mpi/packed" tcp pipelined >"$dir/out" 2>"$dir/err" &&
        [ "$(grep -c "^packed .* ok=1$" "$dir/out")" = 2 ]
    say "packed data" $?
    LB_POLICY=off left pipelined
    say "a rank closes the loop before the others" $?
    timeout 60 mpirun -np 3 "$plain" 20 >"$dir/out" 2>"$dir/err" && [ "$(sort -u "$dir/out" | wc -l)" = 20 ]
    say "a program without MPI" $?
    [ $failures = 0 ]
    exit
fi

for np in 1 3; do
    for n in 0 1 $((np - 1)) "$np" $((np + 1)) 500; do
        LB_POLICY=off run "$np" "$n" 2 && grep -q "balanced=0" "$dir/out" && ! grep -q "^lb:" "$dir/err"
        say "static np=$np n=$n" $?
    done
done

for n in 0 1 2 3 4 90; do
    LB_POLICY=off run_stepped 3 "$n" 5 2 && grep -q "balanced=0 moved=0 " "$dir/out"
    say "stepped static np=3 n=$n" $?
done
LB_POLICY=off run_stepped 3 9 6 5
say "stepped static, the halo larger than a block" $?

for n in 0 1 2 3 4 60; do
    LB_POLICY=off run_doacross 3 "$n" 5 2 7 && grep -q "balanced=0 moved=0 " "$dir/out"
    say "pipelined static np=3 n=$n" $?
done
LB_POLICY=off run_doacross 3 30 6 1 9 0 -1 1 leave
say "pipelined static, a rank closes the loop within a step" $?

for kind in stepped pipelined; do
    LB_POLICY=off left $kind
    say "$kind static, a rank closes the loop before the others" $?
done

if [ -x "$balancer" ]; then
    export LB_BALANCER=$dir/balancer
    for n in 0 1 2 3 4 800; do
        rm -f "$dir/pid"
        run 3 "$n" 3 50 0 4 && grep -q "balanced=1" "$dir/out" && ! grep -q "^lb:" "$dir/err" &&
            [ -s "$dir/pid" ] && is_gone
        say "balanced np=3 n=$n" $?
    done
    LB_POLICY=auto,report run 3 3000 2 200 1 5 && ! grep -q "moves=0 " "$dir/out" &&
        [ "$(grep -c "^lb: loops=1 passes=2 iterations=6000 " "$dir/err")" = 1 ]
    say "rows move to faster ranks, and one line says how many" $?
    [ "$(grep -c "^lb: policy auto, 3 ranks: " "$dir/err")" = 1 ] && [ "$(grep -cE "^lb: +[0-2] .* %" "$dir/err")" = 3 ] &&
        [ "$(awk '/^lb: +[0-2] .*%/ { for (i = 1; i < NF; i++) if ($i == "%") s += $(i + 1) } END { print s }' "$dir/err")" = 6000 ]
    say "the balancer's summary has each rank, and all iterations" $?
    # A liblb without its liblb_mpi beside it.
    mkdir "$dir/alone"
    cp "$top_builddir"/.libs/liblb.so.[0-9] "$dir/alone/"
    LD_LIBRARY_PATH=$dir/alone timeout 120 mpirun -np 3 "$top_builddir/tests/mpi/.libs/coverage" 800 3 50 0 4 >"$dir/out" 2>"$dir/err" &&
        grep -q "balanced=1" "$dir/out" && [ "$(grep -c "^lb: rows go over TCP, not by MPI (.*liblb_mpi[^ ]*: cannot " "$dir/err")" = 1 ]
    say "without liblb_mpi rows go over TCP, and one rank says why" $?
    for policy in none static siegell liu; do
        LB_POLICY=$policy run 3 600 2 100 0 4 && grep -q "balanced=1" "$dir/out"
        say "policy $policy" $?
    done
    for n in 0 1 2 3 4; do
        run_stepped 3 "$n" 40 1 2000 0 4 && grep -q "balanced=1" "$dir/out" && ! grep -q "^lb:" "$dir/err"
        say "stepped balanced np=3 n=$n" $?
    done
    LB_POLICY=auto,report run_stepped 3 300 100 1 50 1 5 && grep -q "balanced=1 moved=[1-9]" "$dir/out" &&
        [ "$(grep -c "^lb: loops=1 passes=100 iterations=30000 " "$dir/err")" = 1 ]
    say "blocks of a stepped loop move to faster ranks" $?
    run_stepped 1 50 5 2
    say "stepped balanced np=1" $?
    run_stepped 5 60 100 30 100 2 6 && grep -q "balanced=1" "$dir/out"
    say "stepped balanced np=5, the halo larger than a block" $?
    for policy in none static siegell liu; do
        LB_POLICY=$policy run_stepped 3 100 50 1 50 0 4 && grep -q "balanced=1" "$dir/out"
        say "stepped, policy $policy" $?
    done
    for n in 0 1 2 3 4; do
        run_doacross 3 "$n" 30 1 20 200 0 4 && grep -q "balanced=1" "$dir/out" && ! grep -q "^lb:" "$dir/err"
        say "pipelined balanced np=3 n=$n" $?
    done
    LB_POLICY=auto,report run_doacross 3 90 60 1 50 10 1 5 && grep -q "balanced=1 moved=[1-9]" "$dir/out" &&
        [ "$(grep -c "^lb: loops=1 passes=60 iterations=5400 " "$dir/err")" = 1 ]
    say "blocks of a pipelined loop move to faster ranks" $?
    LB_TEST_LEGS=5 LB_POLICY=auto,report run_doacross 3 90 60 1 50 10 1 5 && grep -q "balanced=1 moved=[1-9].* within=[1-9]" "$dir/out" &&
        [ "$(grep -c "^lb: loops=1 passes=60 iterations=5400 " "$dir/err")" = 1 ]
    say "rows of a pipelined loop change hands within its steps" $?
    LB_TEST_LEGS=3 run_doacross 3 30 30 1 9 0 -1 1 leave && grep -q "balanced=1" "$dir/out"
    say "and a rank closes the loop within one" $?
    run_doacross 5 60 60 30 20 20 2 6 && grep -q "balanced=1" "$dir/out"
    say "pipelined balanced np=5, the halo larger than a block" $?
    run_doacross 3 30 30 1 9 0 -1 1 leave && grep -q "balanced=1" "$dir/out"
    say "pipelined balanced, a rank closes the loop within a step" $?
    for kind in stepped pipelined; do
        left $kind
        say "$kind balanced, a rank closes the loop before the others" $?
    done
    # Of a layout each rank is told its own block alone, as in jobs of many ranks; the balancer writes down that it did.
    mkdir "$dir/own"
    cp "$top_builddir/tests/fault/lb-balancer" "$dir/own/"
    echo "own layout 1" >"$dir/own/plan"
    LB_BALANCER=$dir/own/lb-balancer LB_POLICY=auto,report run_stepped 3 300 100 1 50 1 5 &&
        grep -q "balanced=1 moved=[1-9]" "$dir/out" && grep -q "^own layout" "$dir/own/done" &&
        [ "$(grep -c "^lb: loops=1 passes=100 iterations=30000 " "$dir/err")" = 1 ]
    say "stepped, each rank is told its own block alone" $?
    rm -f "$dir/own/done"
    LB_BALANCER=$dir/own/lb-balancer LB_POLICY=auto,report run_doacross 3 90 60 1 50 10 1 5 &&
        grep -q "balanced=1 moved=[1-9]" "$dir/out" && grep -q "^own layout" "$dir/own/done" &&
        [ "$(grep -c "^lb: loops=1 passes=60 iterations=5400 " "$dir/err")" = 1 ]
    say "pipelined, each rank is told its own block alone" $?
    left free "too early"
    say "free-running balanced, a rank closes the loop between two passes" $?
    LB_TEST_BLOCK=4 LB_TEST_DELAY=10000 run_doacross 3 30 30 1 19 && grep -q "least_block=4 most_block=4" "$dir/out"
    say "a block size that is given, and messages that cost more" $?
    for how in "mpi free" "mpi stepped" "mpi pipelined" "tcp free" "tcp stepped" "tcp pipelined"; do
        # shellcheck disable=SC2086
        timeout 120 mpirun -np 2 "$top_builddir/tests/mpi/packed" $how >"$dir/out" 2>"$dir/err" &&
            [ "$(grep -c "^packed .* ok=1$" "$dir/out")" = 2 ] && grep -q "rank=1 moved_in=[1-9][0-9]" "$dir/out"
        say "packed data of many MiB goes to a rank, little of it at once: $how" $?
    done
    LB_POLICY=auto run 4 500 2 50 0 4 split && [ "$(grep -c "np=2 .*balanced=1" "$dir/out")" = 2 ]
    say "two communicators, two balancers" $?
    timeout 120 mpirun -np 3 "$top_builddir/tests/mpi/comm" >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/err" ] &&
        [ "$(grep -c "^comm [ra].* np=3 iterations=500 balanced=1 error=0$" "$dir/out")" = 2 ] &&
        grep -qx "comm most np=2 iterations=500 balanced=1 error=0" "$dir/out" &&
        grep -qx "comm null np=1 iterations=500 balanced=0 error=0" "$dir/out"
    say "ranks in another order, a second context, and a rank without a communicator" $?
    for signal in KILL STOP; do
        rm -f "$dir/pid" "$dir/trace"
        LB_POLICY=auto,trace=$dir/trace run 3 2500 2 300 0 3 &
        ranks=$!
        # as soon as it hears of work
        until grep -qs '"event":"report"' "$dir/trace" || ! kill -0 $ranks; do sleep 0.05; done
        kill -$signal "$(cat "$dir/pid")"
        wait $ranks
        status=$?
        kill -KILL "$(cat "$dir/pid")" 2>/dev/null
        grep -q "balanced=0" "$dir/out" && [ $status = 0 ] &&
            [ "$(grep -c "^lb: balancer lost" "$dir/err")" = 1 ]
        say "the balancer gets SIG$signal in the middle" $?
    done
    # before a layout was told, about when, and when all have it
    for seen in '"event":"open"' '"event":"layout"' '"epoch":1,"event":"step"'; do
        rm -f "$dir/pid" "$dir/trace"
        LB_POLICY=auto,trace=$dir/trace run_stepped 3 300 120 1 50 0 3 &
        ranks=$!
        until grep -qs "$seen" "$dir/trace" || ! kill -0 $ranks; do sleep 0.05; done
        kill -KILL "$(cat "$dir/pid")"
        wait $ranks
        say "the balancer of a stepped loop is killed after $seen" $?
    done
else
    echo "# lb-balancer is not built: only static loops"
fi

for kind in none mute liar; do
    rm -f "$dir/pid"
    LB_BALANCER=$dir/$kind run 3 100 2 && grep -q "balanced=0" "$dir/out" &&
        [ "$(grep -c "^lb: " "$dir/err")" = 1 ] && is_gone
    say "a balancer that is $kind" $?
done

timeout 60 mpirun -np 3 "$plain" 20 >"$dir/out" 2>"$dir/err" &&
    [ "$(sort -u "$dir/out" | wc -l)" = 20 ] && [ "$(wc -l <"$dir/out")" = 20 ] &&
    [ "$(grep -c "of 3 ranks" "$dir/out")" = 20 ] && [ ! -s "$dir/err" ]
say "a program without MPI" $?
timeout 60 mpirun -np 3 "$top_builddir/examples/pure" 500 >"$dir/out" 2>"$dir/err" &&
    "$top_builddir/examples/pure" --serial 500 >"$dir/serial" && [ ! -s "$dir/err" ] && grep -qxFf "$dir/serial" "$dir/out"
say "rows of a program without MPI go over TCP" $?
LB_TEST_CHUNK=1 timeout 60 mpirun -np 3 "$top_builddir/examples/particles" 900 6 >"$dir/out" 2>"$dir/err" &&
    "$top_builddir/examples/particles" --serial 900 6 >"$dir/serial" && [ ! -s "$dir/err" ] && grep -qxFf "$dir/serial" "$dir/out"
say "lists that travel with their cells" $?
timeout 60 mpirun -np 3 "$top_builddir/examples/particles" --stepped 900 6 >"$dir/out" 2>"$dir/err" &&
    [ ! -s "$dir/err" ] && grep -qxFf "$dir/serial" "$dir/out"
say "the same between steps" $?
"$plain" 20 >"$dir/out" 2>"$dir/err" && [ "$(grep -c "of 1 ranks" "$dir/out")" = 20 ] && [ ! -s "$dir/err" ]
say "a program without any launcher" $?

[ $failures = 0 ]
