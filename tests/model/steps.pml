/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step at which all ranks of a stepped or pipelined loop agree to move, as libclient/agree.c and step.c do it, for spin:
 * every interleaving of a few ranks, steps and layouts.
 *
 * Without LIVE the balancer is the worst there can be: any rank may at any moment be told of any layout, or lose the
 * balancer, sooner or later than others, or hear nothing more.  So layouts that are lost, late, told to some ranks only,
 * twice, or of an old epoch, and a balancer that dies in each phase of a move are among the runs.  Its word for an epoch is
 * the same for all unless LIES.  (What a rank refuses changes nothing and needs no step here.)
 * With LIVE the balancer is the one of policy/stepped.c: it tells all ranks the next layout when all have applied the last,
 * messages take any time, steps go on for ever, and it may die when DIES; then `moves` and `rests` are what must come about
 * when every process that can go on does at some time.
 *
 * With SYNC ranks report and wait before they vote (sync=yes), and the balancer, an honest one, tells layouts when all have
 * reported, then answers; somebody may go on without an answer PATIENCE times.
 *
 * With LATER a vote is taken so many exchanges after the one it is entered in, and layouts may come in between: 1 in
 * pipelined loops or as many as the last rank is behind, as many as 3 in stepped ones with short steps.  With EARLY a rank
 * enters a vote in the step before the exchange, or in it, as it comes, and takes it in the exchange; layouts may come in
 * between.
 *
 * With MIXED as pipelined loops do whose steps become longer and shorter: a vote is taken in the exchange after it was entered
 * within the step, or one exchange later, as the ranks propose in the vote before and the least of all says.
 *
 * With JOINTS as pipelined loops do whose passes have joints: a step is a pass of JOINTS + 1 legs, with a joint between two of
 * them.  In each leg a rank takes a message of its left neighbour, computes its block, and sends one to the right; who has no
 * rows does neither.  At a joint ranks vote as in an exchange, and both are counted from vote to vote.  Halo rows are
 * exchanged there only where a layout comes into force, among ranks with rows; before rows move what was sent has been taken.
 *
 *   RANKS, STEPS, EPOCHS   how many; K: the longest interval that ranks propose between two votes
 *   LIES                   ranks are told different layouts under one epoch
 *   STAYS                  no rank loses the balancer, but each may hear of nothing
 *   ENDS                   rank 0 may end at any moment; the others learn of it where they wait for somebody.  With JOINTS it
 *                          goes through the rest of the pass first, and they learn of it in what comes after
 *   KILLS                  rank 0 may die at any moment, in a vote, a move or an exchange, too; what it had sent may come or not.
 *                          Others hear of it where they wait, or (deaf) only where they wait for a rank that has died or failed.
 *                          Who hears of it has failed, and ends; the others close the loop together, by one more reduction
 *   GATHERS                layouts name a rank's own block alone, as above 4096 ranks: before they move, ranks vote once more, and tell
 *                          each other their bounds in longer reductions; with ENDS, rank 0 closes the loop by a vote
 *   DEAF, SAME             (KILLS) deaf always; all ranks propose the longest interval
 *   LOSES                  (LIVE) so many times a layout on its way to a rank is lost; the balancer tells it again
 *   PLANTED=1              a rank applies a layout when it hears of it, without a vote
 *   PLANTED=2              what ranks vote for is not compared
 *   PLANTED=3              a rank votes again when it proposed to, not when all agreed to
 *   PLANTED=4              a rank whose balancer is lost votes no more, without a word to the others
 *   PLANTED=5              a layout that comes later replaces the one that was voted for
 *   PLANTED=6              rows are given up before they were taken
 *   PLANTED=7              an epoch that was applied is believed again, by who hears of it late
 *   PLANTED=8              who waits for a rank that has ended is not told
 *   PLANTED=9              (LIVE) ranks stop asking after a vote that found not all with a layout
 *   PLANTED=10             (LIVE, DIES) ranks go on asking when one has lost the balancer
 *   PLANTED=11             (LIVE, LOSES) what is lost is not told again
 *   PLANTED=12             (LIVE, LOSES) what is told again is another layout under the same epoch
 *   PLANTED=13             (SYNC) answers go out before the layout
 *   PLANTED=14             (SYNC, PATIENCE) any answer is taken for the one that is waited for
 *   PLANTED=15             (SYNC, DIES) a rank waits for a balancer that is lost
 *   PLANTED=16             (LATER) rank 0 takes a vote in the exchange that it is entered in
 *   PLANTED=17             (EARLY) rank 0 has a layout that came when it had voted already
 *   PLANTED=18             (KILLS) who waits for a rank that has died does not hear of it
 *   PLANTED=19             (KILLS) nor who waits for one that has failed
 *   PLANTED=20             (KILLS) who waits for rows of a rank that has died goes on without them
 *   PLANTED=21             (KILLS) a rank closes the loop without the others
 *   PLANTED=22             (GATHERS, LATER, ENDS) ranks do not vote again before the longer reductions
 *   PLANTED=23             (SYNC, KILLS) patience never ends
 *   PLANTED=24             (MIXED) a rank takes a vote when it proposed to, not when all agreed to
 *   PLANTED=25             (JOINTS) rank 0 counts exchanges alone from one vote to the next
 *   PLANTED=26             (JOINTS) who has no rows goes through no joints
 *   PLANTED=27             (JOINTS, LATER or EARLY) rows move though what was sent was not taken
 *   PLANTED=28             (JOINTS) no halo rows are exchanged where a layout comes into force at a joint
 *   PLANTED=29             (JOINTS, ENDS) who closes the loop within a pass does not go through the rest of it
 *   PLANTED=30             (JOINTS, EARLY, ENDS) nor tells anybody of it before a vote that is under way has been taken
 *
 * Checked: each iteration once in every step, with its row where it is run; both sides of every exchange at the same epoch;
 * all vote at the same step; no rank waits for ever; in the end all are at the same epoch;
 * with JOINTS each iteration once in every leg, both sides of an exchange, move or message in the same leg, and the rows beside
 * a block of its own layout;
 * with GATHERS, reductions that meet are of one length;
 * with KILLS, who has closed the loop without an error knows that all steps were computed by all;
 * with SYNC, what was told by a step's reports is in force at that very step, but where somebody went on without an answer.
 */
