/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed data on its way from one layout of a stepped loop to the next, as libclient/carry.c carries it, for spin: three ranks,
 * every pair of layouts, every order of messages.
 *
 * What a rank has for another one is a set of iterations, whose first ones go in a round.  With ANY these are not those of two
 * layouts, but any: also in a circle, and both ways between two ranks, which layouts of blocks in order never ask for.
 * Iterations have sizes of their own, some of them more than there is room for (MOST), which is 2: then one goes alone.
 * Between two ranks messages come in order, and say what they are only here, so that one which is taken for another is seen:
 * each round's sizes and lots, and what comes in the next exchange.
 * A message is either copied when it is sent, or its sender waits until it is received: that is drawn for each lot, and for all
 * that are no lots at once.
 *
 *   N                      iterations
 *   SIZED                  the size of an iteration: 2 (SIZED=1), 1 or 3 (2), or any of these (3)
 *   ANY                    any iteration goes anywhere
 *   DIES                   so many ranks may die, at any moment; of a dead one a rank learns when it waits for it, and of one that
 *                          has failed by that.  What a dead one had sent may come or not
 *   PLANTED=1              the size of what has no room is not told: those that it is for are told in a later round
 *   PLANTED=2              what a rank sends has to be received before it receives itself
 *   PLANTED=3              a place is made for all that comes at once
 *   PLANTED=4              all that goes is packed at once
 *   PLANTED=5              what found no room is told with the numbers of the round before
 *   PLANTED=6              who has sent all leaves
 *   PLANTED=7              what is larger than the room waits for room
 *   PLANTED=8              a round ends before what was sent in it was received
 *   PLANTED=9              who waits for a rank that has died is not told
 *   PLANTED=10             nor is who waits for one that has failed
 *   PLANTED=11             who has failed goes on as if all had come
 *
 * Checked: each iteration's data comes once, to whom it is for; never more of it in a rank's memory than there is room for,
 * or one iteration, going out as coming in; no more rounds than iterations; no message is taken for another; no rank waits for
 * ever.  When ranks die: who goes on has all that is its own, none is at two ranks, all others fail.
 */
#ifndef N
#define N 4 /* as bits of a byte */
#endif
#ifndef SIZED
#define SIZED 2
#endif
#ifndef PLANTED
#define PLANTED 0
#endif
#define RANKS 3
#define MOST 2

/* A rank's exchange, and what its messages say. */
#define BEGIN 0
#define SIZES 1 /* of a round's lots: how many iterations, bytes */
#define LOTS 2  /* which iterations; bytes */
#define NEXT 3  /* after the move */
#define TO(from, to) (RANKS * (from) + (to))

chan c[RANKS * RANKS] = [2 * N + 2] of { byte, byte, byte, bool };
byte out[RANKS * RANKS], in[RANKS * RANKS]; /* what has still to go, to come: by TO(from, to) */
byte lot[RANKS * RANKS], told[RANKS * RANKS], bytes[RANKS * RANKS], come[RANKS * RANKS]; /* of the present round */
byte unread[RANKS * RANKS];                 /* messages that lie in their sender's memory */
byte size[N];
byte data[RANKS], own[RANKS];               /* with the program; in the next layout */
bool copied;                                /* small messages are */
byte gone;                                  /* who has died, or failed */
byte well;                                  /* who is through */
#ifdef DIES
byte deaths, dead;
#endif

#define BIT(r) (1 << (r))

/* Who waits for one that is gone is told. */
#if PLANTED == 9
#define GONE(p) false
#elif PLANTED == 10
#define GONE(p) ((gone & dead & BIT(p)) != 0)
#else
#define GONE(p) ((gone & BIT(p)) != 0)
#endif

/* A message goes; where it is not copied its memory is free when it is received. */
inline post(p, what, much) {
    if
    :: phase == LOTS || copied -> c[TO(me, p)]!phase, what, much, true
    :: phase == LOTS || !copied -> c[TO(me, p)]!phase, what, much, false; unread[TO(me, p)]++
    fi
}
#define SENT (unread[TO(me, 0)] == 0 && unread[TO(me, 1)] == 0 && unread[TO(me, 2)] == 0)

/* What a rank has not sent whole when it is gone does not come. */
#define COMES(p) ((todo & BIT(p)) != 0 && nempty(c[TO(p, me)]) && (c[TO(p, me)]?[_, _, _, true] || (gone & BIT(p)) == 0))
/* What is sent is looked at when all that is waited for is there. */
#define MISSES(p) (GONE(p) && (todo == 0 -> unread[TO(me, p)] != 0 : (todo & BIT(p)) != 0))

