"""plan --embed: what the C file holds, and what is refused. That it compiles and runs: embedded_plan.c."""
import re
import unittest

from support import CommandTest


class Embed(CommandTest):
    def embed(self, name, *more):
        self.good("plan", self.diamond(), "--platform", "rk3588", "--embed", self.path(name), *more)
        return self.bytes(name).decode()

    def test_the_file_has_the_placements_of_the_plan_file(self):
        text = self.embed("board.c", "--out", self.path("p.json"))
        rows = re.findall(r"^    \{(\d+), 0, (\d+), 0, (\d+), (\d+)\}, /\* (\w) \*/$", text, re.M)
        placed = re.findall(r'"task": "(\w)", "executor": "cpu(\d)", "start_ns": (\d+), "finish_ns": (\d+)', self.bytes("p.json").decode())
        self.assertEqual([(name, executor, start, finish) for _, executor, start, finish, name in rows], placed)
        self.assertEqual([int(row[0]) for row in rows], ["abcd".index(row[4]) for row in rows])
        self.assertIn('const char board_planner[] = "heft";', text)
        self.assertIn("const size_t board_count = 4;", text)
        self.assertIn("clo_plan_check(plan, cost, CLO_CHECK_FULL)", text)

    def test_symbols_are_names_of_c(self):
        for name, symbol in (("a-b.c.c", "a_b_c"), ("7up.c", "plan_7up"), ("x", "x"), (".c", "_c"), ("l" * 200 + ".c", "l" * 63)):
            self.assertIn("const clo_placement %s[4] = {" % symbol, self.embed(name))
        for name, symbol in (("for.c", "plan_for"), ("int.c", "plan_int"), ("bool.c", "plan_bool"), ("main.c", "plan_main"), ("NULL.c", "plan_NULL"),
                             ("linux.c", "plan_linux"), ("size_t.c", "plan_size_t"), ("clo_plan.c", "plan_clo_plan"), ("CLO_NONE.c", "plan_CLO_NONE"),
                             ("fort.c", "fort"), ("clock_of.c", "clock_of")):
            self.assertIn("const clo_placement %s[4] = {" % symbol, self.embed(name))
        self.assertIn("const clo_placement plan[4]", self.good("plan", self.diamond(), "--platform", "rk3588", "--embed", "-"))

    def test_the_same_plan_is_the_same_file(self):
        self.assertEqual(self.embed("a.c"), self.embed("a.c"))

    def test_what_has_no_cpus_or_an_interval_is_refused_and_leaves_no_file(self):
        for holds, more in (("'e0' of the platform 'uniform:2' is neither", ["--platform", "uniform:2"]),
                            ("'R5F0' of the platform 'zcu102' is neither", ["--platform", "zcu102"]), ("an interval", ["--platform", "rk3588", "--pipeline"])):
            said = self.say("plan", self.diamond(), *more, "--embed", self.path("no.c"))
            self.assertEqual((said.code, len(said.err.splitlines())), (1, 1), said.err)
            self.assertIn(holds, said.err)
            self.assertRaises(FileNotFoundError, self.bytes, "no.c")

    def test_an_executor_with_a_name_like_a_negative_number_is_no_cpu(self):
        g = self.graph([{"name": "t", "work_ns": 1000}], platform={"executors": [{"name": "cpu4", "kind": "k"}, {"name": "cpu-5", "kind": "k"}]})
        self.bad(1, "plan", g, "--platform", "own", "--embed", self.path("no.c"), holds="'cpu-5' of the platform")
        self.assert_nothing_half_written("no.c")

    def test_one_graph_one_planner_one_file(self):
        g, f = self.diamond(), self.path("f.c")
        self.bad(2, "plan", g, g, "--embed", f, holds="one GRAPH and one planner")
        self.bad(2, "plan", g, "--planner", "all", "--embed", f, holds="one GRAPH and one planner")
        self.bad(2, "plan", g, "--json", "--embed", "-", holds="both want standard output")
        self.bad(1, "plan", g, "--embed", self.path("no/f.c"), holds="No such file or directory")
        self.bad(2, "plan", g, "--embed", f, "--out", f, holds="f.c")


if __name__ == "__main__":
    unittest.main()