#ifndef RANKS
#define RANKS 3 /* 2 or 3 */
#endif
#ifndef STEPS
#define STEPS 3
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif
#ifndef K
#define K 2
#endif
#ifndef PLANTED
#define PLANTED 0
#endif
#ifndef LATER
#define LATER 0
#endif
#ifdef MIXED
#define EARLY
#undef LATER
#define LATER 1
#define IS_EARLY !is_late
#else
#define IS_EARLY true
#endif
#if LATER || defined(EARLY)
#define APART
#else
#define voted false
#endif
#ifndef JOINTS
#define JOINTS 0
#endif
#define LEGS (JOINTS + 1)
/* The leg of a rank, as far as ranks may be apart; and what goes with what it sends, as both sides must be in the same one. */
#if JOINTS
#define ROUND (step % 4 * LEGS + leg)
#define PRESENT (4 * ROUND + epoch[me] + 1)
#else
#define ROUND (step % 4)
#define PRESENT (epoch[me] + 1)
#endif
#define N 3 /* iterations, as bits of a byte */
#define ALL 7

/* Who owns what by a layout: three blocks in order, of any size. */
#if RANKS == 3 && JOINTS
/* the first layout moves nothing from or to rank 0, which has sent to rank 1 */
#define OWN(c, r) ((c) == 0 -> (1 << (r)) : ((c) == 1 -> ((r) == 0 -> 1 : ((r) == 1 -> 6 : 0)) : ((r) == 0 -> 0 : ((r) == 1 -> 1 : 6))))
#elif RANKS == 3
#define OWN(c, r) ((c) == 0 -> (1 << (r)) : ((c) == 1 -> ((r) == 0 -> 3 : ((r) == 1 -> 4 : 0)) : ((r) == 0 -> 0 : ((r) == 1 -> 1 : 6))))
#else
#define OWN(c, r) ((c) == 0 -> ((r) == 0 -> 1 : 6) : ((c) == 1 -> ((r) == 0 -> 3 : 4) : ((r) == 0 -> 0 : 7)))
#endif
#define OWNER(c, i) ((OWN(c, 0) & (1 << (i))) -> 0 : ((OWN(c, 1) & (1 << (i))) -> 1 : RANKS - 1))

byte epoch[RANKS], layout[RANKS];   /* in force */
byte next[RANKS], nextlay[RANKS];   /* told and kept: its epoch, 0 none; its layout */
bool asking[RANKS], lost[RANKS];
byte plan[EPOCHS + 1];              /* what an honest balancer says */

byte rows[RANKS], posted[RANKS], give[RANKS], taken[RANKS]; /* of a move: its epoch; what leaves, what has been fetched */
byte halo[4 * RANKS];               /* [2 * rank] from the left, [2 * rank + 1] from the right: epoch + 1 */

byte handed[4 * LEGS], computed[4 * LEGS]; /* by leg: neighbours keep ranks less than RANKS steps apart */
#if JOINTS
chan flow[RANKS] = [LEGS] of { byte }; /* to the right */
bool eager;                            /* what is sent has left its rank at once; else it is read where it lies */
byte since[EPOCHS + 1];                /* by epoch: from which leg on, + 1 */
#endif

