"""simulate WORKLOAD: streams of jobs in virtual time, their logs, replays and files."""
import csv
import json
import os
import unittest
from xml.etree import ElementTree

from support import DATA, CommandTest, limit_files, needs_data
from test_check_log import fnv

KEYS = {"workload", "jobs", "policy", "platform", "avg_jct_s", "p95_jct_s", "weighted_jct_s", "makespan_s", "lower_bound_s",
        "utilization", "completions", "decisions", "refused", "fallbacks", "partial", "decision_ns", "valid", "seed"}
TPCH = "tpch/tpch_2g.jsonl"


class StreamTest(CommandTest):
    def stream(self, jobs=40, arrivals="poisson:1ms", *more):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", jobs, "-n", 20, "--arrivals", arrivals, "-o", path, *more)
        return path

    def run_log(self, *more, policy="fair"):
        """A run with its log, which `clotho check` finds valid."""
        workload, log = self.stream(), self.path("run.log")
        self.good("simulate", workload, "--policy", policy, "--platform", "uniform:3", "--log", log, *more)
        self.assertIn("valid\n", self.good("check", workload, log))
        return workload, log

    def change(self, log, edit):
        """Edits the records of a log; its last line agrees with them again."""
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        lines = [lines[0], *edit(lines[1:-1])]
        text = "\n".join(lines) + '\n{"end":true,"records":%d,"dropped":"0",' % (len(lines) - 1)
        return self.file("changed.log", text + '"hash":"%016x"}\n' % fnv(text.encode()))


