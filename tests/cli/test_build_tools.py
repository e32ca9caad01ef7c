"""clotho build -t: ninja's tools, on the same tree; and the options that ninja's users know."""
import os
import random
import re
import shutil
import subprocess
import unittest

from support import CLOTHO, CommandTest
from test_build_dirty import NINJA

MANIFEST = """rule r
  command = cat $in > $out; echo $out: h > $out.d
  deps = gcc
  depfile = $out.d
  description = R $out ${in}
rule g
  command = touch $out
  generator = 1
rule s
  command = cat $out.rsp > $out $more
  rspfile = $out.rsp
  rspfile_content = x
build a$ b: r | x || y
build c | c2: s a$ b | x
  more = && touch c2
build gen: g
build all: phony c gen
build d: s d1 | c || gen
build n: r d1
default all d
"""
SOURCES = ("x", "y", "h", "d1")


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Tools(CommandTest):
    def setUp(self):
        super().setUp()
        for folder in ("theirs", "mine"):
            os.mkdir(self.path(folder))
            self.file(folder + "/build.ninja", MANIFEST)
            for name in SOURCES:
                self.file(folder + "/" + name, "")

    def both(self, *words, code=0):
        """Both on their own tree: the same status, lines and files. Returns the lines."""
        theirs = subprocess.run([NINJA, "-C", "theirs", *words], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                check=False)
        mine = self.say("build", "-C", "mine", *words)
        self.assertEqual((theirs.returncode, mine.code), (code, code), theirs.stderr + mine.err)
        same = [re.sub(r"mtime \d+", "mtime", text.replace("ninja: ", "clotho: ").replace("/theirs", "/mine").replace("`theirs'", "`mine'"))
                for text in (theirs.stdout, mine.out)]
        self.assertEqual(*same)
        self.assertEqual(mine.err.count("\n"), 1 if code == 1 else 0, mine.err)
        self.assertEqual(self.products("theirs"), self.products("mine"))
        return mine.out

    def build(self):
        words = ("-d", "keeprsp", "-d", "keepdepfile", "all", "d", "n")
        subprocess.run([NINJA, "-j1", *words], cwd=self.path("theirs"), stdout=subprocess.DEVNULL, check=True)
        self.good("build", "-C", "mine", "-j1", "--policy", "fifo", *words)  # one order of steps, one order of records
        self.assertEqual(self.products("theirs"), self.products("mine"))

    def products(self, folder):
        return sorted(name for name in os.listdir(self.path(folder)) if not name.startswith("."))

    def test_what_is_listed(self):
        self.build()
        self.assertIn("c.rsp", self.products("mine"))
        for words in (["inputs"], ["inputs", "c"], ["inputs", "a b"], ["inputs", "all", "n"], ["rules"], ["rules", "-d"], ["deps"],
                      ["deps", "c", "a b", "h"], ["targets"], ["targets", "depth"], ["targets", "depth", "2"], ["targets", "depth", "0"],
                      ["targets", "all"], ["targets", "rule", "s"], ["targets", "rule", "zz"], ["targets", "rule"], ["commands"],
                      ["commands", "c"], ["commands", "-s", "c"], ["commands", "-s", "all"], ["compdb"], ["compdb", "s"],
                      ["compdb", "zz"], ["compdb", "r", "s"], ["query", "c2", "x"]):
            with self.subTest(words):
                self.both("-t", *words)
        for words in (["query"], ["inputs", "zz"], ["targets", "zz"], ["commands", "zz"], ["deps", "zz"]):
            with self.subTest(words):
                self.both("-t", *words, code=1)

    def test_the_folder_is_said(self):
        """Editors find the files of errors by that line. A tool, a plan and a quiet build have other readers."""
        for words in (["-n"], ["-v", "gen"], ["gen"], ["--quiet", "gen"], ["-t", "targets"]):
            self.both(*words)
        self.assertEqual(self.good("build", "mine", "gen"), "clotho: Entering directory `mine'\nclotho: no work to do.\n")
        self.assertNotIn("Entering", self.good("build", "mine", "--plan"))
        self.json("build", "-C", "mine", "--plan")
        done = subprocess.run([CLOTHO, "build", "-C", "none"], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, "clotho: Entering directory `none'\n"))

    def test_response_files_are_expanded(self):
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", "rule r\n  command = cc @$out.rsp -o $out $more\n  rspfile = $out.rsp\n"
                      "  rspfile_content = $in_newline -DX='a b' \"q\"\nrule n\n  command = cc $in @other\n"
                      "build a: r x y$ z\nbuild b: n x\nbuild c: r x\n  more = @c.rsp c.rsp\nbuild d: r x\n  rspfile = cc\n"
                      "build e: r x\n  rspfile = rsp\n")
        for words in (["compdb", "-x"], ["compdb", "-x", "r"], ["compdb"], ["compdb", "r", "-x"]):
            with self.subTest(words):
                self.both("-t", *words)
        self.assertIn("cc x 'y z' -DX='a b'", self.good("build", "-C", "mine", "-t", "compdb", "-x"))

    def test_the_graph_is_drawn(self):
        """ninja names nodes and statements by their addresses: here both are named in the order in which they come."""
        def named(text):
            names = {}
            return re.sub(r'"(0x[0-9a-f]+|[ne][0-9]+)"', lambda match: names.setdefault(match.group(), "%d" % len(names)), text)
        self.build()
        for words in ([], ["c"], ["all", "n"], ["x"], ["c2", "c", "a b"]):
            theirs = subprocess.run([NINJA, "-t", "graph", *words], cwd=self.path("theirs"), stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(named(self.good("build", "-C", "mine", "-t", "graph", *words)), named(theirs.stdout), words)
        self.bad(1, "build", "-C", "mine", "-t", "graph", "zz", holds="zz")

    def test_generated_files_that_only_compilers_know_are_found(self):
        """By the deps log and by depfiles; a target that waits for the file in another way has no fault. ninja's order of the lines
        for one target is that of addresses."""
        def missing(*words):
            said = [subprocess.run([*tool, "-t", "missingdeps", *words], cwd=self.path(folder), capture_output=True, text=True, check=False)
                    for tool, folder in (([NINJA], "theirs"), ([CLOTHO, "build"], "mine"))]
            theirs, mine = ((done.returncode, sorted(done.stdout.splitlines()), done.stderr) for done in said)
            self.assertEqual(theirs, mine)
            return said[1].stdout
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", "rule g\n  command = touch $out\nrule g2\n  command = touch $out\n"
                      "rule d\n  command = touch $out; echo $out: $uses > $out.d\n  deps = gcc\n  depfile = $out.d\n"
                      "rule f\n  command = touch $out; echo $out: $uses > $out.d\n  depfile = $out.d\n"
                      "build g1.h: g\nbuild g2.h g3.h: g2\nbuild own.h: g2 x\n"
                      "build a: d x\n  uses = g1.h g2.h g3.h own.h x\nbuild b: d x || g1.h\n  uses = g1.h own.h\n"
                      "build c: f x\n  uses = g2.h g1.h\nbuild d: f a || own.h\n  uses = own.h\n"
                      "build e: d x\n  uses = g1.h build.ninja\nbuild all: phony a b c d e\ndefault all\n")
        missing()
        for folder in ("theirs", "mine"):
            for targets in (["g1.h", "g2.h", "own.h"], ["all"]):
                subprocess.run([NINJA, *targets], cwd=self.path(folder), stdout=subprocess.DEVNULL, check=True)
        self.assertIn("Missing dep: a uses g3.h (generated by g2)", missing())
        for words in (["b"], ["c", "a"], ["d"]):
            self.assertIn("Error", missing(*words))
        self.assertIn("No missing", missing("e", "x", "g1.h"))

    def test_what_was_built_is_removed(self):
        for words in (["-n", "-t", "clean"], ["-v", "-t", "clean"], ["-t", "clean"], ["-t", "clean", "-g"], ["-t", "clean", "c"],
                      ["-t", "clean", "all"], ["-t", "clean", "gen"], ["-t", "clean", "x"], ["-t", "clean", "-r", "s"],
                      ["-n", "-t", "clean", "-r", "r", "s"], ["-t", "cleandead"]):
            with self.subTest(words):
                self.build()
                self.both(*words)
        for words in (["-t", "clean", "-r"], ["-t", "clean", "-r", "zz"], ["-t", "clean", "zz"]):
            with self.subTest(words):
                self.both(*words, code=1)
        self.assertEqual(set(SOURCES) - set(self.products("mine")), set())

    def test_outputs_that_the_manifest_forgot_are_removed(self):
        self.build()
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", MANIFEST.replace("build c | c2", "build cc").replace("| c |", "| cc |").replace("c gen", "cc gen"))
        self.assertIn("2 files", self.both("-t", "cleandead"))
        self.assertNotIn("c2", self.products("mine"))
        self.both("-t", "cleandead")

    def test_outputs_of_dyndep_files_are_removed(self):
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", "rule sh\n  command = $do\nbuild dd: sh\n  do = printf 'ninja_dyndep_version = 1\\nbuild a | m: "
                      "dyndep\\n' > dd\nbuild a: sh || dd\n  dyndep = dd\n  do = touch a m\n")
            subprocess.run([NINJA], cwd=self.path(folder), stdout=subprocess.DEVNULL, check=True)
        self.both("-t", "clean")
        self.assertNotIn("m", self.products("mine"))
        self.both("-t", "clean")

    def test_a_cycle_is_printed_to_the_depth_that_was_named(self):
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", "rule r\n  command = touch $out\nbuild a: r b\nbuild b: r c b\n")
        for depth in "1237":
            self.both("-t", "targets", "depth", depth)
        self.bad(1, "build", "-C", "mine", "-t", "targets", "depth", "0", holds=("form a cycle", "name a depth"))

    def test_query_reads_the_dyndep_file_of_what_it_is_asked_for(self):
        for folder in ("theirs", "mine"):
            self.file(folder + "/build.ninja", "rule r\n  command = touch $out\nbuild a: r x || dd\n  dyndep = dd\nbuild b: r || dd2\n  dyndep = dd2\n"
                      "build c: r || no\n  dyndep = no\n")
            self.file(folder + "/dd", "ninja_dyndep_version = 1\nbuild a | m: dyndep | b y\n")
            self.file(folder + "/dd2", "ninja_dyndep_version = 1\nbuild b: dyndep | z\n")
        for words in (("a",), ("b",), ("x",), ("dd",), ("a", "b")):
            with self.subTest(words):
                self.both("-t", "query", *words)
        self.assertIn("    || no\n", self.good("build", "-C", "mine", "-t", "query", "c"))  # not made yet
        for folder in ("theirs", "mine"):  # who uses a file by a dyndep file stands last
            self.file(folder + "/build.ninja", "rule r\n  command = touch $out\nbuild b: r || dd\n  dyndep = dd\nbuild c: r a\nbuild a: r || dd\n"
                      "  dyndep = dd\n")
            self.file(folder + "/dd", "ninja_dyndep_version = 1\nbuild b: dyndep | a\nbuild a: dyndep\n")
        self.assertIn("    c\n    b\n", self.both("-t", "query", "a"))

    def test_the_logs_are_written_anew(self):
        """restat: what somebody has touched counts as built; recompact: one line an output."""
        self.good("build", "-C", "mine", "all", "d", "n")
        for _ in range(3):
            self.renew("mine/x")
            self.good("build", "-C", "mine", "-j1")
        lines = self.bytes("mine/.ninja_log").count(b"\n")
        records = len(self.bytes("mine/.ninja_deps"))
        self.good("build", "-C", "mine", "-t", "recompact")
        self.assertEqual(self.bytes("mine/.ninja_log").count(b"\n"), 1 + 6)
        self.assertLess(self.bytes("mine/.ninja_log").count(b"\n"), lines)
        self.assertLess(len(self.bytes("mine/.ninja_deps")), records)
        shutil.rmtree(self.path("theirs"))
        shutil.copytree(self.path("mine"), self.path("theirs"))
        self.assertEqual(self.both("-n", "all", "d", "n").splitlines()[1:], ["clotho: no work to do."])
        for folder in ("theirs", "mine"):  # checked out anew: all files are as new as can be, the log is not
            for name in (*SOURCES, "a b", "c", "c2", "d", "n", "gen"):
                os.utime(self.path(folder + "/" + name), (2e9, 2e9))
        self.assertIn("[1/", self.both("-n", "d"))
        self.both("-t", "restat", "c", "c2")
        self.assertEqual(self.bytes("mine/.ninja_log").count(b"\t2000000000000000000\t"), 2)
        self.both("-n", "d")
        self.both("-t", "restat")
        self.both("-n", "d")
        self.assertEqual(self.bytes("mine/.ninja_log").count(b"\t2000000000000000000\t"), 6)

    def test_help_that_a_new_user_needs(self):
        self.bad(1, "build", "-f", "nothing.ninja", holds=("nothing.ninja: there is no such file here", "cmake -G Ninja"))
        self.bad(2, "build", "-C", "mine", "-t", "clean", "-h", holds="no option '-h', only -g and -r; options of the build")
        self.bad(2, "build", "-C", "mine", "-t", "compdb", "-z", holds="no option '-z', only -x; options of the build")
        said = self.good("build", "--help")
        self.assertLessEqual(max(map(len, said.splitlines())), 120)
        for tool in ("clean", "cleandead", "commands", "compdb", "deps", "inputs", "query", "recompact", "restat", "rules", "targets"):
            self.assertIn(tool, said.split("Tools: ")[1])

    def test_a_misspelt_target_names_the_one_that_is_most_like_it(self):
        """Levenshtein's distance, of which up to a third of the letters and up to 3 are a slip of the pen."""
        def distance(one, two):
            row = list(range(len(two) + 1))
            for i, a in enumerate(one):
                left = [i + 1]
                for j, b in enumerate(two):
                    left.append(min(row[j] + (a != b), row[j + 1] + 1, left[j] + 1))
                row = left
            return row[-1]

        draw = random.Random(7)
        word = lambda: "".join(draw.choice("ab/") for _ in range(draw.randrange(1, 13))).strip("/").replace("//", "/").replace("//", "/") or "a"
        names = sorted({word() for _ in range(60)})
        self.file("build.ninja", "rule sh\n  command = true\n" + "".join("build %s: sh\n" % name for name in names))
        found = 0
        for name in [word() for _ in range(80)] + ["a" * 300, names[0] + "^^"]:
            if name in names:
                continue
            nearest = min(names, key=lambda known: distance(name.rstrip("^"), known))
            is_like = distance(name.rstrip("^"), nearest) <= min(3, (len(name) + 2) // 3) and len(name) <= 256
            with self.subTest(name):
                self.bad(1, "build", "-n", name, holds="did you mean '%s'?" % nearest if is_like else "; see 'clotho build -t targets'")
            found += is_like
        self.assertGreater(found, 20)

    def test_options_that_scripts_of_ninja_give(self):
        self.assertEqual(self.both("--quiet", "-w", "dupbuild=err"), "")
        self.file("mine/said", "")
        self.assertIn("missing", self.say("build", "-C", "mine", "-d", "explain", "-n", "n").err)
        for words, holds in ((["-d", "zz"], "keeprsp"), (["-w", "zz"], "dupbuild"), (["-t", "zz"], "cleandead"),
                             (["-t", "clean", "-z"], "'-z'"), (["-t", "query", "-C"], "before -t"), (["-t"], "-t")):
            with self.subTest(words):
                self.bad(2, "build", "-C", "mine", *words, holds=holds)


if __name__ == "__main__":
    unittest.main()
