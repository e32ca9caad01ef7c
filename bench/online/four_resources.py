#!/usr/bin/env python3
"""Jobs like those of bench-online's scene graphene-tpch as a workload, on which `clotho train parametric --policy
easy-parametric` can be run. Prints the mean gap between arrivals, in seconds, at a load of 85 %.

usage: four_resources.py DATA/tpch/stages.csv WORKLOAD.jsonl [JOBS] [SEED]

The platform: one machine of 64 executors with four resources. A job: a TPC-H query, drawn; each stage is one task of the
mean time of the stage's tasks, and holds U(0, 1/2) of each resource."""
import csv
import json
import random
import sys

EXECUTORS, RESOURCES, CAPACITY, LOAD = 64, ["a", "b", "c", "d"], 1000000, 0.85


def read_queries(source):
    """Lists of (time in ns, parents), one a query and data size."""
    queries = {}
    with open(source, encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            mean_ms = row["mean_rest_ms"] or row["mean_first_ms"] or row["mean_fresh_ms"]
            stages = queries.setdefault((row["query"], row["size"]), [])
            stages.append((int(float(mean_ms) * 1e6), [int(p) for p in row["parents"].split()]))
    return list(queries.values())


def graph(name, stages, draw):
    tasks = [{"name": str(s), "work_ns": work_ns, "demand": {r: 1 + int(draw.random() * 0.5 * (CAPACITY - 1)) for r in RESOURCES}}
             for s, (work_ns, _) in enumerate(stages)]
    edges = [{"from": str(parent), "to": str(s)} for s, (_, parents) in enumerate(stages) for parent in parents]
    return {"format": "clotho.graph/1", "name": name, "resources": RESOURCES, "tasks": tasks, "edges": edges}


def main(source, target, jobs="4000", seed="1"):
    draw = random.Random(int(seed))
    queries = read_queries(source)
    needs = dict.fromkeys(RESOURCES, 0.0)
    platform = {"name": "four-resources", "resources": RESOURCES, "machines": [dict.fromkeys(RESOURCES, CAPACITY)],
                "executors": [{"kind": "cpu", "machine": 0} for _ in range(EXECUTORS)]}
    with open(target, "w", encoding="utf-8") as out:
        print(json.dumps({"format": "clotho.workload/1", "name": "four-resources", "platform": platform}), file=out)
        for j in range(int(jobs)):
            job = graph("q%d" % j, draw.choice(queries), draw)
            print(json.dumps({"graph": job}), file=out)
            for task in job["tasks"]:
                for r in RESOURCES:
                    needs[r] += task["work_ns"] * 1e-9 * task["demand"][r] / CAPACITY
    print("%.4f" % (max(needs.values()) / int(jobs) / LOAD))


if __name__ == "__main__":
    main(*sys.argv[1:])
