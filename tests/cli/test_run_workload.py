"""run WORKLOAD: jobs that arrive at real workers over time; and the admission test of check."""
import csv
import json
import os
import signal
import subprocess
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest

KEYS = {"workload", "jobs", "policy", "platform", "executors", "avg_jct_s", "p95_jct_s", "weighted_jct_s", "makespan_s",
        "lower_bound_s", "utilization", "completions", "decisions", "refused", "fallbacks", "decision_ns", "valid", "seed",
        "mode", "clock", "emulated", "makespan_ns", "predicted_ns", "busy_ns", "transfers", "transferred_bytes",
        "duplicates_run", "missed_deadlines", "steals", "parks", "jobs_ended", "jobs_refused", "jobs_failed", "jobs_cancelled",
        "jobs_late", "jobs_peak", "jobs_held"}
GRAPH = {"format": "clotho.graph/1", "name": "g", "tasks": [{"work_ns": 20000, "instances": 3}, {"work_ns": 10000}],
         "edges": [{"from": 0, "to": 1}]}
HEAD = '{"format": "clotho.workload/1"}\n'


class WorkloadTest(CommandTest):
    def jobs(self, *jobs, name="jobs.jsonl"):
        return self.file(name, HEAD + "".join(json.dumps({"graph": GRAPH, **job}) + "\n" for job in jobs))

    def stream(self, jobs=30, *more):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", jobs, "-n", 10, "--arrivals", "poisson:200us", "-o", path, *more)
        return path


