"""check WORKLOAD LOG: the stream checker on a log file. The example of docs/FORMATS.md is judged as printed."""
import json
import os
import re
import unittest

from support import SOURCE, CommandTest

HEADER = {"format": "clotho.log/1", "platform": "uniform:2", "clock": "virtual", "executors": 2, "policies": [{"name": "fifo"}]}


def record(now, kind, job=None, stage=None, instance=None, executor=None, value=0):
    return [now, kind, job, stage, instance, executor, value]


# Job 0: two instances of 10 ns, then one of 5.
VALID = [record(0, "begin"), record(0, "arrive", 0), record(0, "start", 0, 0, 0, 0), record(0, "start", 0, 0, 1, 1),
         record(10, "finish", 0, 0, 0, 0), record(10, "finish", 0, 0, 1, 1), record(10, "start", 0, 1, 0, 1),
         record(15, "finish", 0, 1, 0, 1, 10), record(15, "done", 0), record(15, "end")]


def fnv(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % 2 ** 64
    return value


def log_text(records, header=None, dropped=0):
    lines = [json.dumps(line, separators=(",", ":")) for line in [header or HEADER, *records]]
    text = "\n".join(lines) + '\n{"end":true,"records":%d,"dropped":"%d",' % (len(records), dropped)
    return text + '"hash":"%016x"}\n' % fnv(text.encode())


class CheckLog(CommandTest):
    def workload(self, **more):
        graph = {"format": "clotho.graph/1", "name": "mail", "tasks": [{"name": "pack", "work_ns": 10, "instances": 2},
                 {"name": "send", "work_ns": 5}], "edges": [{"from": 0, "to": 1}]}
        return self.file("jobs.jsonl", json.dumps({"format": "clotho.workload/1"}) + "\n" + json.dumps({"graph": graph, **more}) + "\n")

    def log(self, records=None, **header):
        return self.file("run.log", log_text(VALID if records is None else records, {**HEADER, **header}))

    def test_a_valid_log_has_its_figures(self):
        text = self.good("check", self.workload(), self.log())
        self.assertIn("valid\n", text)
        self.assertIn("jobs         1: 1 finished, 0 cancelled, 0 failed; 0 missed their deadline", text)
        one = json.loads(self.good("check", self.workload(), self.log(), "--json"))
        self.assertEqual((one["valid"], one["faults"], one["by_kind"], one["first_faults"]), (True, 0, {}, []))
        self.assertEqual((one["jobs"], one["finished"], one["completions"], one["decisions"]), (1, 1, 3, 3))
        self.assertAlmostEqual(one["avg_jct_s"], 15e-9)
        self.assertAlmostEqual(one["lower_bound_s"], 15e-9)
        self.assertAlmostEqual(one["utilization"], 25 / 30)
        self.assertEqual(len(one["backlog"]), 60)

    def test_faults_are_one_error_line_and_listed(self):
        records = [list(r) for r in VALID]
        records[6][0], records[7] = 10, record(14, "finish", 0, 1, 0, 1, 9)
        said = self.say("check", self.workload(), self.log(records))
        self.assertEqual(said.code, 1)
        self.assertRegex(said.err, r"^clotho: \S*run.log: body-early: record 7: job 0: task 'send' on executor '\w+', from 9 to "
                                   r"14 ns: it was decided at 10 ns \(3 faults in all\)\n$")
        said = self.say("check", self.workload(), self.log(records), "--json")
        one = json.loads(said.out)
        self.assertEqual((said.code, one["valid"], one["faults"]), (1, False, 3))
        self.assertEqual(one["by_kind"], {"body-early": 1, "precedence": 1, "overlap": 1})
        self.assertEqual(len(one["first_faults"]), 3)

    def test_the_workload_counts_too(self):
        for more, kind in [({"limit": 1}, "limit"), ({"arrival_ns": 3}, "arrived-early")]:
            self.assertIn(": %s: record" % kind, self.say("check", self.workload(**more), self.log()).err)

    def test_arrivals_are_drawn_again(self):
        records = [record(*r) for r in VALID]
        records[-1] = record(15, "arrive", 1, value=1)
        records += [record(15, "cancel", 1), record(15, "done", 1, value=1), record(15, "end")]
        one = json.loads(self.good("check", self.workload(), self.log(records, arrivals="batch", jobs=2), "--json"))
        self.assertEqual((one["jobs"], one["cancelled"], one["absent"]), (2, 1, 0))
        said = self.say("check", self.workload(), self.log(records))
        self.assertIn("unknown-job: record 9: job 1: the workload has no such job", said.err)
        said = self.say("check", self.workload(), self.log(records, arrivals="poisson:x"))
        self.assertEqual((said.code, said.err.count("\n")), (1, 1))
        self.assertIn("--arrivals is 'poisson:x'; write the mean gap as seconds > 0", said.err)
        said = self.say("check", self.workload(), self.log(records, arrivals="poisson:1", arrivals_seed="3", jobs=2))
        self.assertIn("arrived-early", said.err)

    def test_jobs_that_were_refused_for_want_of_room_keep_their_places(self):
        """Graphs differ: a log whose jobs are taken for their neighbours is full of faults, and replays as another run."""
        lines = [json.dumps({"format": "clotho.workload/1"})]
        for job in range(12):
            tasks = [{"name": "t%d" % t, "work_ns": 100 * (job + 1), "instances": 1 + job % 3} for t in range(1 + job % 4)]
            edges = [{"from": t, "to": t + 1} for t in range(len(tasks) - 1)]
            graph = {"format": "clotho.graph/1", "name": "g%d" % job, "tasks": tasks, "edges": edges}
            lines.append(json.dumps({"graph": graph, "arrival_ns": 150 * job}))
        workload, log = self.file("jobs.jsonl", "\n".join(lines) + "\n"), self.path("run.log")
        said = self.good("simulate", workload, "--platform", "uniform:2", "--policy", "edf", "--live", "2", "--log", log, "--json")
        self.assertGreater(json.loads(said)["jobs_refused"], 0)
        one = json.loads(self.good("check", workload, log, "--json"))
        self.assertTrue(one["valid"], one["first_faults"])
        self.assertEqual(one["finished"] + one["absent"], 12)
        self.assertGreater(one["absent"], 0)
        self.assertIn("equal", self.good("simulate", workload, "--replay", log))

    def test_another_platform_is_refused(self):
        said = self.say("check", self.workload(), self.log(), "--platform", "uniform:3")
        self.assertEqual(said.code, 1)
        self.assertIn("the log is of a platform with 2 executors, this one has 3; name the platform of the run", said.err)

    def test_another_workload_is_refused(self):
        jobs = self.workload(weight=2, deadline_ns=100)
        log = self.file("own.log", "")
        self.good("simulate", jobs, "--platform", "uniform:2", "--policy", "fair", "--log", log)
        self.assertIn("valid\n", self.good("check", jobs, log))
        for more in ({"weight": 3, "deadline_ns": 100}, {"weight": 2}, {"weight": 2, "deadline_ns": 100, "band": 1}):
            said = self.say("check", self.workload(**more), log)
            self.assertEqual((said.code, said.out), (1, ""))
            self.assertRegex(said.err, r"^clotho: \S*own.log: the log is of another workload; name that of the run, \S*jobs.jsonl\n$")
        said = self.say("check", self.workload(weight=2, deadline_ns=100), log, "--platform", "slots:2")
        self.assertIn("the log is of another platform than 'slots:2'; name that of the run", said.err)

    def test_what_jobs_are_said_to_be_is_the_workloads(self):
        described = [*VALID[:2], record(0, "job", 0, 1, None, 0, 2 ** 63 - 1), *VALID[2:]]
        self.good("check", self.workload(), self.log(described))
        self.assertIn(": wrong-job: record 2: job 0: its weight is 1 here, and 4 in the workload",
                      self.say("check", self.workload(weight=4), self.log(described)).err)

    def test_a_log_that_was_cut_changed_or_full_is_one_line(self):
        text = log_text(VALID)
        for bad, error in [("", "run.log: the file is empty; give a plan or a log"),
                           (text[:text.index("{\"end\"")], "run.log:11: the log ends without its last line; the file was cut, write it again"),
                           (text[:300], r"run.log:\d+: column \d+ should be .*; the log was cut or changed, write it again"),
                           (text.replace("[15,", "[16,", 1), "run.log:12: the hash does not agree with the lines before"),
                           (log_text(VALID, dropped=3), "run.log: the log was full and dropped 3 records")]:
            said = self.say("check", self.workload(), self.file("run.log", bad))
            self.assertEqual((said.code, said.out, said.err.count("\n")), (1, "", 1), said.err)
            self.assertRegex(said.err, error)

    def test_the_example_of_the_documents_is_a_valid_log(self):
        with open(os.path.join(SOURCE, "docs", "FORMATS.md"), encoding="utf-8") as file:
            section = file.read().split("## clotho.log/1")[1]
        example = re.search(r"```json\n(.*?)```", section, re.S).group(1)
        graph = {"format": "clotho.graph/1", "tasks": [{"work_ns": 5000}]}
        workload = self.file("jobs.jsonl", '{"format": "clotho.workload/1"}\n' + json.dumps({"graph": graph}) + "\n")
        self.assertIn("valid\n", self.good("check", workload, self.file("run.log", example)))


if __name__ == "__main__":
    unittest.main()