/* Two votes at a time: nobody enters the one after next before all have left this one. */
byte entered[2] /* who */, gone[2], most[2], least[2], interval[2], at[2];
bool have[2], open[2];
#ifdef MIXED
bool soon[2]; /* of a vote: somebody proposed that the next one be taken in the exchange after the step it is entered in */
#endif

bool failed; /* a rank has ended; seen by those who wait for it */
byte ended;
#if JOINTS && defined(ENDS)
byte passes, exchanges; /* that it had taken part in */
#endif

#define BIT(r) (1 << (r))
#define EVERYBODY (BIT(RANKS) - 1)

/* Wait for something that certain ranks do. */
#ifdef KILLS
bool deaf;
byte fallen; /* who has died or failed */
byte left;   /* who is in the reduction in which the loop is closed */
bool well;   /* somebody has closed it */
byte complete; /* legs that all have computed */
#if PLANTED == 18
#define FALLEN (fallen & ~BIT(0))
#elif PLANTED == 19
#define FALLEN (fallen & BIT(0))
#else
#define FALLEN fallen
#endif
#define AWAIT(cond, ranks) if :: (cond) -> skip :: (FALLEN & (ranks)) != 0 || (!deaf && fallen != 0) -> goto out :: me == 0 -> goto out fi
#elif defined(ENDS) && JOINTS
/* lbc_leave_is_vain of leave.c */
#define AWAIT(cond, ranks) \
    if \
    :: (cond) -> skip \
    :: failed && step >= (is_idle -> exchanges : passes) -> goto out \
    fi
#elif defined(ENDS) && PLANTED != 8
#define AWAIT(cond, ranks) if :: (cond) -> skip :: failed -> goto out fi
#else
#define AWAIT(cond, ranks) (cond)
#endif

/* The reductions in the order in which a rank enters them: those of one number meet, so they must be of one length. */
#ifdef GATHERS
#define VOTE 1
#define BOUNDS 2
#define REDUCTIONS (STEPS * LEGS + 2 * EPOCHS + 1)
byte within[REDUCTIONS], kind[REDUCTIONS];
bool closes[REDUCTIONS]; /* somebody closes the loop in it */
#define REDUCE(what) reduce(what);
#define GATHER gather();

inline reduce(what) {
    d_step {
        assert(kind[reduced] == 0 || kind[reduced] == what);
        kind[reduced] = what;
        within[reduced] = within[reduced] | BIT(me);
        reduced++
    }
}

/* lbc_bounds_gather of bounds.c */
inline gather() {
#if PLANTED != 22
    reduce(VOTE);
    AWAIT(within[reduced - 1] == EVERYBODY, ~within[reduced - 1]);
#ifdef ENDS
    if
    :: closes[reduced - 1] -> goto out
    :: else
    fi;
#endif
#endif
    reduce(BOUNDS);
    AWAIT(within[reduced - 1] == EVERYBODY, ~within[reduced - 1])
}
#else
#define REDUCE(what)
#define GATHER
#endif

#ifndef PATIENCE
#define PATIENCE 0
#endif
#ifdef SYNC
#define TELLS 1
#define ANSWERS 2
chan up[RANKS] = [STEPS] of { byte };         /* reports: the step */
chan down[RANKS] = [2 * STEPS] of { byte, byte }; /* TELLS an epoch, ANSWERS a step */
byte asks[RANKS];                             /* waits for the answer to this step's report; 0: to none */
byte patience = PATIENCE;
bool alone[2], some[2]; /* of a vote: somebody went on without an answer; somebody has a layout */
bool dead;

inline wait_for_answer() {
    atomic { asks[me] = step + 1; up[me]!step + 1 }
    if
    :: asks[me] == 0
#if defined(DIES) && PLANTED != 15
    :: lost[me] && asks[me] != 0 -> alone[round] = true
#endif
#if PATIENCE > 0
    :: asks[me] != 0 && patience > 0 -> d_step { patience--; alone[round] = true }
#endif
#ifdef KILLS
    :: asks[me] != 0 && me == 0 -> goto out
#if PLANTED != 23
    :: asks[me] != 0 && fallen != 0 -> alone[round] = true /* the dead never report: patience ends */
#endif
#endif
    fi;
    asks[me] = 0
}

inline report_and_wait() {
#ifdef DIES
    if
    :: lost[me] -> alone[round] = true
    :: else -> wait_for_answer()
    fi
#else
    wait_for_answer()
#endif
}
#endif

