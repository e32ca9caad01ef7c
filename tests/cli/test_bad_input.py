"""Bad input: each case gives exit status 1 and one line that names the file, and where it can the line and the mend."""
import json
import os
import unittest

from support import CommandTest

TASK = {"name": "t", "work_ns": 1000}


class BadInput(CommandTest):
    def refuse(self, path, *holds, verbs=("plan", "run")):
        for verb in verbs:
            with self.subTest(verb):
                said = self.bad(1, verb, path, "--json", holds=[path.rsplit("/", 1)[-1], *holds])
                self.assertEqual(said.out, "")
        self.assert_nothing_half_written()

    def test_a_kind_that_the_platform_lacks_is_a_warning_and_with_strict_an_error(self):
        g = self.graph([dict(TASK, name="a", times={"cpu": 7000, "gpu": 5, "npu": None})])
        says = "g.json: platform 'uniform:2' has no executor of kind 'gpu', 'npu'; "
        self.good("plan", self.graph([dict(TASK, times={"cpu": 7000})], file="ok.json"), "--platform", "uniform:2", "--strict")
        plan = self.path("plan.json")
        for verb in [["plan", g, "--out", plan], ["run", g], ["simulate", g, "--policy", "eft"], ["check", g, plan]]:
            with self.subTest(verb=verb[0]):
                said = self.say(*verb, "--platform", "uniform:2")
                self.assertEqual(said.code, 0, said.err)
                self.assertEqual(len(said.err.splitlines()), 1)
                self.assertTrue(said.err.startswith("clotho: warning: "))
                self.assertIn(says + "what the graph says for that is not used", said.err)
                self.bad(1, *verb, "--platform", "uniform:2", "--strict", holds=says)

    def test_a_log_is_no_graph_of_many_instances(self):
        """One line, not one for each of its records."""
        self.good("generate", "stream", "--jobs", "3", "-o", "s.jsonl")
        self.good("simulate", "s.jsonl", "--policy", "fair", "--platform", "uniform:2", "--log", "f.log")
        for words in (["plan", "f.log"], ["run", "f.log"], ["run", "f.log", "--policy", "fair"], ["simulate", "f.log", "--policy", "fair"],
                      ["convert", "f.log", "o.dot"], ["check", "f.log", "f.log"]):
            with self.subTest(words):
                said = self.say(*words)
                self.assertEqual((said.code, len(said.err.splitlines())), (1, 1), said.err)
                self.assertIn("f.log: this is the log of a run", said.err)

        self.good("simulate", "s.jsonl", "--policy", "fair", "--platform", "uniform:2")
        self.bad(1, "plan", "s.jsonl", holds="s.jsonl: this is a workload")
        self.bad(1, "check", "s.jsonl", "s.jsonl", holds="s.jsonl: this is a workload")

    def test_a_trace_is_known_by_its_content(self):
        self.file("trace.txt", "job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm\n5,8,6069,266,4,0.5,0.016\n")
        self.good("simulate", "trace.txt", "--policy", "fifo")
        for words in (["plan", "trace.txt"], ["check", "trace.txt", "trace.txt"]):
            self.bad(1, *words, holds="trace.txt: this is a workload")

    def test_the_plan_is_looked_at_before_the_graph_is_blamed(self):
        self.good("generate", "stream", "--jobs", "3", "-o", "s.jsonl")
        self.bad(1, "check", "s.jsonl", "nothing", holds="nothing: No such file")
        self.bad(1, "check", "s.jsonl", ".", holds=".: Is a directory")

    def test_a_result_that_cannot_be_kept_is_not_worked_for(self):
        self.good("generate", "stream", "--jobs", "3", "-o", "s.jsonl")
        for name, why in (("no/f", "No such file"), (".", "Is a directory"), ("", "needs a name")):
            for option in ("-o", "--checkpoint"):
                for verb in ("parametric", "edges", "decima"):
                    with self.subTest((name, option, verb)):
                        said = self.bad(1, "train", verb, "s.jsonl", option, name, holds=why)
                        self.assertEqual(said.out, "")
            self.bad(1, "train", "lachesis", "s.jsonl", "-o", name, holds=why)

    def test_the_rights_that_count_are_those_of_who_writes(self):
        """A new file takes the place of the old one: the folder must be writable, and so must the file, whose rights are kept."""
        self.good("generate", "stream", "--jobs", "3", "-o", "s.jsonl")
        os.chmod(self.temporary.name, 0o755)
        for name, mode in (("closed", 0o555), ("open", 0o777)):
            os.mkdir(self.path(name))
            os.chmod(self.file(name + "/m", "old"), 0o666 if name == "closed" else 0o444)
            os.chmod(self.path(name), mode)

        def nobody():
            if os.geteuid() == 0:
                os.setuid(65534)
        try:
            self.good("list", "planners", preexec=nobody)
        except PermissionError:
            self.skipTest("the command lies where another user cannot run it")
        words = ("train", "decima", "s.jsonl", "--zero-residual", "--platform", "uniform:2", "--jobs", "3", "--validation", "5000-5001")
        for option in ("-o", "--checkpoint"):
            self.bad(1, *words, option, "closed/m", preexec=nobody, holds="closed/m: Permission denied; nothing was begun")
            self.bad(1, *words, option, "open/m", preexec=nobody, holds="open/m: Permission denied; nothing was begun")
        self.assertEqual((self.bytes("open/m"), self.bytes("closed/m")), (b"old", b"old"))
        self.good(*words, "-o", "open/new", preexec=nobody)

    def test_a_graph_may_be_called_like_a_workload(self):
        self.file("g.json", {"format": "clotho.graph/1", "name": "of a clotho.workload/1 \"format\":", "tasks": [TASK], "edges": []})
        self.good("plan", "g.json", "--platform", "uniform:2")
        self.file("g.json", '{ "a": "format", "format" :\n "clotho.workload/2"}')
        self.bad(1, "plan", "g.json", holds="g.json: this is a workload")

    def test_a_table_that_cannot_be_written_says_why(self):
        self.good("generate", "stream", "--jobs", "3", "-o", "s.jsonl")
        for name, why in (("no/f", "No such file"), (".", "Is a directory"), ("", "needs a name"), ("/dev/full", "No space")):
            with self.subTest(name):
                self.bad(1, "simulate", "s.jsonl", "--policy", "fair", "--csv", name, holds=why)

    def test_cycle_is_named_by_its_tasks(self):
        names = [dict(TASK, name=n) for n in ("alpha", "beta", "gamma")]
        self.refuse(self.graph(names, [(0, 1), (1, 2), (2, 1)]), "beta", "gamma", "wait for each other")

    def test_self_edge(self):
        self.refuse(self.graph([TASK], [(0, 0)]), "itself")

    def test_edge_to_nowhere(self):
        self.refuse(self.graph([TASK], [(0, 7)]), "7")
        self.refuse(self.graph([TASK], [("t", "nobody")]), "nobody")

    def test_duplicate_edge(self):
        self.refuse(self.graph([TASK, dict(TASK, name="u")], [(0, 1), (0, 1)]), "both go from")

    def test_negative_and_absurd_numbers(self):
        self.refuse(self.graph([dict(TASK, work_ns=-3)]), "-3", "work_ns")
        self.refuse(self.graph([dict(TASK, work_ns=1e300)]), "work_ns")
        self.refuse(self.graph([dict(TASK, output_bytes=-1)]), "output_bytes")
        self.refuse(self.graph([dict(TASK, instances=0)]), "instances")
        self.refuse(self.graph([TASK, dict(TASK, name="u")], [(0, 1, -5)]), "-5")
        self.refuse(self.file("inf.json", '{"format":"clotho.graph/1","tasks":[{"work_ns":1e999}],"edges":[]}'))

    def test_work_that_overflows_in_sum(self):
        self.refuse(self.graph([dict(TASK, name="t%d" % i, work_ns=2 ** 61) for i in range(40)]))

    def test_truncated_and_wrong_typed_json(self):
        text = json.dumps({"format": "clotho.graph/1", "name": "g", "tasks": [TASK], "edges": []}, indent=1)
        self.refuse(self.file("cut.json", text[:-20]), "cut.json:")
        self.refuse(self.file("type.json", text.replace("1000", '"much"')), "type.json:7", "work_ns")
        self.refuse(self.file("array.json", "[]"))
        self.refuse(self.file("number.json", "12"))
        self.refuse(self.file("key.json", text.replace("work_ns", "wrok_ns")), "key.json:7", "wrok_ns")

    def test_unknown_format_and_empty_files(self):
        self.refuse(self.file("what.bin", bytes(range(256))), "what.bin")
        self.refuse(self.file("void.json", ""), "void.json")
        self.refuse(self.file("object.json", "{}"), "object.json")
        self.refuse(self.file("future.json", {"format": "clotho.graph/9", "tasks": [TASK], "edges": []}))

    def test_a_computed_platform_without_executors(self):
        for spec in ("uniform:0", "uniform:x"):
            self.bad(1, "plan", self.graph([TASK]), "--platform", spec, holds=[spec, "P of uniform:P is a number from 1 to"])

    def test_empty_graph(self):
        self.refuse(self.graph([]), "task")

    def test_ten_million_levels_of_nesting(self):
        self.refuse(self.file("deep.json", "[" * 10_000_000), verbs=("plan",))
        self.refuse(self.file("deep2.json", '{"tasks":' * 2_000_000), verbs=("plan",))
        self.refuse(self.file("deep.dot", "digraph {" + "subgraph {" * 1_000_000), verbs=("plan",))

    def test_a_task_that_no_executor_can_run(self):
        kinds = self.json("platform", "show", "rk3588")["kinds"]
        picky = self.graph([dict(TASK, times={"gpu": 5, **{kind: None for kind in kinds}})])
        self.bad(1, "plan", picky, "--platform", "rk3588", "--json", holds=["g.json", '"t"'])
        masked = self.graph([dict(TASK, executors=[40])])
        self.bad(1, "plan", masked, "--platform", "uniform:2", "--json", holds=["g.json", "executors from 40 on"])
        for executors in ([300, 70], [65]):
            far = self.graph([dict(TASK, executors=executors)])
            self.bad(1, "plan", far, "--platform", "uniform:64", holds=["g.json", "executors from %d on" % min(executors)])

    def test_executors_that_no_platform_can_have(self):
        for executors, text in (([70, 65536], "tasks[0].executors[1]"), ([1e300], "1e+300"), ([-1], "-1"), ([1.5], "1.5"),
                                ([], "empty"), (["e0"], "executors[0]"), ({"0": 1}, "executors"), (70, "executors")):
            self.refuse(self.graph([dict(TASK, executors=executors)]), text)

    def test_files_that_cannot_be_read(self):
        self.refuse(self.path("absent.json"), "No such file")
        self.refuse(self.temporary.name, "directory")

    def test_a_file_name_with_a_line_break_stays_one_line(self):
        self.bad(1, "plan", self.path("two\nlines.json"), holds="No such file")

    def test_bad_plan_files(self):
        g = self.diamond()
        self.bad(1, "check", g, self.path("none.json"), "--platform", "uniform:2", holds="none.json")
        self.bad(1, "check", g, self.file("p.json", "{"), "--platform", "uniform:2", holds="p.json:1")
        self.bad(1, "check", g, g, "--platform", "uniform:2", holds="g.json")

    def test_no_permission_for_real_time_priority_is_said(self):
        import resource
        import os
        if os.geteuid() == 0:
            # As root the kernel may allow it: either it works, or it is one line.
            said = self.say("run", self.diamond(), "--fifo", "10", "--json")
            self.assertIn(said.code, (0, 1))
            self.assertLessEqual(len(said.err.splitlines()), 1)
        else:
            self.bad(1, "run", self.diamond(), "--fifo", "10",
                     preexec=lambda: resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0)), holds="FIFO")


if __name__ == "__main__":
    unittest.main()
