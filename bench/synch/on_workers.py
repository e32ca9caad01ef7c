#!/usr/bin/env python3
"""SynchPack on workers beside virtual time: google-like jobs with memory demands and weights 1 to 12 on two machines of
four executors, that come over time. Each is run on workers (the padded clock: bodies take as long as they say, on any
number of CPUs), its log judged and replayed, and the sum of weight * (end - arrival) compared with that of the simulation.
`follow` carries out the plan of that planner. In -bound workloads each task can run on one machine.

usage: on_workers.py CLOTHO [POLICY...] [--seeds N] [--dilate N]     (5 seeds from 9000; 200 times slower than real time)"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

JOBS, GAP_MS = 40, 7
CASES = [("synchpack-1", False), ("synchpack-2", False), ("synchpack-2", True), ("synchpack-3", True), ("psrs", True),
         ("tetris-weighted", False), ("jsq-maxweight", False), ("follow:synchpack-2", False), ("follow:synchpack-3", True)]


def heavy(rng, most, again):
    """1 to most; twice as large with a probability of `again`, and so on."""
    x = 1
    while x < most and rng.random() < again:
        x *= 2
    return min(most, x + rng.randrange(x))


def times(rng, ms, is_bound):
    fast, slow = rng.sample(["k0", "k1"], 2)
    return {fast: ms * 1000000, slow: None if is_bound else rng.choice([1, 2]) * ms * 1000000}


def write(path, seed, is_bound):
    rng = random.Random(seed)
    rows = [{"format": "clotho.workload/1", "platform": {
        "resources": ["memory"], "machines": [{"memory": 1000}] * 2,
        "executors": [{"kind": "k%d" % (e // 4), "machine": e // 4} for e in range(8)]}}]
    at_ms = 0.0
    for _ in range(JOBS):
        count, ms, memory = heavy(rng, 24, .6), heavy(rng, 16, .5), 10 * heavy(rng, 60, .7)
        blocks = min(count, 3)
        tasks = [{"work_ns": ms * 1000000, "instances": count // blocks + (b < count % blocks), "demand": [memory],
                  "times": times(rng, ms, is_bound)} for b in range(blocks)]
        rows.append({"graph": {"format": "clotho.graph/1", "resources": ["memory"], "tasks": tasks},
                     "weight": rng.randint(1, 12), "arrival_ns": int(at_ms * 1e6)})
        at_ms += rng.expovariate(1 / GAP_MS)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def call(clotho, *words):
    return subprocess.run([clotho, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def ratio(clotho, folder, seed, policy, is_bound, dilate):
    """Of the sum on workers to the simulated one."""
    path, log, plan = (os.path.join(folder, name) for name in ("w.jsonl", "run.log", "plan.log"))
    write(path, seed, is_bound)
    if policy.startswith("follow:"):
        call(clotho, "simulate", path, "--planner", policy[7:], "--log", plan)
        policy = "follow:" + plan
    virtual = json.loads(call(clotho, "simulate", path, "--policy", policy, "--json"))["weighted_jct_s"]
    real = json.loads(call(clotho, "run", path, "--policy", policy, "--clock", "padded", "--dilate", str(dilate),
                           "--log", log, "--json"))["weighted_jct_s"]
    if "valid" not in call(clotho, "check", path, log) or "equal" not in call(clotho, "simulate", path, "--replay", log):
        sys.exit("seed %d, %s: the log is not valid, or does not replay" % (seed, policy))
    return real / virtual


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clotho")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--dilate", type=int, default=200)
    parser.add_argument("policies", nargs="*", metavar="POLICY")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for policy, is_bound in (c for c in CASES if not args.policies or c[0] in args.policies):
            found = sorted(ratio(args.clotho, folder, seed, policy, is_bound, args.dilate)
                           for seed in range(9000, 9000 + args.seeds))
            print("%-20s %-6s median %.3f, largest %.3f" % (policy, "bound" if is_bound else "", found[len(found) // 2],
                                                            found[-1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
