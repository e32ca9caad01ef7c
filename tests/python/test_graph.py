"""Graphs from arrays, networkx, files and generators; platforms and costs; what they refuse."""
import gc
import json
import os
import threading
import unittest

import numpy
from support import SOURCE, PackageTest, layered, needs

import clotho
from clotho import errors, library


class Arrays(PackageTest):
    def test_columns_are_what_tasks_have(self):
        graph = clotho.Graph.from_arrays([5, 7, 9], [[0, 1, 64], [1, 2, 0]], name="g", names=["a", "b", "ç"], output_bytes=[1, 0, 3],
                                         instances=2, duplicable=[True, False, False], demand=[[1, 2], [0, 0], [3, 4]], task_class=1)
        tasks = graph.tasks()
        self.assertEqual(tasks["work_ns"].tolist(), [5, 7, 9])
        self.assertEqual(tasks["instances"].tolist(), [2, 2, 2])
        self.assertEqual(tasks["demand"][:, :3].tolist(), [[1, 2, 0], [0, 0, 0], [3, 4, 0]])
        self.assertEqual(tasks["duplicable"].tolist(), [1, 0, 0])
        self.assertEqual(graph.names(), ["a", "b", "ç"])
        self.assertEqual(graph.edges().tolist(), [(0, 1, 64), (1, 2, 0)])
        self.assertEqual((len(graph), graph.instances, graph.name), (3, 6, "g"))

    def test_arrays_of_tasks_and_edges_are_taken_as_they_are(self):
        tasks, edges = numpy.zeros(4, clotho.TASK), numpy.zeros(3, clotho.EDGE)
        tasks["work_ns"], edges["to"], edges["bytes"] = [1, 2, 3, 4], [1, 2, 3], 8
        graph = clotho.Graph.from_arrays(tasks, edges)
        self.assertEqual(graph.tasks()["work_ns"].tolist(), [1, 2, 3, 4])
        self.assertEqual(graph.edges()["to"].tolist(), [1, 2, 3])
        half = clotho.Graph.from_arrays(tasks[::2])  # not in one piece
        self.assertEqual(half.tasks()["work_ns"].tolist(), [1, 3])

    def test_as_many_calls_for_a_hundred_thousand_tasks_as_for_ten(self):
        calls = []

        class Counting:
            def __getattr__(self, name):
                calls.append(name)
                return getattr(library.lib, name)

        module = __import__("clotho.graph", fromlist=["lib"])
        for count in (10, 100_000):
            calls.clear()
            before, module.lib = module.lib, Counting()
            try:
                work, chain = numpy.full(count, 1000), numpy.arange(count - 1)
                graph = clotho.Graph.from_arrays(work, numpy.stack([chain, chain + 1], 1))
            finally:
                module.lib = before
            self.assertEqual(len(graph), count)
            self.assertEqual(calls, ["clo_graph_create", "clo_graph_destroy", "clo_graph_add_tasks", "clo_graph_add_edges",
                                     "clo_graph_seal"])

    def test_times_by_kind(self):
        graph = clotho.Graph.from_arrays([0, 0], kinds={"cortex-a55": [10, 20], "cortex-a76": [5, clotho.TIME_NEVER]})
        times = clotho.Cost(graph, "rk3588").execution_ns
        self.assertEqual(times[0].tolist(), [10] * 4 + [5] * 4)
        self.assertEqual(times[1].tolist(), [20] * 4 + [clotho.TIME_NEVER] * 4)

    def test_wrong_arrays_are_refused_in_one_line(self):
        for error, text, arguments in (
                (TypeError, "work_ns is an array of float64", ([1.5, 2],)),
                (TypeError, "work_ns is an array of object", ([None, 2],)),
                (TypeError, "work_ns is an array of <U1", (["a"],)),
                (ValueError, "columns differ in length: output_bytes 3, work_ns 2", ([1, 2], None, {"output_bytes": [1, 2, 3]})),
                (ValueError, "needs one array at least", (5,)),
                (ValueError, "instances holds -1; give 0 to 4294967295", ([1], None, {"instances": [-1]})),
                (ValueError, "instances holds 4294967296", ([1], None, {"instances": [2**32]})),
                (ValueError, "edges have the shape", ([1, 2], [[0, 1, 2, 3]])),
                (ValueError, "edges have the shape", ([1, 2], [0, 1])),
                (ValueError, "edges: from holds -1", ([1, 2], [[-1, 1]])),
                (TypeError, "edges: from is an array of float64", ([1, 2], [[0.5, 1]])),
                (ValueError, "task 7 does not exist", ([1, 2], [[0, 7]])),
                (ValueError, "", ([1, 2], [[0, 0]])),
                (errors.CycleError, "", ([1, 2], [[0, 1], [1, 0]])),
                (ValueError, "demand has the shape", ([1, 2], None, {"demand": [1, 2]})),
                (TypeError, "no column 'colour'", ([1], None, {"colour": [1]})),
                (ValueError, "", ([-1],)),
                (ValueError, "", ([],)),
                (ValueError, "names|columns", ([1, 2], None, {"names": ["a"]})),
                (TypeError, "a name is a int", ([1], None, {"names": [1]})),
                (ValueError, "0 byte", ([1], None, {"names": ["a\0b"]})),
                (TypeError, "body", ([1], None, {"body": 1.5}))):
            with self.subTest(text=text, arguments=arguments):
                with self.assertRaisesRegex(error, text) as caught:
                    clotho.Graph.from_arrays(*arguments[:2], **(arguments[2] if len(arguments) > 2 else {}))
                self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "no pointers"):
            tasks = numpy.zeros(1, clotho.TASK)
            tasks["name"] = 8
            clotho.Graph.from_arrays(tasks)


