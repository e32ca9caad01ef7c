"""Files with branches and loops, from the command: plan, run, simulate, check, charts, logs, and what is refused."""
import json
import unittest

from support import CommandTest

FRAME = {"format": "clotho.graph/1", "name": "frame",
         "tasks": [{"name": "detect", "work_ns": 100000, "arms": 2, "chances": [65536, 0]}, {"name": "cheap", "work_ns": 200000},
                   {"name": "exact", "work_ns": 900000}, {"name": "report", "work_ns": 50000, "merge": True}],
         "loops": [{"tasks": [{"name": "step", "work_ns": 30000}], "condition": "step", "bound": 4, "again": 65536,
                    "exit": {"name": "done"}}],
         "edges": [{"from": "detect", "to": "cheap", "arm": 0}, {"from": "detect", "to": "exact", "arm": 1},
                   {"from": "cheap", "to": "report"}, {"from": "exact", "to": "report"}, {"from": "report", "to": "step"}]}


class Branches(CommandTest):
    def frame(self):
        return self.file("frame.json", json.dumps(FRAME))

    def test_run_says_how_many_were_skipped(self):
        for how in (["--planner", "heft"], ["--policy", "fifo"]):
            result = self.json("run", self.frame(), "--platform", "uniform:2", "--clock", "virtual", *how)
            self.assertEqual((result["executed"], result["skipped"], result["valid"], result["replay_equal"]), (8, 1, True, True))
            self.assertEqual(result["makespan_ns"], 100000 + 200000 + 50000 + 4 * 30000)

    def test_charts_mark_branches_and_what_was_skipped(self):
        path = self.path("frame.svg")
        text = self.good("run", self.frame(), "--platform", "uniform:2", "--clock", "virtual", "--gantt", path)
        self.assertIn("skipped      1, because branches went on with other arms", text)
        self.assertIn("◆ branch  × skipped: another arm was chosen", text)
        with open(path, encoding="utf-8") as file:
            svg = file.read()
        self.assertIn("<title>exact: skipped</title>", svg)
        self.assertIn("<title>detect: chose arm 0 of 2</title>", svg)

    def test_simulate_check_and_replay_know_arms(self):
        log, frame = self.path("frame.log"), self.frame()
        result = self.json("simulate", frame, "--platform", "uniform:2", "--policy", "fifo", "--log", log)
        self.assertEqual((result["skipped"], result["completions"], result["valid"]), (1, 8, True))
        self.good("check", frame, log)
        self.assertIn("equal", self.good("simulate", frame, "--replay", log))

    def test_generated_switches_go_through_every_verb(self):
        graph, plan = self.path("switches.json"), self.path("plan.json")
        self.good("generate", "switches", "-n", "60", "--seed", "3", "-o", graph)
        self.good("plan", graph, "--platform", "uniform:2", "--out", plan)
        self.good("check", graph, plan, "--platform", "uniform:2")
        runs = [self.json("run", graph, "--platform", "uniform:2", "--clock", "virtual", "--seed", str(seed))
                for seed in (1, 1, 2)]
        self.assertEqual(runs[0]["makespan_ns"], runs[1]["makespan_ns"])
        self.assertTrue(all(run["skipped"] >= 24 for run in runs))

    def test_the_log_of_real_workers_is_judged_and_replayed(self):
        stream, log, frame = self.path("stream.jsonl"), self.path("run.log"), self.frame()
        self.good("generate", "stream", "--jobs", "8", "--family", "switches", "-n", "30", "--work", "20us", "-o", stream)
        result = self.json("run", stream, "--policy", "fair", "--log", log)
        self.assertTrue(result["valid"])
        self.assertGreater(result["skipped"], 0)
        judged = self.json("check", stream, log)
        self.assertEqual((judged["valid"], judged["faults"], judged["finished"]), (True, 0, 8))
        self.assertIn("equal", self.good("simulate", stream, "--replay", log))
        self.good("run", frame, "--policy", "fifo", "--log", log)
        self.good("check", frame, log)
        self.bad(1, "check", stream, log)

    def test_expected_times_shorten_the_mean(self):
        graph, sums = self.path("switches.json"), []
        self.good("generate", "switches", "-n", "60", "--seed", "3", "-o", graph)
        for planner in ("heft", "heft-expected"):
            runs = [self.json("run", graph, "--platform", "uniform:4", "--clock", "virtual", "--planner", planner, "--seed", str(seed))
                    for seed in range(8)]
            self.assertTrue(all(run["valid"] for run in runs))
            sums.append(sum(run["makespan_ns"] for run in runs))
        self.assertLess(sums[1], sums[0])

    def test_what_does_not_know_branches_says_so_in_one_line(self):
        frame, platform = self.frame(), ["--platform", "uniform:2"]
        self.bad(1, "plan", frame, "--pipeline", *platform, holds=["branches", "use a graph without"])
        self.bad(1, "run", frame, "--releases-in-flight", "2", "--releases", "4", *platform, holds="branches")
        self.bad(1, "convert", frame, self.path("x.json"), "--format", "wfformat", holds=["branches", "use a graph without"])
        self.bad(1, "plan", self.file("arm.json", json.dumps({**FRAME, "edges": [{"from": "detect", "to": "exact", "arm": 2}]})),
                 holds=["arm.json:1: edges[0].arm is 2", "the arms 0 .. 1"])


if __name__ == "__main__":
    unittest.main()
