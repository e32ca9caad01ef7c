"""Nothing grows: 4000 runs of each kind (10 000 with CLO_FULL), as the resident memory of the process tells; and no object outlives
its users."""
import copy
import gc
import os
import pickle
import unittest

from support import SANITIZED, PackageTest, fifo_policy, layered, rank_planner

import clotho
from clotho import errors, library

RUNS = 10_000 if os.environ.get("CLO_FULL") else 4_000
LEAK = 1024  # bytes a run; so much, and a MiB, may be noise


def resident():
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(PackageTest):
    def grows_by(self, work, runs=RUNS):
        """Bytes that `runs` of work() have added, the first ones aside."""
        runs = runs // 20 if SANITIZED else runs  # there it is the sanitizer that looks
        for _ in range(runs // 10):
            work()
        before = resident()
        for _ in range(runs):
            work()
        return resident() - before

    def steady(self, work, runs=RUNS):
        """Fails if work() leaks."""
        growth = self.grows_by(work, runs)
        if not SANITIZED:
            self.assertLess(growth, LEAK * runs + (1 << 20))

    def test_a_leak_is_seen(self):
        kept = []
        self.assertGreater(self.grows_by(lambda: kept.append(bytes(2048))) + SANITIZED * RUNS * 2048, LEAK * RUNS + (1 << 20))

    def test_runs_of_a_job(self):
        graph = clotho.Graph()
        a = graph.task(body=lambda call: bytes(100), output_bytes=64)
        graph.task(body=lambda call: len(call.values[0]) + len(call.inputs[0]), after=[(a, 64)])
        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            self.steady(lambda: self.assertEqual(job.run().values[1], 164))

    def test_jobs(self):
        graph = clotho.Graph()
        graph.task(body=lambda call: 1)
        with clotho.Runtime() as runtime:
            cost = clotho.Cost(graph, runtime.platform)
            self.steady(lambda: runtime.run(cost))

    def test_bodies_that_raise(self):
        graph = clotho.Graph()
        graph.task(body=lambda call: call.nothing, output_bytes=8)

        def work():
            with self.assertRaises(errors.TaskError):
                job.run()

        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            self.steady(work)

    def test_graphs_plans_and_simulations(self):
        def work():
            cost = clotho.Cost(clotho.Graph.from_arrays([3, 4, 5], [[0, 1, 8], [0, 2, 8]], names=["a", "b", "c"]), "uniform:2")
            plan = clotho.plan(cost).check()
            clotho.simulate(cost, plan=plan).events["finish_ns"].max()

        self.steady(work)

    def test_own_planners_and_policies(self):
        cost = clotho.Cost(clotho.Graph.from_arrays([3, 4, 5], [[0, 1, 8], [0, 2, 8]]), "uniform:2")

        def work():
            clotho.plan(cost, planner=rank_planner)
            clotho.simulate(cost, policy=fifo_policy)

        self.steady(work)

    def test_refusals(self):
        cost = clotho.Cost(clotho.Graph.from_arrays([3]), "uniform:2")

        def work():
            for call in (lambda: clotho.plan(cost, planner="nobody"), lambda: clotho.plan(cost, planner=lambda c, s: 7),
                         lambda: clotho.Graph.from_arrays([1, 2], [[0, 1], [1, 0]]), lambda: clotho.Platform("nowhere"),
                         lambda: clotho.load("/nothing"), lambda: clotho.simulate(cost, policy=lambda view: 7)):
                try:
                    call()
                except (errors.Error, TypeError):
                    continue
                self.fail("nothing was refused")

        self.steady(work, RUNS // 2)

    def test_runtimes(self):
        graph = clotho.Graph()
        graph.task(body=lambda call: 1)
        self.steady(lambda: clotho.run(graph, "slots:2"), RUNS // 10)

    def test_nothing_is_copied_that_would_be_freed_twice(self):
        plan = clotho.plan(layered(10), "rk3588")
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                call(plan.handle)
        self.assertEqual(copy.copy(plan).makespan_ns, plan.makespan_ns)

    def test_everything_is_freed_when_nobody_uses_it(self):
        freed = []
        real = library.Handle._free

        def counted(handle):
            freed.append(handle)
            real(handle)

        library.Handle._free = counted
        self.addCleanup(setattr, library.Handle, "_free", real)
        cost = clotho.Cost(layered(10), "rk3588")
        plan = clotho.plan(cost)
        rows = plan.placements
        del cost, plan
        gc.collect()
        self.assertEqual(len(freed), 0)
        del rows
        gc.collect()
        self.assertEqual(len(freed), 4)  # the plan, its cost, the graph, the platform


if __name__ == "__main__":
    unittest.main(verbosity=2)
