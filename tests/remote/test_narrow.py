"""The plan of a run is that of the planning commands, bit for bit; and narrow cases: edges without bytes, machines without
tasks, outputs that no edge carries."""
import json
import os
import signal
import subprocess
import unittest

import support


class Narrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = support.Machines(3)
        cls.addClassCleanup(cls.machines.close)

    def one_machine(self, graph, platform="uniform:1"):
        return json.loads(support.clotho("run", graph, "--platform", platform, "--json"))["output_hash"]

    def test_the_plan_is_that_of_the_planning_command(self):
        """One rank takes the file of `clotho plan --platform`, the others plan: hashes of the plan are compared, bit for bit."""
        graph = self.machines.path("layered.json")
        support.clotho("generate", "layered", "--outputs", "-o", graph, "--tasks", 100, "--work", "100us", "--ccr", 1, "--duplicable", "--seed", 6)
        cluster, plan = self.machines.cluster(platforms={1: "uniform:2"}), self.machines.path("plan.json")
        for planner in ("heft", "deft"):
            planned = json.loads(support.clotho("plan", graph, "--platform", cluster, "--planner", planner, "--out", plan, "--json"))
            self.assertGreaterEqual(planned["makespan_ns"], planned["lower_bound_ns"])
            for engine in support.engines():
                with self.subTest(engine, planner=planner):
                    words = [["--planner", planner], ["--plan", plan], ["--planner", planner]]
                    got = self.machines.run(engine, graph, "--hosts", cluster, program=self.machines.each(engine, words))
                    self.assertEqual((got["predicted_ns"], got["valid"]), (planned["makespan_ns"], True))
                    self.assertEqual(got["output_hash"], self.one_machine(graph))

    def write(self, name, tasks, edges):
        path = self.machines.path(name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "g", "tasks": tasks,
                       "edges": [dict(zip(("from", "to", "bytes"), e)) for e in edges]}, file)
        return path

    def test_narrow_cases(self):
        """Edges without bytes, a machine without a task, outputs that no edge carries."""
        chain = [{"name": "t%d" % i, "work_ns": 100000, "executors": [i % 2]} for i in range(20)]
        empty = self.write("empty.json", chain, [(i, i + 1, 0) for i in range(19)])
        some = self.write("some.json", [dict(t, output_bytes=8 * (i % 3)) for i, t in enumerate(chain)],
                          [(i, i + 1, 0) for i in range(19)])
        for engine in support.engines():
            with self.subTest(engine):
                got = self.machines.run(engine, empty, "--hosts", self.machines.cluster())
                self.assertEqual((got["sent"], got["sent_bytes"], got["executed"], got["valid"]), (19, 0, 20, True))
                got = self.machines.run(engine, some, "--hosts", self.machines.cluster(), "-n", 3)
                self.assertEqual((got["sent"], got["sent_bytes"]), (19, sum(8 * (i % 3) for i in range(19))))
                self.assertEqual(got["output_hash"], self.one_machine(some, "uniform:2"))

    def test_another_number_of_runs_on_one_rank(self):
        graph = self.write("runs.json", [{"name": "a", "work_ns": 1000, "output_bytes": 100, "executors": [0]},
                                         {"name": "b", "work_ns": 1000, "executors": [1]}], [(0, 1, 100)])
        for engine in support.engines():
            with self.subTest(engine):
                program = self.machines.each(engine, [["-n", "3"], ["-n", "3"], ["-n", "2"]])
                process = self.machines.start(engine, graph, "--hosts", self.machines.cluster(), "--unpinned", program=program)
                out, err = process.communicate(timeout=400)
                self.assertNotEqual(process.returncode, 0, out)
                self.assertRegex(err, r"not all ranks have the same number of runs \(-n\)")

    def test_other_pieces_on_one_rank(self):
        graph = self.write("pieces.json", [{"name": "a", "work_ns": 1000, "output_bytes": 100000, "executors": [0]},
                                           {"name": "b", "work_ns": 1000, "executors": [1]}], [(0, 1, 1000)])
        for engine in support.engines():
            with self.subTest(engine):
                program = self.machines.each(engine, [["--piece", "30000"], ["--piece", "30000"], ["--piece", "20000"]])
                process = self.machines.start(engine, graph, "--hosts", self.machines.cluster(), "--unpinned", program=program)
                out, err = process.communicate(timeout=400)
                self.assertNotEqual(process.returncode, 0, out)
                self.assertRegex(err, r"not all ranks have the same size of pieces \(--piece\)")

    def test_branches_and_loops_are_refused_in_one_line(self):
        switches, loop = self.machines.path("switches.json"), self.machines.path("loop.json")
        support.clotho("generate", "switches", "-n", 20, "-o", switches)
        with open(loop, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "g", "tasks": [{"name": "a", "work_ns": 1000}], "edges": [],
                       "loops": [{"tasks": [{"name": "step", "work_ns": 1000}], "condition": "step", "bound": 3}]}, file)
        for engine in support.engines():
            for graph in (switches, loop):
                process = self.machines.start(engine, graph, "--hosts", self.machines.cluster(), "--unpinned")
                out, err = process.communicate(timeout=400)
                self.assertNotEqual(process.returncode, 0, out)
                lines = {line for line in err.splitlines() if line.startswith("clotho: ")}  # each rank says so
                self.assertEqual(len(lines), 1, err)
                self.assertIn("has branches or merges, and a run on several machines does not know them; use a graph without",
                              lines.pop())

    def loud(self, engine, graph, *words):
        """As Machines.run, with a --silence of its own. On a busy machine a sign of life may be late, which ends the run; not each time."""
        for _ in range(5):
            process = self.machines.start(engine, graph, "--hosts", self.machines.cluster(), "--unpinned", "--json", *words)
            try:
                out, err = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                self.fail("it has not ended after 300 s: %s" % (process.communicate(),))
            if "no sign of life" not in err:
                break
        self.assertEqual(process.returncode, 0, out + err)
        return json.loads([line for line in out.splitlines() if line.startswith("{")][-1])

    def test_a_large_output_is_hashed_aloud(self):
        """Its hash takes longer than --silence; nobody is taken for lost."""
        graph = self.write("large.json", [{"name": "a", "work_ns": 1000, "output_bytes": 700000000, "executors": [1]},
                                          {"name": "b", "work_ns": 1000, "output_bytes": 8, "executors": [0]}], [])
        for engine in support.engines()[:1]:
            got = self.loud(engine, graph, "--silence", "400ms")
            self.assertEqual((got["executed"], got["transfers"]), (2, 0))

    @unittest.skipIf(support.RUNS <= 1, "full runs only: 6 GiB of memory; mend: CLO_RUNS=2 ctest --preset release -R remote.test_narrow")
    def test_more_than_2_gib(self):
        graph = self.write("huge.json", [{"name": "a", "work_ns": 1000, "output_bytes": 3 << 30, "executors": [0]},
                                         {"name": "b", "work_ns": 1000, "output_bytes": 8, "executors": [1]}], [(0, 1, 1000)])
        for engine in support.engines():
            with self.subTest(engine):
                got = self.loud(engine, graph, "--silence", "10s")
                self.assertEqual((got["sent"], got["sent_bytes"], got["valid"]), (1, 3 << 30, True))
                self.assertEqual(got["output_hash"], self.one_machine(graph, "uniform:2"))


if __name__ == "__main__":
    support.main()
