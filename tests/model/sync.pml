/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the balancer in a pass of a free-running loop, key sync=yes, as libclient/report.c, sync.c and policy/balance.c do
 * it, for spin: every interleaving of a few ranks, reports and moves.
 *
 * A rank whose period is over reports and waits: it computes nothing, but serves what comes.  It goes on by the answer to this
 * report, by FINAL, or when it has lost patience.  The balancer answers all who wait when everybody has asked or has nothing
 * left, after what it decided by that.  How iterations travel is in moves.pml; here they are on their way, then there.
 *
 *   RANKS, ITERATIONS   how many, of each rank at first; ASKS, MOVES: how often each may ask, how many moves there are
 *   EARLY               FINAL comes at any moment: whatever remains stays where it is; else when nothing remains
 *   PATIENCE            so many times somebody may go on without an answer
 *   PLANTED=1           only who asks makes the balancer look whether all have asked
 *   PLANTED=2           it waits for ranks that have nothing left, too
 *   PLANTED=3           any answer is taken for the one that is waited for
 *   PLANTED=4           FINAL lets nobody go on
 *   PLANTED=5           answers go out before the moves that were decided
 *
 * Checked: nobody waits for ever (without patience, too); who goes on by an answer was heard, and has obeyed
 * what was decided by that; each iteration is run once.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef ITERATIONS
#define ITERATIONS 2
#endif
#ifndef ASKS
#define ASKS 2
#endif
#ifndef MOVES
#define MOVES 1
#endif
#ifndef PATIENCE
#define PATIENCE 0
#endif
#ifndef PLANTED
#define PLANTED 0
#endif

mtype = { PERIOD, DRY, DONE, MOVE, ANSWER, FINAL };

chan up[RANKS] = [4] of { mtype, byte, bool }; /* what; the number that is asked for an answer to, 0: none; has nothing left */
chan down[RANKS] = [6] of { mtype, byte };     /* what; MOVE: to whom, ANSWER: to what */

byte left[RANKS], coming[RANKS]; /* iterations; on their way to it */
byte asks[RANKS];                /* waits for the answer to this; 0: to none */
byte seen[RANKS];                /* the last number that the balancer has heard */
byte ordered[RANKS], obeyed[RANKS]; /* moves */
byte must[RANKS];                   /* of those ordered: decided by what was heard before the answer */
byte patience = PATIENCE, run_by_all, ended;
bool final[RANKS];

proctype rank(byte me) {
    byte n = 0, x = 0;
    bool told_dry = false;

    do
    :: asks[me] == 0 && left[me] > 0 ->
        d_step { left[me]--; run_by_all++ }
        if
        :: left[me] > 0 && n < ASKS && !final[me] -> n++; atomic { asks[me] = n; up[me]!PERIOD(n, false) }
        :: true
        fi
    :: asks[me] == 0 && left[me] == 0 && !told_dry -> told_dry = true; up[me]!DRY(0, true)
    :: coming[me] > 0 ->
        d_step { coming[me]--; left[me]++; told_dry = false }
        up[me]!DONE(0, false)
    :: down[me]?MOVE(x) ->
        obeyed[me]++;
        if
        :: left[me] > 0 && !final[me] -> d_step { left[me]--; coming[x]++ }
        :: else -> up[me]!DONE(0, left[me] == 0)
        fi;
        x = 0
    :: down[me]?ANSWER(x) ->
        d_step {
            if
            :: asks[me] != 0 && (x == asks[me] || PLANTED == 3) ->
                assert(seen[me] == asks[me]);
                assert(obeyed[me] >= must[me]);
                asks[me] = 0
            :: else
            fi;
            x = 0
        }
    :: down[me]?FINAL(_) ->
        final[me] = true;
#if PLANTED != 4
        asks[me] = 0
#endif
#if PATIENCE > 0
    :: asks[me] != 0 && patience > 0 -> d_step { patience--; asks[me] = 0 }
#endif
    :: final[me] && asks[me] == 0 && left[me] == 0 && coming[me] == 0 -> break
    od;
    skip;
    d_step { n = 0; told_dry = false; ended++ }
}

#ifdef EARLY
#define ENOUGH true
#else
#define ENOUGH (dry[0] && dry[1] && dry[RANKS - 1])
#endif
#define TAKES_PART(r) (PLANTED == 2 || !dry[r])

inline answer() {
    if
    :: all ->
        for (i : 0 .. RANKS - 1) {
            if
            :: heard[i] > 0 ->
#if PLANTED != 5
                must[i] = ordered[i];
#endif
                down[i]!ANSWER(heard[i]);
#if PLANTED != 5
                heard[i] = 0
#endif
            :: else
            fi
        }
        i = 0
    :: else
    fi
}

proctype balancer() {
    byte heard[RANKS], r = 0, i = 0, from = 0, moves = MOVES, flights = 0;
    bool dry[RANKS], all = false, over = false;
    mtype what;

end:
    do
    :: atomic {
        if
        :: up[0]?what(i, dry[0]) -> r = 0
        :: up[1]?what(i, dry[1]) -> r = 1
#if RANKS > 2
        :: up[2]?what(i, dry[2]) -> r = 2
#endif
        fi
    };
        d_step {
            heard[r] = i;
            if
            :: i > 0 -> seen[r] = i
            :: else
            fi;
            if
            :: what == DONE -> flights--
            :: else
            fi
        }
#ifdef EARLY
        if
        :: over && i > 0 -> heard[r] = 0; down[r]!ANSWER(i) /* of a pass that is over */
        :: else
        fi;
#endif
        d_step {
            all = (PLANTED != 1 || i > 0);
            for (i : 0 .. RANKS - 1) {
                all = all && (heard[i] > 0 || !TAKES_PART(i))
            }
            i = 0
        }
#if PLANTED == 5
        answer();
#endif
        /* by what all have told, or by one that has nothing left: from a rank that has some to one that has none */
        if
        :: !over && moves > 0 && (all || dry[r]) ->
            if
            :: from = 0
            :: from = RANKS - 1
            fi;
            if
            :: !dry[from] && dry[RANKS - 1 - from] ->
                moves--;
                flights++;
                ordered[from]++;
                down[from]!MOVE(RANKS - 1 - from)
            :: else
            fi;
            from = 0
        :: true
        fi;
#if PLANTED == 5
        d_step {
            for (i : 0 .. RANKS - 1) {
                must[i] = (all && heard[i] > 0 -> ordered[i] : must[i]);
                heard[i] = (all -> 0 : heard[i])
            }
            i = 0
        }
#else
        answer();
#endif
        d_step { r = 0; what = 0; all = false }
    :: !over && flights == 0 && ENOUGH ->
        over = true;
        for (i : 0 .. RANKS - 1) {
            heard[i] = 0;
            down[i]!FINAL(0)
        }
        i = 0
    od
}

init {
    byte r;

    atomic {
        for (r : 0 .. RANKS - 1) {
            left[r] = ITERATIONS;
            run rank(r)
        }
        run balancer();
        r = 0
    }
    ended == RANKS;
    assert(run_by_all == RANKS * ITERATIONS)
}