/* One message of an exchange from a rank. */
inline receive(p) {
    c[TO(p, me)]?k, m, b, copy;
    assert(k == phase);
    unread[TO(p, me)] = unread[TO(p, me)] - !copy;
    todo = todo & ~BIT(p);
    if
    :: phase == SIZES -> told[TO(p, me)] = m; come[TO(p, me)] = b
    :: phase == LOTS ->
        assert(b == come[TO(p, me)]);
        assert(((data[0] | data[1] | data[2]) & m) == 0);
        b = in[TO(p, me)];
        k = 0;
        do
        :: k < told[TO(p, me)] -> b = b & (b - 1); k++
        :: else -> break
        od;
        assert(m == (in[TO(p, me)] & ~b)); /* the first ones, as many as was told */
        arrived[p] = m
    :: else
    fi;
    k = 0;
    m = 0;
    b = 0;
    copy = false
}

#define COUNT(x) (((x) & 1) + (((x) >> 1) & 1) + (((x) >> 2) & 1) + (((x) >> 3) & 1))
#if PLANTED == 4
#define ROOM_OUT true
#elif PLANTED == 7
#define ROOM_OUT (b <= MOST - held)
#else
#define ROOM_OUT (held == 0 || b <= MOST - held)
#endif
#if PLANTED == 3
#define ROOM_IN true
#else
#define ROOM_IN (held == 0 || come[TO(last, me)] <= MOST - held)
#endif

/* pack_lots and lbc_packed_fit: of the first iterations for each rank as much as its part of the room, one at least. */
inline pack_lots() {
    d_step {
        for (p : 0 .. RANKS - 1) {
            k = k + (out[TO(me, p)] != 0)
        }
        for (p : 0 .. RANKS - 1) {
            if
            :: out[TO(me, p)] != 0 ->
                share = (MOST - held) / k;
                k--;
                do
                :: i < N && (out[TO(me, p)] & BIT(i)) == 0 -> i++
                :: i < N && (out[TO(me, p)] & BIT(i)) != 0 && (m == 0 || share < 0 || b + size[i] <= share) ->
                    m = m | BIT(i);
                    b = b + size[i];
                    i++
                :: else -> break
                od;
                if
                :: ROOM_OUT ->
                    lot[TO(me, p)] = m;
                    bytes[TO(me, p)] = b;
                    held = held + b;
                    assert(held <= MOST || (held == b && COUNT(m) == 1));
                    assert((data[me] & m) == m);
                    data[me] = data[me] & ~m
                :: else
                fi;
                m = 0;
                b = 0;
                i = 0
            :: else
            fi
        }
        p = 0;
        share = 0;
        held = 0
    }
}

#if PLANTED == 1
#define TELLS(p) (lot[TO(me, p)] != 0)
#else
#define TELLS(p) (out[TO(me, p)] != 0)
#endif

/* A round begins: the sizes of all lots that have still to come or go. */
inline begin_round() {
    rounds++;
    assert(rounds <= N);
    pack_lots();
    phase = SIZES;
    for (p : 0 .. RANKS - 1) {
        if
        :: TELLS(p) -> post(p, COUNT(lot[TO(me, p)]), bytes[TO(me, p)])
        :: else
        fi;
        todo = todo | (in[TO(p, me)] != 0 -> BIT(p) : 0)
    }
    p = 0
}

inline start_lots() {
    phase = LOTS;
    for (p : 0 .. RANKS - 1) {
        if
        :: lot[TO(me, p)] != 0 -> post(p, lot[TO(me, p)], bytes[TO(me, p)])
        :: else
        fi
    }
    p = 0
}

/* receive_lots: the next ranks' lots that there is room for. */
inline receive_more() {
    d_step {
        do
        :: last < RANKS && told[TO(last, me)] == 0 && come[TO(last, me)] == 0 -> last++
        :: last < RANKS && (told[TO(last, me)] != 0 || come[TO(last, me)] != 0) && ROOM_IN ->
            assert(come[TO(last, me)] >= 1 && told[TO(last, me)] >= 1); /* make_room */
            assert(told[TO(last, me)] <= COUNT(in[TO(last, me)]));
            held = held + come[TO(last, me)];
            assert(held <= MOST || (held == come[TO(last, me)] && told[TO(last, me)] == 1));
            todo = todo | BIT(last);
            last++
        :: else -> break
        od;
        held = 0
    }
}

/* take_lot, of what has come */
inline take_in() {
    d_step {
        for (p : 0 .. RANKS - 1) {
            data[me] = data[me] | arrived[p];
            in[TO(p, me)] = in[TO(p, me)] & ~arrived[p];
            arrived[p] = 0
        }
        p = 0
    }
}

/* and of what has gone: the round is over. */
inline take_out() {
    d_step {
        for (p : 0 .. RANKS - 1) {
            assert(lot[TO(me, p)] == 0 || unread[TO(me, p)] == 0);
            out[TO(me, p)] = out[TO(me, p)] & ~lot[TO(me, p)];
            lot[TO(me, p)] = 0;
#if PLANTED != 5
            bytes[TO(me, p)] = 0;
#endif
            told[TO(p, me)] = 0;
            come[TO(p, me)] = 0
        }
        p = 0;
        last = 0
    }
}

