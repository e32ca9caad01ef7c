#!/usr/bin/env python3
"""The jobs and the platform of bench-online's scene decima-memory-alibaba as a workload, on which `clotho train parametric` can
be run. Prints the mean gap between arrivals, in seconds, at which the executors with memory enough would always be busy:
over 0.85 it is the scene's.

usage: memory_classes.py ALIBABA.jsonl WORKLOAD.jsonl [TIMES]

The platform: 200 executors, a machine each, by turns with 1/4, 1/2, 3/4 and all of the memory. The jobs: those that would not
keep all executors busy for longer than an hour. Demands are those of the trace, TIMES (1) as much, at most all memory."""
import json
import sys

EXECUTORS, CLASSES, MEMORY, LONGEST_S = 200, 4, 1000, 3600


def graph(job, times):
    tasks = [{"name": str(task["id"]), "work_ns": round(task["dur"] * 1e9), "instances": task["instances"],
              "demand": {"memory": min(MEMORY, round(task["mem"] * MEMORY * times))}} for task in job["tasks"]]
    names = {task["id"] for task in job["tasks"]}
    edges = [{"from": str(parent), "to": str(task["id"])} for task in job["tasks"] for parent in sorted(set(task["parents"]))
             if parent in names]
    return {"format": "clotho.graph/1", "name": job["job"], "resources": ["memory"], "tasks": tasks, "edges": edges}


def main(source, target, times="1"):
    platform = {"name": "memory-classes", "resources": ["memory"],
                "machines": [{"memory": (e % CLASSES + 1) * MEMORY // CLASSES} for e in range(EXECUTORS)],
                "executors": [{"kind": "cpu", "machine": e} for e in range(EXECUTORS)]}
    needs, count = [0.0] * CLASSES, 0
    with open(source, encoding="utf-8") as rows, open(target, "w", encoding="utf-8") as out:
        print(json.dumps({"format": "clotho.workload/1", "name": "alibaba-memory", "platform": platform}), file=out)
        for row in rows:
            job = graph(json.loads(row), float(times))
            work_s = [task["work_ns"] * 1e-9 * task["instances"] for task in job["tasks"]]
            if sum(work_s) > LONGEST_S * EXECUTORS:
                continue
            print(json.dumps({"graph": job}), file=out)
            count += 1
            for task, each_s in zip(job["tasks"], work_s):
                for k in range(CLASSES):
                    needs[k] += each_s if task["demand"]["memory"] * CLASSES > k * MEMORY else 0
    print("%.1f" % (max(need * CLASSES / (EXECUTORS * (CLASSES - k)) for k, need in enumerate(needs)) / count))


if __name__ == "__main__":
    main(*sys.argv[1:])
