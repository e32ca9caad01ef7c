"""Random calls from several threads on shared objects, some closed or dropped meanwhile: only exceptions of the package, no crash, no
hang, and all works afterwards. CLO_SAMPLE draws other calls; CLO_RUNS=N plays N times as many."""
import gc
import os
import random
import threading
import unittest

from support import PackageTest, fifo_policy, layered, rank_planner

import clotho
from clotho import errors

THREADS, CALLS = 4, 250
SAMPLE, RUNS = int(os.environ.get("CLO_SAMPLE") or "0"), int(os.environ.get("CLO_RUNS") or "1")


def python_graph():
    graph = clotho.Graph("p")
    a = graph.task(body=lambda call: call.task, output_bytes=16, work_ns=500)
    b = graph.task(body=lambda call: [bytes(view) for view in call.inputs], after=[(a, 16)], work_ns=500)
    graph.task(body=lambda call: len(call.values), after=[a, b], work_ns=500)
    return graph


class World:
    """What the threads share: lists of objects, of which each may take, replace or drop one at any time."""

    def __init__(self):
        self.kinds = {name: [] for name in ("graph", "cost", "plan", "runtime", "job", "workload", "result")}
        self.platform = clotho.Platform("slots:3")

    def put(self, kind, what):
        row = self.kinds[kind]
        row.append(what)
        while len(row) > 6:
            row.pop(0)

    def any(self, kind, draw):
        row = list(self.kinds[kind])
        if not row:
            raise errors.StateError("there is none yet")
        return draw.choice(row)

    def step(self, draw):
        what = draw.randrange(22)
        if what == 0:
            self.put("graph", draw.choice((lambda: layered(draw.randrange(3, 40), seed=draw.randrange(9)), python_graph, clotho.Graph))())
        elif what == 1:
            self.any("graph", draw).task(work_ns=5, after=[draw.randrange(4)])
        elif what == 2:
            self.put("cost", clotho.Cost(self.any("graph", draw), self.platform))
        elif what == 3:
            self.put("plan", clotho.plan(self.any("cost", draw), planner=draw.choice(("heft", "deft", "best", rank_planner)),
                                         schedules_max=9))
        elif what == 4:
            self.any("plan", draw).check().measure()
        elif what == 5:
            self.put("result", clotho.simulate(self.any("cost", draw), policy=draw.choice(("fair", "eft", fifo_policy))))
        elif what == 6:
            plan = self.any("plan", draw)
            self.put("result", clotho.simulate(plan.cost, plan=plan, execute=draw.random() < 0.5))
        elif what == 7:
            self.put("runtime", clotho.Runtime(self.platform, slot_workers=2, trace=draw.random() < 0.5))
        elif what == 8:
            self.put("job", self.any("runtime", draw).job(self.any("cost", draw), policy=draw.choice((None, None, "fifo"))))
        elif what in (9, 10):
            self.put("result", self.any("job", draw).run(timeout=draw.choice((None, 0.001))))
        elif what == 11:
            self.any("job", draw).submit()
        elif what == 12:
            self.put("result", self.any("job", draw).wait(timeout=draw.choice((0, 10))))
        elif what == 13:
            self.any("job", draw).cancel()
        elif what == 14:
            self.any("job", draw).output(0)
        elif what == 15 and draw.random() < 0.3:
            self.any(draw.choice(("job", "runtime")), draw).close()
        elif what == 16:
            row = self.kinds[draw.choice(list(self.kinds))]
            if row and draw.random() < 0.5:
                row.pop()
        elif what == 17:
            result = self.any("result", draw)
            sum(result.events["finish_ns"].tolist()), result.values, result.plan()
        elif what == 18:
            workload = clotho.Workload()
            workload.add(self.any("graph", draw))
            self.put("workload", workload)
        elif what == 19:
            workload = self.any("workload", draw)
            workload.add(self.any("graph", draw), draw.randrange(1000))
            clotho.simulate_stream(workload.sort(), self.platform)
        elif what == 20:
            plan = self.any("plan", draw)
            self.put("job", self.any("runtime", draw).job(plan.cost, plan=plan))
        else:
            gc.collect()


class Threads(PackageTest):
    def test_random_calls(self):
        world, failures = World(), []
        counts = {"good": 0, "refused": 0}

        def work(seed):
            draw = random.Random(seed)
            for _ in range(CALLS * RUNS):
                if failures:
                    return
                try:
                    world.step(draw)
                    counts["good"] += 1
                except (errors.Error, IndexError):
                    counts["refused"] += 1
                except BaseException as error:  # pylint: disable=broad-except # shown below
                    failures.append(error)

        threads = [threading.Thread(target=work, args=(THREADS * SAMPLE + k,)) for k in range(THREADS)]
        for thread in threads:
            thread.start()
        work(1000 + SAMPLE)  # this one, too: it hears signals
        for thread in threads:
            thread.join()
        for error in failures:
            raise error
        self.assertGreater(counts["good"], CALLS)
        for kind in ("job", "runtime"):
            while world.kinds[kind]:
                world.kinds[kind].pop().close()
        graph = python_graph()
        self.assertEqual(clotho.run(graph, world.platform).values, {0: 0, 1: [bytes(16)], 2: 2})


if __name__ == "__main__":
    unittest.main(verbosity=2)