class Planned(StreamTest):
    """--planner: the whole workload, without a policy."""
    ROWS = "job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm\n1,1,0,10,64,1,0.001\n2,1,0,20,64,1,0.001\n"

    def test_a_plan_of_all_jobs_is_judged_by_its_log(self):
        path, log = self.file("jobs.csv", self.ROWS), self.path("plan.log")
        found = self.json("simulate", path, "--planner", "synchpack-2", "--log", log)
        self.assertEqual(found["weighted_completion"], 40 * 10 ** 9)  # 10 s, then 30 s
        self.assertLessEqual(max(found["lp_bound"], found["free_bound"]), found["weighted_completion"])
        self.assertFalse(found["preemptive"])
        self.assertIn("valid\n", self.good("check", path, log))
        self.assertIn("check        valid", self.good("simulate", path, "--planner", "tetris-weighted"))
        stopped = self.path("psrs.log")
        self.assertIn("check        valid", self.good("simulate", path, "--planner", "psrs", "--log", stopped))
        self.assertIn("valid\n", self.good("check", path, stopped))

    def test_a_plan_is_carried_out_on_workers_and_replays(self):
        head = '{"format": "clotho.workload/1", "platform": {"executors": 3}}\n'
        task = '{"work_ns": %d000000, "instances": %d}'
        jobs = ((9, 2, 1), (4, 3, 7), (6, 1, 2), (2, 5, 1), (12, 2, 9), (3, 4, 3))
        row = '{"graph": {"format": "clotho.graph/1", "tasks": [%s]}, "weight": %d}\n'
        path = self.file("w.jsonl", head + "".join(row % (task % job[:2], job[2]) for job in jobs))
        for planner in ("synchpack-2", "synchpack-3"):
            plan, log = self.path(planner + ".plan"), self.path(planner + ".log")
            planned = self.json("simulate", path, "--planner", planner, "--log", plan)
            policy = "follow:" + plan
            self.good("simulate", path, "--policy", policy, "--log", log)
            with open(log) as lines:
                ends = {r[2]: r[0] for r in map(json.loads, lines) if isinstance(r, list) and r[1] == "done"}
            done = sum(weight * ends[k] for k, (_, _, weight) in enumerate(jobs))
            self.assertLessEqual(done, 1.03 * planned["weighted_completion"])
            for clock in ("virtual", "padded"):
                self.good("run", path, "--policy", policy, "--clock", clock, "--log", log)
                self.assertIn("valid\n", self.good("check", path, log))
                self.assertIn("equal: ", self.good("simulate", path, "--replay", log))

    def test_the_rules_decide_on_workers_and_replay(self):
        head = '{"format": "clotho.workload/1", "platform": {"resources": ["memory"], "machines": [{"memory": 10}, {"memory": 10}], ' \
               '"executors": [{"kind": "a"}, {"kind": "a"}, {"kind": "b", "machine": 1}, {"kind": "b", "machine": 1}]}}\n'
        row = '{"graph": {"format": "clotho.graph/1", "resources": ["memory"], "tasks": [{"work_ns": 1, "instances": %d, ' \
              '"times": {"a": %d000000, "b": %d000000}, "demand": [%d]}]}, "weight": %d, "arrival_ns": %d}\n'
        jobs = ((6, 2, 4, 3, 1, 0), (3, 3, 3, 6, 5, 1), (8, 1, 2, 2, 2, 4000000), (2, 4, 2, 8, 9, 5000000),
                (5, 2, 1, 5, 1, 5000000), (1, 6, 6, 9, 3, 9000000), (4, 1, 1, 4, 7, 11000000))
        path = self.file("w.jsonl", head + "".join(row % job for job in jobs))
        for name in ("synchpack-1", "synchpack-2", "synchpack-3", "psrs", "tetris-weighted", "jsq-maxweight"):
            log = self.path(name + ".log")
            self.assertIn("check        valid", self.good("simulate", path, "--policy", name))
            for clock in ("virtual", "padded"):
                self.good("run", path, "--policy", name, "--clock", clock, "--log", log)
                self.assertIn("valid\n", self.good("check", path, log))
                self.assertIn("equal: ", self.good("simulate", path, "--replay", log))
        self.bad(2, "simulate", path, "--policy", "synchpack-2:0")

    def test_a_schedule_that_is_none_is_one_line(self):
        path = self.file("jobs.csv", self.ROWS)
        self.bad(1, "simulate", path, "--policy", "follow:" + self.path("missing.log"))
        self.bad(1, "simulate", path, "--policy", "follow:" + path)

    def test_a_workload_without_times_is_planned_with_a_warning(self):
        head = '{"format": "clotho.workload/1", "platform": {"executors": 2}}\n'
        job = '{"graph": {"format": "clotho.graph/1", "tasks": [{}, {%s}]}}\n'
        untimed = self.file("w.jsonl", head + job % "" + job % "")
        timed = self.file("timed.jsonl", head + job % "" + job % '"work_ns": 5')
        for planner in ("psrs", "synchpack-2"):
            said = self.say("simulate", untimed, "--planner", planner)
            self.assertEqual((said.code, said.err.count("\n")), (0, 1))
            self.assertIn("w.jsonl: no task takes any time", said.err)
            self.assertEqual(self.say("simulate", timed, "--planner", planner).err, "")

    def test_what_a_planner_cannot_do_is_one_line(self):
        path = self.file("jobs.csv", self.ROWS)
        self.bad(2, "simulate", path, "--planner", "nosuch")
        self.bad(1, "simulate", self.stream(), "--planner", "synchpack-2", "--platform", "uniform:3")
        self.bad(2, "simulate", path, "--planner", "synchpack-2", "--policy", "fifo")


