"""Verbs, help, versions, lists, options: the frame of the command."""
import json
import os
import unittest

from support import SOURCE, CommandTest

VERBS = ["platform", "plan", "check", "run", "simulate", "generate", "train", "model", "convert", "list", "build", "profile", "calibrate", "serve"]
ACTIONS = {"platform": ["show", "calibrate", "list", "check"], "generate": ["stream"], "profile": ["show", "check", "merge"],
           "train": ["parametric", "lachesis", "decima", "edges"], "model": ["show", "verify", "embed", "diff", "quantize"]}


class Frame(CommandTest):
    def test_help_names_every_verb(self):
        text = self.good("--help")
        for verb in VERBS:
            self.assertIn("\n  " + verb, text)

    def test_every_verb_has_help_that_names_its_options(self):
        for verb in VERBS:
            with self.subTest(verb):
                self.assertTrue(self.good(verb, "--help").startswith("usage: clotho " + verb))
        for verb, actions in ACTIONS.items():
            for action in actions:
                self.assertTrue(self.good(verb, action, "--help").startswith("usage: clotho %s %s" % (verb, action)))
        text = self.good("run", "--help")
        for option in ["platform", "planner", "policy", "clock", "scale", "repeat", "trace", "gantt", "body", "deadline",
                       "no-replay-check", "seed", "json"]:
            self.assertIn("--" + option, text)

    def test_help_is_ascii_and_fits_eighty_columns(self):
        for words in [[]] + [[v] for v in VERBS] + [[v, a] for v, actions in ACTIONS.items() for a in actions]:
            text = self.good(*words, "--help")
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, (words, line))
            self.assertTrue(text.isascii(), words)

    def test_an_example_that_is_broken_is_one_command_of_a_shell(self):
        text = self.good("simulate", "--help")
        words = text[text.index("Example: ") + 9:].replace("\\\n", " ").splitlines()[0].split()
        self.assertEqual(words[:2] + words[-2:], ["clotho", "simulate", "--platform", "uniform:50"])

    def test_help_of_a_verb_is_printed_by_help_too(self):
        self.assertEqual(self.good("help"), self.good("--help"))
        for words in [[v] for v in VERBS] + [["train", "edges"], ["platform", "show"], ["generate", "stream"]]:
            self.assertEqual(self.good("help", *words), self.good(*words, "--help"))
        self.bad(2, "help", "plna", holds="did you mean 'plan'?")
        self.bad(2, "help", "platform", "shw", holds="did you mean 'show'?")
        self.bad(2, "help", "plan", "a", "b", holds="'a'")
        self.bad(2, "help", "platform", "show", "b", holds="'b'")

    def test_version_is_that_of_the_project(self):
        with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
            self.assertIn("VERSION %s " % self.good("--version").split()[1], file.read())
        self.assertEqual(self.good("version"), self.good("--version"))

    def test_no_verb_and_an_unknown_verb_are_bad_usage(self):
        self.bad(2, holds="verb")
        self.bad(2, "plna", holds=["'plna'", "did you mean 'plan'?"])
        self.bad(2, "simulat", "x", holds="'simulate'")
        self.bad(2, "frobnicate", holds="clotho --help")
        self.bad(2, "--vresion", holds="did you mean '--version'?")
        self.bad(2, "hepl", holds="did you mean 'help'?")

    def test_a_list_takes_as_many_names_as_its_message_says(self):
        g, named = self.diamond(), ["--planner", "heft"]
        self.assertEqual(len(self.good("plan", g, *128 * named, "--json").splitlines()), 128)
        self.bad(2, "plan", g, *129 * named, holds="--planner is 'heft'; write at most 128 names")

    def test_unknown_and_broken_options_are_bad_usage(self):
        g = self.diamond()
        self.bad(2, "plan", g, "--frob", holds=["--frob", "--help"])
        self.bad(2, "plan", g, "-z", holds="-z")
        self.bad(2, "plan", g, "--planner", holds="--planner needs")
        self.bad(2, "plan", g, "--json=3", holds="takes no value")
        self.bad(2, "plan", g, "--seed", "x", holds=["--seed", "'x'"])
        self.bad(2, "plan", g, "--seed", "-1", holds=["--seed", "'-1'"])
        self.bad(2, "plan", g, "--scale", "0", holds="--scale")
        self.bad(2, "plan", g, "--scale", "nan", holds="--scale")
        self.bad(2, "run", g, "--scale", "1e999", holds="--scale")
        self.bad(2, "run", g, "--repeat", "0", holds="--repeat")
        self.bad(2, "run", g, "--deadline", "3 weeks", holds="--deadline")
        self.bad(2, "run", g, "--clock", "lunar", holds="--clock")
        self.bad(2, "run", g, "--fifo", "100", holds="--fifo")
        self.bad(2, "run", g, "--body", "soul", holds="--body")

    def test_unknown_options_come_with_the_nearest_one(self):
        g = self.diamond()
        self.bad(2, "plan", g, "--planer", "heft", holds=["--planer", "did you mean '--planner'?"])
        self.bad(2, "plan", g, "--planer=heft", holds=["--planer is", "did you mean '--planner'?"])
        self.bad(2, "run", g, "--dedline", "1s", holds="did you mean '--deadline'?")
        self.bad(2, "build", "--explian", holds="did you mean '--explain'?")
        self.bad(2, "platform", "show", "--jsn", holds="did you mean '--json'?")
        self.bad(2, "list", "planners", "--hlep", holds="did you mean '--help'?")
        self.bad(2, "plan", g, "-json", holds=["-json", "did you mean '--json'?"])
        self.bad(2, "plan", g, "--pl", "heft", holds=["--pl may be any of", "--platform", "--planner"])
        self.bad(2, "plan", g, "--frobnicate", holds=["--frobnicate", "clotho plan --help"])

    def test_an_option_without_its_value_says_what_that_is(self):
        g = self.diamond()
        for verb, option, holds in [("plan", "--planner", ["NAME", "clotho list planners"]),
                                    ("run", "--policy", ["NAME", "clotho list policies"]),
                                    ("plan", "-p", ["--platform needs", "SPEC", "clotho list platforms"]),
                                    ("generate", "--format", ["NAME", "clotho list formats"]),
                                    ("plan", "--scale", ["X", "a number", "clotho plan --help"])]:
            self.bad(2, verb, g, option, holds=["needs a value", *holds])
            self.bad(2, verb, g, option, "--json", holds=["needs a value", *holds])
        self.bad(2, "plan", g, "--planner", "--seed=3", holds="--planner needs a value")

    def test_a_file_of_a_kind_that_is_not_written_is_refused_before_any_work(self):
        g = self.diamond()
        with open(g, "a", encoding="utf-8") as file:
            file.write("broken")  # would be the error if it were read
        for verb in [["plan", g], ["run", g], ["simulate", g, "--policy", "eft"], ["build", "--plan"]]:
            for name in ["x.png", "X.PDF", "a.svg/x.jpg", "x.json"]:
                self.bad(2, *verb, "--gantt", self.path(name), holds=[name, "F.svg"])
        self.bad(2, "plan", g, "--out", self.path("x.svg"), holds=["--out", "x.svg", "F.json"])
        self.bad(2, "run", g, "--trace", self.path("x.svg"), holds=["--trace", "x.svg", "F.json"])
        self.bad(2, "platform", "calibrate", "-o", self.path("x.json"), holds=["x.json", "F.xml"])
        for name in ["c.png", "c.svg", "c.Gml", "c.d.xml"]:
            self.bad(2, "convert", g, self.path(name), holds=[name, "clotho, wfformat, saga, workload, dot"])
            self.bad(2, "generate", "chain", "-o", self.path(name), holds=[name, ".json or .dot", "--format"])
        self.bad(2, "convert", g, self.path("x"), "--format", "psplib", holds=["psplib", "only be read", "wfformat"])
        self.assertEqual(os.listdir(self.temporary.name), ["g.json"])
        good = self.diamond()
        for name in ["c.json", "c.DOT", "c.gv", "c", "c.tmp", "a.png.json"]:
            self.good("convert", good, self.path(name))
        self.good("convert", good, self.path("c.png"), "--format", "dot")

    def test_missing_and_surplus_operands_are_bad_usage(self):
        g = self.diamond()
        self.bad(2, "plan", holds="GRAPH")
        self.bad(2, "check", g, holds="GRAPH PLAN")
        self.bad(2, "convert", g, holds="IN OUT")
        self.bad(2, "convert", g, "a", "b", holds="'b'")
        self.bad(2, "platform", holds="show, calibrate")
        self.bad(2, "platform", "shw", holds="'show'")

    def test_unknown_names_are_bad_usage_with_the_nearest_one(self):
        g = self.diamond()
        self.bad(2, "plan", g, "--planner", "hefft", holds="'heft'")
        self.bad(2, "run", g, "--planner", "steal", holds="--policy steal")
        self.bad(2, "run", g, "--policy", "stael", holds="steal")
        self.bad(2, "run", g, "--policy", "steal", "--planner", "heft", holds="exclude")
        self.bad(2, "generate", "choleski", holds="'cholesky'")
        self.bad(2, "list", "planers", holds="'planners'")
        self.bad(2, "convert", g, "x.json", "--format", "xlsx", holds="xlsx")

    def test_lists_are_text_or_one_json_object(self):
        wanted = {"planners": {"heft", "deft"}, "policies": {"steal", "lachesis", "residual"}, "platforms": {"rk3588", "zcu102", "jetson-tx2"},
                  "formats": set(), "families": {"chain", "cholesky", "montage"}, "models": {"decima"}}
        for name, members in wanted.items():
            with self.subTest(name):
                one = self.json("list", name)
                self.assertEqual(list(one), [name])
                names = {entry["name"] for entry in one[name]}
                self.assertLessEqual(members, names)
                self.assertEqual(len(self.good("list", name).splitlines()), len(names))
        self.assertEqual({e["name"] for e in self.json("platform", "list")["platforms"]},
                         {e["name"] for e in self.json("list", "platforms")["platforms"]})

    def test_kernels_are_listed_and_those_of_this_cpu_marked(self):
        one = self.json("list", "kernels")["kernels"]
        self.assertEqual((one[0]["name"], one[0]["used"]), ("scalar", True))
        lines = self.good("list", "kernels").splitlines()
        self.assertEqual([line.split()[:2] for line in lines], [[k["name"], "used" if k["used"] else "-"] for k in one])
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = file.read().split()
        used = {k["name"]: k["used"] for k in one}
        for name, flag in [("avx2", "avx2"), ("neon", "asimd")]:
            self.assertEqual(used.get(name, flag in flags), flag in flags)

    def test_a_report_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            said = self.say("list", "planners", stdout=full)
        self.assertEqual(said.code, 1)
        self.assertIn("standard output: No space left on device", said.err)