#ifdef LIVE
#define NEXT_STEP(s) ((s + 1) % 4)
#define GOES_ON true
#else
#define NEXT_STEP(s) (s + 1)
#define GOES_ON (step < STEPS)
#endif

inline compute() {
    d_step {
        m = OWN(layout[me], me);
        assert((rows[me] & m) == m);
#if JOINTS
        assert(beside == epoch[me]);
#endif
        assert((handed[ROUND] & m) == 0);
        handed[ROUND] = handed[ROUND] | m;
        computed[ROUND]++;
        if
        :: computed[ROUND] == RANKS ->
            assert(handed[ROUND] == ALL);
#ifdef KILLS
            complete++;
#endif
            handed[ROUND] = 0;
            computed[ROUND] = 0
        :: else
        fi;
        m = 0
    }
}

/* Who has still to fetch what leaves. */
#define TAKES_OF(r) ((OWN(nextlay[me], r) & give[me] & ~taken[me]) != 0 -> BIT(r) : 0)
#if RANKS == 3
#define TAKERS ((TAKES_OF(0)) | (TAKES_OF(1)) | (TAKES_OF(2)))
#else
#define TAKERS ((TAKES_OF(0)) | (TAKES_OF(1)))
#endif

#define LEFT (me > 0)
#define RIGHT (me < RANKS - 1)
/* Who shares rows with it.  Without joints, and where steps are endless, all do, so that nobody is far ahead. */
#define HAS(r) (OWN(layout[me], r) != 0)
#if JOINTS
#define FROM_LEFT (LEFT && HAS(me) && HAS(me - 1))
#define TO_RIGHT (RIGHT && HAS(me) && HAS(me + 1))
#endif
#if JOINTS && !defined(LIVE)
#define NEAR_LEFT FROM_LEFT
#define NEAR_RIGHT TO_RIGHT
#else
#define NEAR_LEFT LEFT
#define NEAR_RIGHT RIGHT
#endif

#if JOINTS
/* lbc_flow_settle of flow.c */
#define SETTLE \
    if \
    :: !eager && RIGHT -> AWAIT(len(flow[me]) == 0, BIT(me + 1)) \
    :: else \
    fi;
#endif

/* apply of agree.c: what leaves is read where it lies until it has been fetched. */
inline apply() {
#if JOINTS && PLANTED != 27
    if
    :: leg < JOINTS -> SETTLE
    :: else
    fi;
#endif
    d_step {
#if JOINTS
        assert(since[next[me]] == 0 || since[next[me]] == ROUND + 1);
        since[next[me]] = ROUND + 1;
#endif
        assert(next[me] == epoch[me] + 1); /* each once, in order */
        give[me] = OWN(layout[me], me) & ~OWN(nextlay[me], me);
        taken[me] = 0;
        posted[me] = next[me];
#if PLANTED == 6
        rows[me] = rows[me] & ~give[me];
#endif
    }
    m = 0;
    do
    :: m < N && (OWN(nextlay[me], me) & ~OWN(layout[me], me) & (1 << m)) != 0 ->
        atomic {
#if PLANTED == 20
            AWAIT(posted[OWNER(layout[me], m)] == next[me] || (fallen & BIT(OWNER(layout[me], m))) != 0, 0);
#else
            AWAIT(posted[OWNER(layout[me], m)] == next[me], BIT(OWNER(layout[me], m)));
#endif
            assert((rows[OWNER(layout[me], m)] & (1 << m)) != 0);
            rows[me] = rows[me] | (1 << m);
            taken[OWNER(layout[me], m)] = taken[OWNER(layout[me], m)] | (1 << m);
            m++
        }
    :: m < N && (OWN(nextlay[me], me) & ~OWN(layout[me], me) & (1 << m)) == 0 -> m++
    :: m == N -> m = 0; break
    od;
    AWAIT(taken[me] == give[me], TAKERS);
    d_step {
        rows[me] = OWN(nextlay[me], me);
        epoch[me] = next[me];
        layout[me] = nextlay[me];
        next[me] = 0;
        nextlay[me] = 0
    }
}