class OneByOne(PackageTest):
    def test_a_sealed_graph_does_not_change(self):
        graph = clotho.Graph("g")
        a = graph.task("a", work_ns=1)
        graph.task(after=[(a, 64)], work_ns=2, executors=[1, 3], times={"k": 5}, demand=[1])
        clotho.Cost(graph, "rk3588")  # seals it
        for change in (lambda: graph.task("b"), lambda: graph.edge(0, 1), graph.seal, lambda: graph.kind("x"),
                       lambda: graph.times("k", 3), lambda: graph.resource(0, "memory")):
            with self.assertRaises(errors.StateError):
                change()
        self.assertEqual(len(graph), 2)

    def test_wrong_fields(self):
        graph = clotho.Graph()
        for error, how in ((TypeError, {"work_ns": 1.5}), (TypeError, {"work_ns": "1"}), (ValueError, {"work_ns": -1}),
                           (TypeError, {"colour": 1}), (ValueError, {"instances": 2**40}), (TypeError, {"after": ["a"]}),
                           (TypeError, {"body": "nobody"}), (TypeError, {"body": object()}), (TypeError, {"executors": [0.5]}),
                           (TypeError, {"times": {3: 4}}), (TypeError, {"name": 7}), (ValueError, {"name": "a\0"})):
            with self.subTest(how=how), self.assertRaises(error):
                graph.task(**how)
        for not_a_graph in (None, 7, "g.json", [1]):
            with self.assertRaisesRegex(TypeError, "give a clotho.Graph"):
                clotho.Cost(not_a_graph)
            with self.assertRaisesRegex(TypeError, "give a clotho.Graph"):
                clotho.plan(not_a_graph)

    def test_a_task_is_added_whole_or_not_at_all(self):
        graph = clotho.Graph()
        first = graph.task()
        for how in ({"after": [77]}, {"after": [1]}, {"after": [first, "a"]}, {"after": [(0, -1)]}, {"executors": [-1]}, {"executors": ["a"]},
                    {"executors": [[0], [1]]}, {"times": {"k": -1}}, {"times": {"k": 1.5}}, {"times": {"a\0": 1}}, {"times": {1: 1}}):
            with self.subTest(how=how), self.assertRaises((errors.ArgumentError, TypeError)):
                graph.task(**how)
            self.assertEqual((len(graph), len(graph.edges())), (1, 0))
        self.assertEqual(graph.task(after=[first], executors=[0], times={"k": 5}), 1)
        self.assertTrue(graph.seal().is_sealed)

    def test_a_task_that_the_library_takes_in_part_is_never_planned(self):
        graph = clotho.Graph()
        with self.assertRaises(errors.Error) as caught:
            graph.task(executors=[])
        for use in (graph.seal, lambda: clotho.plan(graph, "rk3588"), lambda: clotho.Workload().add(graph)):
            with self.assertRaises(errors.StateError) as refused:
                use()
            self.assertEqual(str(refused.exception), "task 0 is not whole: %s; make the graph anew" % caught.exception)

    def test_threads_may_add_to_one_graph(self):
        graph = clotho.Graph()

        def adds():
            for _ in range(500):
                task = graph.task("x", work_ns=3, output_bytes=8)
                graph.tasks() if task % 100 == 0 else graph.edge(task, task + 5000)

        threads = [threading.Thread(target=adds) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(graph), 2000)
        self.assertEqual(graph.tasks()["work_ns"].tolist(), [3] * 2000)

    def test_a_graph_outlives_what_uses_it_in_any_order(self):
        for _ in range(20):
            graph = layered()
            cost = clotho.Cost(graph, "rk3588")
            plan = clotho.plan(cost)
            places = plan.placements
            event = clotho.simulate(cost, plan=plan).events
            graph.cycle, cost.cycle, plan.cycle = plan, graph, cost
            total = int(places["finish_ns"].sum())
            del graph, cost, plan
            gc.collect()
            self.assertEqual(int(places["finish_ns"].sum()), total)
            self.assertEqual(int(event["finish_ns"].sum()), total)
            self.assertFalse(places.flags.writeable)