class Stream(StreamTest):
    def test_json_has_every_key_of_the_contract(self):
        one = self.json("simulate", self.stream(), "--policy", "fifo", "--platform", "uniform:3")
        self.assertLessEqual(KEYS, set(one))
        self.assertEqual((one["workload"], one["jobs"], one["jobs_ended"], one["policy"], one["valid"]),
                         ("stream", 40, 40, "fifo", True))
        self.assertGreaterEqual(one["avg_jct_s"], one["lower_bound_s"])
        self.assertEqual(one["decisions"], one["completions"])
        self.assertEqual(one["decision_ns"]["count"], one["decisions"])

    def test_choices_without_a_look_at_all_jobs_are_counted(self):
        call = ("simulate", self.stream(), "--platform", "uniform:3", "--policy")
        self.assertEqual(self.json(*call, "decima")["partial"], 0)
        self.assertGreater(self.json(*call, "decima:jobs=1")["partial"], 0)
        self.assertIn("partial ", self.good(*call, "decima:jobs=1"))
        self.assertNotIn("partial ", self.good(*call, "decima"))

    def test_every_policy_gives_a_valid_run(self):
        workload = self.stream(30, "poisson:200us", "--weights", "3", "--deadline", "2", "--limits", "2")
        for policy in [e["name"] for e in self.json("list", "policies")["policies"]]:
            with self.subTest(policy):
                one = self.json("simulate", workload, "--policy", policy, "--platform", "jetson-tx2")
                self.assertEqual((one["valid"], one["jobs_ended"], one["refused"]), (True, 30, 0))

    def test_text_has_the_figures_and_the_run_over_time(self):
        text = self.good("simulate", self.stream(), "--policy", "fair", "--platform", "uniform:3")
        for part in ["workload     stream, 40 jobs in the file", "policy       fair\n", "jobs         40: 40 ended, 0 refused",
                     "check        valid", "\nin use ", "\nlive jobs "]:
            self.assertIn(part, text)

    def test_a_stream_comes_through_a_pipe(self):
        text = self.good("generate", "stream", "--jobs", "7", "-n", "5")
        self.assertEqual(self.json("simulate", "-", "--policy", "rank", "--platform", "uniform:2", stdin=text)["jobs"], 7)

    def test_jobs_and_arrivals_are_drawn_by_the_seed(self):
        options = ["--policy", "fifo", "--platform", "uniform:3", "--jobs", "100", "--arrivals", "poisson:1ms"]
        one, same, other = [self.json("simulate", self.stream(), *options, "--seed", seed) for seed in (1, 1, 2)]
        for run in (one, same, other):
            run.pop("decision_ns")
        self.assertEqual(one["jobs"], 100)
        self.assertEqual(one, same)
        self.assertNotEqual(one["avg_jct_s"], other["avg_jct_s"])
        batch = self.json("simulate", self.stream(), "--policy", "fifo", "--platform", "uniform:3", "--arrivals", "batch")
        self.assertEqual((batch["jobs"], batch["jobs_peak"]), (40, 40))

    def test_a_range_of_seeds_is_one_object_each_in_order(self):
        options = ["simulate", self.stream(), "--policy", "fifo", "--platform", "uniform:3", "--jobs", "30", "--arrivals",
                   "poisson:1ms"]
        runs = [json.loads(line) for line in self.good(*options, "--seeds", "3-9", "--json").splitlines()]
        self.assertEqual([run["seed"] for run in runs], list(range(3, 10)))
        alone = self.json(*options, "--seed", "5")
        self.assertEqual(runs[2]["avg_jct_s"], alone["avg_jct_s"])
        rows = self.good(*options, "--seeds", "3-9").splitlines()
        self.assertEqual([row.split()[0] for row in rows[-8:]], ["seed", *map(str, range(3, 10))])

    def test_jobs_beyond_the_limit_are_refused_and_counted(self):
        one = self.json("simulate", self.stream(40, "batch"), "--policy", "fifo", "--platform", "uniform:3", "--live", "5")
        self.assertEqual((one["jobs_ended"], one["jobs_refused"], one["jobs_peak"], one["valid"]), (5, 35, 5, True))

    def test_periodic_jobs_are_judged_too(self):
        graph = {"format": "clotho.graph/1", "tasks": [{"work_ns": 10}]}
        path = self.file("p.jsonl", '{"format": "clotho.workload/1"}\n' +
                         json.dumps({"graph": graph, "period_ns": 100, "releases": 7}) + "\n")
        one = self.json("simulate", path, "--policy", "fifo", "--platform", "uniform:1")
        self.assertEqual((one["jobs"], one["makespan_ns"], one["valid"]), (7, 610, True))

    def test_a_periodic_job_without_releases_runs_until_the_last_arrival(self):
        graph = {"format": "clotho.graph/1", "name": "g", "tasks": [{"work_ns": 10}]}
        job = {"graph": graph, "period_ns": 100, "name": "camera"}
        path = self.file("p.jsonl", "".join(json.dumps(line) + "\n" for line in [
            {"format": "clotho.workload/1"}, job, {"graph": graph, "arrival_ns": 500}]))
        for verb, more in [("simulate", []), ("run", ["--clock", "virtual"])]:
            one = self.json(verb, path, "--policy", "fifo", "--platform", "uniform:1", *more)
            self.assertEqual((one["jobs"] if verb == "simulate" else one["jobs_ended"], one["makespan_ns"], one["valid"]),
                             (7, 520, True))
        said = self.say("simulate", self.file("q.jsonl", '{"format": "clotho.workload/1"}\n' + json.dumps(job) + "\n"),
                        "--policy", "fifo", "--platform", "uniform:1", "--json")
        self.assertEqual((said.code, json.loads(said.out)["jobs"]), (0, 1))
        self.assertIn("the periodic job 'camera' runs once, as nothing arrives later; say how often", said.err)

    def test_a_long_run_without_a_log_is_not_judged(self):
        graph = self.graph([{"work_ns": 1000, "instances": 2200000}])
        run = ["simulate", graph, "--policy", "fifo", "--platform", "uniform:50", "--arrivals", "batch"]
        one = self.json(*run)
        self.assertEqual((one["valid"], one["lower_bound_s"], one["completions"]), (None, None, 2200000))
        text = self.good(*run)
        self.assertIn("check        not made: the log is too long", text)
        self.assertIn("\nlive jobs ", text)
        self.assertNotIn("\nin use ", text)

    def test_csv_has_a_row_for_each_job(self):
        path = self.path("jobs.csv")
        one = self.json("simulate", self.stream(), "--policy", "fifo", "--platform", "uniform:3", "--live", "3", "--csv", path)
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        ended = [row for row in rows if row["status"] == "ended"]
        self.assertEqual((len(rows), len(ended)), (40, one["jobs_ended"]))
        self.assertEqual(list(rows[0]), ["job", "name", "arrival_ns", "start_ns", "finish_ns", "jct_ns", "busy_ns", "executions",
                                         "status"])
        mean = sum(int(row["jct_ns"]) for row in ended) / len(ended)
        self.assertAlmostEqual(mean / 1e9, one["avg_jct_s"])
        self.assertEqual(sum(int(row["executions"]) for row in rows), one["completions"])

    def test_the_picture_is_coloured_by_job_and_bounded(self):
        path = self.path("stream.svg")
        for executors, jobs in [(3, 40), (64, 3000)]:
            self.good("simulate", self.stream(), "--policy", "fair", "--platform", "uniform:%d" % executors, "--jobs", jobs,
                      "--gantt", path)
            root = ElementTree.parse(path).getroot()
            boxes = root.findall("{*}rect[@class]")
            self.assertGreater(len({box.get("class") for box in boxes}), 5)
            self.assertLess(len(boxes), 9000)
            self.assertLessEqual({box.find("{*}title").text.split("\n")[0] for box in boxes},
                                 {"job %d" % job for job in range(jobs)})
        self.bad(1, "simulate", self.stream(), "--policy", "fair", "--platform", "uniform:3", "--gantt", self.path("no/x.svg"),
                 holds="x.svg")

    def test_bad_usage_is_one_line(self):
        g = self.stream()
        fifo = ["simulate", g, "--policy", "fifo"]
        self.bad(2, "simulate", g, "--policy", "fifi", holds="did you mean 'fifo'?")
        self.bad(2, "simulate", g, "--policy", "fifo:3", holds="the policy 'fifo' takes no argument; write --policy fifo")
        self.bad(2, "simulate", g, "--policy", "wfair:" + 2000 * "9", holds="write one from -2.00 to 2.00")
        self.bad(2, *fifo, "--arrivals", "often", holds="--arrivals is 'often'")
        for seeds in ["5", "5-", "-5", "7-3", "1-x", "0-99999999"]:
            self.bad(2, *fifo, "--seeds=" + seeds, holds="--seeds is '%s'; write A-B" % seeds)
        self.bad(2, *fifo, "--seeds", "1-2", "--log", "x", holds="--seed N in place of --seeds")
        self.bad(2, *fifo, "--replay", "x", "--jobs", "3", holds="--replay takes jobs and arrivals from the log")
        self.bad(2, *fifo, "--json", "--csv", "-", holds="standard output")
        self.bad(2, *fifo, "--trace", "x.json", holds="--trace is of one graph")
        self.bad(2, *fifo, "--instance", "a", "--jobs", "3", holds="--instance takes one graph")

    def test_a_kind_that_the_platform_lacks_is_a_warning_and_with_strict_an_error(self):
        graph = {"format": "clotho.graph/1", "tasks": [{"work_ns": 10, "times": {"gpu": 5}}]}
        path = self.file("p.jsonl", '{"format": "clotho.workload/1"}\n' + json.dumps({"graph": graph}) + "\n")
        says = "p.jsonl: platform 'uniform:2' has no executor of kind 'gpu'; "
        said = self.say("simulate", path, "--policy", "fifo", "--platform", "uniform:2")
        self.assertEqual((said.code, said.err.count("\n")), (0, 1))
        self.assertIn("clotho: warning: ", said.err)
        self.assertIn(says, said.err)
        self.bad(1, "simulate", path, "--policy", "fifo", "--platform", "uniform:2", "--strict", holds=says)

    def test_a_job_that_fits_nowhere_is_an_error_with_its_name_or_is_refused_if_asked(self):
        far = {"format": "clotho.graph/1", "name": "far", "tasks": [{"work_ns": 1000, "executors": [5]}]}
        near = {"format": "clotho.graph/1", "name": "near", "tasks": [{"work_ns": 1000}]}
        rows = [{"graph": near}, {"graph": far}, {"graph": near, "arrival_ns": 500}, {"graph": far, "name": "again", "arrival_ns": 500, "period_ns": 9, "releases": 3}]
        path = self.file("m.jsonl", "\n".join(json.dumps(row) for row in [{"format": "clotho.workload/1"}] + rows) + "\n")
        fifo = ["--policy", "fifo", "--platform", "uniform:2"]
        self.bad(1, "simulate", path, *fifo, holds="m.jsonl:3: job 'far' is refused: ")
        self.bad(1, "simulate", path, *fifo, holds="; --skip-misfits simulates the others")
        said = self.say("simulate", path, *fifo, "--skip-misfits", "--log", self.path("m.log"), "--csv", self.path("m.csv"), "--json")
        self.assertEqual((said.code, len(said.err.splitlines())), (0, 2), said.err)
        self.assertIn("m.jsonl:3: job 'far' is refused: ", said.err)
        self.assertIn("m.jsonl:5: job 'again' is refused: ", said.err)
        one = json.loads(said.out)
        self.assertEqual((one["jobs"], one["jobs_ended"], one["jobs_refused"], one["valid"]), (6, 2, 4, True))
        self.assertEqual([row.split(",")[-1] for row in self.bytes("m.csv").decode().splitlines()[1:]], ["ended", "refused", "ended", "refused"])
        self.assertIn("2 finished", self.good("check", path, self.path("m.log")))
        self.assertIn("equal", self.say("simulate", path, "--replay", self.path("m.log"), "--skip-misfits").out)
        said = self.say("simulate", path, *fifo, "--skip-misfits", "--jobs", "40", "--arrivals", "batch", "--json")
        one = json.loads(said.out)
        self.assertEqual((one["jobs"], one["valid"]), (one["jobs_ended"] + one["jobs_refused"], True))
        self.assertGreater(one["jobs_refused"], 0)
        self.bad(2, "simulate", path, "--planner", "psrs", "--skip-misfits", holds="--planner")

    def test_bad_input_is_one_line_and_leaves_no_file(self):
        g = self.stream()
        fifo = ["--policy", "fifo", "--platform", "uniform:3"]
        self.bad(1, "simulate", self.path("no.jsonl"), *fifo, "--jobs", "3", holds="no.jsonl")
        self.bad(1, "simulate", self.file("x.jsonl", '{"format": "clotho.workload/1"}\n{"graph": 3}\n'), *fifo, holds="x.jsonl:2")
        self.bad(1, "simulate", g, *fifo[:2], "--platform", "uniform:x", holds="uniform:x")
        self.bad(1, "simulate", g, *fifo[:2], "--platform", "own", holds="carries no platform")
        kept = self.file("kept.csv", "old")
        full = self.bad(1, "simulate", g, *fifo, "--csv", kept, preexec=limit_files(300), holds="kept.csv: File too large; nothing was written")
        self.assertIn("check        valid", full.out)
        self.assertEqual(self.bytes("kept.csv"), b"old")
        for option in ["--csv", "--log"]:
            self.assertEqual(self.say("simulate", g, *fifo, option, self.path("no/such.file")).code, 1)
        self.assert_nothing_half_written()