/* ask and decide of agree.c: all ranks, each in the same exchange. */
inline ask() {
    REDUCE(VOTE)
    if
#ifndef SAME
    :: k = 1
#endif
#if K > 1 || defined(SAME)
    :: k = K
#endif
    fi;
#ifdef MIXED
    proposed = false;
    if
    :: proposed = true
    :: true
    fi;
#endif
    d_step {
        m = 16 * next[me] + nextlay[me]; /* the hash that goes with the vote */
        assert(entered[round] == 0 || at[round] == ROUND);
        if
        :: entered[round] == 0 ->
            at[round] = ROUND;
            have[round] = true;
            open[round] = true;
            most[round] = m;
            least[round] = m;
            interval[round] = k
        :: else
        fi;
        have[round] = have[round] && next[me] != 0;
#ifdef MIXED
        soon[round] = soon[round] || proposed;
#endif
#ifdef SYNC
        some[round] = some[round] || next[me] != 0;
#endif
        open[round] = open[round] && !lost[me];
        most[round] = (m > most[round] -> m : most[round]);
        least[round] = (m < least[round] -> m : least[round]);
        interval[round] = (k < interval[round] -> k : interval[round]);
        entered[round] = entered[round] | BIT(me);
        m = 0
    }
}

inline decide() {
    AWAIT(entered[round] == EVERYBODY, ~entered[round]);
    d_step {
#if PLANTED != 3
        k = interval[round];
#endif
#ifdef MIXED
        until = (is_late && k > 0 -> k - 1 : k);
#if PLANTED == 24
        until = (until == 0 && proposed -> 1 : until);
        is_late = !proposed;
#else
        until = (until == 0 && soon[round] -> 1 : until); /* nobody has entered it within the step */
        is_late = !soon[round];
#endif
#else
        until = (k > LATER -> k - LATER : 0);
#endif
#ifdef APART
        voted = false;
#endif
        k = 0;
#if PLANTED == 2
        agreed = have[round];
#else
        agreed = have[round] && most[round] == least[round];
#endif
#if PLANTED == 17
        agreed = agreed || (me == 0 && next[me] != 0 && open[round]);
#endif
#ifdef SYNC
        assert(alone[round] || have[round] == some[round]);
#endif
        if
        :: have[round] && !agreed -> /* they were told different things */
            lost[me] = true;
            asking[me] = false;
            next[me] = 0;
            nextlay[me] = 0
#if PLANTED != 10
        :: !have[round] && !open[round] ->
            asking[me] = false;
            next[me] = 0;
            nextlay[me] = 0
#endif
        :: else
        fi;
#if PLANTED == 9
        asking[me] = asking[me] && have[round];
#endif
        gone[round]++;
        if
        :: gone[round] == RANKS ->
            gone[round] = 0;
            entered[round] = 0;
            at[round] = 0;
            most[round] = 0;
            least[round] = 0;
            interval[round] = 0;
            have[round] = false;
            open[round] = false
#ifdef MIXED
            ;
            soon[round] = false
#endif
#ifdef SYNC
            ;
            alone[round] = false;
            some[round] = false
#endif
        :: else
        fi;
        round = 1 - round
    }
    if
    :: agreed -> agreed = false; GATHER apply()
    :: else
    fi
}

inline exchange() {
    if
    :: NEAR_LEFT -> AWAIT(halo[2 * me - 1] == 0, BIT(me - 1)); halo[2 * me - 1] = PRESENT
    :: else
    fi;
    if
    :: NEAR_RIGHT -> AWAIT(halo[2 * me + 2] == 0, BIT(me + 1)); halo[2 * me + 2] = PRESENT
    :: else
    fi;
    if
    :: NEAR_LEFT -> atomic {
        AWAIT(halo[2 * me] != 0, BIT(me - 1));
        assert(halo[2 * me] == PRESENT);
        halo[2 * me] = 0
    }
    :: else
    fi;
    if
    :: NEAR_RIGHT -> atomic {
        AWAIT(halo[2 * me + 1] != 0, BIT(me + 1));
        assert(halo[2 * me + 1] == PRESENT);
        halo[2 * me + 1] = 0
    }
    :: else
    fi
}

#if JOINTS
inline receive() {
    if
    :: FROM_LEFT -> atomic {
        AWAIT(len(flow[me - 1]) > 0, BIT(me - 1));
        flow[me - 1]?m;
        assert(m == PRESENT);
        assert(eager || epoch[me - 1] == epoch[me]);
        m = 0
    }
    :: else
    fi
}

inline send() {
    if
    :: TO_RIGHT -> flow[me]!PRESENT
    :: else
    fi
}
#endif

#if PLANTED == 4
#define ASKS (asking[me] && !lost[me])
#else
#define ASKS asking[me]
#endif

#ifdef KILLS
#define MAY_DIE \
    if \
    :: me == 0 -> goto out \
    :: true \
    fi;
#else
#define MAY_DIE
#endif

#if JOINTS && defined(ENDS)
/* lbc_leave of leave.c, after so many passes: it enters a vote that others may have entered in the step before, and takes the
 * one that is under way.  Meanwhile it tells that it has closed the loop, as they may not come to that vote without it. */
