"""Every public call with every wrong object in every place: an exception of one line, never a crash, and all goes on after it.

Calls that are right stay right if one argument is replaced; what an argument is replaced by are objects of other types, numbers
out of range, arrays of other shapes, and objects of Clotho that belong elsewhere."""
import decimal
import fractions
import importlib.util
import os
import unittest

import numpy
from support import PackageTest, fifo_policy, layered, rank_planner

import clotho
from clotho import errors


class Odd:
    """Hashable, callable, iterable, and of no use."""

    def __call__(self, *_):
        raise ZeroDivisionError("called")

    def __len__(self):
        raise ZeroDivisionError("asked for its length")


class Everywhere(PackageTest):
    def setUp(self):
        super().setUp()
        self.graph, self.platform = layered(12), clotho.Platform("rk3588")
        self.cost = clotho.Cost(self.graph, self.platform)
        self.made = clotho.plan(self.cost)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)  # some wrong paths are fine paths
        self.workload = clotho.Workload()
        self.workload.add(self.graph)
        self.runtime = clotho.Runtime("slots:2")
        self.addCleanup(self.runtime.close)
        other = layered(5)
        self.wrong = [
            None, True, -1, 0, 2**31, 2**64, 2**200, 1.5, float("nan"), float("inf"), 1j, "", "nobody", "x" * 100_000, "a\0b", "\udcff",
            b"x",
            b"", [], [1, "a"], [[1], [2, 3]], (), {}, {"a": 1}, set(), range(5), object(), Odd(), Odd, len, numpy.zeros(0),
            numpy.zeros((2, 2, 2)),
            numpy.array(["a"]), numpy.array([None]), numpy.full(12, 2**63, "u8"), numpy.full(12, numpy.nan), numpy.int8(-3),
            numpy.float64(2),
            numpy.zeros(3, clotho.PLACEMENT), numpy.zeros(2, clotho.TASK), numpy.full(2, 255, "u1").view("u2"), memoryview(b"abc"),
            other, clotho.Cost(other, "uniform:2"), clotho.plan(other, "uniform:2"), self.workload, self.platform, self.runtime,
            clotho.Policy, clotho.Planner, clotho.errors.Error, clotho, clotho.library.ffi.NULL, clotho.library.ffi.new("int[3]"),
            NotImplemented]

    def calls(self):
        """(function, right arguments) of what the package offers."""
        path = self.path("g.json")
        self.graph.save(path)
        columns = {"work_ns": [1, 2, 3], "edges": [[0, 1], [1, 2]], "name": "g", "names": ["a", "b", "c"], "kinds": {"k": [1, 2, 3]},
                   "body": "spin", "output_bytes": 8, "instances": [1, 2, 3], "demand": [[1], [2], [3]], "duplicable": True, "grain": 1}
        yield clotho.Graph.from_arrays, columns
        yield clotho.Graph, {"name": "g"}
        yield clotho.Graph().task, {"name": "a", "body": None, "after": [0], "demand": [1], "executors": [0], "times": {"k": 3},
                                    "work_ns": 5,
                                    "output_bytes": 8, "instances": 2, "task_class": 1, "duplicable": True, "grain": 2}
        yield clotho.Graph().edge, {"before": 0, "after": 1, "size": 8}
        yield clotho.Graph().kind, {"name": "k"}
        yield clotho.Graph().resource, {"index": 0, "name": "r"}
        yield clotho.Graph().times, {"kind": "k", "times": 3}
        yield clotho.Graph.generate, {"family": "chain", "tasks": 5, "seed": 1, "ccr": 1.0, "beta": 0.5, "kinds": 2, "width": 2}
        yield clotho.load, {"path": path, "scale": 2.0, "body": "spin", "instance": None}
        yield lambda **how: list(clotho.Graph.load_all(**how)), {"path": path, "scale": 1.0}
        yield self.graph.save, {"path": self.path("out.json"), "format": "clotho"}
        if importlib.util.find_spec("networkx"):
            yield clotho.Graph.from_networkx, {"graph": self.graph.to_networkx(), "work": "work_ns", "data": "bytes", "name": "n"}
        yield clotho.Platform, {"spec": "rk3588"}
        yield clotho.Platform.from_arrays, {
            "kinds": ["a", "b"], "speeds": [1, 2], "machines": 0, "memories": [0, 1], "names": ["x", "y"], "name": "p", "capacities": [[5]],
            "resources": ["r"], "latency_ns": [[0, 1], [1, 0]], "bandwidth": [[0, 1.5], [1, 0]], "os_index": -1, "coherent": False}
        yield self.platform.transfer_ns, {"size": 5, "source": 0, "target": 1}
        yield clotho.Cost, {"graph": self.graph, "platform": self.platform}
        yield clotho.plan, {"graph": self.graph, "platform": self.platform, "planner": "deft", "budget_ns": 1000, "keys": 1, "seed": 3,
                            "schedules_max": 5, "threads": 1, "justify": True, "no_duplicates": False, "contention": 1}
        yield clotho.plan, {"graph": self.cost, "planner": rank_planner}
        yield clotho.pipeline, {"graph": self.cost, "releases_in_flight": 2, "interval_ns": 0}
        yield clotho.Plan.from_placements, {"cost": self.cost, "placements": self.made.placements, "planner": "p"}
        self.made.save(self.path("p.json"))
        yield clotho.Plan.load, {"path": self.path("p.json"), "graph": self.graph, "platform": self.platform}
        yield self.made.save, {"path": self.path("p.json")}
        yield self.made.save_svg, {"path": self.path("p.svg"), "title": "t"}
        yield self.made.gantt, {"columns": 60}
        yield clotho.simulate, {"graph": self.cost, "plan": self.made, "execute": False, "seed": 1, "deadline_ns": 5, "steps_max": 1}
        yield clotho.simulate, {"graph": self.graph, "platform": self.platform, "policy": "fair"}
        yield clotho.simulate, {"graph": self.cost, "policy": fifo_policy}
        yield clotho.simulate_stream, {"workload": self.workload, "platform": self.platform, "policy": "fair", "environment": "decima",
                                       "seed": 1, "jobs_max": 5, "steps_max": 0, "skips_misfits": 0}
        yield clotho.Workload, {"name": "w"}
        yield clotho.Workload().add, {"graph": self.graph, "arrival_ns": 1, "name": "j", "weight": 1, "deadline_ns": 5, "band": 1,
                                      "limit": 2}
        yield self.workload.arrivals, {"kind": "poisson", "jobs": 3, "mean_ns": 5, "seed": 1, "shuffled": True}
        yield self.workload.job, {"index": 0}
        yield clotho.Workload.load, {"path": path, "scale": 1.0}
        yield self.workload.save, {"path": self.path("w.jsonl")}
        yield lambda **how: clotho.Runtime(**how).close(), {"platform": "slots:2", "clock": "real", "trace": True, "jobs_max": 3,
                                                            "slot_workers": 1,
                                                            "spin_ns": 0, "unpinned": 1, "recorder_events": 0}
        yield lambda **how: self.runtime.job(**how).close(), {"graph": self.graph, "policy": "fifo", "weight": 1, "band": 0, "seed": 1,
                                                              "deadline_ns": 0, "on_miss": "skip", "steps_max": 3}
        yield self.runtime.run, {"graph": self.graph, "policy": None, "timeout": 60}
        yield clotho.compare, {"graphs": [self.cost], "planners": ["heft"], "keep_going": False}
        yield clotho.Symbol, {"path": "libc.so.6", "name": "abs", "argument": 0}
        yield clotho.names, {"registry": "planners"}
        yield clotho.Schedule, {"cost": self.cost}
        yield clotho.Schedule(self.cost).finish, {"task": 0, "executor": 0}

    def test_each_argument_of_each_call(self):
        tried = refused = 0
        for call, right in self.calls():
            try:
                call(**right)
            except errors.Error as error:  # some are right only by themselves, such as a second run
                self.assertIsInstance(error, Exception)
            for name in right:
                for wrong in self.wrong:
                    if name == "threads" and isinstance(wrong, (int, numpy.integer)) or name == "timeout" and wrong is None:
                        continue
                    tried += 1
                    try:
                        call(**{**right, name: wrong})
                    except Exception as error:  # pylint: disable=broad-except # that is the point
                        refused += 1
                        if isinstance(error, errors.Error):
                            self.assertNotIn("\n", str(error), (name, wrong))
        self.assertGreater(tried, 5000)
        self.assertGreater(refused, tried // 2)
        self.assertEqual(clotho.plan(self.cost).check().makespan_ns, self.made.makespan_ns)

    def test_what_bodies_planners_and_policies_return(self):
        for wrong in self.wrong:
            try:
                clotho.plan(self.cost, planner=clotho.Planner("p", lambda cost, seed, wrong=wrong: wrong))
            except (errors.InvalidError, TypeError, ZeroDivisionError):
                pass
            policy = clotho.Policy()
            policy.decide = lambda view, wrong=wrong: wrong
            try:
                clotho.simulate(self.cost, policy=policy)
            except (TypeError, ZeroDivisionError):
                pass
            for field in ("name", "summary", "readiness", "time_limit_s", "commits", "moves", "event", "init"):
                policy = clotho.Policy()
                policy.decide = fifo_policy
                setattr(policy, field, wrong)
                try:
                    clotho.simulate(self.cost, policy=policy)
                except Exception as error:  # pylint: disable=broad-except # any, but no crash
                    self.assertNotIsInstance(error, (SystemError, MemoryError))
            graph = clotho.Graph()
            graph.task(body=lambda call, wrong=wrong: wrong)
            self.assertEqual(self.runtime.run(graph).executed, 1)

    def test_the_size_of_a_struct_is_no_field(self):
        for size in (0, 1, 8, 9, 12, 2**20, None):
            for call in (lambda size: clotho.plan(self.cost, size=size), lambda size: clotho.simulate(self.cost, policy="fair", size=size),
                         lambda size: clotho.simulate_stream(self.workload, self.platform, size=size),
                         lambda size: self.runtime.run(self.graph, policy="fair", size=size),
                         lambda size: clotho.Runtime("slots:1", size=size), lambda size: clotho.Graph.generate("chain", tasks=5, size=size),
                         lambda size: clotho.Workload().add(self.graph, size=size), lambda size: clotho.Graph().task(size=size)):
                with self.assertRaisesRegex(TypeError, "has no field 'size'"):
                    call(size)

    def test_what_is_no_whole_number_is_not_cut_off(self):
        calls = (lambda value: clotho.plan(self.cost, seed=value), lambda value: clotho.plan(self.cost, budget_ns=value),
                 lambda value: clotho.pipeline(self.cost, interval_ns=value),
                 lambda value: clotho.simulate(self.cost, policy="fair", deadline_ns=value),
                 lambda value: clotho.simulate_stream(self.workload, self.platform, seed=value),
                 lambda value: clotho.Workload().add(self.graph, weight=value), lambda value: self.runtime.job(self.graph, seed=value),
                 lambda value: self.platform.transfer_ns(value, 0, 1), lambda value: self.platform.transfer_ns(1, value, 1),
                 lambda value: clotho.Graph().task(demand=[value]), self.made.gantt)
        for value in (numpy.float32(2.7), numpy.float64(2), decimal.Decimal("2.7"), fractions.Fraction(27, 10), numpy.array([2.7]),
                      numpy.array(2.7), 2.0, 0.0, "", "2", []):
            for call in calls:
                with self.assertRaisesRegex(TypeError, "^[a-z_.]+ is a [A-Za-z0-9]+; give a whole number$"):
                    call(value)
        for call in calls[:1] + calls[3:6] + calls[7:]:
            call(numpy.int16(1))
        for wrong in (lambda: self.platform.transfer_ns(1, 0, 8), lambda: self.platform.transfer_ns(-1, 0, 1),
                      lambda: clotho.Graph().task(demand=[1] * 9), lambda: clotho.plan(self.cost, seed=2**64)):
            with self.assertRaises(errors.ArgumentError):
                wrong()

    def test_a_view_takes_whole_numbers(self):
        tried = []

        def decide(view):
            for call, places in ((view.job, 1), (view.stage, 2), (view.rank_u, 1), (view.executor, 1), (view.execution_ns, 3),
                                 (view.arrival_ns, 3), (view.available_ns, 1), (view.fits, 3), (view.free_for, 2), (view.earliest, 2)):
                call(*[numpy.int16(0)] * places)
                for place in range(places):
                    where = [0] * places
                    for where[place] in (numpy.float32(0.7), decimal.Decimal("0.7"), 0.0):
                        with self.assertRaises(TypeError):
                            call(*where)
                        tried.append(call)

        clotho.simulate(self.cost, policy=decide)
        self.assertGreaterEqual(len(tried), 57)

    def test_bytes_of_files_that_lie(self):
        for text in ("", "{", "[]", "\0\0", "{}", '{"format": "clotho.graph/1"}', '{"format": "clotho.plan/1", "placements": [[1]]}',
                     "digraph {", "x" * 9999):
            with open(self.path("f"), "w", encoding="utf-8") as file:
                file.write(text)
            for call in (clotho.load, clotho.Workload.load, clotho.Platform, lambda path: clotho.Plan.load(path, self.cost)):
                with self.assertRaises(errors.Error) as caught:
                    call(self.path("f"))
                self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main(verbosity=2)