class Run(WorkloadTest):
    def test_json_has_every_key_and_every_job_ends(self):
        one = self.json("run", self.stream(), "--policy", "fair", "--scale", "0.1")
        self.assertLessEqual(KEYS, set(one))
        self.assertEqual((one["workload"], one["jobs"], one["jobs_ended"], one["policy"], one["mode"], one["valid"]),
                         ("stream", 30, 30, "fair", "policy", True))
        self.assertEqual((one["clock"], one["emulated"], one["jobs_refused"], one["jobs_cancelled"]), ("real", False, 0, 0))
        self.assertEqual(one["decisions"], one["completions"])
        self.assertGreaterEqual(one["avg_jct_s"], one["lower_bound_s"] * 0.5)

    def policies(self):
        return [entry["name"] for entry in self.json("list", "policies")["policies"]]

    def assert_log_is_good(self, workload, log):
        self.assertRegex(self.good("simulate", workload, "--replay", log), r"^equal: \d+ records, \d+ decisions\n$")
        self.assertIn(": valid\n", self.good("check", workload, log))

    def test_every_policy_gives_a_valid_run_whose_log_replays_alike(self):
        workload, log = self.stream(20, "--weights", "3", "--deadline", "2", "--limits", "2"), self.path("run.log")
        for policy in self.policies():
            with self.subTest(policy):
                more = ["--log", log] if policy != "steal" else []  # which decides nothing
                said = self.say("run", workload, "--policy", policy, "--scale", "0.1", "--json", *more)
                one = json.loads(said.out)
                self.assertEqual((said.code, one["jobs_ended"], one["refused"]), (0, 20, 0), said.err)
                self.assertEqual(one["valid"], None if policy == "steal" else True)
                self.assertEqual("warning: " in said.err, policy == "steal")  # which knows no limits
                if policy != "steal":
                    self.assert_log_is_good(workload, log)

    def test_virtual_time_is_the_simulation_end_for_end_under_every_policy(self):
        workload, log = self.stream(40, "--weights", "3", "--deadline", "2", "--limits", "2"), self.path("run.log")
        for policy in [*self.policies(), "eft:sjf", "deft:fair", "deft:decima", "deft:task-hrrn", "wfair:0.5"]:
            with self.subTest(policy):
                options = [workload, "--policy", policy, "--platform", "rk3588", "--arrivals", "poisson:60us", "--seed", "3"]
                ran = self.json("run", *options, "--clock", "virtual", "--csv", self.path("run.csv"), "--log", log)
                simulated = self.json("simulate", *options, "--csv", self.path("simulated.csv"))
                self.assertEqual(self.bytes("run.csv"), self.bytes("simulated.csv"))
                for key in ["avg_jct_s", "p95_jct_s", "weighted_jct_s", "makespan_ns", "decisions", "refused", "jobs_late",
                            "jobs_peak", "utilization", "valid"]:
                    self.assertEqual(ran[key], simulated[key], key)
                self.assertEqual((ran["clock"], ran["emulated"], ran["mode"], ran["prediction_error"], ran["valid"]),
                                 ("virtual", True, "policy", 0, True))
                self.assert_log_is_good(workload, log)

    def test_virtual_time_draws_the_arms_that_the_simulation_draws(self):
        options = [self.stream(12, "--family", "switches"), "--policy", "fair", "--platform", "rk3588", "--seed", "5"]
        ran = self.json("run", *options, "--clock", "virtual", "--csv", self.path("run.csv"))
        simulated = self.json("simulate", *options, "--csv", self.path("simulated.csv"))
        self.assertEqual(self.bytes("run.csv"), self.bytes("simulated.csv"))
        self.assertEqual((ran["prediction_error"], ran["valid"]), (0, True))
        self.assertEqual(ran["skipped"], simulated["skipped"])
        self.assertGreater(ran["skipped"], 0)

    def test_virtual_time_has_releases_bands_demands_and_bodies_that_fail(self):
        tasks = [{"work_ns": 3000, "demand": {"memory": 60}}, {"work_ns": 5000, "demand": {"memory": 50}, "instances": 3}]
        head = {"format": "clotho.workload/1",
                "platform": {"executors": 3, "resources": ["memory"], "machines": [{"memory": 100}]}}
        packed = {"format": "clotho.graph/1", "name": "packed", "resources": ["memory"], "tasks": tasks}
        bad = {"format": "clotho.graph/1", "name": "bad", "tasks": [{"work_ns": 1000, "name": "stop", "command": ["false"]}]}
        jobs = [{"period_ns": 10000, "releases": 20}, {"period_ns": 5000, "band": 1}, {"graph": packed}, {"arrival_ns": 20000}]
        path = self.file("packed.jsonl", "".join(json.dumps(line) + "\n" for line in
                                                 [head, *({"graph": GRAPH, **job} for job in jobs)]))
        for policy in ["fifo", "tetris", "edf", "decima-fair"]:
            options = [path, "--policy", policy]
            ran, simulated = self.json("run", *options, "--clock", "virtual"), self.json("simulate", *options)
            self.assertEqual((ran["jobs"], ran["jobs_ended"], simulated["jobs"]), (61, 61, 61))
            for key in ["avg_jct_s", "weighted_jct_s", "makespan_ns", "completions", "decisions"]:
                self.assertEqual(ran[key], simulated[key], key)
        text = self.good("run", *options, "--clock", "virtual")
        self.assertIn("clock        virtual  EMULATED: virtual time\n", text)
        self.assertNotIn("\nsubmitted ", text)
        said = self.say("run", self.jobs({}, {"graph": bad}, {}), "--policy", "fifo", "--clock", "virtual", "--json")
        self.assertIn("job 1 'bad': task 'stop' failed with 1", said.err)
        self.assertEqual((said.code, json.loads(said.out)["jobs_ended"], json.loads(said.out)["jobs_failed"]), (1, 2, 1))

    def test_virtual_time_has_all_jobs_at_once(self):
        path = self.jobs({"period_ns": 1000, "releases": 65536})
        fifo = ["--policy", "fifo", "--clock", "virtual"]
        self.bad(1, "run", path, *fifo, holds="65536 jobs: with --clock virtual all exist at once, at most 65535; lower --jobs")
        self.bad(2, "run", path, *fifo, "--live", "9", holds="leave it out")

    def test_text_has_predicted_beside_measured(self):
        text = self.good("run", self.stream(), "--policy", "fifo", "--scale", "0.1")
        for part in ["workload     stream, 30 jobs in the file", "dispatch     policy fifo\n", "predicted     measured\n",
                     "mean completion time ", "jobs         30 ended, 0 refused", "check        valid\n"]:
            self.assertIn(part, text)

    def test_ten_thousand_jobs_pass_through_a_few_places(self):
        jobs = 2000 if SANITIZED else 10000
        path = self.jobs({})
        run = ["run", path, "--policy", "fifo", "--jobs", jobs, "--arrivals", "batch", "--scale", "0.01", "--live", "100"]
        one = self.json(*run)
        self.assertEqual((one["jobs"], one["jobs_ended"], one["completions"], one["valid"]), (jobs, jobs, 4 * jobs, True))
        self.assertLessEqual(one["jobs_peak"], 100)
        self.assertGreater(one["jobs_held"], jobs / 2)
        self.assertRegex(self.good(*run), r"held back    \d+ jobs waited for room")

    def test_releases_weights_bands_and_limits_reach_the_scheduler(self):
        path = self.jobs({"period_ns": 500000, "releases": 20, "deadline_ns": 600000000000, "weight": 7},
                         {"arrival_ns": 1000000, "band": 1, "limit": 1, "group": 3})
        rows = self.path("rows.csv")
        log = self.path("run.log")
        one = self.json("run", path, "--policy", "edf", "--csv", rows, "--log", log)
        self.assertEqual((one["jobs"], one["jobs_ended"], one["missed_deadlines"], one["valid"]), (21, 21, 0, True))
        with open(rows, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["arrival_ns"]) for row in rows][:3], [0, 500000, 1000000])
        self.assertEqual({row["status"] for row in rows}, {"ended"})
        self.assertTrue(all(int(row["arrival_ns"]) <= int(row["start_ns"]) < int(row["finish_ns"]) for row in rows))
        self.assertEqual(sum(int(row["executions"]) for row in rows), one["completions"])
        self.assertIn("valid\n", self.good("check", path, log))
        self.assertIn('"band"', self.bytes(log).decode())

    def test_padded_time_is_that_of_the_platform(self):
        path = self.jobs({}, {"arrival_ns": 1000000}, {"arrival_ns": 50000000})
        begin = time.monotonic()
        one = self.json("run", path, "--policy", "eft", "--platform", "rk3588", "--clock", "padded", "--dilate", "20")
        took_ns = (time.monotonic() - begin) * 1e9
        self.assertEqual((one["emulated"], one["executors"], one["jobs_ended"], one["valid"]), (True, 8, 3, True))
        self.assertGreaterEqual(one["makespan_ns"], 50000000)
        self.assertLessEqual(20 * one["makespan_ns"], took_ns)  # emulated time

    def test_the_picture_and_the_log_are_of_the_same_run(self):
        workload, svg, log = self.stream(), self.path("run.svg"), self.path("run.log")
        one = self.json("run", workload, "--policy", "rank", "--scale", "0.1", "--gantt", svg, "--log", log, "--jobs", "40",
                        "--arrivals", "poisson:100us", "--seed", "4")
        self.assertEqual(one["jobs"], 40)
        self.assertIn(b"</svg>", self.bytes(svg))
        self.assertIn("jobs         40: 40 finished", self.good("check", workload, log))
        self.assertRegex(self.good("simulate", workload, "--replay", log), r"^equal: \d+ records, \d+ decisions\n$")

    def test_a_graph_is_a_workload_of_one_job(self):
        one = self.json("run", self.diamond(), "--policy", "fifo", "--jobs", "12", "--arrivals", "poisson:1ms")
        self.assertEqual((one["jobs"], one["jobs_ended"], one["completions"]), (12, 12, 48))

    def test_an_interrupt_cancels_what_lives_and_prints_the_rest(self):
        jobs = 200000
        path = self.jobs({"period_ns": 2000000, "releases": jobs})
        for wait_s in (1, 4, 16, 64):  # until some have ended, however slow the machine is
            with subprocess.Popen([CLOTHO, "run", path, "--policy", "fifo", "--json"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as command:
                time.sleep(wait_s)
                command.send_signal(signal.SIGINT)
                out, err = command.communicate(timeout=LONG)
            if command.returncode != -signal.SIGINT and json.loads(out)["jobs_ended"] > 0:
                break
        self.assertEqual(command.returncode, 1, err)
        self.assertRegex(err, r"^clotho: \S+: interrupted: \d+ live jobs were cancelled, \d+ never arrived\n$")
        one = json.loads(out)
        self.assertTrue(one["interrupted"])
        self.assertGreater(one["jobs_ended"], 0)
        self.assertEqual(one["jobs_ended"] + one["jobs_cancelled"], jobs)

    def test_jobs_that_never_fit_are_refused_by_name_and_the_others_run(self):
        far = {"format": "clotho.graph/1", "name": "far", "tasks": [{"work_ns": 1000, "executors": [5]}]}
        path = self.jobs({}, {"graph": far}, {}, {"graph": far, "name": "again"})
        said = self.say("run", path, "--policy", "fifo", "--platform", "uniform:2", "--clock", "padded", "--json")
        lines = said.err.splitlines()
        self.assertEqual((said.code, len(lines)), (1, 2), said.err)
        self.assertIn("jobs.jsonl:3: job 'far' is refused: ", lines[0])
        self.assertIn("jobs.jsonl:5: job 'again' is refused: ", lines[1])
        one = json.loads(said.out)
        self.assertEqual((one["jobs"], one["jobs_ended"], one["jobs_refused"], one["valid"]), (4, 2, 2, True))
        for clock in ["padded", "virtual"]:
            said = self.say("run", path, "--policy", "fifo", "--platform", "uniform:2", "--clock", clock, "--log", "m.log")
            self.assertEqual((said.code, len(said.err.splitlines())), (1, 2), said.err)
            self.assertIn("jobs         2: 2 finished", self.good("check", path, "m.log"))
            self.assert_log_is_good(path, "m.log")
        path = self.jobs({"graph": far})
        self.bad(1, "run", path, "--policy", "fifo", "--platform", "uniform:2", "--clock", "padded", holds="job 'far' is refused")

    def test_jobs_too_large_for_the_memory_limit_are_refused_in_a_few_lines(self):
        tasks = [{"work_ns": 1000, "output_bytes": 3 << 20}]
        large = {"graph": {"format": "clotho.graph/1", "name": "large", "tasks": tasks}}
        path = self.jobs({}, *[large] * 20)
        for clock in ["real", "virtual"]:
            said = self.say("run", path, "--policy", "fifo", "--clock", clock, "--memory-limit", "1", "--json")
            self.assertEqual(said.code, 1)
            lines = said.err.splitlines()
            self.assertEqual(len(lines), 9)
            self.assertIn("job 1 'large' is refused: it would take 4 MiB of memory or more, the limit is 1 MiB", lines[0])
            self.assertIn("12 more jobs are refused", lines[8])
            one = json.loads(said.out)
            self.assertEqual((one["jobs_ended"], one["jobs_refused"], one["valid"]), (1, 20, True))

    def test_a_body_that_fails_is_named_and_the_others_run(self):
        bad = {"format": "clotho.graph/1", "name": "bad", "tasks": [{"work_ns": 1000, "name": "stop", "command": ["false"]}]}
        said = self.say("run", self.jobs({}, {"graph": bad}, {}), "--policy", "fifo", "--json")
        self.assertEqual(said.code, 1)
        self.assertIn("job 1 'bad': task 'stop' failed with 1", said.err)
        one = json.loads(said.out)
        self.assertEqual((one["jobs_ended"], one["jobs_failed"]), (2, 1))

    def test_without_a_policy_auto_decides(self):
        path = self.jobs({}, {"arrival_ns": 1000})
        for verb in ("run", "simulate"):
            one = json.loads(self.good(verb, path, "--json"))
            self.assertEqual(one["policy"], "auto")
            self.assertEqual(one["jobs_ended"], 2)

    def test_bad_usage_is_one_line(self):
        path = self.jobs({})
        fifo = ["run", path, "--policy", "fifo"]
        self.bad(2, "run", path, "--planner", "heft", holds="--planner is of graphs")
        self.bad(2, "run", path, "--policy", "fifo:3", holds="the policy 'fifo' takes no argument; write --policy fifo")
        self.bad(2, "run", self.diamond(), "--policy", "fifo:3", holds="the policy 'fifo' takes no argument")
        self.bad(2, "run", path, "--policy", "fifi", holds="did you mean 'fifo'?")
        self.bad(2, *fifo, "--repeat", "3", holds="--repeat is of graphs")
        self.bad(2, *fifo, "--deadline", "3ms", holds="deadlines of their own")
        self.bad(2, *fifo, "--trace", "t.json", holds="--trace is of graphs")
        self.bad(2, *fifo, "--arrivals", "often", holds="--arrivals is 'often'")
        self.bad(2, *fifo, "--json", "--csv", "-", holds="--json and '-' both want standard output")
        self.bad(2, *fifo, "--gantt", "-", "--csv", "-", holds="two files want standard output")
        self.bad(2, "run", path, "--policy", "steal", "--log", "x.log", holds="leave --log out")
        self.bad(2, "run", self.diamond(), self.diamond(), "--policy", "fifo", "--jobs", "3", holds="of one workload")
        self.bad(1, *fifo, "--csv", self.path("no/x.csv"), holds="x.csv")
        self.assert_nothing_half_written("x.log", "t.json")

    def test_bad_workloads_are_one_line_in_run_and_simulate(self):
        empty = {"format": "clotho.graph/1", "tasks": []}
        for jobs, text in [([{"arrival_ns": 5}, {"arrival_ns": 4}], "jobs.jsonl:3: arrival_ns is 4 ns, before the job above it"),
                           ([{"weight": 0}], "jobs.jsonl:2: weight is 0; write a whole number >= 1"),
                           ([{"deadline_ns": -1}], "jobs.jsonl:2: deadline_ns is -1"),
                           ([{"deadline_ns": 0}], "jobs.jsonl:2: deadline_ns is 0"),
                           ([{"arrival_ns": 1e300}], "more than 146 years"),
                           ([{"arrival_ns": 4611686018427387904}], "more than 146 years"),
                           ([{"arrival_ns": float("nan")}], "jobs.jsonl:2: JSON has no NaN"),
                           ([{"graph": empty}], "graph.tasks is empty"),
                           ([{"band": 8}], "jobs.jsonl:2: job \"g\": band is 8; use 0 to 7"),
                           ([{"limit": 0}], "jobs.jsonl:2: limit is 0"),
                           ([{"releases": 3}], "has 3 releases but no period_ns"),
                           ([], "holds no jobs")]:
            with self.subTest(text):
                path = self.jobs(*jobs)
                self.bad(1, "run", path, "--policy", "fifo", holds=text)
                self.bad(1, "simulate", path, "--policy", "fifo", holds=text)
        for period, releases, text in [(10 ** 15, 10 ** 6, "its last release + deadline_ns is more than 146 years"),
                                       (1000, 10 ** 11, "releases is 100000000000; give at most 268435456")]:
            path = self.jobs({"period_ns": period, "releases": releases})
            for verb in ["run", "simulate"]:
                self.bad(1, verb, path, "--policy", "fifo", holds="jobs.jsonl:2: job \"g\": " + text)
        path = self.jobs({"period_ns": 1000, "releases": 2 ** 22 + 1})
        self.bad(1, "run", path, "--policy", "fifo", holds="more than 4194304 jobs and releases")


class Admission(WorkloadTest):
    def test_an_admitted_set_has_a_bound_for_each_job(self):
        path = self.jobs({"period_ns": 1000000, "deadline_ns": 500000, "name": "camera"},
                         {"band": 1, "graph": {"format": "clotho.graph/1", "tasks": [{"work_ns": 50000, "instances": 64}]}})
        one = self.json("check", path, "--admission", "--policy", "edf", "--platform", "uniform:2")
        self.assertEqual((one["verdict"], one["admitted"], one["order"]), ("admitted", 2, "edf"))
        camera = one["tested"][0]
        # Path 30 us, work 70 us, bodies of 50 us: two at the entry, one behind it. (30 + 70 + 150) / 2 = 125.
        self.assertEqual((camera["verdict"], camera["response_ns"], camera["blocking_ns"], camera["fastest_ns"]),
                         ("admitted", 125000, 75000, 30000))
        text = self.good("check", path, "--admission", "--platform", "uniform:2")
        for part in ["camera ", "admitted", "500.0 us", "125.0 us", "75.00 us", "verdict      admitted: 2 admitted"]:
            self.assertIn(part, text)
        with_overhead = self.json("check", path, "--admission", "--platform", "uniform:2", "--overhead", "10us")
        self.assertGreater(with_overhead["tested"][0]["response_ns"], 125000)

    def test_what_is_not_admitted_is_one_line_and_exit_one(self):
        admission = ["--admission", "--platform", "uniform:2"]
        self.bad(1, "check", self.jobs({"deadline_ns": 29999}), *admission, holds="'g' is refused: its longest chain")
        self.bad(1, "check", self.jobs({"deadline_ns": 40000}), *admission, holds="'g' is unknown: no bound")
        self.bad(1, "check", self.jobs({"deadline_ns": 90000, "limit": 1}), *admission, holds="does not cover limits")
        self.bad(1, "check", self.jobs({"period_ns": 30000, "deadline_ns": 500000, "releases": 1000}), *admission,
                 holds="'g' is refused: its releases ask for more work")
        self.bad(1, "check", self.jobs(*[{"deadline_ns": 60000}] * 3), *admission, holds="up to band 0 ask for more work")

    def test_bad_usage_is_one_line(self):
        path = self.jobs({"deadline_ns": 90000})
        self.bad(2, "check", path, "--admission", "--policy", "eft", holds="'eft' may leave executors idle")
        self.bad(2, "check", path, "--admission", "--policy", "edf:1", holds="takes no argument")
        self.bad(2, "check", path, path, "--admission", holds="--admission takes one WORKLOAD")
        self.bad(2, "check", path, holds="'check' needs")
        self.bad(2, "check", path, path, "--policy", "edf", holds="add --admission")
        self.bad(1, "check", self.path("none.jsonl"), "--admission", holds="none.jsonl")
        self.bad(1, "check", self.jobs({"band": 8}), "--admission", holds="band is 8")


if __name__ == "__main__":
    unittest.main()
