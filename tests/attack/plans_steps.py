"""What plans.py does with one graph: a list of steps, each of which may find something wrong."""
import collections
import decimal
import json
import math
import os
import shlex
import subprocess
import traceback

import plans_change
import plans_draw
import plans_optimum
import plans_rules

LONG = 300  # seconds that no command takes, on the busiest machine
GRAPH, PLAN, CHANGED, TRACE = "g.json", "p.json", "changed.json", "trace.json"
BEYOND = "JSON holds integers up to 2^53 exactly"
SAME = ("makespan_ns", "lower_bound_ns", "duplicates", "optimal", "schedules")
# Makespans that the documents order: docs/SCHEDULERS.md.
NEVER_LONGER = (("best", "heft"), ("exact", "heft"), ("duplex", "minmin"), ("duplex", "maxmin"), ("lachesis", "deft"),
                ("lachesis", "tdca"), ("critical-path", "sgs-parallel"), ("sgs-parallel", "critical-path"))


class Wrong(Exception):
    pass


def wrong_if(condition, text, *values):
    if condition:
        raise Wrong(text % values)


class Said:
    def __init__(self, arguments, done):
        self.arguments, self.code = arguments, done.returncode
        self.out, self.err = done.stdout, done.stderr

    def objects(self):
        try:
            return [json.loads(line) for line in self.out.splitlines()]
        except ValueError as error:
            raise Wrong("%s: standard output is no JSON: %s" % (self.arguments[0], error)) from error


