"""Pages of --report: one HTML file, whose data are those of --json and of the plan, whatever the names in it are."""
import base64
import hashlib
import html.parser
import importlib.util
import json
import os
import re
import shutil
import subprocess
import unittest

from support import LONG, SOURCE, CommandTest

VOID = {"meta", "br", "input", "link", "img", "hr"}


class Page(html.parser.HTMLParser):
    """A page that was read: each tag closed in order, nothing from outside, one script whose hash the policy has."""

    def __init__(self, test, path):
        super().__init__()
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.test, self.open, self.tags, self.scripts, self.policy, self.text, self.ids = test, [], [], [], "", "", []
        self.feed(self.source)
        self.close()
        test.assertEqual(self.open, [])
        test.assertEqual(len(self.scripts), 2)
        self.data = json.loads(self.scripts[0])
        hashed = base64.b64encode(hashlib.sha256(self.scripts[1].encode()).digest()).decode()
        test.assertIn("script-src 'sha256-%s'" % hashed, self.policy)
        test.assertIn("default-src 'none'", self.policy)
        test.assertEqual(self.data["format"], "clotho.report/1")

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        for name, value in attributes:
            self.test.assertFalse(name.startswith("on"), name)
            self.test.assertFalse(name in ("src", "href", "action"), (tag, name, value))
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        self.test.assertEqual(self.open.pop() if self.open else None, tag, self.getpos())

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text += data

    def bars(self, schedule=0):
        """(executor, task, instance, start, finish) of each bar, by executor."""
        s, bars, i = self.data["schedules"][schedule], [], 0
        value = lambda key, at: s[key][at] if s[key] else 0
        for executor, count in enumerate(s["rows"]):
            end = 0
            for i in range(i, i + count):
                start = end + value("gap", i)
                end = start + value("length", i)
                bars.append((executor, value("task", i), value("instance", i), start, end))
            i += 1 if count else 0
        return bars

    def inputs(self):
        """For each task its predecessors."""
        flat, at, result = self.data["inputs"], 0, []
        for task in range(len(self.data["task_kind"])):
            result.append([task - back for back in flat[at + 1:at + 1 + flat[at]]])
            at += 1 + flat[at]
        return result