class Environment(StreamTest):
    OPTIONS = ["--jobs", "12", "--arrivals", "poisson:5", "--platform", "uniform:8", "--environment", "decima:faithful"]

    def query(self):
        """Two stages, measured at two levels."""
        waves = {"fresh": {"5": [900], "10": [950]}, "first": {"5": [900, 500], "10": [950, 550]}, "rest": {"5": [300], "10": [350]}}
        stages = [{"id": i, "n_tasks": 30, **waves} for i in range(2)]
        return self.file("q.jsonl", json.dumps({"job": "q", "query": 1, "stages": stages, "edges": [[0, 1]]}) + "\n")

    def test_every_policy_gives_a_valid_run_that_replays(self):
        workload, log = self.query(), self.path("e.log")
        for policy in [e["name"] for e in self.json("list", "policies")["policies"]]:
            with self.subTest(policy):
                one = self.json("simulate", workload, "--policy", policy, *self.OPTIONS, "--seed", "3", "--log", log)
                self.assertEqual((one["valid"], one["jobs_ended"], one["refused"], one["environment"]),
                                 (True, 12, 0, "decima:faithful"))
                self.assertGreater(one["moves"], 0)
                self.assertIsNone(one["lower_bound_s"])  # of the costs, not of what was drawn
                self.assertIn("equal", self.good("simulate", workload, "--replay", log))
                self.assertIn("valid\n", self.good("check", workload, log))

    def test_the_seed_fixes_what_is_drawn_on_any_number_of_threads(self):
        options = ["simulate", self.query(), "--policy", "decima-fair", *self.OPTIONS, "--json"]
        runs = [json.loads(line) for line in self.good(*options, "--seeds", "1-8").splitlines()]
        for run in runs:
            alone = json.loads(self.good(*options, "--seed", run["seed"]))
            run.pop("decision_ns"), alone.pop("decision_ns")
            self.assertEqual(run, alone)
        self.assertGreater(len({run["avg_jct_s"] for run in runs}), 4)

    def test_another_environment_or_seed_differs(self):
        workload, log = self.query(), self.path("e.log")
        text = self.good("simulate", workload, "--policy", "decima-fifo", *self.OPTIONS, "--log", log)
        self.assertIn("environment  decima:faithful\n", text)
        self.bad(1, "simulate", workload, "--replay", log, "--environment", "decima", holds="is another run than the log")

    def test_the_time_of_a_move_is_a_part_of_the_run(self):
        workload, log, means = self.query(), self.path("m.log"), []
        options = ["simulate", workload, "--policy", "decima-fair", *self.OPTIONS[:-1]]
        for name in ["decima:moving=0", "decima:faithful,moving=500ms", "decima:moving=30s"]:
            one = self.json(*options, name, "--log", log)
            self.assertEqual((one["environment"], one["valid"]), (name, True))
            means.append(one["avg_jct_s"])
            self.assertIn("equal", self.good("simulate", workload, "--replay", log))
            self.assertIn("valid\n", self.good("check", workload, log))
            self.bad(1, "simulate", workload, "--replay", log, "--environment", "decima", holds="is another run than the log")
        self.assertEqual(means, sorted(set(means)))
        self.assertEqual(self.json(*options, "decima:moving=2s")["avg_jct_s"], self.json(*options, "decima")["avg_jct_s"])
        self.bad(2, *options, "decima:moving=500", holds="write moving=500ms, in whole ns, us, ms or s")

    def test_weighted_fair_sharing_with_exponent_0_is_fair_sharing(self):
        fair, weighted, small = [
            self.json("simulate", self.query(), "--policy", policy, *self.OPTIONS)
            for policy in ("decima-fair", "decima-wfair:0", "decima-wfair:-1")]
        self.assertEqual((fair["avg_jct_s"], fair["moves"]), (weighted["avg_jct_s"], weighted["moves"]))
        self.assertTrue(small["valid"])
        for argument in ("3", "-2.1", "x", "1,"):
            self.bad(2, "simulate", self.query(), "--policy", "decima-wfair:" + argument, *self.OPTIONS, holds="decima-wfair")

    def test_an_unknown_environment_is_one_line(self):
        self.bad(2, "simulate", self.query(), "--policy", "fifo", "--platform", "uniform:2", "--environment", "mesos",
                 holds="there is no environment 'mesos'; write decima, decima:faithful or decima:moving=500ms")


