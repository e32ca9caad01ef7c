"""clotho build -t: where ninja's tools meet what is not as they expect it. ninja does the same on a tree of its own."""
import os
import random
import subprocess
import unittest

from support import CLOTHO, CommandTest
from test_build_dirty import NINJA

SOME = """rule a
  command = touch $out
  description = D $out ${in}
rule b
  command = touch $out
  generator = 1
rule d
  command = touch $out
  depfile = $out.d
  rspfile = $out.rsp
  rspfile_content = x
"""
TOUCH = "rule t\n  command = touch $out\n"


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Tools(CommandTest):
    def trees(self, manifest, **files):
        for folder in ("theirs", "mine"):
            subprocess.run(["rm", "-rf", self.path(folder)], check=True)
            os.mkdir(self.path(folder))
            for name, content in {"build.ninja": manifest, **files}.items():  # x_y: a file x.y
                self.file(folder + "/" + name.replace("_", "."), content)

    def each(self, action, name, *more):
        for folder in ("theirs", "mine"):
            action(*more, self.path(folder + "/" + name))

    def both(self, *words, code=0):
        """The same status, lines and files. Returns the lines."""
        theirs = subprocess.run([NINJA, "-C", "theirs", *words], cwd=self.temporary.name, capture_output=True, text=True, check=False)
        mine = self.say("build", "-C", "mine", *words)
        self.assertEqual((theirs.returncode, mine.code), (code, code), theirs.stderr + mine.err)
        self.assertEqual(mine.out, theirs.stdout.replace("ninja: ", "clotho: ").replace("/theirs\"", "/mine\"").replace("`theirs'", "`mine'"))
        self.assertEqual(mine.err.count("\n"), 0 if code == 0 else 1, mine.err)
        self.assertEqual(*[sorted(n for n in os.listdir(self.path(folder)) if n[0] != ".") for folder in ("theirs", "mine")])
        self.said = mine.err
        return mine.out

    def test_a_link_that_leads_nowhere_is_removed(self):
        self.trees(TOUCH + "build a: t\n")
        self.each(os.symlink, "a", "nowhere")
        self.both("-n", "-t", "clean")
        self.assertIn("1 files", self.both("-t", "clean"))
        self.assertFalse(os.path.lexists(self.path("mine/a")))

    def test_the_rest_is_removed_where_one_cannot_be(self):
        self.trees(TOUCH + "build a: t\nbuild b: t\nbuild c: t\n", b="", c="")
        for name in ("a", "a/x"):
            self.each(os.mkdir, name)
        self.assertIn("2 files", self.both("-t", "clean", code=1))
        self.assertEqual(self.said, "clotho: a: cannot be removed: Directory not empty; look at its folder\n")
        self.each(os.rmdir, "a/x")
        self.assertIn("1 files", self.both("-t", "clean"))

    def test_a_name_that_means_nothing_leaves_the_others_theirs(self):
        for words, holds in ((["zz", "b"], "'zz'"), (["zz", "b", "yy"], "(and 1 more)"), (["-r", "zz", "t"], "no rule 'zz'")):
            with self.subTest(words):
                self.trees(TOUCH + "build a: t\nbuild b: t\n", a="", b="")
                self.both("-t", "clean", *words, code=1)
                self.assertIn(holds, self.said)
                self.assertFalse(os.path.exists(self.path("mine/b")))

    def test_a_file_is_cleaned_and_not_what_uses_it(self):
        """"a^" is what uses `a` where something is built, but a file of that name where something is removed."""
        self.trees(TOUCH + "build a: t\nbuild b: t a\nbuild c^: t\n", a="", b="")
        for name in ("theirs/c^", "mine/c^"):
            self.file(name, "")
        self.both("-t", "clean", "a^", code=1)
        self.both("-t", "clean", "c^")
        self.assertFalse(os.path.exists(self.path("mine/c^")))
        self.assertTrue(os.path.exists(self.path("mine/a")) and os.path.exists(self.path("mine/b")))

    def test_a_dyndep_file_that_cannot_be_read_names_nothing(self):
        self.trees(TOUCH + "build a: t || dd\n  dyndep = dd\nbuild b: t || d2\n  dyndep = d2\n", dd="bad\n", a="", b="", c="",
                   d2="ninja_dyndep_version = 1\nbuild b | c: dyndep\n")
        self.assertIn("3 files", self.both("-t", "clean"))

    def test_rules_of_files_that_subninja_names(self):
        """They are not listed; those with the name of a listed one are cleaned with it."""
        self.trees(TOUCH + "build a: t\nsubninja s.ninja\ninclude i.ninja\n", a="", b="", c="",
                   s_ninja="rule t\n  command = touch $out ;\nrule u\n  command = touch $out\nbuild b: t\nbuild c: u\n",
                   i_ninja="rule v\n  command = touch $out\n")
        self.assertEqual(self.both("-t", "rules"), "phony\nt\nv\n")
        self.both("-t", "clean", "-r", "u", code=1)
        self.assertIn("2 files", self.both("-t", "clean", "-r", "t"))

    def test_rules_are_listed_by_name_whatever_stands_behind_it(self):
        """":" comes behind digits, "-" and ".", which names may have."""
        self.trees("".join("rule %s\n  command = touch $out\n  description = D $in\n" % name for name in ("c1", "c", "c.x", "c-x", "d", "C")))
        self.assertEqual(self.both("-t", "rules", "-d").split(": D ${in}\n"), ["C", "c", "c-x", "c.x", "c1", "d", "phony\n"])

    def test_options_before_the_tool_and_words_behind_it(self):
        self.trees(TOUCH + "build a: t\nbuild b: t\n  generator = 1\nbuild -r: t\n")
        for words in (["-vt", "clean", "-g"], ["-ntclean", "-g"], ["-vtclean", "-gr", "t"], ["-t", "clean", "--", "-r"],
                      ["-t", "clean", "-g", "--"], ["-f", "build.ninja", "-t", "targets", "depth", "2"]):
            with self.subTest(words):
                for name in ("a", "b", "-r"):
                    self.file("theirs/" + name, "")
                    self.file("mine/" + name, "")
                self.both(*words)
        self.file("mine/-t", TOUCH)  # the value of an option is no option
        self.assertEqual(self.good("build", "-C", "mine", "-f", "-t", "--quiet"), "clotho: no work to do.\n")
        self.bad(2, "build", "-C", "mine", "-vt", holds="--tool")

    def test_where_all_is_an_input_nothing_is_a_root(self):
        self.trees(TOUCH + "build a: t b\nbuild b: t a\n")
        for words in (["targets"], ["targets", "depth", "0"], ["inputs"], ["commands"]):
            with self.subTest(words):
                self.both("-t", *words, code=1)
                self.assertIn("cycle", self.said)
        self.both("-t", "targets", "all")
        self.trees("")
        self.assertEqual(self.both("-t", "targets"), "")

    def test_a_tree_of_too_many_lines_is_refused(self):
        """Each level has two ways to the next one: 2^40 lines."""
        self.file("build.ninja", TOUCH + "".join("build %s%d: t n%d m%d\n" % (which, i, i + 1, i + 1) for i in range(40) for which in "nm"))
        self.bad(1, "build", "-t", "targets", "depth", "0", holds=("64 MiB", "name a depth"))
        self.assertEqual(self.good("build", "-t", "targets", "depth", "3").count("\n"), 14)

    def test_what_only_a_log_mentions_is_no_target(self):
        self.trees("rule cc\n  command = touch $out; echo $out: h > $out.d\n  depfile = $out.d\n  deps = gcc\n"
                   "build a: cc\nbuild h: cc\n", h="")
        self.both("a")
        self.each(os.unlink, "h")
        self.file("theirs/build.ninja", self.bytes("mine/build.ninja").replace(b"build h: cc\n", b""))
        self.file("mine/build.ninja", self.bytes("theirs/build.ninja"))
        for words in (["commands", "h"], ["inputs", "h"], ["clean", "h"]):
            with self.subTest(words):
                self.both("-t", *words, code=1)
                self.assertIn("'h'", self.said)
        self.assertEqual(self.both("-t", "query", "h"), "h:\n  outputs:\n")
        self.assertEqual(self.both("-t", "deps", "h"), "h: deps not found\n")

    def test_deps_names_outputs_without_a_record(self):
        """h was an input of `a` before it became an output."""
        cc = "rule cc\n  command = touch $out; echo $out: h > $out.d\n  depfile = $out.d\n  deps = gcc\nbuild a: cc\n"
        self.trees(cc, h="")
        self.both("a")
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", cc + "build h: cc\n")
        said = [subprocess.run(words, cwd=self.path(folder), capture_output=True, text=True, check=True).stdout.splitlines()[1:]
                for folder, words in (("theirs", [NINJA, "-t", "deps"]), ("mine", [CLOTHO, "build", "-t", "deps"]))]
        self.assertEqual(said[0], ["    h", "", "h: deps not found"])
        self.assertEqual(said[1], said[0])

    def test_restat_leaves_the_log_where_a_file_cannot_be_looked_at(self):
        self.trees(TOUCH + "build a: t\nbuild b: t b0\nbuild b0: t\n")
        self.both("a")
        self.each(os.unlink, "a")
        self.each(os.symlink, "a", "a")
        before = self.bytes("mine/.ninja_log")
        self.both("-t", "restat", code=1)
        self.assertIn("Too many levels of symbolic links", self.said)
        self.assertEqual(self.bytes("mine/.ninja_log"), before)
        self.both("-t", "restat", "b")

    def drawn(self, draw):
        """Statements whose inputs are sources, or outputs of later ones: there is no cycle."""
        names, made, lines = ["f%d" % i for i in range(16)] + ["x$ y", "./q"], [], []
        for _ in range(draw.randrange(1, 12)):
            outputs = [name for name in draw.sample(names, 2) if name not in made]
            if not outputs:
                continue
            made += outputs
            left = [name for name in names if name not in made]
            some = [" ".join(draw.sample(left, min(len(left), draw.randrange(4)))) for _ in range(4)]
            lines.append("build %s: %s %s | %s || %s |@ %s\n" % (" | ".join(outputs), draw.choice(["a", "b", "d", "phony"]), *some))
        return SOME + "".join(lines), [name.replace("$ ", " ") for name in names]

    def test_drawn_trees(self):
        for seed in range(12):
            draw = random.Random(seed)
            manifest, names = self.drawn(draw)
            self.trees(manifest)
            for name in names:
                for end in ("", ".d", ".rsp") if draw.random() < 0.7 else ():
                    self.file("theirs/" + name + end, "")
                    self.file("mine/" + name + end, "")
            one, two = draw.choice(names), draw.choice(names)
            for words in (["inputs"], ["targets"], ["targets", "depth", "0"], ["targets", "rule"], ["commands"], ["compdb", "a", "d"],
                          ["clean"], ["clean", "-g"], ["clean", "-r", "b", "d"]):
                with self.subTest((seed, words)):
                    self.both("-nvt", *words)
            for words in (["inputs", one], ["commands", "-s", one], ["clean", one, two], ["query", two]):
                known = subprocess.run([NINJA, "-n", "-t", "query", one, two], cwd=self.path("theirs"), capture_output=True, check=False)
                with self.subTest((seed, words)):
                    if known.returncode == 0:
                        self.both("-vt", *words)
            self.both("-vt", "clean", "-r", "a", "d")

    def test_a_quiet_dry_run_names_no_steps(self):
        self.trees(TOUCH + "build a: t\n")
        self.assertEqual(self.both("--quiet", "-n"), "")
        self.both()
        self.assertEqual(self.both("--quiet", "-n"), "clotho: no work to do.\n")


if __name__ == "__main__":
    unittest.main()
