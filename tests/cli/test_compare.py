"""simulate --policy A --policy B: the same runs under several policies, their ratios, CSV and picture."""
import csv
import io
import json
import math
import signal
import subprocess
import time
import unittest
from xml.etree import ElementTree

from support import CLOTHO, LONG, CommandTest, wait_for_handler

T = {2: 12.706, 3: 4.303, 5: 2.776}  # Student, 97.5 %, by the number of runs
FIGURES = {"avg_jct": "avg_jct_s", "p95_jct": "p95_jct_s", "weighted_jct": "weighted_jct_s", "makespan": "makespan_s"}


class Compare(CommandTest):
    def stream(self):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", 30, "-n", 12, "--arrivals", "poisson:1ms", "-o", path)
        return path

    def runs(self, workload, policy, seeds, *more):
        """What the runs say one by one."""
        text = self.good("simulate", workload, "--platform", "uniform:3", "--policy", policy, "--seeds", seeds, "--json", *more)
        return [json.loads(line) for line in text.splitlines()]

    def test_ratios_are_those_of_the_single_runs(self):
        workload, policies, draw = self.stream(), ["fair", "sjf", "fifo", "fair"], ("--arrivals", "poisson:500us", "--jobs", 25)
        asked = [word for policy in policies for word in ("--policy", policy)]
        one = json.loads(self.good("simulate", workload, "--platform", "uniform:3", "--seeds", "4-8", "--json", *asked, *draw))
        self.assertEqual((one["seeds"], one["arrivals"]), (5, "poisson:500us"))
        self.assertEqual([row["policy"] for row in one["policies"]], policies)
        single = {policy: self.runs(workload, policy, "4-8", *draw) for policy in set(policies)}
        for row in one["policies"]:
            for name, key in FIGURES.items():
                values = [run[key] for run in single[row["policy"]]]
                self.assertAlmostEqual(row[key] / (sum(values) / 5), 1)
                logs = [math.log(a / b[key]) for a, b in zip(values, single["fair"])]
                mean = sum(logs) / 5
                half = T[5] * math.sqrt(sum((x - mean) ** 2 for x in logs) / 4 / 5)
                for found, wanted in zip((row[name]["ratio"], row[name]["low"], row[name]["high"]), (mean, mean - half, mean + half)):
                    self.assertAlmostEqual(math.log(found), wanted, places=5)
        self.assertEqual(one["policies"][3]["avg_jct"], {"ratio": 1, "low": 1, "high": 1})

    def test_a_table_a_row_for_each_run_and_a_picture(self):
        workload, rows, picture = self.stream(), self.path("runs.csv"), self.path("ratios.svg")
        text = self.good("simulate", workload, "--platform", "uniform:3", "--policy", "fair", "--policy", "wfair:-0.5", "--seeds", "1-3",
                         "--arrivals", "poisson:500us", "--csv", rows, "--svg", picture)
        lines = text.split("\n\n")[1].splitlines()
        self.assertEqual(lines[0].split()[:4], ["policy", "mean", "jct", "ratio"])
        self.assertEqual([line.split()[0] for line in lines[1:]], ["fair", "wfair:-0.5"])
        self.assertIn("1.000 [1.000, 1.000]", lines[1])
        with open(rows, encoding="utf-8") as file:
            found = list(csv.DictReader(file))
        self.assertEqual([(row["policy"], row["seed"]) for row in found], [(p, str(s)) for p in ("fair", "wfair:-0.5") for s in (1, 2, 3)])
        for row, run in zip(found, self.runs(workload, "fair", "1-3", "--arrivals", "poisson:500us")):
            self.assertAlmostEqual(float(row["mean_jct_ns"]) / 1e9, run["avg_jct_s"], places=8)
            self.assertEqual(int(row["makespan_ns"]), run["makespan_ns"])
        drawing = ElementTree.parse(picture).getroot()
        texts = ["".join(node.itertext()) for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("wfair:-0.5", texts)
        self.assertIn("mean completion time over that of fair in the same run; left is shorter", texts)
        self.assertIn("1.000", texts)
        self.assertEqual(len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))), 2 * (3 + 1))

    def test_one_run_has_no_interval(self):
        text = self.good("simulate", self.stream(), "--platform", "uniform:3", "--policy", "fair", "--policy", "sjf")
        self.assertNotIn("[", text)
        self.assertIn("1 for each policy", text)

    def test_what_is_of_one_run_is_refused(self):
        workload = self.stream()
        both = ("--platform", "uniform:3", "--policy", "fair", "--policy", "sjf")
        for more in (("--log", self.path("x.log")), ("--replay", workload), ("--instance", "j0"),
                     ("--trace", self.path("x.json"))):
            with self.subTest(more[0]):
                self.bad(2, "simulate", workload, *both, *more, holds="several policies are compared: leave ")
        self.bad(2, "simulate", workload, *both, "--policy", "nosuch", holds="'nosuch'")
        self.bad(2, "simulate", workload, *both, "--seeds", "3-1", holds="--seeds is '3-1'")
        self.bad(2, "simulate", workload, *both, "--json", "--csv", "-", holds="standard output")
        self.bad(2, "simulate", workload, *both, "--csv", "-", "--svg", "-", holds="standard output")
        self.bad(2, "simulate", workload, *both, "--svg", self.path("a.svg"), "--gantt", self.path("b.svg"), holds="leave one out")
        self.bad(2, "simulate", workload, *both, "--baseline", "fifo", holds="--baseline is 'fifo', which is not compared; add --policy")
        for more in (("--baseline", "fair"), ("--svg", self.path("a.svg"))):
            self.bad(2, "simulate", workload, *both[:4], *more, holds="of several policies")
        self.bad(1, "simulate", workload, *both, "--csv", self.path("no/rows.csv"), holds="no/rows.csv")

    def test_seeds_leave_no_room_for_a_seed(self):
        for policies in (("--policy", "fair"), ("--policy", "fair", "--policy", "sjf")):
            self.bad(2, "simulate", self.diamond(), "--platform", "uniform:1", *policies, "--seeds", "1-2", "--seed", 9, holds="leave --seed out")

    def test_any_of_them_may_be_the_baseline(self):
        workload = self.stream()
        asked = ("simulate", workload, "--platform", "uniform:3", "--policy", "fair", "--policy", "sjf", "--seeds", "1-4", "--arrivals",
                 "poisson:500us", "--json")
        first, second = (json.loads(self.good(*asked, *more)) for more in ((), ("--baseline", "sjf")))
        self.assertEqual((first["baseline"], second["baseline"]), ("fair", "sjf"))
        by_first, by_second = ({row["policy"]: row for row in one["policies"]} for one in (first, second))
        self.assertEqual(list(by_second), ["fair", "sjf"])
        self.assertAlmostEqual(by_first["sjf"]["avg_jct"]["ratio"] * by_second["fair"]["avg_jct"]["ratio"], 1)
        self.assertEqual(by_first["sjf"]["shorter"], by_second["fair"]["longer"])
        for row in second["policies"]:
            self.assertEqual((row["runs"], row["failed"]), (4, 0))
        self.assertGreaterEqual(sum(row["best"] for row in second["policies"]), 4)

    def test_rows_alone_on_standard_output(self):
        text = self.good("simulate", self.stream(), "--platform", "uniform:3", "--policy", "fair", "--policy", "sjf", "--csv", "-")
        self.assertEqual([row["policy"] for row in csv.DictReader(io.StringIO(text))], ["fair", "sjf"])

    def test_tardiness_is_the_mean_of_the_jobs_with_a_deadline(self):
        graph = {"format": "clotho.graph/1", "name": "g", "tasks": [{"name": "a", "work_ns": 1000}]}
        deadlines = [None, 500, 100000, 2500, None, 1]
        jobs = [{"arrival_ns": 10 * k, "graph": 0 if k > 0 else graph, **({"deadline_ns": due} if due else {})}
                for k, due in enumerate(deadlines)]
        workload = self.file("due.jsonl", "\n".join(map(json.dumps, [{"format": "clotho.workload/1", "name": "due", "jobs": 6}, *jobs])))
        common = ("simulate", workload, "--platform", "uniform:1")
        asked = ("--policy", "fifo", "--policy", "mdd", "--seeds", "1-2", "--csv", self.path("runs.csv"), "--json")
        found = {row["policy"]: row for row in json.loads(self.good(*common, *asked))["policies"]}
        with open(self.path("runs.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["policy"], row["seed"]) for row in rows], [("fifo", "1"), ("fifo", "2"), ("mdd", "1"), ("mdd", "2")])
        for policy in ("fifo", "mdd"):
            self.good(*common, "--policy", policy, "--csv", self.path("jobs.csv"))
            with open(self.path("jobs.csv"), encoding="utf-8") as file:
                late = [max(0, int(row["jct_ns"]) - due) for row, due in zip(csv.DictReader(file), deadlines) if due is not None]
            self.assertGreater(sum(late), 0)
            self.assertEqual([row["tardiness_ns"] for row in rows if row["policy"] == policy], ["%.0f" % (sum(late) / 4)] * 2)
            self.assertAlmostEqual(found[policy]["tardiness_s"] * 1e9, sum(late) / 4, places=3)
        self.assertLess(found["mdd"]["tardiness_s"], found["fifo"]["tardiness_s"])
        for more, is_same in (((), True), (("--jobs", 3), True), (("--arrivals", "batch"), True), (("--arrivals", "batch", "--jobs", 3), False),
                              (("--arrivals", "poisson:1ms"), False)):
            self.assertEqual("; all are those of the file" in self.good(*common, *asked[:-3], *more), is_same, more)

    def test_a_workload_from_standard_input_is_read_once(self):
        with open(self.stream(), encoding="utf-8") as file:
            text = file.read()
        asked = ("--platform", "uniform:3", "--policy", "fair", "--policy", "sjf", "--policy", "edf", "--csv", "-")
        self.assertEqual(self.good("simulate", "-", *asked, stdin=text), self.good("simulate", self.path("stream.jsonl"), *asked))

    def test_a_picture_is_xml_whatever_the_names_hold(self):
        graph = {"format": "clotho.graph/1", "name": "g", "tasks": [{"name": "a", "work_ns": 1000}]}
        head = {"format": "clotho.workload/1", "name": "]]><b>&\"'\uffff\ufffe\x01", "jobs": 1}
        workload = self.file("odd.jsonl", "\n".join(map(json.dumps, [head, {"arrival_ns": 0, "graph": graph}])))
        self.good("simulate", workload, "--platform", "uniform:1", "--policy", "fair", "--policy", "sjf", "--svg", self.path("r.svg"))
        title = next(ElementTree.parse(self.path("r.svg")).getroot().iter("{http://www.w3.org/2000/svg}text"))
        self.assertEqual(title.text, "]]><b>&\"'\ufffd\ufffd\\x01 on uniform:1: 2 policies, 1 run each")

    def test_runs_that_fail_are_counted_and_the_first_of_a_policy_is_a_line(self):
        chain = self.path("chain.json")
        self.good("generate", "chain", "--tasks", 1 << 16, "-o", chain)  # more than the network of lachesis takes
        said = self.bad(1, "simulate", chain, "--platform", "uniform:1", "--policy", "lachesis", "--policy", "fifo", "--seeds", "1-2", "--json",
                        "--svg", self.path("r.svg"), holds="policy 'lachesis': the graph has 65536 stages")
        first, second = json.loads(said.out)["policies"]
        self.assertEqual((first["runs"], first["failed"], first["avg_jct_s"], first["best"]), (0, 2, None, 0))
        self.assertEqual((second["runs"], second["failed"], second["best"]), (2, 0, 2))
        self.assertEqual(second["avg_jct"], {"ratio": None, "low": None, "high": None})  # the baseline has no runs
        ElementTree.parse(self.path("r.svg"))

    def test_an_interrupt_ends_it_with_the_runs_that_are_done(self):
        with subprocess.Popen([CLOTHO, "simulate", self.stream(), "--platform", "uniform:3", "--policy", "fair", "--policy", "sjf", "--seeds",
                               "0-999999", "--csv", self.path("runs.csv"), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            wait_for_handler(process, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LONG)
        self.assertEqual((process.returncode, err), (1, "clotho: warning: interrupted: these are the runs that are done\n"))
        rows = json.loads(out)["policies"]
        with open(self.path("runs.csv"), encoding="utf-8") as file:
            found = [row["policy"] for row in csv.DictReader(file)]
        self.assertEqual([(row["runs"], row["failed"]) for row in rows], [(found.count("fair"), 0), (found.count("sjf"), 0)])
        self.assertLess(len(found), 2000000)

    def test_each_seed_is_run_under_all_policies_before_the_next_one(self):
        """So that what is there after an interrupt can be compared."""
        asked = [word for policy in ("fair", "sjf", "fifo") for word in ("--policy", policy)]
        for pause in (0.1, 1, 10):
            with subprocess.Popen([CLOTHO, "simulate", self.stream(), "--platform", "uniform:3", *asked, "--seeds", "0-999999", "--json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                wait_for_handler(process, signal.SIGINT)
                time.sleep(pause)
                process.send_signal(signal.SIGINT)
                runs = [row["runs"] for row in json.loads(process.communicate(timeout=LONG)[0])["policies"]]
            self.assertLessEqual(max(runs) - min(runs), 1)
            if min(runs) > 0:
                return
        self.fail("no run within seconds")


if __name__ == "__main__":
    unittest.main()
