/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The moves of a free-running loop, as libclient/pass.c, exchange.c, outgoing.c and incoming.c make them, for
 * spin: every interleaving of a few ranks, iterations, moves and passes.
 *
 * The balancer has no process here.  A rank may at any moment be told to move anything anywhere,
 * that the pass is final, or that the balancer is lost; which of these it is told is open.  So
 * instructions that are lost, late, repeated, senseless or of an old epoch are among the runs, and
 * so is a balancer that dies at any moment for some ranks sooner than for others.  (An instruction
 * that a rank refuses changes nothing, so what the check of epochs refuses needs no step here: the
 * model obeys all that can be obeyed.)  The one thing a balancer owes: in the end each rank is told
 * that the pass is final, or loses it.
 *
 *   RANKS, PASSES, MOVES   how many; iteration i is first owned by rank i % RANKS
 *   CLOSES                 rank 0 may close the loop early, in the last pass
 *   PLANTED=1              a sending counts as complete before its header is taken
 *   PLANTED=2              rows come back while the memory they left is still the sending's
 *   PLANTED=3              a pass ends with rows on their way that are known of
 *   PLANTED=4              a rank in the barrier still gives iterations away
 *   PLANTED=5              a rank does not notice that its balancer is lost
 *   PLANTED=6              an instruction that is refused is said again without end
 *
 * Checked: every iteration exactly once in every pass (with CLOSES: run, or dropped by the rank that
 * closed), its row with the rank that runs it, no rank waits for ever, no run goes on for ever.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef PASSES
#define PASSES 2
#endif
#ifndef MOVES
#define MOVES 3 /* 2 to 4 */
#endif
#ifndef PLANTED
#define PLANTED 0
#endif
#define N 3 /* iterations, as bits of a byte */
#define ALL 7

/* A transfer, by how far its destination is with it. */
#define NONE 0
#define SENT 1      /* MPI_Issend of the header, MPI_Isend of the rows */
#define TAKEN 2     /* the header was received */
#define RECEIVING 3 /* MPI_Irecv of the rows */
#define RECEIVED 4  /* the destination owns the iterations */

typedef transfer {
    byte state, from, to, mask, pass;
    bool eager; /* the rows were copied when sent; else they are read where they lie */
    bool open   /* the source has not seen yet that it is complete */
};

transfer t[MOVES];
byte nmoves;
byte owned[RANKS], remaining[RANKS];
byte rows[RANKS];     /* whose contents are in this rank's memory */
byte handed[PASSES];  /* iterations that were handed to a program, or dropped */
byte entered[PASSES]; /* ranks in the pass's barrier */
byte ended;

#define SENDS(k, mine) (t[k].open && t[k].from == me && (t[k].mask & (mine)) != 0)
#define EXPECTS(k) (t[k].to == me && t[k].pass == pass && (t[k].state == TAKEN || t[k].state == RECEIVING))
#define WRITES(k, mine) (t[k].to == me && t[k].state == RECEIVING && (t[k].mask & (mine)) != 0)
#if MOVES == 2
#define ANY(what) (what(0) || what(1))
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine))
#elif MOVES == 3
#define ANY(what) (what(0) || what(1) || what(2))
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine) || what(2, mine))
#else
#define ANY(what) (what(0) || what(1) || what(2) || what(3))
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine) || what(2, mine) || what(3, mine))
#endif

/* lbc_exchange_sending, lbc_incoming_expected */
#define SENDING ANY_OF(SENDS, ALL)
#define EXPECTED ANY(EXPECTS)

/* Is a source's sending complete, as MPI_Testall sees it? */
#if PLANTED == 1
#define COMPLETE(k) (t[k].state != NONE)
#else
#define COMPLETE(k) (t[k].state == RECEIVED || (t[k].eager && t[k].state >= TAKEN))
#endif
/* is_due: may the rows be received now? */
#if PLANTED == 2
#define DUE(k) (t[k].pass == pass)
#else
#define DUE(k) (t[k].pass == pass && !ANY_OF(SENDS, t[k].mask))
#endif
#if PLANTED == 3
#define PASS_OVER (waiting && entered[pass] == RANKS)
#else
#define PASS_OVER (waiting && entered[pass] == RANKS && !EXPECTED)
#endif
#if PLANTED == 4
#define OBEYS (nmoves < MOVES && final < PASSES)
#else
#define OBEYS (nmoves < MOVES && final <= pass && !waiting)
#endif

/* A program's next iteration; it is handed out as the first one that remains. */
inline execute() {
    if
    :: (remaining[me] & 1) -> m = 1
    :: !(remaining[me] & 1) && (remaining[me] & 2) -> m = 2
    :: !(remaining[me] & 3) -> m = 4
    fi;
    assert((handed[pass] & m) == 0);
    assert((owned[me] & m) == m);
    assert((rows[me] & m) == m);
    handed[pass] = handed[pass] | m;
    remaining[me] = remaining[me] & ~m;
    m = 0
}