class Reports(CommandTest):
    def page(self, name):
        return Page(self, self.path(name))

    def test_a_plan_is_on_its_page_as_in_its_file(self):
        g = self.good("generate", "cholesky", "--tasks", 60, "--ccr", 0.5, "--duplicable", "-o", self.path("c.json")) and self.path("c.json")
        said = self.json("plan", g, "--platform", "rk3588", "--planner", "deft", "--out", self.path("p.json"), "--report", self.path("p.html"))
        page = self.page("p.html")
        with open(self.path("p.json"), encoding="utf-8") as file:
            plan = json.load(file)
        s = page.data["schedules"][0]
        self.assertEqual((s["makespan_ns"], s["bound_ns"]), (said["makespan_ns"], said["lower_bound_ns"]))
        self.assertEqual(len(page.bars()), len(plan["placements"]))
        end = max(bar[4] for bar in page.bars())
        self.assertEqual(end, said["makespan_ns"])
        with open(g, encoding="utf-8") as file:
            graph = json.load(file)
        self.assertEqual(page.data["tasks"], [task["name"] for task in graph["tasks"]])
        names = page.data["tasks"]
        self.assertEqual(sorted((names[p], names[t]) for t, all in enumerate(page.inputs()) for p in all), sorted((e["from"], e["to"]) for e in graph["edges"]))
        self.assertIn("svg", page.tags)
        for table in ("planners", "executors", "kinds", "tasks"):
            self.assertIn(table, page.ids)

    def test_causes_slack_and_waits_follow_from_the_times(self):
        # a: 0-10 on e0; b waits for a; c is alone and has all the room until b ends
        g = self.graph([{"name": "a", "work_ns": 10}, {"name": "b", "work_ns": 20}, {"name": "c", "work_ns": 5}], [(0, 1, 0)])
        self.good("plan", g, "--platform", "uniform:2", "--report", self.path("p.html"))
        page = self.page("p.html")
        s, by_task = page.data["schedules"][0], {}
        for i, bar in enumerate(page.bars()):
            by_task[bar[1]] = i
        column = lambda key, task: s[key][by_task[task]] if s[key] else 0
        self.assertEqual([column("slack", t) for t in (0, 1, 2)], [0, 0, 25])
        self.assertEqual([column("wait", t) for t in (0, 1, 2)], [0, 0, 0])
        self.assertEqual(column("cause", 1), by_task[0])
        self.assertEqual(column("cause", 0), -1)

    def test_waits_and_slack_are_those_of_a_second_way(self):
        for seed in range(4):
            self.good("generate", "layered", "--tasks", 70, "--seed", seed, "-o", self.path("g.json"))
            self.good("plan", self.path("g.json"), "--platform", "uniform:3", "--planner", "cpop", "--report", self.path("p.html"))
            page = self.page("p.html")
            s, bars, before = page.data["schedules"][0], page.bars(), page.inputs()
            end = max(bar[4] for bar in bars)
            at = {bar[1]: i for i, bar in enumerate(bars)}
            latest = [end] * len(bars)
            for i in sorted(range(len(bars)), key=lambda i: bars[i][3:], reverse=True):
                latest_start = latest[i] - (bars[i][4] - bars[i][3])
                needed = [at[p] for p in before[bars[i][1]]] + ([i - 1] if i > 0 and bars[i - 1][0] == bars[i][0] else [])
                for k in needed:
                    latest[k] = min(latest[k], latest_start)
                ready = max([bars[at[p]][4] for p in before[bars[i][1]]], default=0)
                self.assertEqual(s["wait"][i] if s["wait"] else 0, bars[i][3] - ready)
                cause = s["cause"][i]
                self.assertEqual(bars[cause][4] if cause >= 0 else 0, max([bars[k][4] for k in needed], default=0))
            self.assertEqual(s["slack"] or [0] * len(bars), [a - b[4] for a, b in zip(latest, bars)])

    def test_planners_are_in_one_table_and_the_shortest_is_drawn(self):
        g = self.good("generate", "layered", "--tasks", 80, "-o", self.path("l.json")) and self.path("l.json")
        out = self.good("plan", g, "--platform", "rk3588", *[w for n in ("cpop", "heft", "peft") for w in ("--planner", n)], "--json",
                        "--report", self.path("p.html"))
        said, page = [json.loads(line) for line in out.splitlines()], self.page("p.html")
        self.assertEqual([s["name"] for s in page.data["schedules"]], ["cpop", "heft", "peft"])
        self.assertEqual([s["makespan_ns"] for s in page.data["schedules"]], [s["makespan_ns"] for s in said])
        least = min(s["makespan_ns"] for s in said)
        self.assertEqual(page.data["schedules"][page.data["drawn"]]["makespan_ns"], least)
        self.assertEqual(page.data["compared"], page.data["drawn"])

    def test_a_pipeline_shows_releases_and_its_interval(self):
        self.good("plan", self.diamond(), "--platform", "uniform:2", "--pipeline", "--report", self.path("p.html"))
        s = self.page("p.html").data["schedules"][0]
        self.assertGreater(s["interval_ns"], 0)
        self.assertGreater(max(s["group"]), 0)

    def test_a_run_is_beside_its_plan(self):
        said = self.json("run", self.diamond(), "--platform", "uniform:2", "--clock", "virtual", "--deadline", "1s", "--report", self.path("r.html"))
        page = self.page("r.html")
        run, plan = page.data["schedules"]
        self.assertEqual((run["happened"], plan["happened"], run["emulated"]), (True, False, True))
        self.assertEqual((run["makespan_ns"], plan["makespan_ns"]), (said["makespan_ns"], said["predicted_ns"]))
        self.assertEqual(page.bars(0), page.bars(1))
        self.assertEqual((page.data["drawn"], page.data["compared"], page.data["deadline_ns"]), (0, 1, 10 ** 9))

    def test_a_policy_is_beside_what_the_simulator_expects(self):
        said = self.json("run", self.diamond(), "--policy", "rank", "--clock", "virtual", "--report", self.path("r.html"))
        run, expected = self.page("r.html").data["schedules"]
        self.assertEqual((run["makespan_ns"], expected["makespan_ns"]), (said["makespan_ns"], said["predicted_ns"]))

    def test_of_several_runs_the_median_one_is_drawn(self):
        # The first run takes 0.6 s, the second 1.2 s, the third no time: by far more than what a busy host adds to an end.
        sleeps = "n=$(cat c); echo $((n + 1)) > c; case $n in 0) sleep 0.6;; 1) sleep 1.2;; esac"
        self.file("c", "0\n")
        g = self.graph([{"name": "t", "command": ["sh", "-c", sleeps]}])
        said = self.json("run", g, "-j", 1, "--repeat", 3, "--trace", self.path("t.json"), "--report", self.path("r.html"))
        page = self.page("r.html")
        drawn = page.data["schedules"][0]["makespan_ns"]
        self.assertEqual(min(said["measured_ns"], key=lambda ns: abs(ns - drawn)), said["makespan_ns"])
        self.assertEqual(max(bar[4] for bar in page.bars()), drawn)
        with open(self.path("t.json"), encoding="utf-8") as file:
            ends = [round(1000 * (e["ts"] + e["dur"])) for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(max(ends), drawn)
        self.assertIn("The run with the median time of several.", page.text)

    def test_more_runs_than_are_kept_have_a_page_of_one_of_them(self):
        said = self.json("run", self.diamond(), "--repeat", 150, "--report", self.path("r.html"))
        drawn = self.page("r.html").data["schedules"][0]["makespan_ns"]
        self.assertLessEqual(drawn, max(said["measured_ns"]))

    def test_a_run_that_fails_is_drawn_with_the_failed_task_marked(self):
        g = self.graph([{"name": "fine", "command": ["true"]}, {"name": "<bad>", "command": ["sh", "-c", "exit 3"]}, {"name": "never", "command": ["true"]}],
                       [(0, 1), (1, 2)])
        said = self.bad(1, "run", g, "-j", 2, "--report", self.path("r.html"), "--gantt", self.path("r.svg"), "--json", holds="exit status 3")
        self.assertEqual(json.loads(said.out.splitlines()[-1])["failed_task"], "<bad>")
        page = self.page("r.html")
        self.assertEqual(page.data["failed"], [1])
        self.assertEqual(len(page.data["schedules"]), 1)  # the commands have no times: nothing was predicted
        self.assertEqual(sorted(bar[1] for bar in page.bars()), [0, 1])
        self.assertIn("<bad>: failed", page.text)
        self.assertIn(b"&lt;bad&gt;: failed</title>", self.bytes("r.svg"))

    def test_a_simulated_graph_and_one_task(self):
        g = self.graph([{"name": "only", "work_ns": 1000}])
        said = self.json("simulate", g, "--policy", "fifo", "--platform", "uniform:3", "--report", self.path("s.html"))
        page = self.page("s.html")
        self.assertEqual(page.data["schedules"][0]["makespan_ns"], said["makespan_ns"])
        self.assertEqual(page.bars(), [(page.bars()[0][0], 0, 0, 0, 1000)])
        self.say("plan", self.graph([{"name": "nothing", "work_ns": 0}]), "--platform", "uniform:2", "--report", self.path("z.html"))
        self.assertEqual(self.page("z.html").data["schedules"][0]["makespan_ns"], 0)

    def workload(self):
        path = self.path("w.jsonl")
        self.good("generate", "stream", "--jobs", 12, "--arrivals", "poisson:2ms", "-o", path)
        return path

    def test_a_stream_has_its_jobs_with_arrivals_and_ends(self):
        said = self.json("simulate", self.workload(), "--policy", "fair", "--platform", "rk3588", "--csv", self.path("jobs.csv"), "--report",
                         self.path("s.html"), "--gantt", self.path("s.svg"))
        page = self.page("s.html")
        with open(self.path("jobs.csv"), encoding="utf-8") as file:
            rows = [line.split(",") for line in file.read().splitlines()[1:]]
        self.assertEqual([[j[1], j[2], j[3], j[4]] for j in page.data["jobs"]], [[r[1], int(r[2]), int(r[3]), int(r[4])] for r in rows])
        self.assertEqual(len(page.bars()), said["completions"])
        self.assertEqual(page.data["schedules"][0]["makespan_ns"], said["makespan_ns"])
        picture = self.bytes("s.svg").decode()
        self.assertEqual(picture.count(" arrives</title>"), len(rows))
        self.assertIn(">arrival</text>", picture)
        self.assertEqual(page.source.count(" arrives</title>"), len(rows))

    def test_jobs_have_waits_slack_and_critical_paths_that_are_those_of_a_second_way(self):
        for seed in range(3):
            graphs = []
            for k in range(2):
                self.good("generate", "layered", "--tasks", 12, "--seed", 2 * seed + k, "-o", self.path("g%d.json" % k))
                with open(self.path("g%d.json" % k), encoding="utf-8") as file:
                    graphs.append(json.load(file))
            lines = [{"format": "clotho.workload/1", "name": "w"}]
            lines += [{"name": "j%d" % k, "graph": graphs[k], "arrival_ns": 0, "deadline_ns": 1} for k in range(2)]
            lines += [{"name": "j%d" % k, "graph": k % 2, "arrival_ns": 3000 * k} for k in range(2, 7)]
            w = self.file("w.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
            self.good("simulate", w, "--policy", "fair", "--platform", "uniform:3", "--report", self.path("s.html"))
            page = self.page("s.html")
            s, bars, before, jobs = page.data["schedules"][0], page.bars(), page.inputs(), page.data["jobs"]
            group = s["group"] or [0] * len(bars)
            at = {(group[i], bar[1]): i for i, bar in enumerate(bars)}
            inputs = [[at[group[i], p] for p in before[bars[i][1]]] for i in range(len(bars))]
            order = sorted(range(len(bars)), key=lambda i: bars[i][3:])
            path, latest = [0] * len(bars), [jobs[group[i]][4] for i in range(len(bars))]
            for i in order:
                path[i] = bars[i][4] - bars[i][3] + max([path[k] for k in inputs[i]], default=0)
                ready = max([bars[k][4] for k in inputs[i]], default=jobs[group[i]][2])
                self.assertEqual(s["wait"][i] if s["wait"] else 0, bars[i][3] - ready)
                held = [i - 1] if i > 0 and bars[i - 1][0] == bars[i][0] and bars[i - 1][4] >= ready else []
                cause = s["cause"][i]
                self.assertEqual(bars[cause][4] if cause >= 0 else None, max([bars[k][4] for k in inputs[i] + held], default=None))
            for i in reversed(order):
                for k in inputs[i] + ([i - 1] if i > 0 and bars[i - 1][0] == bars[i][0] else []):
                    latest[k] = min(latest[k], latest[i] - (bars[i][4] - bars[i][3]))
            self.assertEqual(s["slack"] or [0] * len(bars), [a - b[4] for a, b in zip(latest, bars)])
            self.assertEqual([j[7] for j in jobs], [max(path[i] for i in range(len(bars)) if group[i] == g) for g in range(len(jobs))])
            rows = re.findall(r"<tr data-job.*?</tr>", page.source)
            self.assertEqual(len(rows), len(jobs))
            late = {int(re.search(r'data-job="(\d+)"', row).group(1)): row for row in rows}
            for g, job in enumerate(jobs):  # the fifth cell: how long after its deadline
                wanted = "–" if job[5] is None else 'data-v="%d"' % (job[4] - job[5])
                self.assertIn(wanted, late[g].split("<td")[5])
            self.good("simulate", w, "--policy", "fair", "--platform", "uniform:3", "--gantt", self.path("s.svg"))
            for picture in (self.bytes("s.svg").decode(), page.source):
                self.assertEqual(re.findall(r"<title>job (\d+) misses its deadline</title>", picture), ["0"])  # and 1 at the same place
                self.assertIn(">missed deadline</text>", picture)
            self.assertEqual(self.facts(page)["late"], "2 of 2")
            self.assertIn("mean tardiness", self.facts(page))

    def test_releases_of_periodic_jobs_are_named_in_the_order_of_their_arrivals(self):
        graph = {"format": "clotho.graph/1", "name": "g", "tasks": [{"name": "t", "work_ns": 100}], "edges": []}
        lines = [{"format": "clotho.workload/1", "name": "w"},
                 {"name": "slow", "graph": graph, "period_ns": 3000, "releases": 2, "deadline_ns": 900},
                 {"name": "quick", "graph": 0, "arrival_ns": 100, "period_ns": 2000, "releases": 3}]
        w = self.file("w.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
        done = self.say("simulate", w, "--policy", "fifo", "--platform", "uniform:2", "--report", self.path("s.html"))
        self.assertEqual(done.code, 0, done.err)
        data = self.page("s.html").data
        self.assertEqual([(j[1], j[2]) for j in data["jobs"]], [("slow", 0), ("quick", 100), ("quick", 2100), ("slow", 3000), ("quick", 4100)])
        self.assertEqual([j[5] for j in data["jobs"]], [900, None, None, 3900, None])

    def test_the_run_of_a_workload_has_a_page(self):
        said = self.json("run", self.workload(), "--policy", "fair", "--scale", "0.05", "--report", self.path("r.html"), "--gantt", self.path("r.svg"))
        page = self.page("r.html")
        self.assertEqual(len(page.data["jobs"]), said["jobs"])
        self.assertEqual({j[6] for j in page.data["jobs"]}, {0})
        self.assertEqual(self.bytes("r.svg").decode().count(" arrives</title>") > 0, True)

    def test_releases_are_jobs_that_are_due(self):
        said = self.json("run", self.diamond(), "--platform", "uniform:2", "--clock", "virtual", "--releases-in-flight", 2, "--releases", 8, "--period", "5us",
                         "--deadline", "4us", "--traced-releases", 3, "--report", self.path("r.html"))
        page = self.page("r.html")
        self.assertEqual(said["releases"], 8)
        self.assertEqual(page.data["job_word"], "release")
        self.assertEqual([(j[0], j[2], j[5]) for j in page.data["jobs"]], [(5, 0, 4000), (6, 5000, 9000), (7, 10000, 14000)])
        self.assertEqual(len(page.bars()), 12)
        for job in page.data["jobs"]:
            self.assertTrue(job[2] <= job[3] < job[4] <= job[5], job)
        said = self.json("simulate", self.diamond(), "--platform", "uniform:2", "--releases-in-flight", 2, "--releases", 6, "--period", "5us", "--report",
                         self.path("s.html"))
        page = self.page("s.html")
        self.assertEqual((len(page.bars()), page.data["schedules"][0]["makespan_ns"]), (said["completions"], said["makespan_ns"]))
        self.assertEqual([j[2] for j in page.data["jobs"]], [5000 * k for k in range(6)])
        self.json("run", self.diamond(), "--releases-in-flight", 3, "--releases", 9, "--policy", "steal", "--report", self.path("r.html"))
        jobs = self.page("r.html").data["jobs"]
        self.assertEqual([j[0] for j in jobs], list(range(9)))
        self.assertEqual(min(j[2] for j in jobs), 0)

    def test_a_trace_of_releases_has_deadlines_and_counters_that_end_with_nothing(self):
        for verb in (["simulate"], ["run", "--clock", "virtual", "--traced-releases", 8], ["run"]):
            self.say(*verb, self.diamond(), "--platform", "native" if verb == ["run"] else "uniform:2", "--releases-in-flight", 2, "--releases", 8,
                     "--period", "5us", "--trace", self.path("t.json"), "--report", self.path("r.html"))
            with open(self.path("t.json"), encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            late = [e for e in events if e["ph"] == "b" and e["cat"] == "late"]
            self.assertEqual(len([e for e in events if e["ph"] == "b"]), 8)
            self.assertEqual([e["ts"] for e in events if e.get("name", "").startswith("due ")], [5 * k for k in range(8)])
            deadlines = [e for e in events if e["ph"] == "i" and "deadline " in e["name"]]
            self.assertEqual(sorted(e["ts"] for e in deadlines), [5 * k + 5 for k in range(8)])
            self.assertEqual(len([e for e in deadlines if e["name"].startswith("missed")]), len(late))
            bodies = [e for e in events if e["ph"] == "X" and e["cat"] != "transfer"]
            self.assertEqual(len(bodies), 32)
            for name in ("busy executors", "releases in flight", "ready tasks"):
                values = [(e["ts"], e["args"]["count"]) for e in events if e["ph"] == "C" and e["name"] == name]
                self.assertEqual(values, sorted(values, key=lambda v: v[0]))
                self.assertTrue(all(count >= 0 for _, count in values), (verb, values))
                self.assertTrue(not values or values[-1][1] == 0, (verb, name, values))
                self.assertTrue(values or name == "ready tasks")
            most = max(e["args"]["count"] for e in events if e["ph"] == "C" and e["name"] == "releases in flight")
            self.assertIn(most, (1, 2))
            self.assertEqual(len([e for e in events if e["ph"] == "C" and e["name"] == "lateness, us"]), 8)

    def test_all_releases_are_counted_in_buckets(self):
        for verb in (["simulate"], ["run"]):
            words = verb + [self.diamond(), "--platform", "native" if verb == ["run"] else "uniform:2", "--releases-in-flight", 2, "--releases", 30, "--period",
                            "5us", "--report", self.path("r.html")] + (["--traced-releases", 4, "--late-releases", 3] if verb == ["run"] else [])
            done = self.say(*words, "--json")
            self.assertEqual(done.code, 0, done.err)
            said, page = json.loads(done.out), self.page("r.html")
            buckets = said["response_buckets"]
            self.assertEqual(sum(count for _, count in buckets), 30)
            self.assertEqual(buckets, sorted(buckets))
            self.assertTrue(buckets[-1][0] <= said["response_max_ns"] <= 1.04 * buckets[-1][0] + 1)
            self.assertIn("responses", page.ids)
            table = re.search(r'<table id="responses">.*?</table>', page.source, re.S).group(0)
            counts = [int(re.findall(r'<td class="n">(\d+)</td>', row)[0]) for row in re.findall(r"<tr>.*?</tr>", table[table.index("<tbody>"):])]
            self.assertEqual(sum(counts), 30)
            if verb == ["run"]:
                self.assertEqual(said["releases_kept"], len(page.data["jobs"]))
                self.assertTrue(4 <= said["releases_kept"] <= 7, said)
                self.assertEqual(said["executions_lost"], 0)
                self.assertLessEqual({26, 27, 28, 29}, {j[0] for j in page.data["jobs"]})

    def test_late_releases_are_of_a_series_in_real_time(self):
        series = ["--releases-in-flight", 2, "--trace", self.path("t.json")]
        self.bad(2, "run", self.diamond(), "--late-releases", 3, holds="--releases-in-flight")
        self.bad(2, "run", self.diamond(), "--late-releases", 3, *series, holds="--period")
        self.bad(2, "run", self.diamond(), "--late-releases", 3, *series, "--period", "1ms", "--clock", "virtual", holds="--clock")
        self.bad(2, "run", self.diamond(), "--late-releases", 600000, *series, "--period", "1ms", holds="at most")

    def test_each_picture_of_several_runs_is_of_the_median_one_and_has_the_same_colours(self):
        g = self.good("generate", "cholesky", "--tasks", 35, "--work", "20us", "-o", self.path("c.json")) and self.path("c.json")
        said = self.json("run", g, "--repeat", 5, "--gantt", self.path("r.svg"), "--report", self.path("r.html"), "--trace", self.path("r.json"))
        self.good("plan", g, "--platform", "rk3588", "--gantt", self.path("p.svg"), "--report", self.path("p.html"))
        self.good("run", g, "--clock", "virtual", "--platform", "uniform:2", "--gantt", self.path("v.svg"), "--report", self.path("v.html"))
        page = self.page("r.html")
        self.assertEqual(page.data["schedules"][page.data["drawn"]]["happened"], True)
        median = sorted(said["measured_ns"])[2]
        self.assertEqual(said["makespan_ns"], median)
        with open(self.path("r.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        drawn = page.bars(page.data["drawn"])
        traced = sorted(round(1000 * e["ts"]) for e in events if e["ph"] == "X" and e["cat"] == "task")
        self.assertEqual(traced, sorted(bar[3] for bar in drawn))
        end = max(bar[4] for bar in drawn)
        self.assertLessEqual(end, median)  # and none of the shorter runs: of these the end is their own
        colours = []
        for name in ("v.svg", "p.svg", "r.svg"):
            text = self.bytes(name).decode()
            fills = dict(re.findall(r"\.(c\d+)\{fill:(#\w+)\}", text))
            kinds = {}
            for mark, title in re.findall(r'<rect class="b (c\d+)"[^>]*><title>(\w+)\(', text):
                kinds.setdefault(title, set()).add(fills[mark])
            colours.append(kinds)
        virtual, plan, run = colours
        self.assertEqual(set(plan), {"potrf", "trsm", "syrk", "gemm"})
        self.assertTrue(all(len(found) == 1 for found in plan.values()), plan)
        self.assertEqual(virtual, plan)
        self.assertEqual(run, {kind: plan[kind] for kind in run})  # bars that are too small to be seen have no title
        for name in ("r.html", "p.html", "v.html"):
            data = self.page(name).data
            for kind, color in data["kinds"][:-1]:
                self.assertEqual({data["colors"][color][0]}, plan[kind])

    def test_the_legend_of_the_picture_of_calls_is_off_its_curves(self):
        spec = importlib.util.spec_from_file_location("demo", os.path.join(SOURCE, "examples/rpc/demo.py"))
        demo = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(demo)
        row = {"p50_us": 9000, "p99_us": 20000, "p999_us": 400000, "calls": 3000, "requests": 3000}
        demo.draw(self.path("calls.svg"), [(name, "#1b7f5c", row, [1 + i * most / 3000 for i in range(3000)])
                                           for name, most in (("one attempt", 400), ("hedged", 30), ("and one more", 900))])
        with open(os.path.join(SOURCE, "docs/rpc.svg"), encoding="utf-8") as file:
            pictures = [(file.read(), 2), (self.bytes("calls.svg").decode(), 3)]
        for text, curves in pictures:
            tops = [min(float(point.split(",")[1]) for point in points.split()) for points in re.findall(r'<polyline points="([^"]*)"', text)]
            legends = [float(y) for y in re.findall(r'<text x="\d+" y="(\d+)"[^>]*>[^<]* calls for ', text)]
            self.assertEqual((len(tops), len(legends), len(set(legends))), (curves, curves, curves))
            self.assertLess(max(legends) + 4, min(tops))  # below the baseline letters have 4 more pixels

    def facts(self, page):
        return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page.source))

    def test_sums_of_times_have_an_end(self):
        """A root of 47 years that is duplicated on 8 executors is longer in all than any time."""
        g = self.graph([{"name": "root", "work_ns": 15 * 10 ** 17, "duplicable": True}] + [{"name": "leaf%d" % i, "work_ns": 1000} for i in range(16)],
                       [(0, i + 1, 10 ** 9) for i in range(16)])
        self.good("plan", g, "--platform", "am69", "--planner", "deft", "--report", self.path("p.html"))
        page = self.page("p.html")
        roots = sum(bar[1] == 0 for bar in page.bars())
        self.assertGreater(roots * 15 * 10 ** 17, 2 ** 63)
        table = re.search(r'<table id="kinds">.*?</table>', page.source, re.S).group(0)
        row = re.findall(r"<tr>.*?</tr>", table[table.index("<tbody>"):])[0]
        self.assertIn("<td class=\"n\">%d</td><td class=\"n\">–</td>" % roots, row)
        share, mean, least, most = [float(value) for value in re.findall(r'data-v="([^"]*)"', row)]
        self.assertAlmostEqual(share, 1, 3)
        self.assertTrue(least <= mean <= most, row)
        self.assertNotIn('data-v="-', page.source)

    def test_executions_of_a_stream_are_counted_where_they_are_too_many_to_draw(self):
        graph = {"format": "clotho.graph/1", "name": "g", "tasks": [{"name": "t", "work_ns": 1000, "instances": 200001}], "edges": []}
        lines = [{"format": "clotho.workload/1", "name": "w"}, {"name": "a", "graph": graph}, {"name": "b", "graph": 0}]
        w = self.file("w.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
        self.good("simulate", w, "--policy", "fifo", "--platform", "uniform:8", "--report", self.path("s.html"))
        page = self.page("s.html")
        self.assertIn("too many executions", page.text)
        self.assertEqual(self.facts(page)["executions"], "400002")

    def test_the_legend_of_a_stream_names_all_jobs_or_none(self):
        for jobs in (3, 9, 10, 14, 16, 17):
            self.good("generate", "stream", "--jobs", jobs, "-o", "w.jsonl")
            self.good("simulate", "w.jsonl", "--policy", "fair", "--platform", "uniform:2", "--gantt", "s.svg")
            svg = self.bytes("s.svg").decode()
            height = int(re.search(r'height="(\d+)"', svg).group(1))
            entries = re.findall(r'<text x="(\d+)" y="(\d+)">([^<]*)</text>', svg)
            self.assertEqual(sorted(int(text[4:]) for _, _, text in entries if text.startswith("job ")), list(range(jobs)) if jobs <= 16 else [])
            self.assertEqual(any(text.startswith("a colour for each job") for _, _, text in entries), jobs > 16)
            self.assertEqual([text for _, _, text in entries[-2:]], ["arrival", "pale: mostly idle"])
            self.assertEqual(len({(x, y) for x, y, _ in entries}), len(entries))
            for x, y, text in entries:
                self.assertTrue(int(x) + 7 * len(text) <= 1280 and int(y) + 4 <= height, (x, y, text))

    def script(self, code, *functions):
        """What `code` prints as JSON, beside these functions of the script of a page."""
        node = shutil.which("node")
        if node is None:
            print("skipped: nothing runs the script of a page alone; mend: apt-get install nodejs")
            self.skipTest("no node")
        self.good("plan", self.diamond(), "--platform", "uniform:2", "--report", "p.html")
        script = self.page("p.html").scripts[1]
        sources = [re.search(r"^function %s\(.*?^}" % name, script, re.S | re.M).group(0) for name in functions]
        done = subprocess.run([node, "-e", "\n".join(sources) + code], stdout=subprocess.PIPE, timeout=LONG, check=True, text=True)
        return script, json.loads(done.stdout)

    def test_inputs_are_drawn_of_the_bars_in_view_and_of_the_next(self):
        code = """
            const drawn = [], chart = {from: 0, to: 100, left: 0, colors: {}, g: {fillRect: (...at) => drawn.push(at)}};
            const lane = () => [0, 20], xOf = ns => ns;
            const s = {first: [0, 5], start: [10, 60, 150, 200, 210], finish: [15, 65, 155, 205, 215], wait: [0, 0, 0, 0, 0], input: [5, 0, 70, 150, 3]};
            drawInputs(s, 0);
            chart.from = 300;
            drawInputs(s, 0);
            console.log(JSON.stringify(drawn));"""
        self.assertEqual(self.script(code, "firstAfter", "drawInputs")[1], [[5, 17, 5, 3], [80, 17, 70, 3]])

    def test_times_of_the_axis_differ_however_near_they_are(self):
        code = """
            const said = [1, 2.5, 1e3, 2e6, 1e9].map(step => [1, 1e5, 1e6, 3e8].map(first => {
                const all = [0, 1, 2, 3].map(k => timeText((first + k) * step, step));
                return new Set(all).size;
            }));
            console.log(JSON.stringify([said.flat(), timeText(123456789), timeText(1e9), timeText(5e9, 1e9)]));"""
        script, said = self.script(code, "timeText")
        self.assertEqual(said, [[4] * 20, "123.46\u00a0ms", "1\u00a0s", "5\u00a0s"])
        self.assertIn('k === 0 ? "0" : timeText(k * step, step)', script)

    def test_the_axis_of_a_long_time_ends_however_near_it_is_seen(self):
        code = """
            const said = [], tip = {}, redraw = () => 0, spanEnd = () => 5e17, TOP = 30, FONT = "";
            const g = {beginPath() {}, moveTo() {}, lineTo() {}, stroke() {}, fillText: text => said.push(text)};
            const chart = {left: 0, plot: 1000, height: 100, colors: {}, g}, xOf = ns => (ns - chart.from) / (chart.to - chart.from) * 1000;
            setView(5e17 - 1, 5e17); /* ns, the last one of 16 years */
            drawAxis();
            console.log(JSON.stringify([said.length, new Set(said).size]));"""
        count, different = self.script(code, "timeText", "setView", "drawAxis")[1]
        self.assertIn(count, range(5, 15))
        self.assertEqual(different, count)

    CHART = """
        const drawn = [], jobs = [], LOST = 2, SKIPPED = 4, REPLICA = 1, THIN = 3;
        const g = {fillRect: (x, y, width) => drawn.push([x, x + width, g.globalAlpha]), fillText: text => drawn.push([text, g.fillStyle, g.globalAlpha]),
                   measureText: text => ({width: 6 * text.length})};
        const chart = {from: 0, to: 1300, left: 0, plot: 100, rows: 20, colors: {ink: "ink"}, g, marks: null, other: null};
        const lane = () => [0, 20], colorIndex = () => 0, data = {colors: [["fill", "on it"]]}, label = () => "a long name";
    """

    def test_executions_that_follow_each_other_have_no_gaps_between_them_however_thin(self):
        code = self.CHART + """
            const said = [], covered = () => {
                const pixels = new Float64Array(100);
                for (const [from, to, alpha] of drawn.splice(0))
                    for (let p = 0; p < 100; p++) pixels[p] += Math.max(0, Math.min(to, p + 1) - Math.max(from, p)) * alpha;
                return pixels;
            };
            for (const length of [3, 8, 13, 17, 26, 33, 37]) { /* 0.2 to 2.8 pixels */
                const count = 1300 / length | 0, at = k => k * length, s = {first: [0, count], flags: []};
                s.start = Array.from({length: count}, (_, k) => at(k));
                s.finish = s.start.map(ns => ns + length);
                chart.s = s;
                drawRow(s, 0);
                said.push(Math.min(...covered().slice(0, 95)));
            }
            const s = chart.s = {first: [0, 2], flags: [], start: [130, 660], finish: [133, 670]}; /* two alone: in pixel 10, and in 50 and 51 */
            drawRow(s, 0);
            said.push(Array.from(covered(), (share, p) => share ? p : -1).filter(p => p >= 0));
            console.log(JSON.stringify(said));"""
        said = self.script(code, "firstAfter", "drawRow", "drawBar")[1]
        self.assertGreater(min(said[:-1]), 0.99)
        self.assertEqual(said[-1], [10, 50, 51])

    def test_names_in_bars_are_read_on_what_is_behind_them_and_stay_inside(self):
        code = self.CHART + """
            const said = [], s = {flags: [0, LOST, 0]}, names = () => drawn.splice(0).filter(([text]) => typeof text === "string");
            for (const [i, alpha] of [[0, 1], [1, 1], [0, .55], [0, .22]]) drawBar(s, i, 0, 90, 0, 20, alpha), said.push(names());
            for (const room of [0, 20, 30, 48, 60, 66]) said.push(fit("a long name", room));
            console.log(JSON.stringify(said));"""
        said = self.script(code, "drawBar", "fit", "shortName")[1]
        self.assertEqual(said[:4], [[["a long name", "on it", 1]], [["a long name", "ink", 1]], [["a long name", "ink", 1]], []])
        self.assertEqual(said[4:], ["", "", "a lo…", "a long …", "a long…ame", "a long name"])

    def test_texts_of_two_lines_near_to_each_other_are_apart(self):
        code = """
            const said = [], chart = {s: {}, colors: {}, left: 50, width: 1000}, data = {}, xOf = ns => ns;
            const drawLine = (ns, text, color, dash, isRight = ns > 500) => text && said[said.length - 1].push(isRight ? [ns - 60, ns] : [ns, ns + 60]);
            for (const [bound, deadline] of [[300, 310], [310, 300], [900, 910], [980, 990], [990, 980], [60, 70], [100, 800], [0, 400], [400, 0]]) {
                chart.s.bound_ns = bound, data.deadline_ns = deadline;
                said.push([]);
                drawLimits();
            }
            console.log(JSON.stringify(said));"""
        said = self.script(code, "drawLimits")[1]
        self.assertEqual([len(texts) for texts in said], [2, 2, 2, 1, 1, 1, 2, 1, 1])
        for texts in said:
            texts.sort()
            self.assertTrue(len(texts) == 1 or texts[0][1] <= texts[1][0], texts)
            self.assertTrue(0 <= texts[0][0] and texts[-1][1] <= 1000, texts)

    def test_dependencies_that_are_too_many_to_see_are_not_drawn(self):
        code = """
            const ARROWS = 10, chart = {from: 0, to: 100, s: {first: [0, 6], start: [0, 1, 2, 3, 4, 5], finish: [1, 2, 3, 4, 5, 6]}};
            let each = 1;
            const neighbours = () => ({before: Array.from({length: each}, () => [0, 0])});
            const said = [arrowsInView(0, 1).length];
            each = 2;
            said.push(arrowsInView(0, 1));
            chart.to = 3;
            said.push(arrowsInView(0, 1).length);
            console.log(JSON.stringify(said));"""
        script, said = self.script(code, "firstAfter", "arrowsInView")
        self.assertEqual(said, [6, None, 8])
        self.assertIn("arrowsNote.hidden = list !== null", script)

    def test_the_wheel_above_the_chart_moves_the_page(self):
        """`overscroll-behavior: contain` keeps it from that, also where no row is out of sight."""
        self.good("plan", self.diamond(), "--platform", "uniform:2", "--report", "p.html")
        self.assertNotIn("overscroll", self.page("p.html").source)

    def test_one_replica_is_one_and_tasks_without_times_have_no_ratios(self):
        g = self.graph([{"name": "root", "work_ns": 1000, "duplicable": True}, {"name": "a", "work_ns": 5000}, {"name": "b", "work_ns": 5000}],
                       [(0, 1, 10 ** 6), (0, 2, 10 ** 6)])
        self.good("plan", g, "--platform", "rk3588", "--planner", "deft", "--report", "p.html")
        self.assertEqual(self.facts(self.page("p.html"))["executions"], "4, 1 replica")
        self.assertEqual(self.say("run", self.graph([{"name": "t", "work_ns": 0}]), "--platform", "uniform:1", "--report", "p.html").code, 0)
        page = self.page("p.html")
        self.assertNotIn("speedup", self.facts(page))
        row = re.search(r'<table id="planners">.*?</tbody>', page.source, re.S).group(0)
        self.assertEqual(row.count('<td class="n">–</td>'), 4)  # gap, SLR, speedup, planned in

    WIDE = {"m": .974, "i": .278, "…": 1.0, "漢": 1.0}

    def test_names_in_a_picture_stay_in_their_bars(self):
        tasks = [{"name": c * 24, "work_ns": 100 * k} for c in "mi漢" for k in range(1, 7)]
        g = self.graph(tasks, [(i, i + 1, 0) for i in range(len(tasks) - 1)])
        self.good("plan", g, "--platform", "uniform:1", "--gantt", self.path("p.svg"))
        bars = re.findall(r'<rect class="b c\d+" x="([\d.]+)" y="\d+" width="([\d.]+)"[^>]*><title>[^<]*</title></rect>\n(?:<text[^>]* x="([\d.]+)"[^>]*>([^<]*))?',
                          self.bytes("p.svg").decode())
        self.assertEqual(len(bars), len(tasks))
        shown = [(float(width), text) for _, width, _, text in bars if text]
        self.assertGreater(len(shown), 10)
        for width, text in shown:
            self.assertLessEqual(11 * sum(self.WIDE[c] for c in text), width, text)

    def test_long_names_of_executors_stay_in_the_picture(self):
        machines = [{"name": "rack-%d-of-the-machine-room.cluster.example" % k, "platform": "uniform:1"} for k in range(2)]
        lab = self.file("lab.json", {"format": "clotho.cluster/1", "name": "lab", "machines": machines, "link": {"latency_ns": 20000, "bandwidth_bytes_per_ns": 0.1}})
        self.good("plan", self.diamond(), "--platform", lab, "--gantt", self.path("p.svg"))
        self.good("simulate", self.workload(), "--policy", "fair", "--platform", lab, "--gantt", self.path("s.svg"))
        for name in ("p.svg", "s.svg"):
            sides = re.findall(r'<text class="end" x="(\d+)"[^>]*>([^<]*)<', self.bytes(name).decode())
            self.assertEqual(len(sides), 2, name)
            self.assertNotEqual(sides[0][1], sides[1][1])
            for x, text in sides:
                self.assertLess(12 * .6 * len(text), float(x), name)

    def test_names_in_the_pale_bars_of_every_second_release_are_dark(self):
        self.good("generate", "wavefront", "--tasks", 20, "--work", "300us", "-o", "w.json")
        self.good("plan", "w.json", "--platform", "rk3588", "--pipeline", "--gantt", "p.svg")
        bars = re.findall(r'(fill-opacity="[.]62")?><title>[^<]*</title></rect>\n<text class="in mid (\w+)"', self.bytes("p.svg").decode())
        self.assertEqual({(bool(pale), ink) for pale, ink in bars}, {(False, "t0"), (True, "odd")})

    def test_names_stay_names(self):
        names = ["</script><script>alert(1)</script>", "quote\" ' & <b>bold</b>", "line\nbreak\ttab", "ünïcode 漢字 \u2028", "<!-- x", "]]>", "x" * 3000, "\x1b[31m",
                 "a\\u003c/script>", "</pre></title></style>", ""]
        g = self.graph([{"name": n, "work_ns": 100 * i + 100} for i, n in enumerate(names)], [(i, i + 1, 7) for i in range(len(names) - 1)],
                       name="</title><script>alert(2)</script>")
        self.good("plan", g, "--platform", "uniform:2", "--report", self.path("p.html"), "--gantt", self.path("p.svg"))
        page = self.page("p.html")
        shown = page.data["tasks"]
        self.assertEqual([n for i, n in enumerate(shown) if i != 6], [n for i, n in enumerate(names) if i != 6])
        self.assertRegex(shown[6], "^x+…x+$")
        self.assertEqual(page.source.lower().count("<script"), 2)
        self.assertNotIn("<b>bold", page.source)
        self.assertIn("</title><script>alert(2)</script>", page.text)

    def test_a_task_has_one_colour_in_every_picture_and_few_kinds_are_no_other(self):
        kinds = ["k%s" % c for c in "abcdefghijkl"]
        g = self.graph([{"name": k, "work_ns": 1000 + 10 * i} for i, k in enumerate(kinds)])
        colors = []
        for where in ("uniform:1", "uniform:5"):
            self.good("plan", g, "--platform", where, "--report", self.path("p.html"), "--gantt", self.path("p.svg"))
            svg = self.bytes("p.svg").decode()
            self.assertNotIn(">other<", svg)
            found = dict(re.findall(r'<rect class="b (c\d+)"[^>]*><title>(\w+)', svg))
            self.assertEqual(len(found), len(kinds))
            legend = dict(reversed(pair) for pair in re.findall(r'<rect class="(c\d+)" [^>]*rx="2"/><text[^>]*>(\w+)</text>', svg))
            self.assertEqual({name: color for color, name in found.items()}, legend)
            data = self.page("p.html").data
            self.assertEqual({name: "c%d" % color for name, color in data["kinds"] if name != "other"}, legend)
            colors.append(legend)
        self.assertEqual(colors[0], colors[1])

    def test_long_names_that_differ_at_their_ends_differ_in_the_legend(self):
        g = self.graph([{"name": "very/long/path/of/a/source/file/that/goes/on/and/on/" + end, "work_ns": 1000} for end in ("first.c", "second.c")])
        self.good("plan", g, "--platform", "uniform:2", "--gantt", self.path("p.svg"))
        legend = re.findall(r'rx="2"/><text[^>]*>([^<]*)</text>', self.bytes("p.svg").decode())
        self.assertEqual(len(legend), 2)
        self.assertEqual(len(set(legend)), 2)

    def test_what_cannot_be_written_or_asked_for_is_said(self):
        g = self.diamond()
        self.bad(1, "plan", g, "--report", self.path("no/p.html"), holds="no/p.html")
        self.bad(2, "plan", g, g, "--report", "x.html", holds="--report")
        self.bad(2, "plan", g, "--json", "--report", "-", holds="'-'")
        self.bad(2, "run", g, g, "--report", "x.html", holds="--report")
        self.bad(2, "run", g, "--json", "--report", "-", holds="'-'")
        self.bad(2, "simulate", g, "--policy", "fifo", "--policy", "fair", "--report", "x.html", holds="--report")
        self.bad(2, "simulate", self.workload(), "--seeds", "1-3", "--report", "x.html", holds="--report")
        self.bad(2, "plan", g, "--report", "x.svg", holds=".svg")
        self.bad(1, "platform", "show", "--svg", self.path("no/p.svg"), holds="no/p.svg")
        self.bad(2, "platform", "show", "rk3588", "--svg", "-", "--json", holds="standard output")
        self.assert_nothing_half_written("x.html", "x.svg")
        self.assertIn("</html>", self.good("plan", g, "--report", "-"))

    def test_many_executions_are_bounded_and_too_many_a_picture(self):
        g = self.graph([{"name": "t", "work_ns": 1000, "instances": 20000}, {"name": "u", "work_ns": 100, "instances": 5}], [(0, 1, 0)])
        self.good("plan", g, "--platform", "uniform:8", "--report", self.path("p.html"))
        page = self.page("p.html")
        self.assertEqual(len(page.bars()), 20005)
        self.assertLess(os.path.getsize(self.path("p.html")), 100000 + 60 * 20005)
        self.assertEqual(page.tags.count("tr") < 400, True)
        g = self.graph([{"name": "t", "work_ns": 1000, "instances": 400001}])
        self.good("plan", g, "--platform", "uniform:8", "--report", self.path("p.html"))
        page = self.page("p.html")
        self.assertNotIn("task", page.data["schedules"][0])
        self.assertIn("too many executions", page.text)
        self.assertLess(os.path.getsize(self.path("p.html")), 500000)

    def test_a_platform_is_drawn_as_boxes(self):
        self.good("platform", "show", "rk3588", "--svg", self.path("p.svg"))
        svg = self.bytes("p.svg").decode()
        self.assertEqual(svg.count(">cpu"), 8)
        self.assertEqual(svg.count("<rect"), 1 + 3 + 8)
        self.assertIn(">4 × cortex-a55</text>", svg)
        for platform in ("rk3588", "am625", "sg2042", "slots:1"):  # as wide as what it shows
            svg = self.good("platform", "show", platform, "--svg", "-")
            end = max(int(x) + int(width) for x, width in re.findall(r'<rect x="(\d+)"[^>]* width="(\d+)"', svg))
            self.assertIn(int(re.search(r'<svg [^>]*width="(\d+)"', svg).group(1)) - 20 - end, range(20, 33), platform)
        self.assertTrue(self.good("platform", "show", "uniform:4", "--svg", "-").startswith("<svg"))

    def test_the_script_runs(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        if browser is None:
            print("skipped: no browser runs the script of a page; mend: apt-get install chromium")
            self.skipTest("no browser")
        for case in (["plan", self.diamond(), "--planner", "heft", "--planner", "deft"], ["simulate", self.workload(), "--policy", "fair"]):
            self.good(*case, "--platform", "rk3588", "--report", self.path("p.html"))
            done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + self.path("profile"), "--dump-dom",
                                   "file://" + self.path("p.html")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LONG, check=False)
            dom = done.stdout.decode("utf-8", "replace")
            if done.returncode != 0 or not dom:
                self.skipTest("the browser does not run here")
            self.assertRegex(dom, r'<div id="picture" class="wide" hidden')
            self.assertRegex(dom, r'<div class="view"><canvas')
            self.assertIn("<figcaption>times of executions", dom)
            self.assertRegex(dom, r"<td>cpu\d</td>")


if __name__ == "__main__":
    unittest.main()