inline leave(n) {
#if PLANTED != 30
    d_step { failed = true; passes = n; exchanges = step }
#endif
#ifdef EARLY
    if
    :: owes && !voted -> ask(); voted = true
    :: else
    fi;
#endif
#ifdef APART
    if
    :: voted -> entered[round] == EVERYBODY || ended > 0
    :: else
    fi;
#endif
#ifdef GATHERS
    closes[reduced] = true;
    REDUCE(VOTE)
#endif
#if PLANTED == 30
    d_step { failed = true; passes = n; exchanges = step }
#endif
    goto out
}
#endif

proctype rank(byte me) {
    byte step = 0, until = 0, round = 0, m = 0, k = 0;
    bool agreed = false;
#ifdef GATHERS
    byte reduced = 0; /* reductions entered */
#endif
#ifdef APART
    bool voted = false;
#endif
#if LATER
    byte late = 0; /* exchanges until the vote is taken */
#endif
#ifdef MIXED
    bool is_late = true, proposed = false; /* how votes are taken now; proposed: otherwise, or so again */
#endif
#if JOINTS
    byte leg = 0, beside = 0; /* beside: the epoch of the halo rows */
#ifdef ENDS
    bool closing = false, is_idle = false; /* is_idle: between two passes */
#ifdef EARLY
    bool owes = false; /* a vote that others may have entered */
#endif
#endif
#endif

    do
    :: GOES_ON ->
        MAY_DIE
#if PLANTED == 26
        leg = (HAS(me) -> leg : JOINTS);
#endif
#if JOINTS && defined(ENDS)
        if
        :: me == 0 && leg == 0 -> leave(step)
        :: true
        fi;
        is_idle = false;
#endif
#if JOINTS
        /* at once: nobody sees what is between the message that is taken and the one that is sent */
        atomic {
            receive();
#ifdef ENDS
            if
            :: closing
            :: else -> compute()
            fi;
#else
            compute();
#endif
            send()
        }
        MAY_DIE
        if
        :: leg == JOINTS -> SETTLE skip
        :: else
        fi;
#else
        compute();
#endif
#if JOINTS && defined(ENDS)
        if
        :: me == 0 ->
#if PLANTED == 29
            leave(step + 1)
#else
            closing = true /* lbc_flow_abandon of flow.c */
#endif
        :: true
        fi;
        if
        :: closing && leg == JOINTS -> leave(step + 1)
        :: else -> is_idle = (leg == JOINTS)
        fi;
#elif defined(ENDS)
        if
        :: me == 0 ->
#ifdef GATHERS
            /* lbc_leave of leave.c, which takes the vote that is under way first */
#ifdef APART
            if
            :: voted -> AWAIT(entered[round] == EVERYBODY, 0)
            :: else
            fi;
#endif
            closes[reduced] = true;
            REDUCE(VOTE)
#endif
            failed = true;
            goto out
        :: true
        fi;
#endif
        MAY_DIE
#if PLANTED == 1
        if
        :: next[me] != 0 -> apply()
        :: else
        fi;
#endif
#if LATER
        if
        :: voted && late == 0 -> decide()
        :: else
        fi;
#endif
        if
#if defined(EARLY) && !defined(MIXED)
        :: voted -> decide()
#endif
        :: ASKS && until == 0 && !voted ->
#ifdef SYNC
            report_and_wait();
#endif
            ask();
#ifdef MIXED
            if
            :: is_late -> voted = true; late = LATER
            :: else -> decide()
            fi
#elif LATER
            voted = true;
            late = LATER;
#if PLANTED == 16
            if
            :: me == 0 -> decide(); until = (until < K -> until + 1 : until)
            :: else
            fi
#endif
#else
            decide()
#endif
        :: else
        fi;
#if JOINTS
        if
#if PLANTED == 28
        :: leg == JOINTS -> exchange(); beside = epoch[me]
#else
        :: leg == JOINTS || beside != epoch[me] -> exchange(); beside = epoch[me]
#endif
        :: else
        fi;
#else
        exchange();
#endif
        d_step {
#if PLANTED == 25
            until = (until > 0 && (me != 0 || leg == JOINTS) -> until - 1 : until);
#else
            until = (until > 0 -> until - 1 : 0);
#endif
#if LATER
            late = (late > 0 -> late - 1 : 0);
#endif
#if JOINTS
            if
            :: leg == JOINTS -> leg = 0; step = NEXT_STEP(step)
            :: else -> leg++
            fi
#else
            step = NEXT_STEP(step)
#endif
        }
#if JOINTS && defined(ENDS) && defined(EARLY)
        owes = ASKS && until == 0 && GOES_ON && IS_EARLY && !voted;
#endif
#ifdef EARLY
        if
        :: ASKS && until == 0 && GOES_ON && IS_EARLY -> ask(); voted = true
        :: true
        fi
#endif
#ifndef LIVE
    :: !GOES_ON -> break
#endif
    od;
#ifdef KILLS
    /* lbc_leave of leave.c: who closes the loop takes the vote that is under way first, and moves nothing any more */
#ifdef APART
    if
    :: voted -> AWAIT(entered[round] == EVERYBODY, ~entered[round])
    :: else
    fi;
#endif
    REDUCE(VOTE)
    left = left | BIT(me);
#if PLANTED != 21
    AWAIT(left == EVERYBODY, ~left);
#endif
    well = true;
    goto over;
out:
    skip;
    d_step {
        failed = true;
        fallen = fallen | BIT(me);
        next[me] = 0; /* nothing is told to it any more */
        nextlay[me] = 0;
        lost[me] = true;
        asking[me] = false
    }
    if /* what it had sent is lost */
    :: true
    :: d_step {
        if
        :: LEFT -> halo[2 * me - 1] = 0
        :: else
        fi;
        if
        :: RIGHT -> halo[2 * me + 2] = 0
        :: else
        fi;
        entered[0] = entered[0] & ~BIT(me);
        entered[1] = entered[1] & ~BIT(me);
#ifdef GATHERS
        if
        :: reduced > 0 -> within[reduced - 1] = within[reduced - 1] & ~BIT(me)
        :: else
        fi;
#endif
#if JOINTS
        do
        :: len(flow[me]) > 0 -> flow[me]?m
        :: else -> break
        od;
#endif
        posted[me] = 0;
        rows[me] = 0 }
    fi;
over:
    skip;
#endif
#ifndef LIVE
#ifndef KILLS
out:
    skip;
#endif
    d_step { step = 0; until = 0; round = 0; m = 0; k = 0; agreed = false; ended++
#ifdef APART
        ;
        voted = false
#endif
#ifdef GATHERS
        ;
        reduced = 0
#endif
#if LATER
        ;
        late = 0
#endif
#ifdef MIXED
        ;
        is_late = true;
        proposed = false
#endif
#if JOINTS
        ;
        leg = 0;
        beside = 0
#ifdef ENDS
        ;
        closing = false;
        is_idle = false
#ifdef EARLY
        ;
        owes = false
#endif
#endif
#endif
    }
#endif
}

