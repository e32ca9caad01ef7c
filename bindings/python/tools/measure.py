#!/usr/bin/env python3
"""What the package costs beside the library. usage: PYTHONPATH=build/release/python measure.py

Prints the lowest and the median of the rounds: a graph of 100 000 tasks from arrays, and small calls."""
import statistics
import time

import clotho
import numpy

TASKS, ROUNDS = 100_000, 25


def show(what, work, rounds=ROUNDS):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        work()
        times.append((time.perf_counter_ns() - begin) / 1e6)
    print("%-64s %9.3f ms, median %9.3f ms" % (what, min(times), statistics.median(times)))


def main():
    chain = numpy.arange(TASKS - 1)
    work = numpy.full(TASKS, 1000)
    columns = numpy.concatenate([numpy.stack([chain, chain + 1], 1), numpy.stack([chain[:-1], chain[:-1] + 2], 1)])
    table, edges = numpy.zeros(TASKS, clotho.TASK), numpy.zeros(len(columns), clotho.EDGE)
    table["work_ns"], edges["from"], edges["to"] = work, columns[:, 0], columns[:, 1]
    names = ["t%d" % k for k in range(TASKS)]
    size = "%d tasks, %d edges" % (TASKS, len(columns))
    show(size + ", columns", lambda: clotho.Graph.from_arrays(work, columns))
    show(size + ", columns and names", lambda: clotho.Graph.from_arrays(work, columns, names=names))
    show(size + ", columns and times of a kind", lambda: clotho.Graph.from_arrays(work, columns, kinds={"k": work}))
    show(size + ", arrays of clotho.TASK and clotho.EDGE", lambda: clotho.Graph.from_arrays(table, edges))
    cost = clotho.Cost(clotho.Graph.generate("layered", tasks=60, ccr=0.5, seed=3), "rk3588")
    plan = clotho.plan(cost)
    show("HEFT, 60 tasks", lambda: clotho.plan(cost), 500)
    show("the simulation of that plan", lambda: clotho.simulate(cost, plan=plan), 500)
    graph = clotho.Graph()
    graph.task(body=lambda call: None)
    with clotho.Runtime() as runtime, runtime.job(graph) as job:
        show("a run of one task with a body in Python", job.run, 500)


if __name__ == "__main__":
    main()