class Case:
    def __init__(self, clotho, names, rng, folder):
        self.clotho, (self.planners, self.policies), self.rng, self.folder = clotho, names, rng, folder
        self.counts, self.findings, self.history = collections.Counter(), [], []
        self.document, self.size = plans_draw.draw(rng)
        self.write(GRAPH, self.document)
        self.model, self.has_ports, self.is_plannable = None, False, False
        self.options, self.budget, self.rows = [], 0, {}

    # Files and commands.

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)

    def read(self, name, parse_float=decimal.Decimal):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file, parse_float=parse_float)

    def say(self, *arguments):
        """Runs the command; only 0 and 1 are statuses of what is asked here, and 1 comes with a line that says why."""
        arguments = [str(a) for a in arguments]
        self.history.append(shlex.join(["clotho", *arguments]))
        self.counts["commands"] += 1
        try:
            done = subprocess.run([self.clotho, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  timeout=LONG, cwd=self.folder, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            raise Wrong("%s: no end after %d s" % (arguments[0], LONG)) from None
        wrong_if(done.returncode < 0, "%s: ended by signal %d", arguments[0], -done.returncode)
        wrong_if(done.returncode not in (0, 1), "%s: exit status %d: %s", arguments[0], done.returncode,
                 done.stderr.strip())
        for line in done.stderr.splitlines():
            wrong_if(not line.startswith("clotho: "), "%s: a line that is no message: %s", arguments[0], line)
        wrong_if(done.returncode == 1 and not done.stderr, "%s: fails and does not say why", arguments[0])
        return Said(arguments, done)

    def good(self, *arguments):
        said = self.say(*arguments)
        wrong_if(said.code != 0, "%s: refused: %s", arguments[0], said.err.strip())
        return said.objects()

    def attempt(self, step, *arguments):
        """A step; what it finds is kept with the files as they are now."""
        self.history = []
        try:
            step(*arguments)
        except plans_rules.Unsure:
            self.counts["unsure"] += 1
            return False
        except Exception as wrong:  # of the attack itself too: it goes on
            if not isinstance(wrong, Wrong):
                self.history.append(traceback.format_exc())
            files = {}
            for name in sorted(os.listdir(self.folder)):
                with open(os.path.join(self.folder, name), "rb") as file:
                    files[name] = file.read()
            what = str(wrong) if isinstance(wrong, Wrong) else repr(wrong)
            self.findings.append((what, list(self.history), files))
            return False
        return True

    # Steps.

    def go(self):
        self.counts["graphs"] += 1
        if not self.attempt(self.understand):
            return
        if not self.attempt(self.plannable) or not self.is_plannable:
            return
        self.choose_options()
        if not self.attempt(self.sweep):
            return
        for planner in self.rng.sample(sorted(self.rows), min(len(self.rows), 5)):
            if self.attempt(self.one_plan, planner):
                self.attempt(self.replay, PLAN, True)
                self.attempt(self.contention, planner)
                for _ in range(4):
                    self.attempt(self.judge_changed)
        if self.size == "tiny":
            self.attempt(self.optimum)
        if self.rng.random() < 0.3:
            self.attempt(self.hurried)
        if self.rng.random() < 0.3 and self.attempt(self.pipeline) and os.path.exists(os.path.join(self.folder, PLAN)):
            for _ in range(3):
                self.attempt(self.judge_changed)
        if self.rng.random() < 0.3:
            self.attempt(self.policy)
        if self.rng.random() < 0.05:
            self.attempt(self.many)

    def understand(self):
        """What Clotho writes is the same graph and platform; loops are unrolled there."""
        if "loops" not in self.document:
            self.model = plans_rules.Model(self.document)
        self.has_ports = "port_bytes_per_ns" in self.document["platform"]
        if self.model is None or self.rng.random() < 0.1:
            said = self.say("convert", GRAPH, "again.json", "--json")
            if said.code == 0:
                again = plans_rules.Model(self.read("again.json", float))
                self.counts["converted"] += 1
                self.model = self.model or again
                wrong_if(not plans_rules.is_same(self.model, again), "convert: another graph or platform")
            wrong_if(self.model is None, "convert: refused: %s", said.err.strip())
        self.has_ports = self.model.platform.has_ports

    def plannable(self):
        """The documents say whether a plan exists."""
        expected, self.is_plannable = None, True
        try:
            self.model.must_be_plannable()
        except plans_rules.NoPlan as no:
            expected, self.is_plannable = str(no), False
        except plans_rules.Unsure:
            expected = "unsure"
        said = self.say("plan", GRAPH, "--json", "--out", PLAN)
        if BEYOND in said.err:  # such a plan has no file
            expected = "unsure"
        if expected == "unsure":
            self.is_plannable = said.code == 0
        elif expected:
            wrong_if(said.code == 0, "plan: made a plan, though %s", expected)
            self.counts["refused graphs"] += 1
        else:
            wrong_if(said.code != 0, "plan: refused: %s", said.err.strip())

    def choose_options(self):
        rng = self.rng
        for option, chance in (("--no-duplicates", 0.15), ("--justify", 0.2)):
            if rng.random() < chance:
                self.options.append(option)
        if rng.random() < 0.3:
            self.options += ["--seed", str(rng.randint(1, 1 << 40))]
        if self.has_ports and rng.random() < 0.4:
            self.options += ["--contention", "times"]
        free = {"tiny": 0.6, "small": 0.3}.get(self.size, 0)
        if rng.random() > (free / 3 if self.has_ports else free):
            self.budget = rng.choice((1, 2, 3, 10, 50, 200 if self.size == "small" else 5))
            self.options += ["--budget", str(self.budget)]

    def sweep(self):
        """All planners, or some: their rows agree with each other and with what the documents order."""
        names = self.planners
        if self.size in ("large", "stages") or (self.has_ports and self.size != "tiny"):
            names = self.rng.sample(names, 8)
        chosen = ["--planner", "all"] if names is self.planners else [a for n in names for a in ("--planner", n)]
        rows = self.good("plan", GRAPH, *chosen, *self.options, "--json")
        wrong_if(sorted(r["planner"] for r in rows) != sorted(names), "plan: rows of other planners than asked")
        self.rows = {r["planner"]: r for r in rows}
        self.counts["rows"] += len(rows)
        wrong_if(len({json.dumps(r["bounds"]) for r in rows}) != 1, "bounds differ among planners")
        shortest = min(rows, key=lambda r: r["makespan_ns"])
        for row in rows:
            self.look_at_row(row)
            if row["optimal"]:
                self.not_longer(row, shortest)
        if not self.has_ports and "--justify" not in self.options:
            self.look_at_order()
        if "best" in self.rows and not self.budget:
            self.not_longer(self.rows["best"], shortest)

    @staticmethod
    def not_longer(row, other):
        wrong_if(row["makespan_ns"] > other["makespan_ns"], "%s has %d, longer than %s with %d", row["planner"],
                 row["makespan_ns"], other["planner"], other["makespan_ns"])

    def look_at_row(self, row):
        name, makespan, bound = row["planner"], row["makespan_ns"], row["lower_bound_ns"]
        wrong_if(row["valid"] is not True, "%s: its plan is not valid", name)
        wrong_if(bound > makespan, "%s: bound %d above the makespan %d", name, bound, makespan)
        wrong_if(max(row["bounds"].values()) > bound, "%s: a bound above the best one", name)
        path = self.model.critical_path()
        wrong_if(row["bounds"]["critical_path_ns"] != path, "critical path %d, not %d",
                 row["bounds"]["critical_path_ns"], path)
        self.same(name, "gap", row["gap"], makespan / max(bound, 1) - 1 if makespan else 0)  # 0 / 0 is 1
        self.same(name, "slr", row["slr"], makespan / max(path, 1) if makespan else 1)
        serial = self.model.serial()
        if serial is not None:
            self.same(name, "speedup", row["speedup"], serial / max(makespan, 1) if makespan else 1)
        wrong_if(makespan == bound and bound > 0 and "--no-duplicates" not in self.options and not self.budget and
                 name == "best" and not row["optimal"], "%s: meets the bound and is not called optimal", name)

    @staticmethod
    def same(name, key, said, computed):
        if not math.isclose(said, computed, rel_tol=1e-9, abs_tol=1e-9) and max(abs(said), abs(computed)) > 1e-6:
            raise Wrong("%s: %s is %r, not %r" % (name, key, said, computed))

    def look_at_order(self):
        for a, b in NEVER_LONGER:
            if a not in self.rows or b not in self.rows or (a == "lachesis" and 0 < self.budget < 3):
                continue
            self.not_longer(self.rows[a], self.rows[b])

    def one_plan(self, planner):
        """The plan itself, by the second reading and by the checker."""
        threads = ["--threads", 3] if self.rng.random() < 0.2 else []  # they change nothing without a budget of time
        said = self.say("plan", GRAPH, "--planner", planner, *self.options, *threads, "--json", "--out", PLAN)
        if BEYOND in said.err:
            raise plans_rules.Unsure("no file")
        wrong_if(said.code != 0, "plan: refused: %s", said.err.strip())
        row, before = said.objects()[0], self.rows[planner]
        for key in SAME + ("transfers", "transferred_bytes"):
            wrong_if(row[key] != before[key], "%s: %s is %s, with other planners %s", planner, key, row[key],
                     before[key])
        plan = self.read(PLAN)
        self.counts["plans"] += 1
        wrong = plans_rules.violation(self.model, plan)
        wrong_if(wrong, "%s: its plan breaks a rule: %s", planner, wrong)
        placed, _ = plans_rules.read(self.model, plan)
        replicas = sum(p.is_replica for p in placed)
        wrong_if(replicas != row["duplicates"], "%s: duplicates %d, not %d", planner, row["duplicates"], replicas)
        wrong_if(replicas and "--no-duplicates" in self.options, "%s: replicas with --no-duplicates", planner)
        last = max(p.finish for p in placed)
        wrong_if(not last == plan["makespan_ns"] == row["makespan_ns"], "%s: makespan %d, not %d", planner,
                 row["makespan_ns"], last)
        busy = sum(p.finish - p.start for p in placed)
        self.same(planner, "utilization", row["utilization"], busy / (self.model.platform.count * max(last, 1)))
        if replicas == 0:
            self.look_at_transfers(planner, row, placed)
        self.check(PLAN, plan)

    def hurried(self):
        """A budget of time may end a search anywhere, on several threads."""
        planner = self.rng.choice(("best", "best", "edges-best", "exact", "lachesis", "graphene"))
        budget = self.rng.choice(("1us", "100us", "1ms", "5ms"))
        said = self.say("plan", GRAPH, "--planner", planner, "--budget", budget, "--threads", self.rng.randint(1, 4),
                        "--justify", "--json", "--out", PLAN)
        if BEYOND in said.err:
            raise plans_rules.Unsure("no file")
        wrong_if(said.code != 0, "plan: refused: %s", said.err.strip())
        row = said.objects()[0]
        self.look_at_row(row)
        self.counts["hurried plans"] += 1
        wrong = plans_rules.violation(self.model, self.read(PLAN))
        wrong_if(wrong, "%s in a hurry: its plan breaks a rule: %s", planner, wrong)
        if row["optimal"] and "--no-duplicates" not in self.options:
            self.not_longer(row, min(self.rows.values(), key=lambda r: r["makespan_ns"]))

    def look_at_transfers(self, planner, row, placed):
        memory, where = self.model.platform.memory, {(p.task, p.instance): p.executor for p in placed}
        count = total = 0
        for p in placed:
            for source, size in self.model.inputs[p.task]:
                for instance in range(self.model.ranges[source]):
                    if memory[where[(source, instance)]] != memory[p.executor]:
                        count, total = count + 1, total + size
        wrong_if(row["transfers"] != count, "%s: %d transfers, not %d", planner, row["transfers"], count)
        wrong_if(row["transferred_bytes"] != total, "%s: %d bytes, not %d", planner, row["transferred_bytes"], total)

    def check(self, name, plan, measured=False):
        """Both judges; returns what the second reading says."""
        said = self.say("check", GRAPH, name, "--json", *(["--measured"] if measured else []))
        rows = said.objects()
        valid = said.code == 0
        wrong_if(len(rows) > 1 or (valid and not rows), "check: %d objects", len(rows))
        wrong_if(rows and rows[0]["valid"] is not valid, "check: exit status %d with %s", said.code, said.out)
        try:
            mine = plans_rules.violation(self.model, plan, measured)
        except plans_rules.Unsure:
            self.counts["unsure"] += 1
            return "unsure"
        wrong_if(valid and mine, "check%s: accepts a plan; rule: %s", " --measured" if measured else "", mine)
        wrong_if(not valid and not mine, "check%s: refuses a plan that keeps the rules: %s",
                 " --measured" if measured else "", rows[0]["violation"] if rows else said.err.strip())
        self.counts["judged valid" if valid else "judged invalid"] += 1
        return mine

    def judge_changed(self):
        plan, said = plans_change.change(self.rng, self.model, self.read(PLAN))
        if not said:
            return
        self.history.append("# changed.json is p.json after: " + said)
        self.counts["changed plans"] += 1
        self.write(CHANGED, plan)
        mine = self.check(CHANGED, plan)
        if self.rng.random() < 0.25:
            self.check(CHANGED, plan, measured=True)
        if self.rng.random() < 0.25:
            self.replay(CHANGED, mine is None)

    def replay(self, name, is_valid):
        """A run under the virtual clock takes no longer than the plan, and keeps the rules."""
        if any("command" in t for t in self.model.tasks) or (self.has_ports and self.model.has_demands):
            return
        said = self.say("run", GRAPH, "--plan", name, "--clock", "virtual", "--json", "--trace", TRACE)
        self.counts["runs"] += 1
        if said.code != 0:
            wrong_if(is_valid, "run: refuses a valid plan: %s", said.err.strip())
            return
        row = said.objects()[0]
        wrong_if(not row["valid"] or row["status"] != "CLO_OK", "run: not valid: %s", said.out.strip())
        ran = self.traced()
        wrong = plans_rules.violation(self.model, ran, is_run=True)
        wrong_if(wrong, "run: breaks a rule: %s", wrong)
        if not is_valid or (self.has_ports and name == CHANGED):  # the checker does not count ports, runs do
            return
        planned = {(p.task, p.instance, p.executor): p for p in plans_rules.read(self.model, self.read(name))[0]}
        wrong_if(row["makespan_ns"] > max((p.finish for p in planned.values()), default=0), "run: takes %d, planned %s",
                 row["makespan_ns"], row["predicted_ns"])
        for p in (plans_rules.Placed(self.model, e) for e in ran["placements"]):
            twin = planned.get((p.task, p.instance, p.executor))
            wrong_if(twin is None, "run: executed where it was not planned: %s", plans_rules.label(p))
            wrong_if(p.start > twin.start, "run: starts later than planned at %d: %s", twin.start, plans_rules.label(p))

    def traced(self):
        """The executions of the trace as a plan."""
        placements = []
        for event in self.read(TRACE)["traceEvents"]:
            if event["ph"] == "X" and event.get("cat") in ("task", "replica"):
                start, time = int(event["ts"] * 1000), int(event["dur"] * 1000)
                placements.append({"task": event["args"]["task"], "instance": event["args"]["instance"],
                                   "executor": event["tid"], "start_ns": start, "finish_ns": start + time,
                                   "replica": event["args"]["replica"]})
        return {"placements": placements}

    def contention(self, planner):
        """With ports: what is chosen is never longer than the single plan."""
        if not self.has_ports or self.size != "tiny":
            return
        row, other = (self.good("plan", GRAPH, "--planner", planner, "--contention", how, "--json")[0]
                      for how in ("choose", "times"))
        wrong_if(row["makespan_ns"] > other["makespan_ns"], "%s: chosen with ports %d, the single plan has %d", planner,
                 row["makespan_ns"], other["makespan_ns"])

    def optimum(self):
        """Bounds and claims against all plans."""
        may_repeat = "--no-duplicates" not in self.options
        with_replicas = plans_optimum.optimum(self.model, True)
        best = with_replicas if may_repeat else plans_optimum.optimum(self.model, False)
        if with_replicas is None or best is None:
            return
        self.counts["optima"] += 1
        for name, row in self.rows.items():
            wrong_if(row["lower_bound_ns"] > with_replicas, "bound %d above the optimum %d", row["lower_bound_ns"],
                     with_replicas)
            makespan = row["makespan_ns"]
            wrong_if(makespan < best, "%s has %d, shorter than the optimum %d", name, makespan, best)
            wrong_if(row["optimal"] and makespan != best, "%s is called optimal with %d; the optimum is %d", name,
                     makespan, best)
        exact = plans_optimum.optimum(self.model, False)
        if exact is not None and not self.model.has_demands and not self.budget:
            wrong_if(self.rows["exact"]["makespan_ns"] > exact, "exact has %d, the optimum without replicas is %d",
                     self.rows["exact"]["makespan_ns"], exact)

    def pipeline(self):
        flight = self.rng.choice((0, 0, 1, 2, 3))
        more = ["--releases-in-flight", flight] if flight else []
        os.unlink(os.path.join(self.folder, PLAN))
        said = self.say("plan", GRAPH, "--pipeline", *more, "--json", "--out", PLAN)
        if BEYOND in said.err:
            raise plans_rules.Unsure("no file")
        refused = self.has_ports or self.model.has_branches
        wrong_if(refused == (said.code == 0), "pipeline: exit status %d: %s", said.code, said.err.strip())
        if refused:
            return
        row = said.objects()[0]
        plan, its = self.read(PLAN), row["pipeline"]
        self.counts["pipelines"] += 1
        interval = plan.get("interval_ns", 0)
        wrong = plans_rules.violation(self.model, plan)
        wrong_if(wrong, "pipeline: its plan breaks a rule: %s", wrong)
        wrong_if(its["interval_ns"] != interval, "pipeline: interval %d, in the file %d", its["interval_ns"], interval)
        wrong_if(its["bound_ns"] > interval, "pipeline: bound %d above the interval %d", its["bound_ns"], interval)
        wrong_if(row["optimal"] != (interval <= max(its["bound_ns"], 1)), "pipeline: optimal is %s with interval %d",
                 row["optimal"], interval)
        least = plans_optimum.least_load(self.model)
        if least is not None:
            wrong_if(interval < least, "pipeline: interval %d below the least load %d", interval, least)
            wrong_if(its["bound_ns"] > least and not self.model.has_demands,
                     "pipeline: bound %d above the least load %d", its["bound_ns"], least)
        latency = its["latency_ns"]
        wrong_if(latency != row["makespan_ns"] or its["latency_bound_ns"] > latency, "pipeline: latency %d", latency)
        flights = max(1, -(-row["makespan_ns"] // max(interval, 1)))
        wrong_if(its["in_flight"] != flights, "pipeline: %d in flight, not %d", its["in_flight"], flights)
        wrong_if(flight and flights > flight, "pipeline: %d in flight, more than %d", flights, flight)
        self.check(PLAN, plan)
        if "handles" in self.document:
            return
        more = ("--releases-in-flight", flight or flights, "--releases", 7, "--json")
        wrong_if(not self.good("simulate", GRAPH, *more)[0]["valid"], "simulate: releases are not valid")

    def policy(self):
        """A graph simulated under a policy keeps the same rules."""
        if self.has_ports or any("command" in t for t in self.model.tasks):
            return
        name = self.rng.choice(self.policies)
        rows = self.good("simulate", GRAPH, "--policy", name, "--json", "--trace", TRACE)
        self.counts["simulations"] += 1
        ran = self.traced()
        wrong = plans_rules.violation(self.model, ran, is_run=True)
        wrong_if(wrong, "simulate %s: breaks a rule: %s", name, wrong)
        last = max((p["finish_ns"] for p in ran["placements"]), default=0)
        wrong_if(last != rows[0]["makespan_ns"], "simulate %s: makespan %d, not %d", name, rows[0]["makespan_ns"], last)

    def many(self):
        """Graphs in one file, among them ones that are refused, are planned as each alone."""
        documents = [plans_draw.draw(self.rng, self.rng.choice(("tiny", "small")))[0] for _ in range(4)]
        with open(os.path.join(self.folder, "many.jsonl"), "w", encoding="utf-8") as file:
            for number, document in enumerate(documents):
                document["name"] = "line%d" % number
                file.write(json.dumps(document) + "\n")
        planner = ["--planner", self.rng.choice(self.planners), "--budget", 20]
        said = self.say("plan", "many.jsonl", *planner, "--json")
        rows = {row["graph"]: row for row in said.objects()}
        self.counts["files of many"] += 1
        for document in documents:
            self.write("one.json", document)
            one = self.say("plan", "one.json", *planner, "--json")
            row = rows.get(document["name"])
            wrong_if((one.code == 0) != (row is not None), "plan: alone and with others are not both refused")
            for key in SAME if row else ():
                wrong_if(one.objects()[0][key] != row[key], "plan: alone and with others %s differs", key)
        wrong_if((said.code == 0) != (len(rows) == len(documents)), "plan: exit status %d of many", said.code)