class Files(PackageTest):
    def test_files_and_back(self):
        graph = layered()
        for name in ("g.json", "g.dot"):
            graph.save(self.path(name))
            again = clotho.Graph.load(self.path(name))
            self.assertEqual(again.edges().tolist(), graph.edges().tolist())
            self.assertEqual(again.tasks()["work_ns"].tolist(), graph.tasks()["work_ns"].tolist())
        self.assertEqual(len(clotho.load(self.path("g.json"))), len(graph))

    def test_a_wfcommons_workflow(self):
        graph = layered(outputs=1)
        graph.save(self.path("w.json"), format="wfformat")
        with open(self.path("w.json"), encoding="utf-8") as file:
            self.assertIn("schemaVersion", json.load(file))
        again = clotho.Graph.load(self.path("w.json"))
        self.assertEqual(again.tasks()["work_ns"].tolist(), graph.tasks()["work_ns"].tolist())

    def test_many_graphs_of_one_file(self):
        with open(self.path("two.jsonl"), "w", encoding="utf-8") as file:
            for name in "ab":
                file.write(json.dumps({"format": "clotho.graph/1", "name": name, "tasks": [{"work_ns": 9}], "edges": []}) + "\n")
        self.assertEqual([graph.name for graph in clotho.Graph.load_all(self.path("two.jsonl"))], ["a", "b"])
        self.assertEqual(clotho.Graph.load(self.path("two.jsonl"), instance="b").name, "b")
        with self.assertRaisesRegex(errors.ArgumentError, "two.jsonl"):
            clotho.Graph.load(self.path("two.jsonl"))

    def test_bad_files_are_the_line_of_the_library(self):
        with self.assertRaisesRegex(errors.FileError, "nothing.json") as caught:
            clotho.load(self.path("nothing.json"))
        self.assertIsInstance(caught.exception, OSError)
        with open(self.path("bad.json"), "w", encoding="utf-8") as file:
            file.write('{"format": "clotho.graph/1",\n "tasks": [{"work_ns": -1}]}')
        with self.assertRaisesRegex(errors.FormatError, r"bad\.json:2: "):
            clotho.load(self.path("bad.json"))
        for wrong in (None, 3, [b"x"]):
            with self.assertRaises(TypeError):
                clotho.load(wrong)
        with self.assertRaises(errors.ArgumentError):
            clotho.load("a\0b")

    def test_families(self):
        for family in clotho.names("families"):
            self.assertGreater(len(clotho.Graph.generate(family, tasks=30)), 0)
        for error, how in ((errors.ArgumentError, {"family": "nobody"}), (TypeError, {"family": 3}),
                           (TypeError, {"family": "chain", "colour": 1}), (TypeError, {"family": "chain", "tasks": "x"}),
                           (errors.ArgumentError, {"family": "chain", "tasks": -1})):
            with self.subTest(how=how), self.assertRaises(error):
                clotho.Graph.generate(**how)
        with self.assertRaises(errors.ArgumentError):
            clotho.names("nothing")


