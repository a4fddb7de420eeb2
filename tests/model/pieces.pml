/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves of packed iterations, piece by piece, as libclient/give.c, packed.h, outgoing.c and incoming.c make them, for spin:
 * every interleaving of a few ranks, moves, pieces and passes.  What moves as one piece is in moves.pml, which says more
 * of the balancer: a rank may at any moment be told anything, or that it is lost, which is what its death is to a rank.
 *
 * A piece is one iteration here, so that each move of several has pieces under way and others still to go.  An iteration has
 * rows, which are read where they lie, and packed data, which leaves the program when its piece is made and comes to
 * the other when it is unpacked.  CREDIT pieces may be in a rank's memory on their way out, and as many on their way in.
 * Between two pieces the rest's data may have become too large to be packed: then it stays, and a piece without an iteration ends
 * the move.
 *
 *   RANKS, PASSES, MOVES   how many; iteration i is first owned by rank i % RANKS
 *   SLOTS                  for transfers that are not over; it is checked that there are enough
 *   CLOSES                 rank 0 may close the loop early, in the last pass
 *   BREAKS                 a rank's transport may fail at any moment, and then all others' do at some time
 *   DIES                   rank 0 may die instead, at any moment; others fail when they hear of it, or of one that has failed:
 *                          at any moment after it, or (deaf) where they wait for it only
 *   PLANTED=1              what is still to go is run here all the same
 *   PLANTED=2              the room of a piece that came is not given back
 *   PLANTED=3              a rank enters the barrier with pieces still to go
 *   PLANTED=4              when the transport fails what is on its way is taken back, too
 *   PLANTED=5              a piece is received though there is no room for it
 *   PLANTED=6              rows come back while the memory they left is still the sending's
 *   PLANTED=7              a move is told of when its last piece is begun
 *   PLANTED=8              what became too large is not taken back
 *   PLANTED=9              what is still to go is forgotten with the balancer
 *   PLANTED=10             a piece is made though there is no room for it
 *   PLANTED=11             what is still to go is not taken back when the transport fails
 *   PLANTED=12             room for a piece is asked for by who has run out of what remains only
 *   PLANTED=13             (DIES) who waits for what comes from a rank that has died does not hear of it
 *   PLANTED=14             (DIES) who waits for a rank that has failed does not hear of it
 *
 * Checked: every iteration exactly once in every pass (with CLOSES: run, or dropped by the rank that closed), with its rows
 * and its data; never more pieces than CREDIT in a rank's memory; each move told of once by both ends, when all of it is
 * through; no rank waits for ever.  When a transport fails: none twice, and if one is missing a rank has said so.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef PASSES
#define PASSES 1
#endif
#ifndef MOVES
#define MOVES 2 /* 1 to 3 */
#endif
#ifndef CREDIT
#define CREDIT 1
#endif
#ifndef SLOTS
#define SLOTS 4 /* 3 to 6 */
#endif
#ifndef PLANTED
#define PLANTED 0
#endif
#define N 3 /* iterations, as bits of a byte */
#define ALL 7

/* A transfer, by how far its destination is with it. */
#define NONE 0
#define SENT 1      /* the header, and what goes with it */
#define TAKEN 2     /* the header was received */
#define RECEIVING 3 /* there is a place for rows and data */
#define RECEIVED 4  /* the destination owns the iteration */
#define DROPPED 5   /* will not come */

typedef transfer {
    byte state, from, to, mask, pass, part_of;
    bool last;  /* of its move */
    bool eager; /* the rows were copied when sent; else they are read where they lie */
    bool open   /* the source has not seen yet that it is complete */
};

typedef give {
    byte from, to, rest, pieces; /* pieces under way */
    bool begun;                  /* the last piece was begun */
    bool going, sent, received; /* told of by its ends */
};

transfer t[SLOTS];
give g[MOVES];
byte nmoves;
byte owned[RANKS], remaining[RANKS];
byte rows[RANKS], data[RANKS]; /* whose contents are in this rank's memory; with its program */
byte out[RANKS], in[RANKS];    /* pieces in memory */
byte handed[PASSES];           /* iterations that were handed to a program, or dropped */
byte entered[PASSES];          /* who is in the pass's barrier */
byte ended;
bool broken, said; /* a transport has failed; a rank has said that results are incomplete */
bool dead;         /* rank 0 */
#define BIT(r) (1 << (r))
#ifdef DIES
bool deaf;
byte gone; /* who has died or failed */
#if PLANTED == 14
#define GONE (gone & BIT(0))
#else
#define GONE gone
#endif
#endif

