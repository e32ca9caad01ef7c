"""Out of memory at every single allocation of a command: one clear line, exit status 1, nothing half written, no crash.

fail_allocation.so (tests/cli/fail_allocation.c) stands in front of the C library and refuses the nth request. Requests that
the C library and hwloc make for themselves are refused too: whatever happens, it must end cleanly."""
import json
import os
import re
import unittest

from support import SOURCE, CommandTest

SHIM = os.environ.get("CLO_FAIL_ALLOCATION", "")
LIMIT = 3000


@unittest.skipUnless(os.path.exists(SHIM), "the shim is not built (a sanitizer owns malloc)")
class OutOfMemory(CommandTest):
    def every_allocation(self, *arguments, step=1, may_report=False, wanted="clotho: ", stdin=None):
        """may_report: what has happened is printed although something else failed afterwards; wanted: in refusals."""
        failures = 0
        for nth in range(1, LIMIT, step):
            said = self.say(*arguments, environment={"LD_PRELOAD": SHIM, "CLO_FAIL_NTH": str(nth)}, stdin=stdin)
            self.assertIn(said.code, (0, 1), "allocation %d: exit %d, %s" % (nth, said.code, said.err))
            self.assertLessEqual(len(said.err.splitlines()), 1 if said.code else 2, "allocation %d: %s" % (nth, said.err))
            if said.code == 1:
                failures += 1
                self.assertTrue(said.err.startswith("clotho: "), "allocation %d: '%s'" % (nth, said.err))
                self.assertIn(wanted, said.err.lower(), "allocation %d" % nth)
                self.assertTrue(may_report or said.out == "", "allocation %d: %s" % (nth, said.out))
            self.assert_nothing_half_written()
            if said.err == "" and self.untouched(said):
                break
        self.assertGreater(failures, 5)
        return nth

    def untouched(self, said):
        """The shim tells through its exit marker whether the nth request was ever made."""
        return not os.path.exists(self.path("refused")) or self.forget()

    def forget(self):
        os.unlink(self.path("refused"))
        return False

    def test_plan(self):
        self.every_allocation("plan", self.diamond(), "--platform", "uniform:2", "--planner", "deft", "--json")

    def test_compare(self):
        compared = ["--platform", "uniform:2", "--csv", self.path("r.csv"), "--svg", self.path("r.svg"), "--json"]
        self.every_allocation("plan", self.diamond(), *compared, "--planner", "heft", "--planner", "deft", may_report=True)
        job = '{"graph": {"format": "clotho.graph/1", "tasks": [{"work_ns": 5}]}}\n'
        path = self.file("w.jsonl", '{"format": "clotho.workload/1"}\n' + job)
        self.every_allocation("simulate", path, *compared, "--policy", "fifo", "--policy", "fair", "--seeds", "1-2", may_report=True)
        os.mkdir(self.path("graphs"))
        os.rename(self.diamond(), self.path("graphs/g.json"))
        self.every_allocation("plan", self.path("graphs"), self.path("graphs/*"), "--platform", "uniform:2", "--json", may_report=True)

    def test_serve(self):
        graph = json.loads(self.bytes(os.path.basename(self.diamond())))
        events = [{"event": "arrive", "time_ns": 0, "graph": graph, "name": "a"}, {"event": "arrive", "time_ns": 1, "graph": 0},
                  {"event": "finish", "job": 0, "stage": 0, "instance": 0, "executor": 0, "time_ns": 5}, {"event": "state"}]
        said = "".join(json.dumps(e) + "\n" for e in events)
        serve = ["serve", "--platform", "uniform:2", "--policy", "fifo", "--log", self.path("s.log"), "--workload",
                 self.path("s.jsonl")]
        self.every_allocation(*serve, may_report=True, stdin=said)
        self.good(*serve, stdin=said)
        self.every_allocation("serve", "--restart", self.path("s.log"), "--workload", self.path("s.jsonl"), may_report=True,
                              stdin="")

    def test_simulate(self):
        self.every_allocation("simulate", self.diamond(), "--platform", "uniform:2", "--policy", "fifo", "--json")

    def test_simulate_a_policy_that_plans(self):
        self.every_allocation("simulate", self.diamond(), "--platform", "uniform:2", "--policy", "graphene", "--json")

    def test_simulate_a_workload(self):
        job = '{"graph": {"format": "clotho.graph/1", "tasks": [{"work_ns": 5}]}}\n'
        path = self.file("w.jsonl", '{"format": "clotho.workload/1"}\n' + job)
        fifo = ["simulate", path, "--policy", "fifo", "--platform", "uniform:2", "--json"]
        self.every_allocation(*fifo, "--jobs", "3", "--arrivals", "poisson:10ns")
        self.every_allocation(*fifo, "--seeds", "1-1")
        self.good(*fifo, "--log", self.path("run.log"))
        self.every_allocation("simulate", path, "--replay", self.path("run.log"), "--json")

    def test_model(self):
        self.every_allocation("model", "verify", os.path.join(SOURCE, "tests/fuzz/corpus/model/tiny.model"), "--json")

    def test_run_a_workload(self):
        job = '{"graph": {"format": "clotho.graph/1", "tasks": [{"work_ns": 5}]}}\n'
        path = self.file("w.jsonl", '{"format": "clotho.workload/1"}\n' + job)
        self.every_allocation("run", path, "--policy", "fifo", "--platform", "uniform:2", "--clock", "virtual", "--json",
                              may_report=True)  # the run, where there is no memory for the check of its log

    def test_virtual_run(self):
        commands = self.graph([{"name": "a", "command": ["true"]}, {"name": "b", "command": ["true"], "work_ns": 1}], [(0, 1)], file="c.json")
        self.every_allocation("run", commands, "-n", "--platform", "uniform:2")
        self.every_allocation("run", self.diamond(output_bytes=64), "--platform", "uniform:2", "--clock", "virtual", "--json")

    def test_workload(self):
        job = '{"graph": {"format": "clotho.graph/1", "tasks": [{"work_ns": 5}]}}\n{"file": "g.json", "name": "other"}\n'
        self.diamond()
        path = self.file("w.jsonl", '{"format": "clotho.workload/1", "platform": {"executors": 2}}\n' + job)
        self.every_allocation("convert", path, self.path("out.jsonl"), "--format", "workload", "--json")
        self.every_allocation("generate", "stream", "--jobs", "5", "--graphs", "2", "--tasks", "3", "-o", self.path("s.jsonl"),
                              "--json")

    def test_build(self):
        self.file("build.ninja", "rule r\n  command = touch $out\n  depfile = $out.d\nbuild a: r b || c\nbuild c: phony d\nbuild d: r\n")
        self.file("b", "")
        self.file("a", "")
        self.file("a.d", "a: b e\\ f\n")
        self.file(".ninja_log", "# ninja log v5\n1\t2\t3\ta\t5\n")
        self.every_allocation("build", "-n", "-v")
        self.every_allocation("build", "-t", "query", "a", "c")
        for tool in ("graph", "missingdeps", "compdb"):
            self.every_allocation("build", "-t", tool)
        self.every_allocation("build", "--plan", "-j", "2", "--json")

    def test_an_output_that_is_put_together(self):
        tiny = os.path.join(SOURCE, "tests/fuzz/corpus/model/tiny.model")
        self.every_allocation("model", "embed", tiny, "-o", self.path("tiny.c"), wanted="memory")

    def test_check_of_a_log(self):
        with open(os.path.join(SOURCE, "docs", "FORMATS.md"), encoding="utf-8") as file:
            log = self.file("run.log", re.search(r"## clotho.log/1.*?```json\n(.*?)```", file.read(), re.S).group(1))
        job = '{"graph": {"format": "clotho.graph/1", "tasks": [{"work_ns": 5000}]}}\n'
        self.every_allocation("check", self.file("w.jsonl", '{"format": "clotho.workload/1"}\n' + job), log, "--json")

    def test_platform_file(self):
        self.every_allocation("platform", "show", "rk3588", "--json", step=7)


if __name__ == "__main__":
    unittest.main()