@needs("networkx")
class Networkx(PackageTest):
    def test_there_and_back(self):
        import networkx

        graph = layered()
        there = graph.to_networkx()
        self.assertTrue(networkx.is_directed_acyclic_graph(there))
        back = clotho.Graph.from_networkx(there)
        self.assertEqual(back.tasks()["work_ns"].tolist(), graph.tasks()["work_ns"].tolist())
        self.assertEqual(sorted(back.edges().tolist()), sorted(graph.edges().tolist()))

    def test_names_and_attributes(self):
        import networkx

        made = networkx.DiGraph(name="n")
        made.add_edge("x", ("y", 1), size=8)
        made.nodes["x"]["cost"] = 5
        graph = clotho.Graph.from_networkx(made, work="cost", data="size")
        self.assertEqual((graph.name, graph.names(), graph.edges().tolist()), ("n", ["x", "('y', 1)"], [(0, 1, 8)]))
        self.assertEqual(graph.tasks()["work_ns"].tolist(), [5, 0])

    def test_other_graphs_are_refused(self):
        import networkx

        for wrong in (networkx.Graph([(0, 1)]), networkx.MultiDiGraph([(0, 1)]), [(0, 1)], None):
            with self.assertRaisesRegex(TypeError, "DiGraph"):
                clotho.Graph.from_networkx(wrong)
        with self.assertRaises(errors.ArgumentError):
            clotho.Graph.from_networkx(networkx.DiGraph())
        with self.assertRaises(errors.CycleError):
            clotho.Graph.from_networkx(networkx.DiGraph([(0, 1), (1, 0)]))


class Platforms(PackageTest):
    def test_of_arrays(self):
        apart = 1 - numpy.eye(3)
        made = clotho.Platform.from_arrays(["big", "big", "little"], speeds=[2, 2, 0.5], names=["x", "y", "z"], name="p",
                                           latency_ns=(100 * apart).astype(int), bandwidth=apart, capacities=[[4]], resources=["memory"])
        self.assertEqual((len(made), made.name, made.executors, made.kinds), (3, "p", ["x", "y", "z"], ["big", "big", "little"]))
        self.assertEqual(made.transfer_ns(50, 0, 2), 150)
        self.assertEqual(made.transfer_ns(50, 1, 1), 0)
        times = clotho.Cost(clotho.Graph.from_arrays([1000]), made).execution_ns
        self.assertEqual(times.tolist(), [[500, 500, 2000]])
        self.assertFalse(made.is_native)

    def test_wrong_ones(self):
        with self.assertRaises(errors.ArgumentError):
            clotho.Platform("nowhere-board")
        with self.assertRaisesRegex(TypeError, "give a clotho.Platform or a str"):
            clotho.Platform(7)
        for error, how in ((ValueError, {"kinds": []}), (ValueError, {"speeds": [1, 2]}), (ValueError, {"speeds": 0}),
                           (ValueError, {"speeds": float("nan")}), (ValueError, {"latency_ns": [[0]]}), (ValueError, {"memories": [0]}),
                           (TypeError, {"latency_ns": [[0.5] * 3] * 3}), (ValueError, {"names": ["a"]}), (ValueError, {"capacities": [1]}),
                           (TypeError, {"kinds": [1, 2, 3]}), (ValueError, {"latency_ns": [[-5] * 3] * 3})):
            with self.subTest(how=how), self.assertRaises(error):
                clotho.Platform.from_arrays(**{"kinds": ["a", "b", "c"], **how})
        with self.assertRaises(errors.PlatformError):
            clotho.Cost(clotho.Graph.from_arrays([0], kinds={"nothing": [5]}), "rk3588")

    def test_missing_packages_are_named(self):
        said = self.python("""
import sys, clotho
sys.modules.update({"pandas": None, "networkx": None, "matplotlib": None, "matplotlib.pyplot": None})
graph = clotho.Graph.generate("chain", tasks=3)
plan = clotho.plan(graph, "rk3588")
for call in (lambda: plan.frame, graph.to_networkx, lambda: clotho.plot.gantt(plan)):
    try: call()
    except ImportError as error: print(error)
""")
        for package in ("python3-pandas", "python3-networkx", "python3-matplotlib"):
            self.assertIn("install the Debian package " + package, said)


class Installed(PackageTest):
    def test_each_module_is_small(self):
        folder = os.path.join(SOURCE, "bindings", "python", "clotho")
        for name in os.listdir(folder):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    lines = file.read().splitlines()
                self.assertLessEqual(len(lines), 420, name)
                self.assertLessEqual(max(map(len, lines)), 140, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