class Platforms(CommandTest):
    def test_show_gives_text_and_json(self):
        for spec, count in [("rk3588", 8), ("uniform:3", 3)]:
            one = self.json("platform", "show", spec)
            self.assertEqual(len(one["executors"]), count)
            self.assertLessEqual({"name", "native", "coherent", "executors", "kinds", "links", "sources"}, set(one))
            self.assertIn(one["name"].split(":")[0], self.good("platform", "show", spec).lower())
        self.assertTrue(self.json("platform", "show")["native"])

    def test_check_tells_ok_warn_or_lack(self):
        one = self.json("platform", "check")
        self.assertGreater(len(one["checks"]), 3)
        for line in one["checks"]:
            self.assertIn(line["state"], ("ok", "warn", "lack"))
            self.assertNotEqual(line["text"], "")
        self.assertEqual(one["lacking"], sum(line["state"] == "lack" for line in one["checks"]))

    def test_calibrate_writes_a_platform_that_opens_and_runs(self):
        one = self.json("platform", "calibrate", "--quick", "-o", self.path("here.xml"))
        again = self.json("platform", "show", self.path("here.xml"))
        self.assertEqual(len(one["executors"]), len(again["executors"]))
        run = self.json("run", self.diamond(), "--platform", self.path("here.xml"))
        self.assertTrue(run["valid"])

    def test_a_calibration_that_cannot_be_written_leaves_nothing(self):
        self.bad(1, "platform", "calibrate", "--quick", "-o", self.path("no/where.xml"), holds="where.xml")
        self.bad(1, "platform", "calibrate", "--quick", "-o", "/dev/full", holds="No space left")
        self.bad(2, "platform", "calibrate", "-o", "-", holds="-o")

    def test_bad_platforms_are_one_line_and_never_this_machine(self):
        g = self.diamond()
        self.bad(1, "platform", "show", "rk3589", holds="'rk3588'")
        self.bad(1, "platform", "show", self.path("none.xml"), holds="none.xml")
        self.bad(1, "platform", "show", self.file("empty.xml", ""), holds="empty.xml")
        self.bad(1, "platform", "show", self.file("broken.xml", "<topology><object"), holds="broken.xml:1")
        self.bad(1, "platform", "show", "uniform:0", holds="uniform")
        self.bad(1, "plan", g, "--platform", "uniform:99999999", holds="uniform")
        self.bad(1, "plan", g, "--platform", "own", holds=["g.json", "--platform"])


if __name__ == "__main__":
    unittest.main()