class Replay(StreamTest):
    def test_a_log_replays_alike(self):
        workload, log = self.run_log("--jobs", "60", "--arrivals", "poisson:300us", "--seed", "4")
        text = self.good("simulate", workload, "--replay", log)
        self.assertRegex(text, r"^equal: \d+ records, \d+ decisions\n$")
        one = self.json("simulate", workload, "--replay", log, "--policy", "fair")
        self.assertEqual((one["equal"], "equal: %d records, %d decisions\n" % (one["records"], one["decisions"])), (True, text))

    def test_the_header_is_full(self):
        workload, log = self.run_log("--jobs", "60", "--arrivals", "poisson:300us", "--seed", "4")
        with open(log, encoding="utf-8") as file:
            header = json.loads(file.readline())
        self.assertEqual((header["platform"], header["workload"], header["arrivals"], header["jobs"], header["executors"],
                          header["policies"][0]["name"], header["clock"]),
                         ("uniform:3", workload, "poisson:300us", 60, 3, "fair", "virtual"))

    def test_a_log_without_drawn_arrivals_and_one_with_refusals_replay(self):
        workload, log = self.run_log()
        self.assertIn("equal", self.good("simulate", workload, "--replay", log))
        self.good("simulate", workload, "--policy", "fifo", "--platform", "uniform:2", "--live", "2", "--log", log)
        self.assertIn("equal", self.good("simulate", workload, "--replay", log))  # the header says --live 2

    def test_a_replay_needs_no_option_of_the_run_again(self):
        workload, log = self.run_log("--scale", "2", "--steps-max", "3", "--live", "5")
        self.assertIn("equal", self.good("simulate", workload, "--replay", log))

    def test_two_inputs_swapped_differ(self):
        def swap(records):
            at = [i for i, r in enumerate(records) if '"arrive"' in r or '"finish"' in r]
            a, b = at[10], at[11]
            records[a], records[b] = records[b], records[a]
            return records
        workload, log = self.run_log()
        self.bad(1, "simulate", workload, "--replay", self.change(log, swap), holds=["is another run than the log", "record "])

    def test_a_finish_that_was_moved_differs(self):
        def move(records):
            at = next(i for i, r in enumerate(records) if '"finish"' in r)
            row = json.loads(records[at])
            row[0] += 1
            records[at] = json.dumps(row, separators=(",", ":"))
            return records
        workload, log = self.run_log()
        self.bad(1, "simulate", workload, "--replay", self.change(log, move), holds="is another run than the log: record")

    def test_another_policy_differs(self):
        workload, log = self.run_log()
        self.bad(1, "simulate", workload, "--replay", log, "--policy", "fifo", holds="is another run than the log")
        graph = self.graph([{"work_ns": 10}])
        self.good("simulate", graph, "--policy", "fifo", "--platform", "uniform:1", "--log", log)
        self.bad(1, "simulate", graph, "--replay", log, "--policy", "fair", holds="the log is of the policy 'fifo', not 'fair'")

    def test_another_workload_or_platform_is_named(self):
        _, log = self.run_log()
        other = self.stream(41)
        self.bad(1, "simulate", other, "--replay", log, holds="the log is of another workload")
        self.bad(1, "simulate", other, "--replay", log, "--platform", "uniform:4", holds="platform with 3 executors, this one has 4")

    def test_a_log_of_a_real_run_is_refused(self):
        workload, log = self.run_log()
        with open(log, encoding="utf-8") as file:
            text = file.read().replace('"clock":"virtual"', '"clock":"real"')
        real = self.change(self.file("real.log", text), lambda records: records)
        self.bad(1, "simulate", workload, "--replay", real, holds="the log is of a real run")