#if SLOTS == 3
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine) || what(2, mine))
#define EACH(what) what(0) what(1) what(2)
#elif SLOTS == 4
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine) || what(2, mine) || what(3, mine))
#define EACH(what) what(0) what(1) what(2) what(3)
#elif SLOTS == 5
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine) || what(2, mine) || what(3, mine) || what(4, mine))
#define EACH(what) what(0) what(1) what(2) what(3) what(4)
#else
#define ANY_OF(what, mine) (what(0, mine) || what(1, mine) || what(2, mine) || what(3, mine) || what(4, mine) || what(5, mine))
#define EACH(what) what(0) what(1) what(2) what(3) what(4) what(5)
#endif
#if MOVES == 1
#define ANY_GIVE(what) (what(0))
#define EACH_GIVE(what) what(0)
#elif MOVES == 2
#define ANY_GIVE(what) (what(0) || what(1))
#define EACH_GIVE(what) what(0) what(1)
#else
#define ANY_GIVE(what) (what(0) || what(1) || what(2))
#define EACH_GIVE(what) what(0) what(1) what(2)
#endif

#define SENDS(k, mine) (t[k].open && t[k].from == me && (t[k].mask & (mine)) != 0)
#define OPEN(k, none) (t[k].open && t[k].from == me)
#define EXPECTS(k, mine) (t[k].to == me && t[k].pass == mine && (t[k].state == TAKEN || t[k].state == RECEIVING))
#define COMES(k, none) (t[k].to == me && (t[k].state == TAKEN || t[k].state == RECEIVING))
#define WRITES(k, mine) (t[k].to == me && t[k].state == RECEIVING && (t[k].mask & (mine)) != 0)
#define GIVES(x) (g[x].going && g[x].from == me)

/* is_sending of pass.c; lbc_incoming_expected */
#if PLANTED == 3
#define SENDING ANY_OF(OPEN, 0)
#else
#define SENDING (ANY_OF(OPEN, 0) || ANY_GIVE(GIVES))
#endif
#define EXPECTED ANY_OF(EXPECTS, pass)

/* Is a source's sending complete? */
#define COMPLETE(k) (t[k].state == RECEIVED || (t[k].eager && t[k].state >= TAKEN))
/* is_due, and room for what is packed */
#if PLANTED == 6
#define DUE(k) (t[k].pass == pass)
#else
#define DUE(k) (t[k].pass == pass && !ANY_OF(SENDS, t[k].mask))
#endif
#if PLANTED == 5
#define ROOM_IN(k) true
#else
#define ROOM_IN(k) (t[k].mask == 0 || in[me] < CREDIT)
#endif
#if PLANTED == 10
#define ROOM_OUT(x) true
#elif PLANTED == 12
#define ROOM_OUT(x) (remaining[me] != 0 && out[me] < CREDIT)
#else
#define ROOM_OUT(x) (g[x].rest == 0 || out[me] < CREDIT)
#endif
/* what one that has died or failed has not sent whole does not come */
#ifdef DIES
#define ARRIVES(k) (t[k].eager || (gone & BIT(t[k].from)) == 0)
#define UNSENT(k, none) (t[k].open && t[k].from == me && (GONE & BIT(t[k].to)) != 0 && !COMPLETE(k))
#if PLANTED == 13
#define UNCOME(k, none) false
#else
#define UNCOME(k, none) (t[k].to == me && t[k].state == RECEIVING && (GONE & BIT(t[k].from)) != 0)
#endif
#define WAITS (ANY_OF(UNSENT, 0) || ANY_OF(UNCOME, 0) || (waiting && (GONE & ~entered[pass]) != 0))
#define FAILS (gone != 0 && (!deaf || WAITS))
#else
#define ARRIVES(k) true
#define FAILS true
#endif
#define OBEYS (nmoves < MOVES && final <= pass && !waiting && !failed)

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
    assert((data[me] & m) == m);
    handed[pass] = handed[pass] | m;
    remaining[me] = remaining[me] & ~m;
    m = 0
}

/* obey of exchange.c and lbc_give_begin: two iterations or more, any that remain, to any other rank. */
inline obey() {
    if
    :: (remaining[me] & 3) == 3 -> m = 3
    :: (remaining[me] & 5) == 5 -> m = 5
    :: (remaining[me] & 6) == 6 -> m = 6
    :: remaining[me] == 7 -> m = 7
    :: remaining[me] != 7 -> m = remaining[me]
    fi;
    if
    :: g[nmoves].to = (me + 1) % RANKS
#if RANKS > 2
    :: g[nmoves].to = (me + 2) % RANKS
#endif
    fi;
    g[nmoves].from = me;
    g[nmoves].rest = m;
    g[nmoves].going = true;
#if PLANTED != 1
    remaining[me] = remaining[me] & ~m;
#endif
    nmoves++;
    m = 0
}

