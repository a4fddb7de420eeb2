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
 *   DIES                   rank 0 may die, at any moment; what it had sent may come or not.  Others hear of it at any moment, or
 *                          (deaf) where they wait for a rank that has died, or failed, only.  Who hears of it has failed: it runs
 *                          what it has, and ends its passes alone.  All end with one more reduction, the context's end
 *   PLANTED=1              a sending counts as complete before its header is taken
 *   PLANTED=2              rows come back while the memory they left is still the sending's
 *   PLANTED=3              a pass ends with rows on their way that are known of
 *   PLANTED=4              a rank in the barrier still gives iterations away
 *   PLANTED=5              a rank does not notice that its balancer is lost
 *   PLANTED=6              an instruction that is refused is said again without end
 *   PLANTED=7              (DIES) what is on its way to a rank that has died is taken back
 *   PLANTED=8              (DIES) who waits in a reduction does not hear that another has died
 *   PLANTED=9              (DIES) nor that another has failed
 *   PLANTED=10             (DIES) a reduction is over when all that have not died are in it
 *
 * Checked: every iteration exactly once in every pass (with CLOSES: run, or dropped by the rank that
 * closed), its row with the rank that runs it, no rank waits for ever, no run goes on for ever.
 * When a rank dies: none twice; and who comes through the context's end has not failed, and all iterations were run.
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
#define DROPPED 5   /* will not come */

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
byte entered[PASSES + 1]; /* who is in the pass's reduction; in the context's end */
byte ended;
#define BIT(r) (1 << (r))
#define EVERYBODY (BIT(RANKS) - 1)

#ifdef DIES
bool deaf, dead; /* rank 0 */
byte gone;       /* who has died or failed */
byte well;       /* who came through the context's end */
#if PLANTED == 10
#define ALL_IN(p) ((entered[p] | dead) == EVERYBODY)
#else
#define ALL_IN(p) (entered[p] == EVERYBODY)
#endif
#if PLANTED == 8
#define MISSES(p) ((gone & ~BIT(0) & ~entered[p]) != 0)
#elif PLANTED == 9
#define MISSES(p) (dead && (entered[p] & BIT(0)) == 0)
#else
#define MISSES(p) ((gone & ~entered[p]) != 0)
#endif
#else
#define ALL_IN(p) (entered[p] == EVERYBODY)
#define failed false
#endif

#define UNSENT(k) (t[k].open && t[k].from == me && (gone & BIT(t[k].to)) != 0 && !COMPLETE(k))
#define UNCOME(k) (t[k].to == me && t[k].state == RECEIVING && (gone & BIT(t[k].from)) != 0)
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
#ifdef DIES
#define ARRIVES(k) (t[k].eager || (gone & BIT(t[k].from)) == 0)
#else
#define ARRIVES(k) true
#endif
/* is_due: may the rows be received now? */
#if PLANTED == 2
#define DUE(k) (t[k].pass == pass)
#else
#define DUE(k) (t[k].pass == pass && !ANY_OF(SENDS, t[k].mask))
#endif
#if PLANTED == 3
#define PASS_OVER (waiting && ALL_IN(pass))
#else
#define PASS_OVER (waiting && ALL_IN(pass) && !EXPECTED)
#endif
#if PLANTED == 4
#define OBEYS (nmoves < MOVES && final < PASSES && !failed)
#else
#define OBEYS (nmoves < MOVES && final <= pass && !waiting && !failed)
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
    :: t[k].state >= RECEIVED && !t[k].open ->
        t[k].from = 0;
        t[k].to = 0;
        t[k].mask = 0;
        t[k].pass = 0;
        t[k].eager = false;
        t[k].state = RECEIVED
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
    :: d_step { t[k].state == SENT && t[k].to == me && !failed -> t[k].state = TAKEN } \
    :: d_step { t[k].state == TAKEN && t[k].to == me && DUE(k) -> begin_receiving(k) } \
    :: d_step { t[k].state == RECEIVING && t[k].to == me && ARRIVES(k) -> received(k) } \
    :: d_step { t[k].open && t[k].from == me && COMPLETE(k) -> finish(k) }

#ifdef DIES
/* lbc_ctx_fail and lbc_exchange_drop, or a death: what the others have not seen of it they may not see any more. */
#if PLANTED == 7
#define TAKE_BACK(k) \
    owned[me] = owned[me] | t[k].mask; \
    remaining[me] = remaining[me] | t[k].mask;
#else
#define TAKE_BACK(k)
#endif
#define DROP(k) \
    if \
    :: t[k].open && t[k].from == me -> \
        t[k].open = false; \
        TAKE_BACK(k) \
        if \
        :: t[k].state == SENT -> t[k].state = DROPPED \
        :: true \
        fi; \
        forget(k) \
    :: t[k].to == me && (t[k].state == TAKEN || t[k].state == RECEIVING) -> \
        t[k].state = DROPPED; \
        forget(k) \
    :: else \
    fi;
inline leave() {
    gone = gone | BIT(me);
    waiting = false;
    DROP(0)
    DROP(1)
#if MOVES > 2
    DROP(2)
#endif
#if MOVES > 3
    DROP(3)
#endif
}
#define WAITS (ANY(UNSENT) || ANY(UNCOME) || (waiting && MISSES(pass)))
#define HEARS (!failed && gone != 0 && (!deaf || WAITS))
#endif

proctype rank(byte me) {
    byte pass = 0, final = 0; /* no more moves in the passes before `final` */
    byte m = 0;
    bool waiting = false, closing = false;
#ifdef DIES
    bool failed = false;
#endif

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
#ifdef DIES
        :: atomic { me == 0 -> dead = true; leave() } -> goto over
        :: atomic { HEARS -> failed = true; leave() }
        :: failed && remaining[me] == 0 -> break
#endif
        /* try_end of pass.c */
        :: d_step { remaining[me] == 0 && !waiting && !failed && final > pass && !SENDING && !EXPECTED ->
            entered[pass] = entered[pass] | BIT(me);
            waiting = true }
        :: d_step { remaining[me] == 0 && PASS_OVER -> waiting = false } -> break
        od;
        pass++
    :: else -> break
    od;
#ifdef DIES
    if
    :: failed -> goto over
    :: else -> entered[PASSES] = entered[PASSES] | BIT(me)
    fi;
    if /* end_together of finalize.c */
    :: ALL_IN(PASSES) -> well = well | BIT(me)
    :: MISSES(PASSES) -> gone = gone | BIT(me)
    :: me == 0 -> dead = true; gone = gone | BIT(me)
    fi;
over:
#endif
    ended++
}

inline all_is_well() {
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

init {
    byte r, all;

    atomic {
#ifdef DIES
        if
        :: deaf = true
        :: deaf = false
        fi;
#endif
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
#ifdef DIES
        for (r : 0 .. PASSES - 1) {
            assert(handed[r] == ALL || well == 0)
        }
        assert(dead || well == EVERYBODY);
        if
        :: !dead -> all_is_well()
        :: else
        fi
#else
        all_is_well()
#endif
    }
}