class RealReplay(StreamTest):
    def run_real(self, policy="fair"):
        workload, log = self.stream(), self.path("real.log")
        self.good("run", workload, "--policy", policy, "--platform", "uniform:3", "--unpinned", "--jobs", "60",
                  "--arrivals", "poisson:100us", "--log", log)
        return workload, log

    def test_a_real_run_replays_alike_and_is_valid(self):
        for policy in ["fifo", "fair", "deft"]:
            workload, log = self.run_real(policy)
            with open(log, encoding="utf-8") as file:
                header = json.loads(file.readline())
            self.assertEqual((header["run"], header["clock"]), ("real", "real"))
            self.assertRegex(self.good("simulate", workload, "--replay", log), r"^equal: \d+ records, \d+ decisions\n$")
            self.assertIn("valid\n", self.good("check", workload, log))

    def test_a_run_of_one_graph_replays(self):
        graph, log = self.graph([{"work_ns": 1000}, {"work_ns": 2000}], [[0, 1]]), self.path("one.log")
        self.good("run", graph, "--policy", "eft", "--platform", "uniform:2", "--unpinned", "--log", log)
        self.assertIn("2 decisions", self.good("simulate", graph, "--replay", log))

    def test_a_changed_log_differs(self):
        def swap(records):
            at = [i for i, r in enumerate(records) if '"arrive"' in r or '"finish"' in r]
            a, b = at[10], at[11]
            records[a], records[b] = records[b], records[a]
            return records

        def move(records):  # a finish behind another one; each place keeps its time
            a, b = [i for i, r in enumerate(records) if '"finish"' in r][20:22]
            one, other = json.loads(records[a]), json.loads(records[b])
            one[0], other[0] = other[0], one[0]
            records[a], records[b] = (json.dumps(r, separators=(",", ":")) for r in (other, one))
            return records
        for change in (swap, move):
            workload, log = self.run_real()
            self.bad(1, "simulate", workload, "--replay", self.change(log, change), holds="is another run than the log")

    def test_another_policy_differs(self):
        workload, log = self.run_real()
        self.bad(1, "simulate", workload, "--replay", log, "--policy", "fifo", holds="the log is of the policy 'fair', not 'fifo'")

    def test_a_cut_log_is_refused(self):
        workload, log = self.run_real()
        with open(log, encoding="utf-8") as file:
            lines = file.readlines()
        cut = self.file("cut.log", "".join(lines[:len(lines) // 2]))
        self.bad(1, "simulate", workload, "--replay", cut, holds="was cut")
        whole = self.change(log, lambda records: records[:len(records) // 2])
        self.bad(1, "simulate", workload, "--replay", whole, holds="has no END record")

    def test_another_workload_is_named(self):
        _, log = self.run_real()
        self.bad(1, "simulate", self.stream(41), "--replay", log, holds="the log is of another workload")


class Tpch(StreamTest):
    @needs_data(TPCH)
    def test_a_thousand_queries_are_valid_and_replay(self):
        log, data = self.path("t.log"), os.path.join(DATA, TPCH)
        one = self.json("simulate", data, "--policy", "fair", "--jobs", "1000", "--arrivals", "poisson:25", "--seed", "1",
                        "--platform", "uniform:50", "--log", log)
        self.assertEqual((one["jobs"], one["jobs_ended"], one["valid"]), (1000, 1000, True))
        self.assertIn("valid\n", self.good("check", data, log))
        self.assertIn("equal: ", self.good("simulate", data, "--replay", log))


if __name__ == "__main__":
    unittest.main()