inline tell(x) {
    assert(!g[x].sent && g[x].pieces == 0 && g[x].rest == 0);
    g[x].sent = true;
    g[x].going = false;
    g[x].begun = false
}

/* send_piece of give.c: the first iteration that is still to go; none, when the rest was taken back. */
inline send_piece(x) {
    if
    :: (g[x].rest & 1) -> m = 1
    :: !(g[x].rest & 1) && (g[x].rest & 2) -> m = 2
    :: !(g[x].rest & 3) -> m = g[x].rest
    fi;
    slot = 0;
    do
    :: slot < SLOTS && t[slot].state != NONE -> slot++
    :: else -> break
    od;
    assert(slot < SLOTS);
    if
    :: t[slot].eager = true
    :: t[slot].eager = false
    fi;
    g[x].rest = g[x].rest & ~m;
    g[x].pieces++;
    g[x].begun = g[x].rest == 0;
    t[slot].from = me;
    t[slot].to = g[x].to;
    t[slot].mask = m;
    t[slot].pass = pass;
    t[slot].part_of = x;
    t[slot].last = g[x].begun;
    t[slot].open = true;
    t[slot].state = SENT;
    assert((data[me] & m) == m);
    data[me] = data[me] & ~m;
    owned[me] = owned[me] & ~m;
    out[me] = out[me] + (m != 0);
    assert(out[me] <= CREDIT);
#if PLANTED == 7
    if
    :: g[x].begun -> tell(x)
    :: else
    fi;
#endif
    slot = 0;
    m = 0
}

/* lbc_give_go_on when packing the rest has become impossible. */
inline take_back(x) {
#if PLANTED != 8
    remaining[me] = remaining[me] | g[x].rest;
#endif
    g[x].rest = 0
}

/* Of a transfer that is over nothing matters any more. */
inline forget(k) {
    if
    :: t[k].state >= RECEIVED && !t[k].open ->
        t[k].from = 0;
        t[k].to = 0;
        t[k].mask = 0;
        t[k].pass = 0;
        t[k].part_of = 0;
        t[k].last = false;
        t[k].eager = false;
        t[k].state = NONE
    :: else
    fi
}

/* begin_receiving of incoming.c */
inline begin_receiving(k) {
    assert((owned[me] & t[k].mask) == 0); /* fits_loop */
    in[me] = in[me] + (t[k].mask != 0);
    assert(in[me] <= CREDIT);
    t[k].state = RECEIVING
}

/* add of incoming.c */
inline take_in(k) {
    assert(t[k].eager || (rows[t[k].from] & t[k].mask) == t[k].mask);
    rows[me] = rows[me] | t[k].mask;
    data[me] = data[me] | t[k].mask;
    owned[me] = owned[me] | t[k].mask;
    remaining[me] = remaining[me] | t[k].mask;
#if PLANTED != 2
    in[me] = in[me] - (t[k].mask != 0);
#endif
    if
    :: t[k].last ->
        assert(!g[t[k].part_of].received);
        g[t[k].part_of].received = true
    :: else
    fi;
    t[k].state = RECEIVED;
    forget(k)
}

/* finish of outgoing.c, sent of give.c */
inline finish(k) {
    t[k].open = false;
    out[me] = out[me] - (t[k].mask != 0);
    m = t[k].mask & ~owned[me];
    assert(!ANY_OF(WRITES, m));
    rows[me] = rows[me] & ~m;
    m = t[k].part_of;
    g[m].pieces--;
#if PLANTED != 7
    if
    :: g[m].begun && g[m].pieces == 0 -> tell(m)
    :: else
    fi;
#endif
    m = 0;
    forget(k)
}

/* lbc_ctx_fail and lbc_exchange_drop: what was sent may still come to its destination, what comes is dropped. */
#define FAIL_GIVE(x) \
    if \
    :: GIVES(x) -> \
        take_back_failed(x); \
        g[x].going = false; \
        g[x].pieces = 0; \
        g[x].begun = false \
    :: else \
    fi;
#if PLANTED == 11
#define take_back_failed(x) g[x].rest = 0
#else
#define take_back_failed(x) remaining[me] = remaining[me] | g[x].rest; g[x].rest = 0
#endif
#if PLANTED == 4
#define FORGET_OUT(k) \
    owned[me] = owned[me] | t[k].mask; \
    remaining[me] = remaining[me] | t[k].mask; \
    data[me] = data[me] | t[k].mask;
