#!/usr/bin/env python3
"""One job alone under policies that pack, beside the plan of the planner "graphene": Mesa's build (1126 steps, measured
times) and the 28 largest call graphs of data/rpc_callgraph (times drawn, 1 to 10 ms), each with drawn demands on four
resources of two machines. Prints the makespans over that of the plan: geometric mean, and the worst.

usage: alone.py CLOTHO DATA [POLICY...]      (graphene fifo tetris easy-sjf rank replan)"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

RESOURCES = ["cpu", "memory", "network", "disk"]
CALL_GRAPHS = 28
DRAWS = 4  # of the demands of the build


def graph(name, works_ns, edges, seed, executors):
    """Demands are 1 to 500 of 1000 on each resource."""
    rng = random.Random(seed)
    tasks = [{"work_ns": work, "demand": {r: rng.randint(1, 500) for r in RESOURCES}} for work in works_ns]
    return {"format": "clotho.graph/1", "name": name, "resources": RESOURCES, "tasks": tasks,
            "edges": [{"from": a, "to": b} for a, b in edges],
            "platform": {"kinds": ["core"], "resources": RESOURCES, "machines": [{r: 1000 for r in RESOURCES}] * 2,
                         "executors": [{"kind": "core", "machine": e * 2 // executors} for e in range(executors)]}}


def mesa(data):
    with open(os.path.join(data, "build_dag", "mesa_vc4_meson.json"), encoding="utf-8") as file:
        nodes = json.load(file)["nodes"]
    works = [max(1, node["dur_ms"]) * 1000 for node in nodes]
    edges = [(before, node["id"]) for node in nodes for before in node["deps"]]
    return [graph("mesa-%d" % draw, works, edges, draw, 32) for draw in range(DRAWS)]


def calls(data):
    with open(os.path.join(data, "rpc_callgraph", "alibaba_call_graphs.jsonl"), encoding="utf-8") as file:
        all_graphs = [json.loads(line) for line in file]
    all_graphs.sort(key=lambda g: -len(g["nodes"]))
    made = []
    for at, g in enumerate(all_graphs[:CALL_GRAPHS]):
        rng = random.Random(1000 + at)
        works = [rng.randint(1000000, 10000000) for _ in g["nodes"]]
        made.append(graph("calls-%d" % at, works, sorted({(c[0], c[1]) for c in g["calls"]}), 2000 + at, 8))
    return made


def makespan_ns(clotho, path, *words):
    out = subprocess.run([clotho, *words, path, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)["makespan_ns"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clotho, data = sys.argv[1], sys.argv[2]
    policies = sys.argv[3:] or ["graphene", "fifo", "tetris", "easy-sjf", "rank", "replan"]
    with tempfile.TemporaryDirectory() as folder:
        for kind, graphs in (("Mesa's build", mesa(data)), ("call graphs", calls(data))):
            ratios = {policy: [] for policy in policies}
            for g in graphs:
                path = os.path.join(folder, g["name"] + ".json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(g, file)
                plan = makespan_ns(clotho, path, "plan", "--planner", "graphene")
                for policy in policies:
                    ratios[policy].append(makespan_ns(clotho, path, "simulate", "--policy", policy) / plan)
            print("%s, %d" % (kind, len(graphs)))
            for policy, values in ratios.items():
                print("  %-12s %.4f  worst %.4f" % (policy, math.exp(sum(map(math.log, values)) / len(values)), max(values)))


if __name__ == "__main__":
    main()
