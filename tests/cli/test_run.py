"""run and simulate: what is executed is what was planned, in every dispatch mode and clock."""
import glob
import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from support import CLOTHO, DATA, LONG, SANITIZED, CommandTest, limit_files, needs_data, wait_for_handler

RUN_KEYS = {"graph", "tasks", "executors", "mode", "clock", "emulated", "makespan_ns", "predicted_ns", "busy_ns", "transfers",
            "transferred_bytes", "duplicates_run", "missed_deadlines", "steals", "parks", "decision_ns", "valid", "status",
            "executed", "copied_bytes", "output_hash", "repeat", "prediction_error"}
DECISION_KEYS = {"p50", "p99", "p999", "max", "count"}


class Run(CommandTest):
    def generated(self, *options):
        self.good("generate", "layered", "--tasks", "40", "--work", "200us", "--spread", "0.5", "--ccr", "0.5", "--outputs",
                  "--duplicable", "--seed", "5", *options, "-o", self.path("layered.json"))
        return self.path("layered.json")

    def test_a_real_run_has_every_key_and_is_valid(self):
        one = self.json("run", self.diamond())
        self.assertLessEqual(RUN_KEYS, set(one))
        self.assertLessEqual(DECISION_KEYS, set(one["decision_ns"]))
        self.assertEqual((one["graph"], one["tasks"], one["mode"], one["clock"]), ("diamond", 4, "replay", "real"))
        self.assertEqual((one["emulated"], one["valid"], one["status"]), (False, True, "CLO_OK"))
        self.assertEqual((one["executed"], one["replay_equal"]), (4, True))
        self.assertGreater(one["makespan_ns"], 0)

    def test_releases_in_flight_keep_the_interval_and_the_bytes(self):
        g = self.generated()
        hashes = {self.json("run", g)["output_hash"]}
        for clock in ["real", "virtual"]:
            one = self.json("run", g, "--releases-in-flight", "4", "--releases", "50", "--clock", clock,
                            *(["--platform", "uniform:3"] if clock == "virtual" else []))
            self.assertEqual((one["releases"], one["executed"]), (50, 50 * self.json("run", g)["executed"]))
            hashes.add(one["output_hash"])
        plan = one["pipeline"]  # virtual time: nothing is later than planned
        self.assertLessEqual(one["measured_ns"], 49 * plan["interval_ns"] + plan["latency_ns"])
        self.assertGreaterEqual(one["measured_ns"], 50 * plan["bound_ns"])
        self.assertEqual(len(hashes), 1)
        self.assertIn("executed     5 releases", self.good("run", g, "--releases-in-flight", "2", "--releases", "5"))
        for wrong in [["--releases", "5"], ["--releases-in-flight", "1025"], ["--releases-in-flight", "2", "--policy", "fifo"],
                      ["--releases-in-flight", "2", "--planner", "heft"], ["--releases-in-flight", "2", "--repeat", "3"]]:
            self.bad(2, "run", g, *wrong, holds="--releases")
        self.bad(1, "run", g, "--releases-in-flight", "2", "--clock", "padded", holds="padded")
        free = self.json("run", g, "--releases-in-flight", "4", "--releases", "50", "--policy", "steal")
        trace = self.path("flown.json")
        for clock, asked, first in (("real", [], 0), ("virtual", ["--traced-releases", "7"], 43), ("real", ["--traced-releases", "50"], 0)):
            self.good("run", g, "--releases-in-flight", "4", "--releases", "50", "--clock", clock, "--trace", trace, *asked)
            events = [e for e in json.load(open(trace, encoding="utf-8"))["traceEvents"] if e["ph"] == "X"]
            self.assertEqual({e["args"].get("release", 0) for e in events}, set(range(first, 50)))
        self.bad(2, "run", g, "--releases-in-flight", "4", "--traced-releases", "7", holds="--trace")
        self.bad(2, "run", g, "--traced-releases", "7", "--trace", trace, holds="--releases-in-flight")
        self.assertEqual({free["output_hash"]}, hashes)
        self.bad(2, "run", g, "--period", "1ms", holds="--releases-in-flight")
        self.bad(2, "run", g, "--releases-in-flight", "2", "--deadline", "1ms", holds="--period")

    def test_releases_in_flight_are_run_as_they_are_simulated(self):
        g, at, trace = self.generated(), ["--platform", "uniform:3", "--releases-in-flight", "3", "--releases", "40"], self.path("t.json")
        ran = self.json("run", g, *at, "--clock", "virtual")
        simulated = self.json("simulate", g, *at, "--trace", trace)
        self.assertEqual((simulated["valid"], simulated["judged"]), (True, True))
        self.assertEqual(simulated["makespan_ns"], ran["measured_ns"])
        self.assertEqual(simulated["completions"], ran["executed"])
        self.assertEqual(simulated["pipeline"], ran["pipeline"])
        with open(trace, encoding="utf-8") as file:
            releases = {e["args"].get("release", 0) for e in json.load(file)["traceEvents"] if e.get("cat") == "task"}
        self.assertEqual(releases, set(range(40)))
        self.assertIn("check        valid", self.good("simulate", g, *at))
        for period in [simulated["pipeline"]["bound_ns"] // 2 + 1000, 4 * simulated["pipeline"]["interval_ns"]]:
            ran = self.json("run", g, *at, "--clock", "virtual", "--period", str(period))
            one = self.json("simulate", g, *at, "--period", str(period))
            for key in ["missed", "period_ns", "deadline_ns", "response_p50_ns", "response_max_ns"]:
                self.assertEqual(one[key], ran[key], key)
            self.assertEqual((one["valid"], one["makespan_ns"]), (True, ran["measured_ns"]))
            self.assertEqual(one["missed"] > 0, period < simulated["pipeline"]["bound_ns"])
        for wrong in [["--releases", "5"], ["--releases-in-flight", "1025"], ["--releases-in-flight", "2", "--policy", "fifo"],
                      ["--releases-in-flight", "2", "--jobs", "3"], ["--releases-in-flight", "2", "--gantt", "-"]]:
            self.bad(2, "simulate", g, *wrong, holds="--releases")

    def test_every_dispatch_mode_gives_the_same_bytes(self):
        g = self.generated()
        hashes = set()
        policies = [e["name"] for e in self.json("list", "policies")["policies"]]
        for how in [["--planner", "heft"], ["--planner", "deft"], *(["--policy", p] for p in {"steal", *policies})]:
            for clock in ["real", "virtual"]:
                with self.subTest(how=how, clock=clock):
                    one = self.json("run", g, *how, "--clock", clock)
                    self.assertEqual((one["valid"], one["emulated"]), (True, clock == "virtual"))
                    self.assertEqual(one["mode"], "replay" if how[0] == "--planner" else "steal" if how[1] == "steal" else "policy")
                    hashes.add(one["output_hash"])
        self.assertEqual(len(hashes), 1)
        self.assertRegex(hashes.pop(), "^[0-9a-f]{16}$")

    def test_virtual_time_is_what_was_predicted(self):
        g = self.generated()
        for how in [["--planner", "heft"], ["--planner", "deft"], ["--policy", "steal"]]:
            one = self.json("run", g, *how, "--clock", "virtual", "--platform", "rk3588")
            self.assertEqual((one["makespan_ns"], one["executors"]), (one["predicted_ns"], 8))
            self.assertEqual(one["prediction_error"], 0)

    @needs_data("psplib/j30.jsonl")
    def test_virtual_time_knows_capacities(self):
        path = os.path.join(DATA, "psplib/j30.jsonl")
        for how in [["--planner", "heft"], ["--policy", "steal"]]:
            one = self.json("run", path, "-i", "j301_1", "--platform", "own", *how, "--clock", "virtual")
            self.assertEqual((one["valid"], one["status"], one["executed"]), (True, "CLO_OK", 32))
            self.assertGreaterEqual(one["makespan_ns"], 43000)  # the optimum
            if how[0] == "--policy":
                self.assertEqual(one["makespan_ns"], one["predicted_ns"])

    def test_repeats_list_every_measurement(self):
        one = self.json("run", self.diamond(), "--repeat", "5")
        self.assertEqual((one["repeat"], len(one["measured_ns"])), (5, 5))
        self.assertEqual(one["makespan_ns"], sorted(one["measured_ns"])[2])

    def test_replicas_are_executed(self):
        fork = self.graph([{"name": "root", "work_ns": 100000, "duplicable": True, "output_bytes": 4096}] +
                          [{"name": "leaf%d" % i, "work_ns": 300000, "output_bytes": 64} for i in range(6)],
                          [(0, i, 10000000) for i in range(1, 7)], name="fork")
        plain = self.json("run", fork, "--planner", "heft", "--platform", "rk3588", "--clock", "virtual")
        for clock in ["virtual", "padded"]:
            said = self.say("run", fork, "--planner", "deft", "--platform", "rk3588", "--clock", clock, "--json")
            one = json.loads(said.out)
            self.assertEqual((said.code, one["valid"], one["emulated"]), (0, True, True), said.err)
            self.assertGreater(one["duplicates_run"], 0)
            self.assertEqual(one["output_hash"], plain["output_hash"])
            if clock == "padded":
                self.assertIn("emulation_error", one)

    def test_more_padded_workers_than_cpus_print_no_speedup(self):
        workers = 4 * os.cpu_count()
        said = self.say("run", self.diamond(), "--platform", "uniform:%d" % workers, "--clock", "padded", "--json")
        one = json.loads(said.out)
        self.assertEqual((said.code, one["speedup"], one["valid"]), (0, None, True))
        self.assertIn("no speedup is printed", said.err)
        self.assertEqual(len(said.err.splitlines()), 1)

    def test_stretched_padded_workers_keep_to_the_plan_though_they_outnumber_the_cpus(self):
        workers = 4 * os.cpu_count()
        graph = self.graph([{"name": "t%d" % i, "work_ns": 2000000, "duplicable": True} for i in range(3 * workers)],
                           [(i, i + workers, 100) for i in range(2 * workers)], name="stretched")
        for dilate in (50, 200, 800, 3200):  # until what other programs take is little beside the bodies
            options = ["--platform", "uniform:%d" % workers, "--clock", "padded", "--dilate", dilate]
            said = self.say("run", graph, *options, "--json")
            one = json.loads(said.out)
            self.assertEqual((said.code, one["valid"], one["dilate"], said.err), (0, True, dilate, ""))
            self.assertGreaterEqual(one["makespan_ns"], one["predicted_ns"])
            self.assertGreaterEqual(one["emulation_error"], 0)
            if one["prediction_error"] < 0.05:
                break
        self.assertLess(one["prediction_error"], 0.05)
        self.assertGreater(one["speedup"], 0.9 * workers)
        options[-1] = 50
        text = self.good("run", graph, *options)
        for word in ["dilated      50 times: ", "in real time", "speedup ", "EMULATED"]:
            self.assertIn(word, text)

    def test_dilate_is_for_the_padded_clock(self):
        for options, line in [(["--dilate", "50"], "--dilate stretches the padded clock; add --clock padded"),
                              (["--clock", "padded", "--dilate", "0"], "--dilate is 0; write 1 to 1000000"),
                              (["--clock", "padded", "--dilate", "1000001"], "--dilate is 1000001")]:
            said = self.say("run", self.diamond(), *options)
            self.assertEqual((said.code, said.out), (2, ""))
            self.assertIn(line, said.err)

    def test_text_shows_predicted_beside_measured_and_says_when_emulated(self):
        text = self.good("run", self.diamond())
        for word in ["predicted", "measured", "speedup", "check        valid", "executor"]:
            self.assertIn(word, text)
        self.assertNotIn("mulated", text)
        text = self.good("run", self.diamond(), "--platform", "rk3588", "--clock", "virtual")
        self.assertIn("EMULATED", text)
        self.assertNotIn("measured", text)

    def test_trace_and_gantt_are_written(self):
        self.good("run", self.diamond(), "--trace", self.path("t.json"), "--gantt", self.path("t.svg"))
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertGreaterEqual(sum(e.get("ph") == "X" for e in events), 4)
        self.assertTrue(os.path.getsize(self.path("t.svg")) > 500)

    def test_a_trace_that_does_not_fit_on_the_disk_is_an_error_and_leaves_nothing(self):
        g = self.generated()
        for option in ["--trace", "--gantt"]:
            self.bad_after_report("run", g, "--json", option, "/dev/full", holds="No space left")
            self.assertEqual(self.bad(1, "run", g, "--json", option, self.path("no/such"), holds=["no/such", "nothing was begun"]).out, "")
            self.bad_after_report("run", g, "--json", option, self.path("big"), preexec=limit_files(1000), holds="big")
        self.assert_nothing_half_written("big", "such")

    def bad_after_report(self, *arguments, holds, **how):
        said = self.bad(1, *arguments, holds=holds, **how)
        self.assertTrue(json.loads(said.out)["valid"])  # the run itself was good

    def test_a_small_graph_on_far_memories_stays_small_and_a_limit_is_kept(self):
        g = self.graph([{"work_ns": 1, "instances": 20000, "output_bytes": 1}],
                       platform={"executors": [{"kind": "c", "memory": 0}, {"kind": "c", "memory": 4095}]})
        less = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        self.good("run", g, "--clock", "virtual", preexec=less)
        self.good("run", g, "--clock", "virtual", "--memory-limit", "100")
        self.bad(1, "run", g, "--clock", "virtual", "--memory-limit", "1", holds="the limit is 1 MiB")

    def test_a_deadline_is_watched(self):
        g = self.diamond()
        said = self.say("run", g, "--deadline", "1ns", "--repeat", "3", "--json")
        self.assertEqual((said.code, json.loads(said.out)["missed_deadlines"]), (1, 3))
        self.assertEqual(said.err, "clotho: %s: 3 of 3 runs have missed the deadline of 1 ns\n" % g)
        series = ["--releases-in-flight", "2", "--releases", "9", "--period", "20us", "--platform", "uniform:2"]
        for verb in [["run", g, "--clock", "virtual"], ["simulate", g]]:
            self.bad(1, *verb, *series, "--deadline", "1ns", holds="9 of 9 releases have missed the deadline of 1 ns")
            self.good(*verb, *series, "--deadline", "600us")
            self.good(*verb, *series[:-4], "--period", "1us", "--platform", "uniform:2")  # not asked for: counted only
        self.assertEqual(self.json("run", self.diamond(), "--deadline", "10s")["missed_deadlines"], 0)

    def test_commands_run_and_a_failing_one_ends_the_job(self):
        mark = self.path("mark")
        good = self.graph([{"name": "touch", "work_ns": 1000000, "command": ["touch", mark]}], name="c", file="c.json")
        self.assertTrue(self.json("run", good)["valid"])
        self.assertTrue(os.path.exists(mark))
        for program, code in [("false", 1), ("no-such-program-anywhere", 127)]:
            bad = self.graph([{"name": "wrong", "work_ns": 1000, "command": [program]},
                              {"name": "after", "work_ns": 1000, "command": ["touch", self.path("never")]}],
                             [(0, 1)], file="bad.json")
            said = self.bad(1, "run", bad, "--json", holds=["bad.json", "wrong"])
            one = json.loads(said.out)
            self.assertEqual((one["status"], one["failed_task"], one["failed_code"]), ("CLO_ERR_TASK", "wrong", code))
            self.assertFalse(one["valid"])
            self.assertFalse(os.path.exists(self.path("never")))

    def commands(self, *scripts, edges=(), **more):
        """Tasks a, b, c ... that run a shell each."""
        return self.graph([{"name": chr(97 + i), "command": ["sh", "-c", script], **more} for i, script in enumerate(scripts)], edges)

    def test_commands_say_how_they_ended(self):
        """Each ends with a line; what failed, how, and what was left out is said, with what it printed."""
        g = self.commands("echo one", "echo two; echo bad >&2; exit 3", "kill -9 $$", "touch never", "touch never",
                          edges=[(0, 1), (1, 3), (3, 4), (1, 2)])
        said = self.bad(1, "run", g, holds=["command 'b' failed: exit status 3; 3 of 5 did not run: 'c', 'd', 'e'"])
        self.assertEqual(said.out, "[1/5] a\none\n[2/5] FAILED: b: exit status 3\nsh -c 'echo two; echo bad >&2; exit 3'\ntwo\nbad\n")
        g = self.commands("kill -9 $$")
        self.bad(1, "run", g, holds="exit status 137, ended by signal 9 (Killed)")
        one = json.loads(self.bad(1, "run", self.commands("true", "printf x; exit 4", "true", edges=[(0, 1), (1, 2)]), "--json").out)
        self.assertEqual([one[key] for key in ("failed_task", "failed_code", "failed_output", "commands_failed", "commands_skipped", "valid")],
                         ["b", 4, "x", 1, 1, False])
        self.assertIn("65535 bytes", self.say("run", self.commands("yes | head -c 100000")).out)
        self.assertFalse(os.path.exists(self.path("never")))

    def test_commands_go_on_until_so_many_have_failed(self):
        """What waits for a failed one is left out; all else runs."""
        scripts = ["exit 1", "exit 2", "touch never", "touch third", "exit 3", "touch last"]
        edges = [(0, 2), (0, 1), (3, 4), (4, 5)]
        for count, said, ran in ((0, "2 commands failed in all; 3 of 6 did not run", True), (9, "2 commands failed in all", True),
                                 (2, "2 commands failed in all", True), (1, "exit status 1; 5 of 6 did not run", False)):
            g = self.commands(*scripts, edges=edges + [(0, 3)] if count == 1 else edges)
            self.bad(1, "run", g, "-j", "1", "-k", count, holds=said)
            self.assertEqual((os.path.exists(self.path("third")), os.path.exists(self.path("never")), os.path.exists(self.path("last"))),
                             (ran, False, False))
            if ran:
                os.unlink(self.path("third"))
        self.bad(1, "run", self.diamond(), "-k", "2", holds="no commands")

    def test_commands_beside_other_tasks(self):
        """Those run as ever, and wait for commands as commands wait for them."""
        g = self.graph([{"name": "spin", "work_ns": 1000, "output_bytes": 8, "instances": 3, "duplicable": True},
                        {"name": "bad", "command": ["sh", "-c", "exit 3"]}, {"name": "late", "work_ns": 1000},
                        {"name": "good", "command": ["true"]}], [(0, 1), (1, 2), (2, 3), (0, 3)])
        self.bad(1, "run", g, "-k", "0", holds="command 'bad' failed: exit status 3; 1 of 2 did not run: 'good'")
        g = self.graph([{"name": "spin", "work_ns": 1000, "output_bytes": 8, "instances": 3}, {"name": "ok", "command": ["true"]}], [(0, 1)])
        one = self.json("run", g, "-j", "2", "--repeat", "2")
        self.assertEqual((one["executed"], one["valid"], one["commands_failed"]), (4, True, 0))

    def test_each_instance_of_a_command_is_counted(self):
        """One that fails fails its task, whatever those after it do; each has the output of its own."""
        script = "mkdir first 2>/dev/null && exit 3; while test ! -e first; do :; done; sleep 0.1; echo fine"
        for more, count in (({"instances": 4}, 4), ({"instances": 5, "grain": 2}, 3)):
            g = self.graph([{"name": "a", "command": ["sh", "-c", script], **more}, {"name": "b", "command": ["touch", "never"]}], [(0, 1)])
            said = self.bad(1, "run", g, "-j", "4", "-k", "0",
                            holds="command 'a' failed: exit status 3; 1 of %d did not run: 'b'" % (count + 1))
            self.assertFalse(os.path.exists(self.path("never")))
            self.assertEqual([line.split()[0] for line in said.out.splitlines() if line.startswith("[")],
                             ["[%d/%d]" % (i + 1, count + 1) for i in range(count)])
            self.assertEqual(said.out.count("\nfine\n"), count - 1)
            one = self.json("run", g, "-j", "4", "-k", "0")  # `first` is there: all go well
            self.assertEqual((one["commands_failed"], one["commands_skipped"], one["executed"]), (0, 0, count + 1))
            os.unlink(self.path("never"))
            os.rmdir(self.path("first"))

    def test_instances_keep_what_each_has_printed(self):
        """Many print at once, each text of its own length and bytes, all of one letter."""
        script = "i=$(mktemp pid.XXXX); c=$(echo $$ | tail -c 2); head -c 60000 /dev/zero | tr '\\0' $c"
        out = self.good("run", self.graph([{"name": "a", "instances": 16, "command": ["sh", "-c", script]}]), "-j", "8")
        said = [line for line in out.splitlines() if len(line) > 1000]
        self.assertEqual([(len(line), len(set(line))) for line in said], [(60000, 1)] * 16)

    def test_a_command_has_no_replicas(self):
        """Also if it says that it is duplicable, and a planner would like to have some."""
        tasks = [{"name": name, "work_ns": 1000000, "command": ["true"], "duplicable": True} for name in "sxyz"]
        g, plan = self.graph(tasks, [(0, i, 100000000) for i in (1, 2, 3)]), self.path("plan.json")
        self.good("plan", g, "--planner", "deft", "-p", "rk3588", "--out", plan)
        for words in (("--planner", "deft"), ("--plan", plan)):
            out = self.say("run", g, *words, "-p", "rk3588", "--clock", "padded").out
            self.assertEqual([line.split()[0] for line in out.splitlines() if line.startswith("[")], ["[1/4]", "[2/4]", "[3/4]", "[4/4]"])

    def test_commands_with_handles_and_branches(self):
        """They run as all others: so many at once, dry, and on after a failure. An arm that is not chosen is left out."""
        wait = "touch begun.$$; while test $(ls begun.* | wc -l) -lt 4; do sleep 0.02; done"
        handle = {"handles": [{"name": "h", "bytes": 4096}]}
        g = self.graph([{"name": "w", "command": ["sh", "-c", wait], "data": [{"handle": 0, "mode": "write"}]},
                        *({"name": "t%d" % i, "command": ["sh", "-c", wait]} for i in range(3)),
                        {"name": "r", "command": ["sh", "-c", "exit 3"], "data": [{"handle": 0, "mode": "read"}]},
                        {"name": "u", "command": ["touch", "never"], "data": [{"handle": 0, "mode": "update"}]},
                        {"name": "last", "command": ["touch", "last"]}], [(0, 4, 1000), (0, 6)], **handle)
        self.assertIn("[7/7] ", self.good("run", g, "-n"))
        self.assertEqual(sorted(os.listdir(self.temporary.name)), ["g.json"])
        self.bad(1, "run", g, "-j", "4", "-k", "0", holds="command 'r' failed: exit status 3; 1 of 7 did not run: 'u'")
        self.assertEqual((os.path.exists(self.path("last")), os.path.exists(self.path("never"))), (True, False))
        arms = [{"from": 0, "to": 1, "arm": 0}, {"from": 0, "to": 2, "arm": 1}, {"from": 1, "to": 3}, {"from": 2, "to": 3}]
        for word, ran in (("true", [False, True, True]), ("false", [False, False, False])):
            g = self.file("branch.json", {"format": "clotho.graph/1", "edges": arms, "tasks": [
                {"name": "choose", "command": [word], "arms": 2, "chances": [0, 65536]}, {"name": "no", "command": ["touch", "never"]},
                {"name": "yes", "command": ["touch", "yes"]}, {"name": "end", "command": ["touch", "end"], "merge": True}]})
            said = self.say("run", g, "-j", "2", "-k", "0", "--json")
            self.assertEqual([os.path.exists(self.path(name)) for name in ("never", "yes", "end")], ran)
            for name in ("yes", "end") if word == "true" else ():
                self.assertTrue(json.loads(said.out)["valid"])
                os.unlink(self.path(name))
        self.assertEqual(said.code, 1)
        self.assertIn("command 'choose' failed: exit status 1; 3 of 4 did not run", said.err)

    def test_commands_with_handles_are_planned_as_by_the_verb_plan(self):
        """An edge and a handle between the same commands carry the bytes of both, once."""
        use = [{"work_ns": 1000, "command": ["true"], "executors": [e], "data": [{"handle": 0, "mode": mode}]}
               for e, mode in ((0, "write"), (4, "read"))]
        g = self.graph(use, [(0, 1, 5000000)], handles=[{"bytes": 4000000}])
        planned = self.json("plan", g, "-p", "rk3588")["makespan_ns"]
        self.assertGreater(planned, 100000)
        self.assertEqual(self.json("run", g, "-p", "rk3588", "--clock", "virtual")["predicted_ns"], planned)

    def test_n_is_said_to_mean_two_things(self):
        self.assertRegex(" ".join(self.good("run", "--help").split()), "-n.*with --hosts -n N is --repeat N")
        self.assertIn("--deadline that was missed", " ".join(self.good("--help").split()))

    def test_so_many_commands_run_at_once(self):
        """Each waits until all have begun: on fewer than there are this would never end, and nothing has a time."""
        script = "touch begun.$$; while test $(ls begun.* | wc -l) -lt 6; do sleep 0.02; done"
        g = self.commands(*[script] * 6)
        out = self.good("run", g, "-j", "6")
        self.assertIn("predicted    nothing: 6 commands have no time", out)
        self.assertIn("[6/6] ", out)
        for name in os.listdir(self.temporary.name):
            if name.startswith("begun."):
                os.unlink(self.path(name))
        self.good("run", g, "--platform", "slots:6", "--policy", "steal")
        for words in (("-j", "0"), ("-j", "2", "--platform", "slots:2")):
            self.bad(2, "run", g, *words, holds="-j")

    def test_commands_without_times_are_spread(self):
        """Also where some have times: each executor gets its share."""
        tasks = [{"name": "t%d" % i, "command": ["true"], **({"work_ns": 1000000} if i == 0 else {})} for i in range(8)]
        for some in (tasks, tasks[1:]):
            out = self.good("run", self.graph(some), "-j", "4")
            ran = [int(line.split()[2]) for line in out.splitlines() if line.startswith("e") and " slot " in line]
            self.assertEqual(len(ran), 4)
            self.assertLessEqual(max(ran) - min(ran), 1, out)

    def test_a_dry_run_prints_commands_in_an_order_that_would_run(self):
        g = self.graph([{"name": "last", "command": ["touch", "it's", "a b"]}, {"name": "none", "body": "none"},
                        {"name": "first", "command": ["true"], "directory": "/"}], [(2, 1), (1, 0)])
        want = "[1/3] cd / && true\n[2/3] none\n[3/3] touch 'it'\\''s' 'a b'\n"
        for words in ((), ("--policy", "steal"), ("--policy", "fifo"), ("-j", "1"), ("--planner", "peft")):
            self.assertEqual(self.good("run", g, "-n", *words), want)
        self.assertEqual(sorted(os.listdir(self.temporary.name)), ["g.json"])
        self.bad(1, "run", self.diamond(), "-n", holds="no commands")
        self.bad(2, "run", g, "-n", "--json", holds="--json")

    def test_a_plan_file_is_replayed(self):
        """What `plan --out` wrote; and each way in which it may not fit is one line that names it."""
        g = self.diamond()
        self.good("plan", g, "--platform", "uniform:2", "--planner", "peft", "--out", "p.json")
        one = self.json("run", g, "--platform", "uniform:2", "--clock", "virtual", "--plan", "p.json")
        plan = json.loads(self.bytes("p.json"))
        self.assertEqual((one["makespan_ns"], one["mode"], one["valid"], one["replay_equal"]), (plan["makespan_ns"], "replay", True, True))
        self.assertIn("dispatch     replay, plan file", self.good("run", g, "--platform", "uniform:2", "--clock", "virtual", "--plan", "p.json"))
        other = self.graph([{"work_ns": 1000, "name": n} for n in "wxyz"], name="other", file="other.json")
        on = ("--clock", "virtual", "--platform")
        self.bad(1, "run", other, *on, "uniform:2", "--plan", "p.json", holds=["p.json: is a plan of the graph 'diamond', this is 'other'"])
        self.bad(1, "run", g, *on, "rk3588", "--plan", "p.json", holds=["p.json: is a plan for the platform 'uniform:2', this is 'rk3588'"])
        self.file("torn.json", self.bytes("p.json")[:150])
        self.bad(1, "run", g, *on, "uniform:2", "--plan", "torn.json", holds=["torn.json", "truncated"])
        self.file("late.json", {**plan, "placements": [{**p, "start_ns": 0, "finish_ns": 1000} for p in plan["placements"]]})
        self.bad(1, "run", g, *on, "uniform:2", "--plan", "late.json", holds="late.json: ")
        self.file("less.json", {**plan, "placements": plan["placements"][1:]})
        self.bad(1, "run", g, *on, "uniform:2", "--plan", "less.json", holds="less.json: ")
        self.bad(1, "run", g, *on, "uniform:2", "--plan", "g.json", holds="g.json")
        self.bad(1, "run", g, *on, "uniform:2", "--plan", "gone.json", holds="gone.json")
        for words in (("--planner", "heft"), ("--policy", "steal"), (g,), ("--releases-in-flight", "2")):
            self.bad(2, "run", g, "--plan", "p.json", *words, holds="--plan")

    def test_the_real_clock_refuses_executors_that_are_not_here(self):
        self.bad(1, "run", self.diamond(), "--platform", "uniform:4096", holds="g.json")
        self.bad(1, "run", self.diamond(), "--platform", "rk3588", holds="g.json")

    def test_bodies_may_be_memory(self):
        self.assertTrue(self.json("run", self.generated(), "--body", "memory")["valid"])

    def test_several_graphs_are_a_line_each(self):
        g = self.diamond()
        said = self.say("run", g, self.path("gone.json"), g, "--json")
        self.assertEqual((said.code, len(said.out.splitlines())), (1, 2))
        self.assertIn("gone.json", said.err)
        self.bad(2, "run", g, g, "--trace", "t.json", holds="one GRAPH")

    @needs_data("wfformat")
    def test_real_workflows_execute_and_are_valid(self):
        files = sorted(glob.glob(os.path.join(DATA, "wfformat", "montage-*.json")))[:1]
        files += glob.glob(os.path.join(DATA, "wfformat", "srasearch-chameleon-10a-001.json"))
        files += glob.glob(os.path.join(DATA, "wfformat", "helloworld-*.json"))
        for line in self.good("run", *files, "--scale", "0.0001", "--json", timeout=LONG).splitlines():
            self.assertTrue(json.loads(line)["valid"])

    def interrupted(self, *arguments):
        """Its object, after SIGINT once some of it has run; and the warning."""
        for pause in (0.2, 1, 10):
            with subprocess.Popen([CLOTHO, "run", *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                wait_for_handler(process, signal.SIGINT)
                time.sleep(pause)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=LONG)
            self.assertEqual(process.returncode, 1, err)
            if out and json.loads(out).get("releases", 1) > 0: # a busy machine may not have ended one
                return json.loads(out), err
        self.fail("nothing ran within seconds")

    def test_after_an_interrupt_there_is_what_has_run(self):
        graph, pages = self.generated(), [self.path(name) for name in ("repeat.html", "series.html", "series.json")]
        one, said = self.interrupted(graph, "--repeat", "100000", "--policy", "steal", "--report", pages[0])
        count = len(one["measured_ns"])
        self.assertEqual(said, "clotho: warning: %s: interrupted: %d of 100000 runs are done\n" % (graph, count))
        self.assertTrue(one["valid"] and 0 < count < 100000)
        series = ("--releases-in-flight", "2", "--releases", "100000000")
        for more in ((), ("--report", pages[1], "--trace", pages[2]), ("--policy", "steal"), ("--period", "20ms")):
            one, said = self.interrupted(graph, *series, *more)
            self.assertEqual(said, "clotho: warning: %s: interrupted: %d of 100000000 releases are done\n" % (graph, one["releases"]))
            tasks = json.loads(self.good("generate", "layered", "--tasks", "40", "--json", "-o", self.path("same.json")))["tasks"]
            self.assertGreaterEqual(one["executed"], one["releases"] * tasks)
            self.assertLessEqual(one.get("missed", 0), one["releases"])
        for page in pages:
            self.assertGreater(os.path.getsize(page), 1000)

    def cut(self, *arguments):
        """What it says after SIGINT as soon as it runs: its code, objects and warnings."""
        with subprocess.Popen([CLOTHO, "run", *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            wait_for_handler(process, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LONG)
        return process.returncode, [json.loads(line) for line in out.splitlines()], err

    def test_a_release_that_an_interrupt_cuts_short_is_not_counted(self):
        chain = self.graph([{"name": "t%d" % i, "work_ns": 300000000} for i in range(10)], [(i, i + 1) for i in range(9)])
        pages = [self.path(name) for name in ("cut.html", "cut.json")]
        for more in ((), ("--report", pages[0], "--trace", pages[1])):
            code, (one,), said = self.cut(chain, "--releases-in-flight", "3", "--releases", "50", "--policy", "steal", *more)
            self.assertEqual((code, said), (1, "clotho: warning: %s: interrupted: 0 of 50 releases are done\n" % chain))
            self.assertEqual((one["releases"], one["interval_measured_ns"], one.get("response_buckets", [])), (0, 0, []))
        with open(pages[1], encoding="utf-8") as file:
            json.load(file)

    def test_of_releases_that_an_interrupt_ended_all_lines_say_the_same_number(self):
        chain = self.graph([{"work_ns": 3000000} for _ in range(4)], [(i, i + 1) for i in range(3)])
        with subprocess.Popen([CLOTHO, "run", chain, "--releases-in-flight", "2", "--releases", "100000", "--period", "1ms", "--deadline",
                               "1ms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            wait_for_handler(process, signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LONG)
        done = re.search(r"interrupted: (\d+) of 100000 releases are done\n", err).group(1)
        if done == "0":
            self.skipTest("the machine is busy")
        self.assertEqual(process.returncode, 1)
        self.assertIn("executed     %s releases in " % done, out)
        self.assertIn("%s of %s releases have missed it\n" % (done, done), out)
        self.assertIn("%s of %s releases have missed the deadline of 1.000 ms\n" % (done, done), err)

    def test_graphs_behind_the_one_that_an_interrupt_ended_are_named(self):
        slow = self.graph([{"work_ns": 300000000}], [], file="slow.json")
        code, out, said = self.cut(slow, self.diamond(), slow, "--repeat", "2", "--policy", "steal")
        first = "clotho: warning: %s: interrupted: %d of 2 runs are done\n" % (slow, len(out[0]["measured_ns"]) if out else 0)
        self.assertEqual((code, said), (1, first + "clotho: warning: interrupted: 2 of 3 graphs were not run\n"))


class Simulate(CommandTest):
    def test_json_has_every_key_of_the_contract(self):
        one = self.json("simulate", self.diamond(), "--policy", "fifo", "--platform", "uniform:2")
        self.assertLessEqual({"workload", "jobs", "policy", "platform", "avg_jct_s", "p95_jct_s", "weighted_jct_s", "makespan_s",
                              "lower_bound_s", "utilization", "completions", "decisions", "refused", "fallbacks", "decision_ns",
                              "valid"}, set(one))
        self.assertLessEqual(DECISION_KEYS, set(one["decision_ns"]))
        self.assertEqual((one["workload"], one["jobs"], one["makespan_s"], one["avg_jct_s"]), ("diamond", 1, 3e-6, 3e-6))
        self.assertEqual((one["valid"], one["decisions"]), (True, 4))

    def test_every_policy_gives_a_valid_schedule(self):
        self.good("generate", "cholesky", "--tasks", "80", "--ccr", "0.3", "-o", self.path("c.json"))
        for policy in [e["name"] for e in self.json("list", "policies")["policies"]]:
            with self.subTest(policy):
                one = self.json("simulate", self.path("c.json"), "--policy", policy, "--platform", "jetson-tx2")
                self.assertTrue(one["valid"])
                self.assertGreaterEqual(one["makespan_ns"], one["lower_bound_ns"])
        self.assertIn("check        valid", self.good("simulate", self.path("c.json"), "--policy", "steal"))


if __name__ == "__main__":
    unittest.main()
