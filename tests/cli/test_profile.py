"""`clotho profile`, `run --learn` and `--profile`: times that were measured, kept in a file and used."""
import json
import os
import re
import shlex
import signal
import subprocess
import unittest

from support import CLOTHO, SOURCE, CommandTest


class Profile(CommandTest):
    def commands(self, **more):
        """Two commands that take 30 ms each, then one of nothing; no times."""
        sleep = {"body": "command", "command": ["sleep", "0.03"]}
        return self.graph([dict(sleep, name="a"), dict(sleep, name="b"), {"body": "command", "command": ["true"], "name": "c"}],
                          [(0, 2), (1, 2)], **more)

    def learn(self, name="p.json", repeat=3):
        path = self.path(name)
        self.good("run", self.commands(), "-j", 2, "--learn", path, "--repeat", repeat)
        return path

    def entries(self, path, *more):
        return [json.loads(line) for line in self.good("profile", "show", path, "--json", *more).splitlines()]

    def other_machine(self, path, name="other.json"):
        document = json.loads(self.bytes(path))
        document["machine"]["cpus"] = "another one"
        return self.file(name, document)

    def test_a_graph_without_times_is_planned_after_one_run(self):
        path = self.learn(repeat=1)
        plan = self.json("plan", self.commands(), "--platform", "slots:2", "--profile", path)
        self.assertEqual(plan["times"]["measured"], 3)
        self.assertGreater(plan["makespan_ns"], 30000000)
        self.assertEqual(len(plan["times"]["snapshot"]), 16)
        text = self.good("plan", self.commands(), "--platform", "slots:2", "--profile", path)
        self.assertIn("times        3 measured; snapshot " + plan["times"]["snapshot"], text)
        run = self.good("run", self.commands(), "-j", 2, "--profile", path)
        self.assertIn("snapshot " + plan["times"]["snapshot"], run)

    def test_a_plan_names_its_times_and_is_checked_with_them(self):
        path, out = self.learn(), self.path("plan.json")
        words = (self.commands(), out, "--platform", "slots:2")
        self.good("plan", self.commands(), "--platform", "slots:2", "--profile", path, "--out", out)
        snapshot = json.loads(self.bytes(out))["snapshot"]
        self.assertIn("snapshot " + snapshot, self.good("profile", "show", path))
        self.assertIn("valid", self.good("check", *words, "--profile", path))
        self.bad(1, "check", *words, holds=["plan.json", "--profile"])
        self.bad(1, "run", self.commands(), "--platform", "slots:2", "--plan", out, holds=["plan.json", "--profile"])
        self.good("run", self.commands(), "--platform", "slots:2", "--plan", out, "--profile", path, "--trace", self.path("t.json"))
        self.assertEqual(json.loads(self.bytes("t.json"))["otherData"]["snapshot"], snapshot)
        self.learn()  # other times
        self.bad(1, "check", *words, "--profile", path, holds=["plan.json", "other times", "p.json"])
        self.file("plan.json", {**json.loads(self.bytes(out)), "snapshot": 3})
        self.bad(1, "check", *words, "--profile", path, holds="snapshot")
        self.bad(2, "check", self.commands(), "--admission", "--profile", path, holds="--profile")
        typed = self.path("typed.json")
        self.good("plan", self.diamond(), "--platform", "slots:2", "--out", typed)
        self.assertNotIn("snapshot", json.loads(self.bytes(typed)))

    def test_what_is_learned_is_added_to_the_file(self):
        path = self.learn()
        before = {e["codelet"]: e for e in self.entries(path)}
        self.assertEqual(sorted(before), ["sleep", "true"])
        self.assertEqual(before["sleep"]["samples"], 5)  # two a run, the first of all is dropped
        self.assertEqual(before["sleep"]["kind"], "slot")
        self.assertTrue(25000000 < before["sleep"]["location_ns"])
        self.learn()
        after = {e["codelet"]: e for e in self.entries(path)}
        self.assertGreaterEqual(after["sleep"]["samples"], 5)
        self.assertGreaterEqual(after["sleep"]["newest"], before["sleep"]["newest"])

    def test_plans_are_equal_while_the_file_is(self):
        path, out = self.learn(), [self.path("a.json"), self.path("b.json")]
        for name in out:
            self.good("plan", self.commands(), "--platform", "slots:2", "--profile", path, "--out", name)
        self.assertEqual(self.bytes(out[0]), self.bytes(out[1]))

    def test_both_orders_of_a_merge_give_equal_bytes(self):
        a, b = self.learn("a.json", 2), self.learn("b.json", 4)
        self.good("profile", "merge", a, b, "-o", self.path("ab.json"))
        self.good("profile", "merge", b, a, "-o", self.path("ba.json"))
        self.assertEqual(self.bytes("ab.json"), self.bytes("ba.json"))
        self.assertIn("good, 2 entries", self.good("profile", "check", self.path("ab.json")))

    def test_entries_that_have_no_room_are_told(self):
        document = json.loads(self.bytes(self.learn(repeat=1)))
        entry = document["entries"][0]
        for name, first, count in [("full.json", 0, 65536), ("more.json", 70000, 2)]:
            self.file(name, {**document, "entries": [{**entry, "version": v} for v in range(first, first + count)]})
        done = self.say("profile", "check", self.path("full.json"))
        self.assertEqual((done.code, done.err), (0, ""))
        done = self.say("profile", "merge", self.path("full.json"), self.path("more.json"), "-o", self.path("both.json"))
        self.assertEqual(done.code, 0)
        self.assertIn("warning: 2 entries have no room", done.err)
        self.assertIn("good, 65536 entries", self.good("profile", "check", self.path("both.json")))

    def test_how_runs_differ_is_kept_merged_and_left_out_for_another_machine(self):
        runs = [{"location_q16": 66000 + k, "spread_q16": 3000, "p90_q16": 70000, "max_q16": 80000, "samples": 20 + k, "newest": 5}
                for k in (0, 1)]
        document = json.loads(self.bytes(self.learn()))
        self.assertNotIn("runs", document)  # graphs of three tasks
        files = [self.file(f"r{k}.json", {**document, "runs": runs[k]}) for k in (0, 1)]
        for a, b, out in [(0, 1, "ab.json"), (1, 0, "ba.json")]:
            self.good("profile", "merge", files[a], files[b], "-o", self.path(out))
        self.assertEqual(self.bytes("ab.json"), self.bytes("ba.json"))
        self.assertEqual(json.loads(self.bytes("ab.json"))["runs"]["samples"], 41)
        self.good("profile", "merge", files[0], "-o", self.path("one.json"))
        self.assertEqual(json.loads(self.bytes("one.json"))["runs"], runs[0])
        self.assertIn("20 runs take 1.007 times", self.good("profile", "show", files[0]))
        self.good("profile", "merge", self.other_machine(files[0]), "--foreign", "-o", self.path("theirs.json"))
        self.assertNotIn("runs", json.loads(self.bytes("theirs.json")))
        self.assertEqual(self.json("plan", self.commands(), "--platform", "slots:2", "--profile", files[0])["times"],
                         self.json("plan", self.commands(), "--platform", "slots:2", "--profile", files[1])["times"])
        for change, what in [({"samples": 0}, "no samples"), ({"more": 1}, "more"), ({"spread_q16": -1}, "spread_q16")]:
            bad = self.file("bad.json", {**document, "runs": {**runs[0], **change}})
            self.bad(1, "profile", "show", bad, holds=what)

    def test_a_profile_of_another_machine_is_refused_or_assumed(self):
        other = self.other_machine(self.learn())
        for words in [("profile", "show", other), ("profile", "check", other), ("plan", self.commands(), "--profile", other),
                      ("run", self.commands(), "--learn", other)]:
            self.bad(1, *words, holds=["measured on another machine", "another one", "--foreign"])
        self.assertTrue(all(e["assumed"] for e in self.entries(other, "--foreign")))
        plan = self.json("plan", self.commands(), "--platform", "slots:2", "--profile", other, "--foreign")
        self.assertEqual((plan["times"]["assumed"], plan["times"]["measured"]), (3, 0))

    def test_damaged_files_are_refused_with_their_line(self):
        path = self.learn()
        document = json.loads(self.bytes(path))

        def with_entry(**change):
            entry = {key: value for key, value in {**document["entries"][0], **change}.items() if value is not None}
            return {**document, "entries": [entry]}
        for text, what in [("", "FILE"), ("{", "FILE:1"), (json.dumps({**document, "format": "clotho.profile/2"}), "clotho.profile/1"),
                           (json.dumps({**document, "more": 1}), "more"), (json.dumps(with_entry(samples=0)), "no samples"),
                           (json.dumps(with_entry(location_ns=-1)), "location_ns"),
                           (json.dumps(with_entry(location_ns=2 ** 53)), "location_ns"),
                           (json.dumps(with_entry(kind=None)), "kind"), (json.dumps(with_entry(footprint="xyz")), "footprint"),
                           (json.dumps(with_entry(footprint="0" * 17)), "footprint"),
                           (json.dumps(with_entry(codelet="")), "codelet"), (json.dumps(with_entry(codelet="@12")), "address"),
                           (json.dumps(with_entry(codelet="x" * 256)), "255")]:
            bad = self.file("bad.json", text)
            self.bad(1, "profile", "show", bad, holds=what.replace("FILE", bad))
            self.bad(1, "plan", self.commands(), "--profile", bad, holds=what.replace("FILE", bad))
        self.bad(1, "profile", "show", self.path("none.json"), holds="none.json")

    def test_two_sizes_under_one_name_are_told(self):
        document = json.loads(self.bytes(self.learn()))
        first = {**document["entries"][0], "location_ns": 1000, "p90_ns": 2000, "max_ns": 2000}
        for samples, spread, mixed in [(20, 201, True), (20, 200, False), (8, 900, False)]:
            one = self.file("one.json", {**document, "entries": [{**first, "samples": samples, "spread_ns": spread}]})
            self.assertEqual([e["mixed"] for e in self.entries(one)], [mixed])
            self.assertEqual("two sizes in one?" in self.good("profile", "show", one), mixed)

    def test_codelets_of_a_file_are_kept(self):
        tasks = [{"work_ns": 5, "codelet": "plain"}, {"work_ns": 5, "codelet": {"name": "full", "version": 3, "footprint": 64}},
                 {"work_ns": 5, "codelet": {"name": "big", "footprint": "ffffffffffffffff"}}]
        graph = self.graph(tasks)
        self.good("convert", graph, self.path("again.json"))
        again = json.loads(self.bytes("again.json"))
        self.assertEqual([task["codelet"] for task in again["tasks"]], [task["codelet"] for task in tasks])
        for codelet, what in [("", "codelet"), (3, "codelet"), ({"version": 1}, "name"), ({"name": "a", "more": 1}, "more"),
                              ({"name": "a", "version": -1}, "version"), ({"name": "a", "footprint": "z"}, "footprint")]:
            self.bad(1, "plan", self.graph([{"work_ns": 5, "codelet": codelet}]), holds=what)

    def test_a_policy_is_predicted_before_it_runs(self):
        path, words = self.learn(), (self.commands(), "--platform", "slots:2", "--policy", "steal")
        told = self.json("simulate", *words, "--profile", path, "--samples", 50)
        low, median, high = (told["prediction"][name] for name in ("low_ns", "median_ns", "high_ns"))
        self.assertTrue(30000000 < low <= median <= high, told["prediction"])
        self.assertEqual(told["times"]["measured"], 3)
        self.assertEqual(told["prediction"], self.json("simulate", *words, "--profile", path, "--samples", 50)["prediction"])
        self.assertNotEqual(told["prediction"], self.json("simulate", *words, "--profile", path, "--samples", 50, "--seed", 7)["prediction"])
        self.assertIn("9 of 10 runs take", self.good("simulate", *words, "--profile", path))
        other = self.other_machine(path)
        self.bad(1, "simulate", *words, "--profile", other, holds=["other.json", "another machine"])
        self.good("simulate", *words, "--profile", other, "--foreign")
        self.assertIn("3 measured", self.good("simulate", self.commands(), "--platform", "slots:2", "--releases-in-flight", 2, "--profile", path))
        for wrong, says in [(["--samples", 5], "--profile"), (["--profile", path, "--samples", 100001], "100000"),
                            (["--profile", path, "--jobs", 3], "--profile predicts one graph")]:
            self.bad(2, "simulate", *words, *wrong, holds=says)

    def test_misuse(self):
        path = self.learn()
        self.bad(2, "profile", "merge", path, holds="--output")
        self.bad(2, "profile", "shw", path, holds="show")
        self.bad(2, "run", self.diamond(), "--learn", path, "--clock", "virtual", holds="--learn")
        said = self.say("run", self.diamond(), "--platform", "uniform:2", "--learn", path)
        self.assertEqual(said.code, 0)
        self.assertIn("nothing was learned", said.err)

    def test_calibrate_runs_until_all_is_known(self):
        path = self.path("p.json")
        told = self.json("calibrate", self.commands(), "-j", 2, "-o", path)
        self.assertEqual((told["tasks"], told["tasks_measured"], told["times"], told["times_trusted"]), (3, 3, 2, 2))
        self.assertEqual({e["codelet"]: e["trusted"] for e in self.entries(path)}, {"sleep": True, "true": True})
        before = {e["codelet"]: e["samples"] for e in self.entries(path)}
        text = self.good("calibrate", self.commands(), "-j", 2, "-o", path)  # adds to what is there
        self.assertIn("2 times of 3 of 3 tasks, 2 of them from 9 samples or more", text)
        for entry in self.entries(path):
            self.assertGreaterEqual(entry["samples"], before[entry["codelet"]])
        few = self.say("calibrate", self.commands(), "-j", 2, "-o", self.path("few.json"), "--rounds", 2)
        self.assertEqual(few.code, 0)
        self.assertIn("fewer than 9 samples after 2 rounds", few.err)

    def test_calibrate_takes_each_task_to_each_kind(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU only; mend: allow two")
        here, path = self.path("here.xml"), self.path("p.json")
        self.good("platform", "calibrate", "--quick", "-o", here)
        kinds = iter(["fast", "slow"] * 512)
        text = re.sub(r'(<object type="PU"[^>]*?)(/?)>', lambda pu: '%s><info name="clotho.kind" value="%s"/>%s' % (
            pu[1], next(kinds), "</object>" if pu[2] else ""), self.bytes(here).decode())
        text = re.sub(r'<info name="clotho.kind" value="cpu"/>', "", text)
        self.file("here.xml", text)
        told = self.json("calibrate", self.commands(), "--platform", here, "-o", path)
        self.assertEqual((told["times"], told["times_trusted"]), (4, 4))
        self.assertEqual(sorted((e["codelet"], e["kind"]) for e in self.entries(path)),
                         [("sleep", "fast"), ("sleep", "slow"), ("true", "fast"), ("true", "slow")])
        plan = self.json("plan", self.commands(), "--platform", here, "--profile", path)
        self.assertEqual(plan["times"]["measured"], 3)

    def test_calibrate_refuses_what_it_cannot_measure(self):
        path = self.path("p.json")
        self.bad(2, "calibrate", self.commands(), holds="--output")
        self.bad(2, "calibrate", self.commands(), "-o", path, "--rounds", 0, holds="--rounds")
        self.bad(2, "calibrate", self.commands(), "-o", path, "-j", 2, "--platform", "slots:2", holds="slots:2")
        self.bad(2, "calibrate", self.commands(), "-o", path, "-j", 0, holds="-j is 0")
        self.bad(2, "calibrate", self.commands(), "-o", path, "--body", "sping", holds="--body")
        self.bad(1, "calibrate", self.commands(), "-o", path, "--platform", "rk3588", holds="this machine")
        self.bad(1, "calibrate", self.commands(), "-o", self.file("bad.json", "{"), holds="bad.json:1")
        fails = self.graph([{"body": "command", "command": ["false"], "name": "f"}], name="fails.json")
        self.bad(1, "calibrate", fails, "-j", 1, "-o", path, holds="'f'")
        self.assertFalse(os.path.exists(path))
        said = self.say("calibrate", self.diamond(), "-o", path)
        self.assertEqual(said.code, 0)
        self.assertIn("4 of 4 tasks were not measured", said.err)
        self.assertIn("1 round: 0 times", said.out)

    def limited(self, mbps=1, name="limited.xml"):
        """This machine, whose memory moves next to nothing."""
        here = self.path("measured.xml")
        self.good("platform", "calibrate", "--quick", "-o", here)
        text = self.bytes(here).decode()
        self.assertRegex(text, r'<info name="clotho.capacity.memory_MBps" value="[1-9]\d*"/>')
        return self.file(name, re.sub(r'(clotho.capacity.memory_MBps" value=)"\d+"', r'\1"%d"' % mbps, text))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU only; mend: allow two")
    def test_calibrate_says_what_tasks_lose_to_each_other(self):
        here, path = self.limited(), self.path("p.json")
        self.assertIn("memory_MBps 1", self.good("platform", "show", here))
        told = self.json("calibrate", self.commands(), "--contention", "--platform", here, "-o", path)
        self.assertEqual((told["times"], told["times_trusted"]), (2, 2))
        shares = {e["codelet"]: (e["memory_share"], e["memory_MBps"]) for e in self.entries(path)}
        self.assertEqual(told["times_with_memory_part"], sum(share > 0 for share, _ in shares.values()))
        self.assertEqual(self.json("plan", self.commands(), "--platform", here, "--profile", path)["times"]["measured"], 3)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU only; mend: allow two")
    def test_a_profile_with_memory_parts_is_used_and_kept_apart(self):
        here, path = self.limited(500), self.path("p.json")
        self.good("calibrate", self.commands(), "--contention", "--platform", here, "-o", path)
        document = json.loads(self.bytes(path))
        for entry in document["entries"]:  # whatever was measured
            entry.update(spread_ns=0, p90_ns=entry["location_ns"])
            if entry["codelet"] == "sleep":
                entry.update(memory_share_q16=65536, memory_MBps=1000)
            elif "memory_MBps" in entry:
                del entry["memory_share_q16"], entry["memory_MBps"]
        document.pop("runs", None)
        self.file("p.json", document)
        words = (self.commands(), "--platform", here, "--profile", path)
        plan = self.json("plan", *words)
        self.assertEqual(plan["prediction"]["memory_tasks"], 2)
        # two at once move 2000 MB/s of 500: each takes four times as long
        self.assertGreater(plan["prediction"]["median_ns"], 3.5 * plan["makespan_ns"])
        self.assertIn("contention   2 tasks share the memory", self.good("plan", *words))
        self.assertIn("contention   2 tasks share the memory", self.good("simulate", *words, "--policy", "steal"))
        self.assertIn("contention   2 tasks share the memory", self.good("run", *words))
        free = self.limited(2000, "free.xml")  # exactly what both move
        plan = self.json("plan", self.commands(), "--platform", free, "--profile", path)
        self.assertLess(plan["prediction"]["median_ns"], 1.2 * plan["makespan_ns"])
        text = self.good("profile", "show", path)
        self.assertIn("100 % memory at 1000 MB/s", text)
        both = self.path("both.json")
        self.good("profile", "merge", path, path, "-o", both)
        self.assertEqual([e["memory_share"] for e in self.entries(both)], [e["memory_share"] for e in self.entries(path)])
        self.bad(1, "run", self.commands(), "-j", 2, "--learn", path, holds=["p.json", "another file"])
        self.bad(1, "calibrate", self.commands(), "-j", 2, "-o", path, holds=["p.json", "another file"])
        mixed = self.learn("mixed.json", repeat=1)
        for words in (("profile", "merge", path, mixed, "-o", both),
                      ("calibrate", self.commands(), "--contention", "--platform", here, "--rounds", 1, "-o", mixed)):
            said = self.say(*words)
            self.assertEqual(said.code, 0, said.err)
            self.assertIn("mixed.json: its times have no memory parts", said.err)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU only; mend: allow two")
    def test_tasks_that_demand_the_memory_wait_for_each_other(self):
        here = self.limited(1000)
        tasks = [{"name": name, "work_ns": 1000000, "demand": {"memory_MBps": 600}} for name in "ab"]
        both = self.json("plan", self.graph(tasks, [], resources=["memory_MBps"]), "--platform", here)
        self.assertGreaterEqual(both["makespan_ns"], 2000000)
        for task in tasks:
            task["demand"]["memory_MBps"] = 500
        self.assertLess(self.json("plan", self.graph(tasks, [], resources=["memory_MBps"]), "--platform", here)["makespan_ns"], 2000000)

    def test_memory_parts_that_are_damaged_are_refused(self):
        path = self.learn(repeat=1)
        for keys, wanted in (({"memory_share_q16": 5}, "give both"), ({"memory_MBps": 5}, "give both"),
                             ({"memory_share_q16": 65537, "memory_MBps": 5}, "65536"),
                             ({"memory_share_q16": 5, "memory_MBps": 1000000001}, "1000000000")):
            document = json.loads(self.bytes(path))
            document["entries"][0].update(keys)
            self.bad(1, "profile", "show", self.file("bad.json", document), holds=["bad.json", wanted])

    def test_contention_is_refused_where_it_cannot_be_measured(self):
        path = self.path("p.json")
        self.bad(2, "calibrate", self.commands(), "--contention", "-j", 2, "-o", path, holds="leave -j out")
        self.bad(1, "calibrate", self.commands(), "--contention", "-o", path, holds=["memory_MBps", "platform calibrate"])
        if len(os.sched_getaffinity(0)) >= 2:
            self.bad(1, "calibrate", self.commands(), "--contention", "--platform", self.limited(0), "-o", path,
                     holds="platform calibrate")

    def test_the_guide_does_what_it_says(self):
        with open(os.path.join(SOURCE, "docs", "TIMES.md"), encoding="utf-8") as file:
            text = file.read()
        graph, lines = (re.search(r"^```%s\n(.*?)^```" % language, text, re.S | re.M).group(1) for language in ("json", "sh"))
        self.file("report.json", graph)
        commands = [shlex.split(line, comments=True) for line in lines.splitlines()]
        self.assertEqual([words[:2] for words in commands], [["clotho", "run"], ["clotho", "profile"], ["clotho", "plan"]])
        out = [self.good(*words[1:]) for words in commands]
        self.assertEqual(sorted(line.split()[0] for line in out[1].splitlines()[3:]), ["sleep", "sleep", "true"])
        self.assertIn("times        3 measured; snapshot ", out[2])

    def test_kills_leave_a_whole_file(self):
        path, out = self.learn(), self.path("merged.json")
        self.good("profile", "merge", path, "-o", out)
        for i in range(20):
            with subprocess.Popen([CLOTHO, "profile", "merge", path, path, "-o", out], stdout=subprocess.DEVNULL) as process:
                try:
                    process.wait(0.0005 * i)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
            self.assertEqual(len(self.entries(out)), 2)


if __name__ == "__main__":
    unittest.main()
