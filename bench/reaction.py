# SPDX-License-Identifier: BSD-3-Clause
"""reaction.py TRACE LINE AFTER_NS TOLERANCE CORES...: how soon the shares in a job's trace were right after the last host lost half of its
cores, AFTER_NS (less than 0: before) the event of line LINE.  Prints "REACTION_S PERIOD_S NEVER TIGHT_S TIGHT_NEVER", by the balancer's
clock, as bench/reaction --help says them."""
import json
import sys

path, line, after, tolerance = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
speed = [float(s) for s in sys.argv[5:]]
speed[-1] /= 2
right = [s / sum(speed) for s in speed]
events = [json.loads(text) for text in open(path)]
began = max(e["t"] for e in events[:line] if "t" in e) + after
period = done = tight = last = None
for event in events:
    last = event.get("t", last)
    if event["event"] == "decision" and last <= began and event.get("period_s"):
        period = event["period_s"]
    # What was decided while the host's speed was being set is of before the line, and may be right.
    if event["event"] == "layout" and last >= began:
        n = sum(event["counts"])
        share = [c / n for c in event["counts"]]
        if done is None and all(abs(x - r) <= tolerance for x, r in zip(share, right)):
            done = last
        if tight is None and all(x <= (1 + tolerance) * r for x, r in zip(share, right)):
            tight = last


def since(t):
    return ((last if t is None else t) - began) / 1e9


print(since(done), period or 0.5, int(done is None), since(tight), int(tight is None))
