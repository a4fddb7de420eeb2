/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Free-running loops that some ranks close while others go on with another pass, as libclient/apart.c and close.c and
 * lbd/balancer/loops.c do it, for spin: every choice of who closes, every order of what is told, and the balancer lost at any
 * moment, also between what it tells one rank and the next.
 *
 * A rank that has closed is in a call of the program's own from then on, where it takes nothing, until no other is in the pass.
 * One that goes on tells the balancer, waits in the pass's end, and leaves it with an error, after which it takes nothing either,
 * or with all ranks.  What a rank is told may come long after.
 *
 *   RANKS       how many
 *   PLANTED=1   who closes with a balancer tells that only
 *   PLANTED=2   who has heard of it from the balancer fails in silence
 *   PLANTED=3   who has heard of it from one that goes on fails in silence
 *   PLANTED=4   the next rank, told by the one that has closed, tells nobody
 *
 * Checked: no rank waits for ever; none has an error where all go on, or all close; what is told is bounded.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef PLANTED
#define PLANTED 0
#endif

mtype = { CLOSED, PASSED_ON, GIVEN_UP, GOES_ON };

chan to[RANKS] = [2 * RANKS] of { mtype };       /* from other ranks */
chan down[RANKS] = [1] of { mtype };             /* from the balancer */
chan up = [RANKS] of { mtype };                  /* to it */
bool lost;                                       /* it is gone: what it has told still comes */
byte closed, going, failed, through, entered;    /* ranks */

#define NEXT ((me + 1) % RANKS)

proctype rank(byte me) {
    byte r = 0;

    if
    :: /* closes */
        atomic {
            closed++;
            if
            :: !lost -> up!CLOSED
            :: else
            fi
        }
#if PLANTED == 1
        if
        :: lost -> to[NEXT]!CLOSED
        :: true
        fi
#else
        to[NEXT]!CLOSED
#endif
    :: /* goes on */
        atomic {
            going++;
            entered++;
            if
            :: !lost -> up!GOES_ON
            :: else
            fi
        }
        do
        :: to[me]?CLOSED -> /* by the one that has */
#if PLANTED != 4
            for (r : 0 .. RANKS - 1) {
                if
                :: r != me -> to[r]!GIVEN_UP
                :: else
                fi
            }
            r = 0;
#endif
            failed++;
            break
        :: to[me]?PASSED_ON ->
#if PLANTED != 3
            to[NEXT]!PASSED_ON;
#endif
            failed++;
            break
        :: to[me]?GIVEN_UP -> failed++; break
        :: down[me]?CLOSED ->
#if PLANTED != 2
            to[NEXT]!PASSED_ON;
#endif
            failed++;
            break
        :: entered == RANKS -> through++; break
        od
    fi
}

proctype balancer() {
    byte r = 0;
    bool some_closed = false, some_go_on = false, told = false;

end:
    do
    :: up?CLOSED -> some_closed = true
    :: up?GOES_ON -> some_go_on = true
    :: some_closed && some_go_on && !told ->
        told = true;
        do
        :: r < RANKS -> down[r]!CLOSED; r++
        :: r == RANKS -> break
        :: lost = true; goto gone
        od
    :: lost = true; break
    od;
gone:
    skip
}

init {
    byte r;

    atomic {
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
        r = 0;
        run balancer()
    }
    closed + failed + through == RANKS;
    assert(closed == 0 || closed == RANKS || failed == going);
    assert(closed > 0 || failed == 0)
}