#ifdef SYNC
inline answer() {
    for (r : 0 .. RANKS - 1) {
        down[r]!ANSWERS(heard[r])
    }
}
#endif
/* told of step.c: a layout is kept if it is the next one, and none is. */
#if PLANTED == 5
#define TAKES(r, e) (asking[r] && !lost[r] && e == epoch[r] + 1)
#elif PLANTED == 7
#define TAKES(r, e) (asking[r] && !lost[r] && next[r] == 0 && e <= epoch[r] + 1)
#else
#define TAKES(r, e) (asking[r] && !lost[r] && next[r] == 0 && e == epoch[r] + 1)
#endif

#ifdef LIVE
bool dead;
byte told[RANKS]; /* the last epoch on its way to a rank */
#ifdef LOSES
byte losses = LOSES;
bool again;       /* it has told one again */
#endif

proctype balancer() {
    byte r = 0, e = 1;

    do
    :: e <= EPOCHS ->
        do
        :: r < RANKS -> told[r] = e; r++
        :: r == RANKS -> r = 0; break
#ifdef DIES
        :: dead = true; goto over
#endif
        od;
        do
        :: r < RANKS && epoch[r] == e -> r++
        :: r == RANKS -> r = 0; break
#if defined(LOSES) && PLANTED != 11
        :: d_step {
            r < RANKS && epoch[r] != e && (told[0] != e || told[1] != e || told[RANKS - 1] != e) ->
                again = true;
                told[0] = e;
                told[1] = e;
                told[RANKS - 1] = e
        }
#endif
#ifdef DIES
        :: dead = true; goto over
#endif
        od;
        e++
    :: else -> break
    od;
over:
    skip
}

/* A rank's connection: it brings what was sent, in its own time, and then that it is cut. */
proctype link(byte r) {
end:
    do
    :: d_step {
        TAKES(r, told[r]) ->
            next[r] = told[r];
#if PLANTED == 12
            nextlay[r] = (again -> 3 - plan[told[r]] : plan[told[r]])
#else
            nextlay[r] = plan[told[r]]
#endif
    }
#ifdef LOSES
    :: d_step { losses > 0 && TAKES(r, told[r]) -> losses--; told[r] = 0 }
#endif
#ifdef DIES
    :: dead && !lost[r] -> lost[r] = true; break
#endif
    od
}

