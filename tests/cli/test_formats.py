"""Graph files of other programs: read as they write them, or refused by name in one line."""
import json
import unittest

from support import CommandTest

PARALLEL = 'digraph "CFG for f" { a:s0 -> b; a:s1 -> c [bytes=2]; a:s2 -> c [bytes=3]; }\n'
MULTIGRAPH = {"directed": True, "multigraph": True, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"}],
              "edges": [{"source": "a", "target": "b", "key": k, "bytes": k + 1} for k in range(3)]}
READ = ["clotho", "wfformat", "saga", "cost-table", "node-link", "psplib", "stg", "dot", "alibaba", "tpch", "rpc", "workload"]


class Formats(CommandTest):
    def test_parallel_edges_are_one_edge_and_the_command_says_so_once(self):
        for name, content, line in [("g.dot", PARALLEL, 1), ("m.json", MULTIGRAPH, 1)]:
            g = self.file(name, content)
            for arguments in [["plan", g], ["plan", g, "--planner", "all", "--json"], ["run", g, "--clock", "virtual"],
                              ["simulate", g, "--policy", "eft"], ["convert", g, self.path("o.json")]]:
                with self.subTest(arguments=arguments):
                    said = self.say(*arguments, *(["--platform", "uniform:2"] if arguments[0] != "convert" else []))
                    self.assertEqual(said.code, 0, said.err)
                    self.assertEqual(said.err.count("\n"), 1, said.err)
                    self.assertTrue(said.err.startswith("clotho: note: %s:%d: parallel edges" % (g, line)), said.err)
        self.assertIn('"bytes": 5', self.convert(self.file("g.dot", PARALLEL)))
        self.assertIn('"bytes": 6', self.convert(self.file("m.json", MULTIGRAPH)))

    def convert(self, file):
        self.assertEqual(self.say("convert", file, self.path("o.json")).code, 0)
        with open(self.path("o.json"), encoding="utf-8") as file:
            return file.read()

    def test_a_workload_with_such_a_graph_says_so_once(self):
        g = self.file("g.dot", PARALLEL)
        lines = [{"format": "clotho.workload/1"}] + [{"file": "g.dot", "arrival_ns": n} for n in range(3)]
        w = self.file("w.jsonl", "\n".join(json.dumps(line) for line in lines))
        for arguments in [["simulate", w, "--policy", "fifo", "--platform", "uniform:2"],
                          ["convert", w, self.path("o"), "--format", "workload"],
                          ["convert", g, self.path("o"), "--format", "workload"]]:
            said = self.say(*arguments)
            self.assertEqual((said.code, said.err.count("\n")), (0, 1), said.err)
            self.assertTrue(said.err.startswith("clotho: note: ") and "g.dot:1: parallel edges" in said.err, said.err)

    def test_a_workload_becomes_a_workload_and_no_graph(self):
        g, w = self.file("g.json", '{"format": "clotho.graph/1", "tasks": [{"work_ns": 5}], "platform": {"executors": 2}}'), self.path("w.jsonl")
        self.good("convert", g, w, "--format", "workload")
        for out in ("o.json", "o.dot"):
            self.bad(1, "convert", w, self.path(out), holds=("w.jsonl", "this is a workload", "--format workload"))
        self.good("convert", w, self.path("again.jsonl"), "--format", "workload")
        self.assertEqual(self.bytes("again.jsonl"), self.bytes("w.jsonl"))

    def test_a_note_of_a_pipe_names_standard_input(self):
        said = self.say("plan", "-", "--platform", "uniform:2", stdin=PARALLEL)
        self.assertEqual(said.code, 0)
        self.assertIn("note: standard input:1: parallel edges", said.err)

    def test_versions_of_wfformat_before_1_4_are_planned(self):
        for version, tasks in [("1.0", "jobs"), ("1.1", "jobs"), ("1.2", "jobs"), ("1.3", "tasks")]:
            job = {"type": "compute", "runtime": 2.5, "children": [], "files": []}
            g = self.file("w.json", {"name": "w", "schemaVersion": version, "workflow": {
                "makespan": 5, "machines": [{"nodeName": "m"}],
                tasks: [dict(job, name="a", parents=[]), dict(job, name="b", parents=["a"])]}})
            self.assertIn("2 tasks, 1 edge (wfformat-%s)" % version, self.good("plan", g, "--platform", "uniform:2"))

    def test_other_formats_are_named_with_all_that_are_read(self):
        for text, name in [("graph [\n directed 1\n]\n", "GML"), ("<?xml version='1.0'?>\n<adag/>\n", "DAX"),
                           ("@HYPERPERIOD 300\n@TASK_GRAPH 0 {\n}\n", "TGFF"), ("32 4\n12 13 4 12\n", ".rcp"),
                           ("cwlVersion: v1.2\nclass: Workflow\n", "CWL"), ("nonsense\n", "unknown format")]:
            g = self.file("g", text)
            for verb in [["plan", g], ["convert", g, self.path("o.json")], ["simulate", g, "--policy", "eft"]]:
                self.bad(1, *verb, holds=[g + ":1: ", name, *READ])


if __name__ == "__main__":
    unittest.main()