/* obey and give_away of exchange.c, start of outgoing.c: any part of what remains to any other rank. */
inline obey() {
    if
    :: (remaining[me] & 1) -> m = 1
    :: (remaining[me] & 2) -> m = 2
    :: (remaining[me] & 4) -> m = 4
    :: (remaining[me] & 3) == 3 -> m = 3
    :: (remaining[me] & 5) == 5 -> m = 5
    :: (remaining[me] & 6) == 6 -> m = 6
    :: remaining[me] == 7 -> m = 7
    fi;
    if
    :: t[nmoves].to = (me + 1) % RANKS
#if RANKS > 2
    :: t[nmoves].to = (me + 2) % RANKS
#endif
    fi;
    if
    :: t[nmoves].eager = true
    :: t[nmoves].eager = false
    fi;
    t[nmoves].from = me;
    t[nmoves].mask = m;
    t[nmoves].pass = pass;
    t[nmoves].open = true;
    t[nmoves].state = SENT;
    owned[me] = owned[me] & ~m;
    remaining[me] = remaining[me] & ~m;
    nmoves++;
    m = 0
}

/* Of a transfer that is over nothing matters any more: fewer states. */
inline forget(k) {
    if
    :: t[k].state == RECEIVED && !t[k].open ->
        t[k].from = 0;
        t[k].to = 0;
        t[k].mask = 0;
        t[k].pass = 0;
        t[k].eager = false
    :: else
    fi
}

/* go_on of incoming.c, when the rows are due. */
inline begin_receiving(k) {
    assert((owned[me] & t[k].mask) == 0); /* fits_loop */
    t[k].state = RECEIVING
}

inline received(k) {
    assert(t[k].eager || (rows[t[k].from] & t[k].mask) == t[k].mask);
    rows[me] = rows[me] | t[k].mask;
    owned[me] = owned[me] | t[k].mask;
    remaining[me] = remaining[me] | t[k].mask;
    t[k].state = RECEIVED;
    forget(k)
}

/* finish of outgoing.c: memory whose rows are elsewhere is given back. */
inline finish(k) {
    t[k].open = false;
    m = t[k].mask & ~owned[me];
    assert(!ANY_OF(WRITES, m));
    rows[me] = rows[me] & ~m;
    m = 0;
    forget(k)
}

#define TRANSFER(k) \
    :: d_step { t[k].state == SENT && t[k].to == me -> t[k].state = TAKEN } \
    :: d_step { t[k].state == TAKEN && t[k].to == me && DUE(k) -> begin_receiving(k) } \
    :: d_step { t[k].state == RECEIVING && t[k].to == me -> received(k) } \
    :: d_step { t[k].open && t[k].from == me && COMPLETE(k) -> finish(k) }

proctype rank(byte me) {
    byte pass = 0, final = 0; /* no more moves in the passes before `final` */
    byte m = 0;
    bool waiting = false, closing = false;

    do
    :: pass < PASSES ->
        remaining[me] = owned[me];
        do
        :: d_step { !closing && remaining[me] != 0 -> execute() }
        :: atomic { OBEYS && !closing && remaining[me] != 0 -> obey() }
        TRANSFER(0)
        TRANSFER(1)
#if MOVES > 2
        TRANSFER(2)
#endif
#if MOVES > 3
        TRANSFER(3)
#endif
#if PLANTED == 5
        :: final <= pass && pass == 0 -> final = pass + 1
#else
        :: final <= pass -> final = pass + 1 /* FINAL */
        :: final < PASSES -> final = PASSES  /* the balancer is lost: no more moves, in no pass */
#endif
#if PLANTED == 6
        :: final <= pass -> skip
#endif
#ifdef CLOSES
        :: me == 0 && pass == PASSES - 1 && !closing -> closing = true
        :: d_step { closing && remaining[me] != 0 -> /* lbc_pass_abandon */
            assert((handed[pass] & remaining[me]) == 0);
            handed[pass] = handed[pass] | remaining[me];
            remaining[me] = 0 }
#endif
        /* try_end of pass.c */
        :: d_step { remaining[me] == 0 && !waiting && final > pass && !SENDING && !EXPECTED ->
            entered[pass]++;
            waiting = true }
        :: d_step { remaining[me] == 0 && PASS_OVER -> waiting = false } -> break
        od;
        pass++
    :: else -> break
    od;
    ended++
}

init {
    byte r, all;

    atomic {
        for (r : 0 .. N - 1) {
            owned[r % RANKS] = owned[r % RANKS] | (1 << r);
            rows[r % RANKS] = owned[r % RANKS]
        }
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
        r = 0
    }
    ended == RANKS;
    d_step {
        for (r : 0 .. PASSES - 1) {
            assert(handed[r] == ALL)
        }
        for (r : 0 .. RANKS - 1) {
            assert((all & owned[r]) == 0);
            assert((rows[r] & owned[r]) == owned[r]);
            all = all | owned[r]
        }
        assert(all == ALL);
        for (r : 0 .. MOVES - 1) {
            assert(!t[r].open && (t[r].state == NONE || t[r].state == RECEIVED))
        }
    }
}
