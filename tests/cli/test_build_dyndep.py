"""clotho build: dyndep files, in phases. ninja is the judge: it finds nothing to do afterwards, and the same steps after an edit."""
import os
import shutil
import subprocess
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest

NINJA = shutil.which("ninja")

# a and b are found out to need each other's products by dd1; the step that makes dd2 needs a, so that there are two phases
MANIFEST = """
rule dd
  command = cp $in $out
rule cat
  command = cat $from > $out && touch $out $more
build dd1: dd dd1.in
build a: cat | a.in || dd1
  dyndep = dd1
  from = a.in b.mod
  more = a.mod
build b: cat | b.in || dd1
  dyndep = dd1
  from = b.in
  more = b.mod
build dd2.in: cat a
  from = dd2.text
build dd2: dd dd2.in
build c: cat | c.in || dd2
  dyndep = dd2
  from = c.in late
build late: cat | c.in
  from = c.in
default c
"""
FILES = {"build.ninja": MANIFEST, "a.in": "a\n", "b.in": "b\n", "c.in": "c\n",
         "dd1.in": "ninja_dyndep_version = 1\nbuild a | a.mod: dyndep | b.mod\nbuild b | ./b.mod: dyndep\n  restat = 1\n",
         "dd2.text": "# text\nninja_dyndep_version = 1.0\n\nbuild c: dyndep | late\n"}


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Dyndep(CommandTest):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            self.file(name, text)

    def ninja(self, *words):
        return subprocess.run([NINJA, *words], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=LONG).stdout

    def up_to_date(self, *words):
        self.assertEqual(self.ninja("-n", "-d", "explain", *words).splitlines()[-1], "ninja: no work to do.")
        self.assertEqual(self.good("build", "-n", *words).splitlines()[-1], "clotho: no work to do.")

    def commands(self, text):
        return sorted(line.split("] ", 1)[1] for line in text.splitlines() if line.startswith("["))

    def test_a_manifest_that_lost_its_statement_is_said_once(self):
        self.file(".ninja_log", "# ninja log v5\n0\t0\t0\tbuild.ninja\t0\n")
        said = self.say("build")
        self.assertEqual((said.code, said.err.count("has not ended well")), (0, 1))  # not in each phase

    def test_a_step_runs_once_in_all_phases(self):
        """Steps that are always out of date, below a dyndep file and below what it describes: with outputs that stay as old as they
        are (what uses them runs all the same, but for restat), and made by a statement with several. As often as in ninja's one
        phase, and no line says that there was nothing to do."""
        self.file("build.ninja", """
rule stamp
  command = echo $out >> $count; touch $out
rule still
  command = echo $out >> $count; test -e $out || touch $out
rule spared
  command = echo $out >> $count; test -e $out || touch $out
  restat = 1
rule dd
  command = echo $out >> $count; printf 'ninja_dyndep_version = 1\\nbuild $of: dyndep | extra\\n' > $out
rule cp
  command = echo $out >> $count; cp in $out
build force: phony
build version.h also.h: stamp | force
build still: still | force
build spared: spared | force
build dd: dd || version.h still
  of = out
build mid: cp in || dd still
build out: cp in mid still || dd spared
  dyndep = dd
build dd2: dd out || spared
  of = out2
build out2: cp version.h spared || dd2
  dyndep = dd2
build old: cp spared || dd2
default out out2 old
""")
        for name in ("in", "extra"):
            self.file(name, "")
        said = {}
        for tool, words in (("ninja", [NINJA, "-j1"]), ("clotho", [CLOTHO, "build", "-j1"])):
            os.mkdir(self.path(tool))
            for name in ("in", "extra"):
                self.file(tool + "/" + name, "")
            self.file(tool + "/build.ninja", "count = count\n" + self.bytes("build.ninja").decode())
            for again in range(3):
                if again == 2:
                    os.utime(self.path(tool + "/extra"))
                done = subprocess.run(words, cwd=self.path(tool), stdout=subprocess.PIPE, text=True, check=True, timeout=LONG)
                self.assertNotIn("no work", done.stdout)
                said[tool, again] = sorted(self.bytes(tool + "/count").decode().split())
                os.unlink(self.path(tool + "/count"))
        for again in range(3):
            self.assertEqual(said["clotho", again], said["ninja", again], again)

    def test_nothing_to_do_is_said_only_where_nothing_ran(self):
        """The step that makes the dyndep file runs, and all else is up to date then."""
        self.file("build.ninja", "rule dd\n  command = cp $in $out\n  restat = 1\nrule cp\n  command = cp in out\n"
                  "build dd: dd dd.src\nbuild out: cp in || dd\n  dyndep = dd\n")
        self.file("in", "")
        self.file("dd.src", "ninja_dyndep_version = 1\nbuild out: dyndep\n")
        self.good("build")
        self.renew("dd.src")
        said = self.good("build")
        self.assertEqual(said, "[1/1] cp dd.src dd\n")
        self.assertEqual(self.good("build"), "clotho: no work to do.\n")

    def test_what_is_wrong_is_said_before_the_first_step(self):
        """As ninja does it: a missing file, a cycle, in what does not wait for the dyndep file, too."""
        for wrong in ("build x: cp no\n", "build x: cp y\nbuild y: cp x\n", "build x: cp in |@ z\nbuild z: cp no\n"):
            with self.subTest(wrong):
                self.file("build.ninja", "rule dd\n  command = echo x >> ran; cp $in $out\nrule cp\n  command = echo x >> ran; cp $in $out\n"
                          "build dd: dd dd.src\nbuild out: cp in || dd\n  dyndep = dd\nbuild all: phony out x\ndefault all\n" + wrong)
                self.file("in", "")
                self.file("dd.src", "ninja_dyndep_version = 1\nbuild out: dyndep\n")
                self.assertIn("ninja: error: ", self.ninja())
                self.bad(1, "build")
                self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_record_that_is_missing_is_so_in_each_phase(self):
        self.file("build.ninja", "rule cp\n  command = cp $in $out\nrule dep\n  command = cp $in $out; echo $out: more > $out.d\n  depfile = $out.d\n"
                  "  deps = gcc\nbuild x: dep in\nbuild dd: cp dd.src | x\nbuild out: cp in || dd\n  dyndep = dd\nbuild z: cp x\n")
        for name, text in (("in", ""), ("more", ""), ("dd.src", "ninja_dyndep_version = 1\nbuild out: dyndep\n")):
            self.file(name, text)
        self.good("build")
        os.unlink(self.path(".ninja_deps"))
        said = self.commands(self.ninja("-n", "-v"))
        self.assertEqual(len(said), 3)  # x, dd, z
        self.assertEqual(self.commands(self.good("build", "-n", "-v")), said)
        self.good("build")
        self.up_to_date()

    def test_phases_build_what_ninja_builds(self):
        first = self.commands(self.good("build", "-v", "-j", "4"))
        self.assertEqual(len(first), 7)
        self.up_to_date()
        self.assertEqual(self.bytes("c"), b"c\nc\n")
        for name in ("a.in", "b.in", "c.in", "dd1.in", "dd2.text", "b.mod", "late", "dd2"):
            if name in ("b.mod", "late", "dd2"):
                os.unlink(self.path(name))
            else:
                os.utime(self.path(name), (2e9, 2e9))
            if not name.startswith("dd"):  # there a dry run knows less than the build that follows
                self.assertEqual(self.commands(self.good("build", "-n", "-v")), self.commands(self.ninja("-n", "-v")), name)
            self.good("build")
            os.utime(self.path(name))
            self.good("build")
            self.up_to_date()
        shutil.copytree(self.temporary.name, self.path("copy"))
        for name in ("a", "b", "c", "dd1", "dd2", "dd2.in", "late", "a.mod", "b.mod", ".ninja_log", ".ninja_deps"):
            os.unlink(self.path(name))
        self.ninja()
        self.assertEqual(self.good("build"), "clotho: no work to do.\n")
        for name in ("a", "b", "c", "late"):
            self.assertEqual(self.bytes(name), self.bytes("copy/" + name))

    def test_a_failure_in_a_phase_ends_the_build(self):
        self.file("build.ninja", MANIFEST.replace("cp $in $out", "exit 4"))
        self.bad(1, "build", holds="1 step failed")
        self.assertFalse(os.path.exists(self.path("a")))

    def two_trees(self, files):
        for tool in ("theirs", "mine"):
            shutil.rmtree(self.path(tool), ignore_errors=True)
            os.mkdir(self.path(tool))
            for name, text in files.items():
                self.file(tool + "/" + name, text)

    def both(self, *words):
        """Both builders have the same status, and the same files afterwards. Returns the status and what clotho printed."""
        theirs = subprocess.run([NINJA, *words], cwd=self.path("theirs"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        mine = subprocess.run([CLOTHO, "build", *words], cwd=self.path("mine"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=LONG)
        self.assertEqual(mine.returncode, theirs.returncode, mine.stdout)
        found = [sorted(name for name in os.listdir(self.path(tool)) if not name.startswith((".ninja", ".clotho"))) for tool in ("theirs", "mine")]
        self.assertEqual(found[1], found[0], mine.stdout)
        return mine.returncode, mine.stdout

    def test_a_validation_may_have_a_dyndep_file(self):
        """Behind a dyndep file that is to be made; its own is there, or is to be made too."""
        manifest = ("rule cp\n  command = cp $in $out\nrule touch\n  command = touch $out\nbuild dd: cp dd.in |@ check\n"
                    "build x: touch || dd\n  dyndep = dd\nbuild check: touch || dd2\n  dyndep = dd2\ndefault x\n")
        texts = {"dd.in": "ninja_dyndep_version = 1\nbuild x: dyndep\n", "in": ""}
        dd2 = "ninja_dyndep_version = 1\nbuild check: dyndep | in\n"
        for more in ({"dd2": dd2}, {"dd2.in": dd2}):
            with self.subTest(list(more)):
                made = "build dd2: cp dd2.in\n" if "dd2.in" in more else ""
                self.two_trees({**texts, **more, "build.ninja": manifest + made})
                self.assertEqual(self.both()[0], 0)
                self.assertTrue(os.path.exists(self.path("mine/check")))
                self.assertEqual(self.both()[1], "clotho: no work to do.\n")

    def test_the_manifest_may_need_a_statement_with_a_dyndep_file(self):
        for use in ("|| x", "| x", "|@ x"):
            for made in ("", "build dd: cp dd.in\n"):
                with self.subTest((use, made)):
                    text = ("rule cp\n  command = cp $in $out\nrule touch\n  command = touch $out\nrule gen\n  command = cp build.ninja.in $out\n"
                            "  generator = 1\nbuild build.ninja: gen build.ninja.in %s\nbuild x: touch || dd\n  dyndep = dd\nbuild y: touch\n%s"
                            % (use, made))
                    dd = {"dd.in" if made else "dd": "ninja_dyndep_version = 1\nbuild x: dyndep\n"}
                    self.two_trees({"build.ninja": text, "build.ninja.in": text, **dd})
                    if not made and use != "| x":  # there a dry run ends with the manifest
                        self.assertEqual(self.both("-n")[0], 0)
                    self.assertEqual(self.both()[0], 0)
                    self.assertEqual(self.both()[1], "clotho: no work to do.\n")

    def test_a_discovered_input_may_have_a_dyndep_file(self):
        """Only a record of the compiler, or a depfile, leads to its statement."""
        for deps in ("", "  deps = gcc\n"):
            with self.subTest(deps):
                self.two_trees({"build.ninja": "rule touch\n  command = touch $out\nrule cc\n  command = touch $out; echo $out: h > $out.d\n"
                                "  depfile = $out.d\n" + deps + "build dd: touch\nbuild h: touch || dd\n  dyndep = dd\nbuild x: cc in\n",
                                "dd": "ninja_dyndep_version = 1\nbuild h: dyndep\n", "in": ""})
                for words in ("h", "x", "x"):
                    code, said = self.both(words)
                    self.assertEqual(code, 0)
                self.assertEqual(said, "clotho: no work to do.\n")
                for tool in ("theirs", "mine"):
                    os.unlink(self.path(tool + "/h"))
                self.assertEqual(self.both("x")[0], 0)
                self.assertTrue(os.path.exists(self.path("mine/h")))

    def test_a_broken_depfile_is_an_error_whichever_dyndep_files_were_read_before(self):
        """The look that a dyndep file makes necessary reads the depfile again: otherwise x would be up to date without its inputs."""
        self.two_trees({"build.ninja": "rule cp\n  command = cp $in $out\nrule cc\n  command = cp $in $out; cp said $out.d\n  depfile = $out.d\n"
                        "build a: cp in || dd\n  dyndep = dd\nbuild x: cc in\n", "in": "", "h": "",
                        "dd": "ninja_dyndep_version = 1\nbuild a: dyndep\n", "said": "x: h\n"})
        self.assertEqual(self.both()[0], 0)
        for text, part in ((": h\n", "names no output"), ("x\n", "it has no ':'"), ("x y: h\n", "names 'y'")):
            with self.subTest(text):
                for tool in ("theirs", "mine"):
                    self.file(tool + "/x.d", text)
                code, said = self.both()
                self.assertEqual(code, 1)
                self.assertIn(part, said)

    def test_failures_that_are_left_do_not_end_the_build_in_a_phase(self):
        """What does not need the failed step is made: other dyndep files and what they describe, targets without one."""
        self.two_trees({"build.ninja": "rule cp\n  command = cp $in $out\nrule bad\n  command = exit 1\nbuild dd: cp dd.in\nbuild b: bad\n"
                        "build dd2: cp dd2.in || b\nbuild x: cp in || dd\n  dyndep = dd\nbuild y: cp in || dd2\n  dyndep = dd2\nbuild z: cp in\n"
                        "build from_y: cp y | late\nbuild late: cp in\nbuild alias: phony z\nbuild dd3: cp dd3.in x\n"
                        "build w: bad || dd dd3 |@ v\n  dyndep = dd3\nbuild v: cp in\nbuild from_b: cp in || b alias\n",
                        "dd.in": "ninja_dyndep_version = 1\nbuild x: dyndep\n", "dd2.in": "ninja_dyndep_version = 1\nbuild y: dyndep\n",
                        "dd3.in": "ninja_dyndep_version = 1\nbuild w: dyndep\n", "in": ""})
        for tool in ("theirs", "mine"):
            text = self.bytes(tool + "/build.ninja").decode().replace("build dd3: cp dd3.in x", "build dd3: cp dd3.in || x")
            self.file(tool + "/build.ninja", text)
        code, said = self.both("-k", "0")
        self.assertEqual((code, said.count("FAILED"), said.count("steps failed")), (1, 2, 1))
        for name in ("dd", "x", "z", "late", "dd3", "v"):
            self.assertTrue(os.path.exists(self.path("mine/" + name)), name)
        code, said = self.both("-k", "0")  # again: nothing is left but what fails
        self.assertEqual((code, said.count("FAILED"), said.splitlines()[-1]), (1, 2, "clotho: 2 steps failed; see above"))
        self.two_trees({"build.ninja": "rule cp\n  command = cp in $out\nrule bad\n  command = exit 1\nbuild dd: bad\nbuild x: cp || dd\n"
                        "  dyndep = dd\n", "in": ""})
        code, said = self.both("-k", "0")
        self.assertEqual((code, said.splitlines()[-1]), (1, "clotho: 1 step failed; see above"))

    def test_failures_count_on_from_phase_to_phase(self):
        """-k 2: the first one comes while a dyndep file is made, the second one ends the build."""
        self.file("build.ninja", "rule cp\n  command = cp $in $out\nrule bad\n  command = exit 1\nbuild b: bad\nbuild dd: cp dd.in\nbuild dd2: cp in || b\n"
                  "build x: bad || dd\n  dyndep = dd\nbuild y: cp in || dd2\n  dyndep = dd2\nbuild z: cp in || x\nbuild u: bad\nbuild z2: cp in | u\n")
        self.file("in", "")
        self.file("dd.in", "ninja_dyndep_version = 1\nbuild x: dyndep\n")
        said = self.say("build", "-j1", "-k", "2")
        self.assertEqual((said.code, said.out.count("FAILED"), said.err), (1, 2, "clotho: 2 steps failed; see above\n"))
        said = self.say("build", "-j1", "-k", "1")
        self.assertEqual((said.code, said.out.count("FAILED"), said.err), (1, 1, "clotho: 1 step failed; see above\n"))

    def test_versions_are_read_as_ninja_reads_them(self):
        for version in ("1", "1.0", "1-extra", "1.0-extra", "1.0.7", "01", "1-x.0", "1-1.0", "2", "1.1", "1-x.1", "1.01", "0", "x", "11"):
            with self.subTest(version):
                self.file("build.ninja", "rule r\n  command = touch $out\nbuild a: r | dd\n  dyndep = dd\n")
                self.file("dd", "ninja_dyndep_version = %s\nbuild a: dyndep\n" % version)
                theirs = subprocess.run([NINJA, "-n"], cwd=self.temporary.name, stdout=subprocess.DEVNULL, check=False).returncode
                self.assertEqual(self.say("build", "-n").code, theirs)

    def test_bad_files_are_one_line(self):
        for text, part in (("", "the name of a variable"), ("x = 1\n", "comes first"), ("ninja_dyndep_version = 2\n", "version '2'"),
                           ("build a: dyndep\n", "'='"), ("ninja_dyndep_version = 1\nbuild a: dyndep\n", "says nothing of 'b'"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep\nbuild a: dyndep\n", "comes twice"),
                           ("ninja_dyndep_version = 1\nbuild c: dyndep\n", "'c' is no output"),
                           ("ninja_dyndep_version = 1\nbuild a: cat\n", "'dyndep'"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep x\n", "behind '|'"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep || x\n", "end of the line"),
                           ("ninja_dyndep_version = 1\nbuild a b: dyndep\n", "not 2"),
                           ("ninja_dyndep_version = 1\nbuild a | late: dyndep\n", "another statement makes 'late'"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep\n  depfile = 1\n", "only restat"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep\nrule x\n", "a build statement"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep", "line end"),
                           ("ninja_dyndep_version = 1\nbuild a: dyndep | b.mod\nbuild b | b.mod: dyndep | a\n", "need each other")):
            with self.subTest(text):
                self.file("dd1.in", text)
                self.bad(1, "build", holds=part)
                self.assertNotIn("no work", self.ninja())

    def test_files_that_wait_for_themselves_or_are_missing(self):
        self.file("build.ninja", "rule r\n  command = touch $out\nbuild dd: r a\nbuild a: r || dd\n  dyndep = dd\nbuild z: r a\n")
        self.bad(1, "build", holds="need each other: a -> dd -> a")
        self.file("build.ninja", "rule r\n  command = touch $out\nbuild a: r || dd\n  dyndep = dd\n")
        self.bad(1, "build", holds="'dd' is missing")

    @unittest.skipIf(SANITIZED, "long")
    @unittest.skipUnless(shutil.which("cmake") and shutil.which("gfortran"), "cmake or gfortran is not installed")
    def test_a_fortran_project_of_cmake(self):
        self.file("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(p Fortran)\nadd_library(l STATIC one.f90 two.f90)\n"
                  "add_executable(e main.f90)\ntarget_link_libraries(e l)\n")
        self.file("one.f90", "module one\n  integer :: x = 1\nend module\n")
        self.file("two.f90", "module two\n  use one\n  integer :: y = 2\nend module\n")
        self.file("main.f90", "program main\n  use two\n  print *, x + y\nend program\n")
        made = subprocess.run(["cmake", "-G", "Ninja", "-S", ".", "-B", "b"], cwd=self.temporary.name, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        if made.returncode != 0:
            self.skipTest("cmake finds no Fortran compiler that works")
        self.good("build", "b")
        self.up_to_date("-C", "b")
        self.assertEqual(subprocess.run([self.path("b/e")], stdout=subprocess.PIPE, check=True).stdout.split(), [b"3"])
        self.file("one.f90", "module one\n  integer :: x = 1\n  integer :: z = 5\nend module\n")
        self.assertIn("two.f90.o", self.good("build", "b", "-v"))
        self.up_to_date("-C", "b")


if __name__ == "__main__":
    unittest.main()