/* ranks are at the last epoch, and stay there */
ltl moves { <>[] (epoch[0] == EPOCHS && epoch[1] == EPOCHS && epoch[RANKS - 1] == EPOCHS) }
/* when the balancer is dead, nobody asks any more; computing goes on (steps are endless) */
ltl rests { [] (dead -> <> (!asking[0] && !asking[1] && !asking[RANKS - 1])) }
#elif defined(SYNC)
proctype balancer() {
    byte heard[RANKS], e = 1, r = 0;
    bool plans = false;

end:
    do
    :: heard[0] == 0 && nempty(up[0]) -> up[0]?heard[0]
    :: heard[1] == 0 && nempty(up[1]) -> up[1]?heard[1]
#if RANKS > 2
    :: heard[2] == 0 && nempty(up[2]) -> up[2]?heard[2]
#endif
    :: heard[0] > 0 && heard[1] > 0 && heard[RANKS - 1] > 0 ->
        if
        :: e <= EPOCHS && epoch[0] == e - 1 && epoch[1] == e - 1 && epoch[RANKS - 1] == e - 1 -> plans = true
        :: true
        fi;
#if PLANTED == 13
        answer();
#endif
        if
        :: plans ->
            plans = false;
            for (r : 0 .. RANKS - 1) {
                down[r]!TELLS(e)
            }
            e++
        :: else
        fi;
#if PLANTED != 13
        answer();
#endif
        skip;
        d_step {
            for (r : 0 .. RANKS - 1) {
                heard[r] = 0
            }
            r = 0
        }
#ifdef DIES
    :: dead = true; break
#endif
    od
}

/* A rank's connection: what was sent comes in order, and then that it is cut. */
proctype link(byte r) {
    byte x = 0;

end:
    do
    :: atomic {
        down[r]?TELLS(x) ->
        if
        :: TAKES(r, x) -> next[r] = x; nextlay[r] = plan[x]
        :: else
        fi;
        x = 0
    }
    :: atomic {
        down[r]?ANSWERS(x) ->
        if
        :: asks[r] == x || PLANTED == 14 -> asks[r] = 0
        :: else
        fi;
        x = 0
    }
#ifdef DIES
    :: dead && empty(down[r]) && !lost[r] -> lost[r] = true
#endif
    od
}
#else
inline tell(r, e) {
    next[r] = e;
#ifdef LIES
    if
    :: nextlay[r] = 0
    :: nextlay[r] = 1
    :: nextlay[r] = 2
    fi
#else
    nextlay[r] = plan[e]
#endif
}

#if EPOCHS > 1
#define SECOND(r) :: atomic { TAKES(r, 2) -> tell(r, 2) }
#else
#define SECOND(r)
#endif
#ifdef STAYS
#define LOSE(r)
#else
#define LOSE(r) :: atomic { !lost[r] -> lost[r] = true }
#endif
#define RANK_EVENTS(r) \
    :: atomic { TAKES(r, 1) -> tell(r, 1) } \
    SECOND(r) \
    LOSE(r)

proctype anybody() {
end:
    do
    RANK_EVENTS(0)
    RANK_EVENTS(1)
#if RANKS > 2
    RANK_EVENTS(2)
#endif
    :: ended == RANKS -> break
    od
}
#endif

init {
    byte r, all;

    atomic {
        /* each plan another than the one before */
        if
        :: plan[1] = 1
        :: plan[1] = 2
        fi;
#if EPOCHS > 1
        if
        :: plan[2] = 0
        :: plan[2] = 3 - plan[1]
        fi;
#endif
#ifdef KILLS
        if
        :: deaf = true
#ifndef DEAF
        :: deaf = false
#endif
        fi;
#endif
#if JOINTS
        if
        :: eager = true
        :: eager = false
        fi;
#endif
        for (r : 0 .. RANKS - 1) {
            rows[r] = OWN(0, r);
            asking[r] = true
        }
        for (r : 0 .. RANKS - 1) {
            run rank(r)
        }
#if defined(LIVE) || defined(SYNC)
        for (r : 0 .. RANKS - 1) {
            run link(r)
        }
        run balancer();
#else
        run anybody();
#endif
        r = 0
    }
#ifndef LIVE
    ended == RANKS;
    d_step {
#ifdef KILLS
        assert(!well || complete == STEPS * LEGS);
        r = 0;
#endif
        if
        :: !failed ->
            for (r : 0 .. RANKS - 1) {
                assert(epoch[r] == epoch[0]);
                assert(rows[r] == OWN(layout[r], r));
                assert((all & rows[r]) == 0);
                all = all | rows[r]
            }
            assert(all == ALL)
        :: else
        fi
    }
#endif
}
