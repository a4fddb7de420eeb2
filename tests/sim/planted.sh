#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Planted failures: all is staked at once, whatever moves cost; nothing is ever moved; an account that praises itself; and the
# published policy in place of auto; loads where hosts are said to be steady; passes that are whole, or in far too many legs.  Each
# limit on what loses or goes to and fro must see them, of test_stake, test_step, test_swings, test_joints and test_random.
set -u
[ -z "${LB_TEST_FEW:-}${LB_TEST_BRIEF:-}" ] || exit 77 # too few for the limits
. "${top_srcdir:-.}/tests/lib/planted.sh"
planted_seen SIM_PLANTED sim/test_stake stake 'where moves are dear' 'under loads that move .* more than 5 %' \
  'with no stake .* lose .* and the worst' 'who loses little' 'in all long loops' 'under short periods'
planted_seen SIM_STILL sim/test_stake stake 'dear moves take' 'loads that move leave' 'with no stake all take' 'in long loops' \
  'bounds that lose by themselves'
planted_seen SIM_PLANTED sim/test_stake account 'more than was won'
planted_seen SIM_PLANTED sim/test_step drawn 'on steady hosts the worst takes' 'tried again and again'
planted_seen SIM_PLANTED sim/test_swings errors 'noisy times: all limits are passed' 'slow moments: all limits are passed' 'in turn: all limits are passed'
planted_seen SIM_PLANTED sim/test_swings tables 'uneven: all limits are passed' 'dear messages: all limits are passed' \
  'dear messages, uneven: all limits are passed' 'too quick to follow: all limits are passed' 'short load: all limits are passed' \
  '[0-9]: all: all limits are passed'
planted_seen SIM_PLANTED sim/test_joints joints 'in legs 1.0000 of the time'
planted_seen SIM_MANY sim/test_joints joints 'without a load 1.0[0-9]* of the time'
planted_seen SIM_PLANTED sim/test_random steady 'to and fro: the limits of all kinds are passed'
# A balancer whose time nobody asks for.
out=$(SIM_PLANTED=1 bash "${top_srcdir:-.}/tests/sim/test_balancer_time.sh" 2>&1)
for text in 'cheap messages' 'dear messages' 'beats' 'groups are apart'; do
  grep -q "FAIL: $text" <<<"$out" || { printf '%s\nthe planted failure was not seen: %s\n' "$out" "$text"; exit 1; }
done
echo "the planted failures were seen"
