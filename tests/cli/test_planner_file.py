"""--planner ./mine.so: a planner of the user's own, beside the others. OWN_PLANNER is examples/12_own_planner.c, built."""
import os
import shutil
import subprocess
import unittest

from support import SOURCE, CommandTest

OWN_PLANNER = os.environ.get("OWN_PLANNER", "")


@unittest.skipUnless(os.path.exists(OWN_PLANNER), "the examples are not built")
class PlannerFile(CommandTest):
    def setUp(self):
        super().setUp()
        self.mine = shutil.copy(OWN_PLANNER, self.path("mine.so"))

    def test_it_stands_in_the_table_beside_all_others(self):
        out = self.good("plan", self.diamond(), "--platform", "uniform:2", "--planner", "all", "--planner", "./mine.so")
        rows = [line.split() for line in out.splitlines()]
        mine = [row for row in rows if row and row[0] == "own-greedy"]
        self.assertEqual(len(mine), 1)
        self.assertEqual(mine[0][-1], "valid")
        self.assertTrue([row for row in rows if row and row[0] == "heft"])

    def test_once_however_it_is_named(self):
        for names in (["mine.so"], ["./mine.so", "all"], ["all", self.mine]):
            out = self.good("plan", self.diamond(), "--platform", "uniform:2", *(w for n in names for w in ("--planner", n)))
            self.assertEqual(out.count("own-greedy"), 1, names)

        out = self.good("plan", self.diamond(), "--platform", "uniform:2", "--planner", "mine.so", "--planner", self.mine)
        self.assertEqual(out.count("own-greedy"), 2)

    def test_the_other_verbs_take_it(self):
        one = self.json("plan", self.diamond(), "--platform", "uniform:2", "--planner", "./mine.so", "--justify")
        self.assertEqual((one["planner"], one["valid"], one["makespan_ns"]), ("own-greedy", True, 3000))
        one = self.json("run", self.diamond(), "--platform", "uniform:2", "--planner", "./mine.so", "--clock", "virtual")
        self.assertEqual((one["makespan_ns"], one["valid"]), (3000, True))

    def test_what_is_no_planner_is_refused_in_one_line(self):
        for name, what in [("./none.so", "none.so"), (self.file("text.so", "text"), "text.so"), ("./", "./")]:
            self.bad(1, "plan", self.diamond(), "--platform", "uniform:2", "--planner", name, holds=what)

    @unittest.skipIf(shutil.which("cc") is None, "no compiler")
    def test_what_it_exports_is_looked_at(self):
        include = "-I" + os.path.join(SOURCE, "include")
        head = "#include <clotho/planner.h>\n"
        place = ("static clo_status p(const clo_planner *a, const clo_cost *b, const clo_plan_config *c, clo_placement *d, size_t *n)"
                 "{ (void)a; (void)b; (void)c; (void)d; %s return CLO_OK; }\n")
        planner = "const clo_planner clotho_planner = {\"%s\", \"x\", sizeof(clo_planner), .plan = p};\n"
        for number, (text, what) in enumerate([
                ("int other;\n", "no planner is in it"),
                (head + "const clo_planner clotho_planner = {.name = \"x\"};\n", "sizeof(clo_planner)"),
                (head + place % "" + planner % "heft", "there is a planner 'heft' already"),
                (head + place % "" + planner % "a b", "'a b' is no name"),
                (head + place % "" + planner % "lazy", "planner 'lazy': "),
                (head + place % "*n = 0;" + planner % "none", "planner 'none': "),
                (head + place % "*n = 1000;" + planner % "long", "planner 'long': it has written 1000 placements")]):
            source, own = self.file("own.c", text), "./own%d.so" % number
            subprocess.run(["cc", "-shared", "-fPIC", include, source, "-o", self.path(own)], check=True)
            self.bad(1, "plan", self.diamond(), "--platform", "uniform:2", "--planner", own, holds=what)


if __name__ == "__main__":
    unittest.main()
