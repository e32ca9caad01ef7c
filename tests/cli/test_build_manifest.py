"""clotho build: a manifest that a statement of its own makes is made anew as ninja does it, and read again only where it was."""
import os
import shutil
import subprocess
import time
import unittest

from support import CLOTHO, LONG, CommandTest

NINJA = shutil.which("ninja")
CMAKE = shutil.which("cmake")

# As CMake writes it for file(GLOB ... CONFIGURE_DEPENDS): a step that is always out of date looks, and mostly leaves its output alone.
GLOBS = """rule check
  command = echo x >> checks; test -f globs && ! test -f changed || touch globs; rm -f changed
  restat = 1
  generator = 1
rule again
  command = echo x >> agains; touch build.ninja
  generator = 1
rule cp
  command = cp $in $out
build force: phony
build globs: check | force
build build.ninja: again globs
build out: cp in
default out
"""
AGAIN = "rule again\n  command = echo x >> agains; %s\n  generator = 1\nbuild build.ninja: again conf\n" \
        "rule t\n  command = touch $out\nbuild out: t\ndefault out\n"


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Manifest(CommandTest):
    def fresh(self, text, *files):
        for folder in ("theirs", "mine"):
            shutil.rmtree(self.path(folder), ignore_errors=True)
            os.mkdir(self.path(folder))
            for name in files:
                self.file(os.path.join(folder, name), "")
            self.file(folder + "/build.ninja", text)

    def touch(self, *names):
        time.sleep(0.02)  # newer than all that was made
        for folder in ("theirs", "mine"):
            for name in names:
                self.file(os.path.join(folder, name), "")

    def same(self, *words):
        """Both do the same, line for line. Returns what clotho says and its exit status."""
        said = []
        for folder, program in (("theirs", [NINJA]), ("mine", [CLOTHO, "build"])):
            done = subprocess.run([*program, *words], cwd=self.path(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=LONG, check=False)
            counts = {name: self.bytes(os.path.join(folder, name)).count(b"x") for name in ("checks", "agains")
                      if os.path.exists(self.path(os.path.join(folder, name)))}
            lines = [line for line in done.stdout.replace("ninja: ", "clotho: ").splitlines() if not line.startswith("--")]
            said.append((done.returncode, counts, [line for line in lines if line.startswith("[") or "no work" in line]))
        self.assertEqual(said[1], said[0])
        return said[1][2], said[1][0]

    def test_what_stands_below_it_may_run_in_each_build(self):
        self.fresh(GLOBS, "in")
        self.same()
        for _ in range(3):
            lines, code = self.same()
            self.assertEqual((len(lines), lines[-1], code), (2, "clotho: no work to do.", 0))
        self.touch("in")
        self.assertEqual(self.same()[0][-1], "[1/1] cp in out")
        self.touch("changed")
        self.same()
        self.assertEqual(self.bytes("mine/agains"), b"x\n" * 2)
        self.assertEqual(self.same("out", "-n")[1], 0)

    def test_it_is_not_read_again_where_it_was_not_made(self):
        """Part of it is a pipe, which can be read once."""
        self.fresh(GLOBS, "in")
        self.same()
        for folder in ("theirs", "mine"):
            self.file(folder + "/part", "build more: cp in\ndefault more\n")
            self.file(folder + "/build.ninja", GLOBS + "include part\n")
        self.same()
        os.unlink(self.path("mine/part"))
        os.mkfifo(self.path("mine/part"))
        with subprocess.Popen([CLOTHO, "build"], cwd=self.path("mine"), stdout=subprocess.PIPE, text=True) as running:
            with open(self.path("mine/part"), "w", encoding="utf-8") as pipe:
                pipe.write("build more: cp in\nbuild evenmore: cp in\ndefault more evenmore\n")
            self.assertEqual(running.communicate(timeout=LONG)[0].splitlines()[-1], "[1/1] cp in evenmore")

    def test_its_own_statement_may_leave_it_as_it_was(self):
        self.fresh(AGAIN.replace("generator = 1", "generator = 1\n  restat = 1") % "true", "conf")
        for _ in range(2):
            self.touch("conf")
            self.assertEqual(self.same()[1], 0)
            self.same()

    def test_other_spellings_of_its_path_are_the_same_file(self):
        for path in ("build.ninja", "./build.ninja", ".//build.ninja", "sub/../build.ninja", "./sub/./../build.ninja"):
            with self.subTest(path):
                self.fresh(AGAIN % "touch build.ninja", "conf")
                for folder in ("theirs", "mine"):
                    os.mkdir(self.path(folder + "/sub"))
                self.same()
                self.touch("conf")
                self.assertIn("touch build.ninja", self.same("-f", path)[0][0])
                self.assertEqual(self.same("-f", path)[0], ["clotho: no work to do."])

    def test_one_that_is_always_out_of_date_is_made_a_hundred_times(self):
        self.fresh(AGAIN.replace("again conf", "again force\nbuild force: phony") % "touch build.ninja")
        self.assertEqual(self.same()[1], 1)
        self.bad(1, "build", "-C", "mine", holds="100 times")

    def test_a_target_that_only_the_next_one_has(self):
        text = "rule again\n  command = echo x >> agains; cp conf build.ninja\n  generator = 1\nbuild build.ninja: again conf\n" \
               "rule t\n  command = touch $out\n"
        self.fresh(text, "conf")
        for folder in ("theirs", "mine"):
            self.file(folder + "/conf", text)
        self.same()
        time.sleep(0.02)
        for folder in ("theirs", "mine"):
            self.file(folder + "/conf", text + "build new: t\n")
        for words in (("-n", "new"), ("-n", "none"), ("new",), ("new",), ("none",), ("-n", "none")):
            with self.subTest(words):
                self.same(*words)
        self.assertTrue(os.path.exists(self.path("mine/new")))
        time.sleep(0.02)
        for folder in ("theirs", "mine"):
            self.file(folder + "/conf", text)
        self.assertEqual(self.same("new")[1], 1)  # that does not have it any more
        self.assertEqual(self.bytes("mine/build.ninja").decode(), text)

    def test_a_failure_to_make_it_builds_nothing(self):
        self.fresh(AGAIN % "false", "conf")
        self.touch("conf")
        self.assertEqual(self.same()[1], 1)
        self.assertFalse(os.path.exists(self.path("mine/out")))

    @unittest.skipUnless(CMAKE, "cmake is not installed")
    def test_a_project_of_cmake_with_globs(self):
        for folder in ("theirs", "mine"):
            os.makedirs(self.path("source-%s/src" % folder))
            self.file("source-%s/CMakeLists.txt" % folder, "cmake_minimum_required(VERSION 3.14)\nproject(g NONE)\n"
                      "file(GLOB S CONFIGURE_DEPENDS src/*.c)\nadd_custom_command(OUTPUT all.c COMMAND cat ${S} > all.c DEPENDS ${S} VERBATIM)\n"
                      "add_custom_target(g ALL DEPENDS all.c)\n")
            self.file("source-%s/src/m.c" % folder, "int main(void) { return 0; }\n")
            subprocess.run([CMAKE, "-G", "Ninja", "-S", "source-" + folder, "-B", folder], cwd=self.temporary.name, check=True,
                           stdout=subprocess.DEVNULL)
        lines = [self.same()[0] for _ in range(3)]
        self.assertTrue(all("Re-checking globbed directories" in said[0] for said in lines), lines)
        self.assertEqual(lines[2][-1], "clotho: no work to do.")
        for folder in ("theirs", "mine"):
            self.file("source-%s/src/n.c" % folder, "int n;\n")
        self.assertIn("Re-running CMake", "".join(self.same()[0]))
        self.assertIn(b"int n;", self.bytes("mine/all.c"))
        self.assertEqual(self.same()[0][-1], "clotho: no work to do.")


if __name__ == "__main__":
    unittest.main()