#if PLANTED == 6
#define THROUGH ((out[TO(me, 0)] | out[TO(me, 1)] | out[TO(me, 2)]) == 0)
#else
#define THROUGH ((out[TO(me, 0)] | out[TO(me, 1)] | out[TO(me, 2)] | in[TO(0, me)] | in[TO(1, me)] | in[TO(2, me)]) == 0)
#endif

/* lbc_carry_run; then the next exchange, here of the same ranks */
inline go_on() {
    if
    :: !THROUGH -> begin_round()
    :: else ->
        phase = NEXT;
        for (p : 0 .. RANKS - 1) {
            if
            :: (takers & BIT(p)) != 0 -> post(p, 0, 0)
            :: else
            fi
        }
        p = 0;
        todo = givers
    fi
}

#if PLANTED == 2
#define MAY_RECEIVE SENT
#else
#define MAY_RECEIVE true
#endif
#if PLANTED == 8
#define MAY_END true
#else
#define MAY_END SENT
#endif

proctype rank(byte me) {
    byte phase = BEGIN, rounds = 0, p = 0, k = 0, m = 0, b = 0, i = 0, todo = 0, last = 0, takers = 0, givers = 0;
    byte arrived[RANKS];
    short share = 0, held = 0;
    bool copy = false;

    do
    :: atomic { phase == BEGIN ->
        for (p : 0 .. RANKS - 1) {
            takers = takers | (out[TO(me, p)] != 0 -> BIT(p) : 0);
            givers = givers | (in[TO(p, me)] != 0 -> BIT(p) : 0)
        }
        p = 0;
        if
        :: !THROUGH -> begin_round()
        :: else -> phase = NEXT /* lbc_carry_create makes none */
        fi }
    :: d_step { COMES(0) -> receive(0) }
    :: d_step { COMES(1) -> receive(1) }
    :: d_step { COMES(2) -> receive(2) }
    :: atomic { phase == SIZES && todo == 0 && SENT -> start_lots() }
    :: atomic { phase == LOTS && todo == 0 && last < RANKS && MAY_RECEIVE -> take_in(); receive_more() }
    :: atomic { phase == LOTS && todo == 0 && last == RANKS && MAY_END -> take_in(); take_out(); go_on() }
    :: d_step { phase == NEXT && todo == 0 && SENT ->
        assert(data[me] == own[me]);
        well = well | BIT(me) } -> break
#ifdef DIES
#if PLANTED == 11
    :: d_step { MISSES(0) || MISSES(1) || MISSES(2) ->
        for (p : 0 .. RANKS - 1) {
            in[TO(p, me)] = 0;
            told[TO(p, me)] = 0;
            unread[TO(me, p)] = 0
        }
        p = 0;
        todo = 0 }
#else
    :: MISSES(0) || MISSES(1) || MISSES(2) -> break
#endif
    :: d_step { deaths < DIES -> deaths++; dead = dead | BIT(me) } -> break
#endif
    od;
    skip;
    atomic { /* its connections end; what is not there yet may come, or not */
        phase = BEGIN;
        last = 0;
        todo = 0;
        rounds = 0;
        takers = 0; givers = 0;
#ifdef DIES
        if
        :: (well & BIT(me)) == 0 ->
            gone = gone | BIT(me);
            if
            :: true
            :: for (p : 0 .. RANKS - 1) {
                   do
                   :: nempty(c[TO(me, p)]) -> c[TO(me, p)]?k, m, b, copy
                   :: empty(c[TO(me, p)]) -> break
                   od
               }
            fi;
            p = 0; k = 0; m = 0; b = 0; copy = false
        :: else
        fi
#endif
    }
}

/* Layouts are blocks in order. */
#ifdef ANY
#define LEAST(x) 0
#else
#define LEAST(x) x
#endif

init {
    byte r, i, x, y;

    atomic {
        if
        :: copied = true
        :: copied = false
        fi;
        for (i : 0 .. N - 1) {
            if
#if SIZED != 2
            :: size[i] = 2
#endif
#if SIZED > 1
            :: size[i] = 1
            :: size[i] = 3
#endif
            fi;
            select (x : LEAST(x) .. RANKS - 1);
            select (y : LEAST(y) .. RANKS - 1);
            data[x] = data[x] | BIT(i);
            own[y] = own[y] | BIT(i);
            if
            :: x != y -> out[TO(x, y)] = out[TO(x, y)] | BIT(i); in[TO(x, y)] = in[TO(x, y)] | BIT(i)
            :: else
            fi
        }
        x = 0;
        y = 0;
        i = 0;
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
        r = 0
    }
}
