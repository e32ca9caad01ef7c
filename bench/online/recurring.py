#!/usr/bin/env python3
"""Graphene's workloads as streams: recurring jobs, which are Mesa's build (1126 steps, measured times, four draws of the
demands) and the 28 largest call graphs of data/rpc_callgraph (times drawn, 0.2 to 2 s), come at 85 % load of the
scarcest of four resources of two machines with 16 executors each. Every tenth job is a build. Outputs are 100 MB in the
mean; 1 GB/s between the machines. Prints, for seeds from 9000 on:

  - the mean completion time over that of tetris, for each policy and each remote penalty of graphene: the ratio of the
    sums over the seeds, with its 95 % interval (paired bootstrap);
  - the same for values of kappa, and Jain's index of fairness among users (four, by draw) in windows of 10, 60 and 240 s.

usage: recurring.py CLOTHO DATA [--seeds N] [--jobs N]     (8 seeds of 60 jobs)"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

RESOURCES = ["cpu", "memory", "network", "disk"]
CALL_GRAPHS, DRAWS, USERS, EXECUTORS, LOAD = 28, 4, 4, 32, 0.85
PLATFORM = {"resources": RESOURCES, "machines": [{r: 1000 for r in RESOURCES}] * 2, "latency_ns": 100000,
            "bandwidth_bytes_per_ns": 1,
            "executors": [{"kind": "core", "machine": e * 2 // EXECUTORS, "memory": e * 2 // EXECUTORS}
                          for e in range(EXECUTORS)]}
POLICIES = ["tetris", "graphene", "easy-sjf", "drf", "fair", "fifo", "sjf", "rank"]
REMOTE = [1.0, 0.9, 0.6, 0.4, 0.2]  # 0.8 is built in
KAPPA = [3, 0.3]  # 1000 is built in
WINDOWS_S = [10, 60, 240]


def graph(name, works_ns, edges, seed):
    """Demands are 1 to 500 of 1000 on each resource."""
    rng = random.Random(seed)
    tasks = [{"work_ns": work, "demand": [rng.randint(1, 500) for _ in RESOURCES]} for work in works_ns]
    return {"format": "clotho.graph/1", "name": name, "resources": RESOURCES, "tasks": tasks,
            "edges": [{"from": a, "to": b, "bytes": rng.randint(1, 200000000)} for a, b in edges]}


def graphs(data):
    """Builds and call graphs; the same job comes again with the same numbers, so its times are known."""
    with open(os.path.join(data, "build_dag", "mesa_vc4_meson.json"), encoding="utf-8") as file:
        nodes = json.load(file)["nodes"]
    edges = [(before, node["id"]) for node in nodes for before in node["deps"]]
    builds = [graph("mesa-%d" % d, [max(1, n["dur_ms"]) * 1000000 for n in nodes], edges, d) for d in range(DRAWS)]
    with open(os.path.join(data, "rpc_callgraph", "alibaba_call_graphs.jsonl"), encoding="utf-8") as file:
        calls = sorted((json.loads(line) for line in file), key=lambda g: -len(g["nodes"]))[:CALL_GRAPHS]
    made = []
    for at, call in enumerate(calls):
        rng = random.Random(1000 + at)
        works = [rng.randint(200000000, 2000000000) for _ in call["nodes"]]
        made.append(graph("calls-%d" % at, works, sorted({(c[0], c[1]) for c in call["calls"]}), 2000 + at))
    return builds, made


def area_ns(job):
    """Time for which the job fills the scarcest resource of both machines."""
    return max(sum(t["work_ns"] * t["demand"][r] for t in job["tasks"]) for r in range(len(RESOURCES))) / 2000


def write(path, builds, calls, seed, jobs):
    rng = random.Random(seed)
    drawn = [rng.choice(builds) if k % 10 == 9 else rng.choice(calls) for k in range(jobs)]
    gap_ns = sum(map(area_ns, drawn)) / jobs / LOAD
    at, rows = 0.0, [{"format": "clotho.workload/1", "platform": PLATFORM}]
    for job in drawn:
        rows.append({"graph": job, "arrival_ns": int(at), "group": rng.randrange(USERS)})
        at += rng.expovariate(1 / gap_ns)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return [row["group"] for row in rows[1:]]


def simulate(clotho, path, policy, *words):
    out = subprocess.run([clotho, "simulate", path, "--policy", policy, "--json", *words], check=True,
                         stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def jain(log, users, window_s):
    """The mean, over the windows, of (sum x)^2 / (n sum x^2): x is the executor time of a user who has a job in the
    system during all of the window."""
    window, held, spans, begin = window_s * 10 ** 9, {}, {}, {}
    with open(log, encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if isinstance(r, list)]
    for record in records:
        now, what, job = record[0], record[1], record[2]
        if what == "arrive":
            begin[job] = now
        elif what == "done":
            spans.setdefault(users[job], []).append((begin[job], now))
        elif what == "finish":
            start = record[-1]
            for k in range(start // window, now // window + 1):
                cell = (k, users[job])
                held[cell] = held.get(cell, 0) + max(0, min(now, (k + 1) * window) - max(start, k * window))
    indices = []
    for k in range(max(r[0] for r in records) // window):
        there = [u for u in range(USERS) if covers(spans.get(u, []), k * window, (k + 1) * window)]
        x = [held.get((k, u), 0) for u in there]
        if len(x) >= 2 and sum(x) > 0:
            indices.append(sum(x) ** 2 / (len(x) * sum(v * v for v in x)))
    return sum(indices) / len(indices) if indices else float("nan")


def covers(spans, start, end):
    for a, b in sorted(spans):
        if a <= start < b:
            start = b
    return start >= end


def summary(mine, theirs):
    """The ratio of the sums, and its interval."""
    rng, seeds = random.Random(1), range(len(mine))
    drawn = [[rng.choice(seeds) for _ in seeds] for _ in range(2000)]
    ratios = sorted(sum(mine[s] for s in some) / sum(theirs[s] for s in some) for some in drawn)
    return "%.3f [%.3f, %.3f]" % (sum(mine) / sum(theirs), ratios[50], ratios[1949])


def play(clotho, drawn, policies, seed, jobs):
    """Of one seed: seconds by policy; Jain's indices by policy, those of the windows."""
    seconds, indices = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path, log = os.path.join(folder, "w.jsonl"), os.path.join(folder, "w.log")
        users = write(path, *drawn, seed, jobs)
        for policy in policies:
            is_fair = "remote" not in policy
            seconds[policy] = simulate(clotho, path, policy, *(["--log", log] if is_fair else []))["avg_jct_s"]
            indices[policy] = [jain(log, users, window) for window in WINDOWS_S] if is_fair else []
    return seconds, indices


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clotho")
    parser.add_argument("data")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=60)
    args = parser.parse_args()
    drawn = graphs(args.data)
    policies = POLICIES + ["graphene:remote=%g" % r for r in REMOTE] + ["graphene:kappa=%g" % k for k in KAPPA]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as crew:
        runs = list(crew.map(lambda seed: play(args.clotho, drawn, policies, seed, args.jobs), range(9000, 9000 + args.seeds)))
    print("mean completion / tetris, and Jain's index in windows of " + ", ".join("%d s" % w for w in WINDOWS_S))
    for policy in policies:
        there = [[one for one in column if one == one] for column in zip(*(run[1][policy] for run in runs))]
        print("  %-22s %s  %s" % (policy, summary([run[0][policy] for run in runs], [run[0]["tetris"] for run in runs]),
                                  "  ".join("%.3f" % (sum(x) / len(x)) if x else "-" for x in there)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