#else
#define FORGET_OUT(k)
#endif
#define FAIL(k) \
    if \
    :: OPEN(k, 0) -> \
        t[k].open = false; \
        FORGET_OUT(k) \
        forget(k) \
    :: COMES(k, 0) -> \
        t[k].state = DROPPED; \
        forget(k) \
    :: else \
    fi;

inline fail() {
    failed = true;
    broken = true;
    waiting = false;
#ifdef DIES
    gone = gone | BIT(me);
#endif
    said = said || ANY_OF(OPEN, 0) || ANY_OF(COMES, 0);
    EACH(FAIL)
    EACH_GIVE(FAIL_GIVE)
    in[me] = 0;
    out[me] = 0
}

/* with the balancer only, which has no part in a move that was begun */
#define FORGET_GIVE(x) \
    if \
    :: GIVES(x) -> g[x].rest = 0 \
    :: else \
    fi;

#define TRANSFER(k) \
    :: d_step { t[k].state == SENT && t[k].to == me && !failed -> t[k].state = TAKEN } \
    :: d_step { t[k].state == TAKEN && t[k].to == me && !failed && DUE(k) && ROOM_IN(k) -> begin_receiving(k) } \
    :: d_step { t[k].state == RECEIVING && t[k].to == me && ARRIVES(k) -> take_in(k) } \
    :: d_step { t[k].open && t[k].from == me && COMPLETE(k) -> finish(k) }

#define GIVE(x) \
    :: atomic { GIVES(x) && !g[x].begun && ROOM_OUT(x) -> send_piece(x) } \
    :: d_step { GIVES(x) && !g[x].begun && g[x].pieces > 0 && g[x].rest != 0 -> take_back(x) }

proctype rank(byte me) {
    byte pass = 0, final = 0; /* no more moves in the passes before `final` */
    byte m = 0, slot = 0;
    bool waiting = false, closing = false, failed = false;

    do
    :: pass < PASSES ->
        remaining[me] = owned[me];
        do
        :: d_step { !closing && remaining[me] != 0 -> execute() }
        :: atomic { OBEYS && !closing && remaining[me] != 0 -> obey() }
        EACH(TRANSFER)
        EACH_GIVE(GIVE)
        :: final <= pass -> final = pass + 1 /* FINAL */
        :: d_step { final < PASSES -> /* the balancer is lost: no more moves, in no pass */
#if PLANTED == 9
            EACH_GIVE(FORGET_GIVE)
#endif
            final = PASSES }
#ifdef CLOSES
        :: me == 0 && pass == PASSES - 1 && !closing -> closing = true
        :: d_step { closing && remaining[me] != 0 -> /* lbc_pass_abandon */
            assert((handed[pass] & remaining[me]) == 0);
            handed[pass] = handed[pass] | remaining[me];
            remaining[me] = 0 }
#endif
#if defined(BREAKS) || defined(DIES)
        :: d_step { !failed && FAILS -> fail() }
        :: failed && remaining[me] == 0 -> break
#endif
#ifdef DIES
        :: d_step { me == 0 -> dead = true; broken = true; gone = gone | BIT(0) } -> goto over
#endif
        /* try_end of pass.c */
        :: d_step { remaining[me] == 0 && !waiting && !failed && final > pass && !SENDING && !EXPECTED ->
            entered[pass] = entered[pass] | BIT(me);
            waiting = true }
        :: d_step { remaining[me] == 0 && waiting && entered[pass] == BIT(RANKS) - 1 && !EXPECTED -> waiting = false } -> break
        od;
        pass++
    :: else -> break
    od;
over:
    ended++
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
            rows[r % RANKS] = owned[r % RANKS];
            data[r % RANKS] = owned[r % RANKS]
        }
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
        r = 0
    }
    ended == RANKS;
    d_step {
        for (r : 0 .. PASSES - 1) {
            assert(handed[r] == ALL || said || dead)
        }
        if
        :: !broken ->
            for (r : 0 .. RANKS - 1) {
                assert((all & owned[r]) == 0);
                assert((rows[r] & owned[r]) == owned[r]);
                assert(data[r] == owned[r]);
                assert(in[r] == 0 && out[r] == 0);
                all = all | owned[r]
            }
            assert(all == ALL);
            for (r : 0 .. SLOTS - 1) {
                assert(t[r].state == NONE)
            }
            for (r : 0 .. MOVES - 1) {
                assert(r >= nmoves || (g[r].sent && g[r].received && !g[r].going))
            }
        :: else
        fi
    }
}
