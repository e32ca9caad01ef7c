"""clotho build: trees as CMake and meson make them. The files are those of ninja, byte for byte; ninja finds nothing to do; after an
edit the same steps run."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, SOURCE, CommandTest

NINJA = shutil.which("ninja")
NOT_PRODUCTS = re.compile(r"\.ninja_(log|deps)$|^\.clotho_|^meson-(logs|private)/|/CMakeFiles/CMakeOutput.log$")

MESON = """project('p', 'c', version: '1.2', default_options: ['b_lto=false'])
conf = configuration_data()
conf.set_quoted('VERSION', meson.project_version())
configure_file(output: 'config.h', configuration: conf)
made = custom_target('made', output: ['made.c', 'made.h'], input: 'make.py', command: [find_program('python3'), '@INPUT@', '@OUTPUT@'])
l = static_library('l', 'l.c', made)
e = executable('e', 'e.c', made[1], link_with: l)
test('e', e)
"""
MESON_FILES = {"meson.build": MESON, "l.c": "#include \"made.h\"\n#include <config.h>\nconst char *l(void) { return VERSION; }\n",
               "make.py": "import sys\nopen(sys.argv[1], 'w').write('int made(void) { return 1; }\\n')\n"
                          "open(sys.argv[2], 'w').write('int made(void);\\n')\n",
               "e.h": "#define E 1\n", "e.c": "#include \"made.h\"\n#include \"e.h\"\nint main(void) { return made() - E; }\n"}


@unittest.skipIf(SANITIZED, "long")
@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Trees(CommandTest):
    def run_in(self, folder, *words):
        done = subprocess.run(words, cwd=self.path(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=LONG)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def products(self, folder):
        found = {}
        for place, _, names in os.walk(self.path(folder)):
            for name in names:
                path = os.path.relpath(os.path.join(place, name), self.path(folder))
                if not NOT_PRODUCTS.search(path) and not os.path.islink(os.path.join(place, name)):
                    with open(os.path.join(place, name), "rb") as file:
                        found[path] = hashlib.sha256(file.read()).hexdigest()
        return found

    def steps(self, text):
        return sorted(line.split("] ", 1)[1] for line in text.splitlines() if re.match(r"\[\d+/\d+\] ", line))

    def up_to_date(self, folder):
        self.assertEqual(self.run_in(folder, NINJA, "-n").splitlines()[-1], "ninja: no work to do.")
        self.assertEqual(self.good("build", folder, "-n").splitlines()[1:], ["clotho: no work to do."])

    def same_answers(self, folder):
        """The reader: all outputs, by ninja's own tools."""
        names = [line.rsplit(": ", 1)[0] for line in self.run_in(folder, NINJA, "-t", "targets", "all").splitlines()]
        for tool in (("targets", "all"), ("compdb",), ("commands",), ("query", *names)):
            self.assertEqual(self.good("build", "-C", folder, "-t", *tool), self.run_in(folder, NINJA, "-t", *tool), tool[0])

    def same_builds(self, folder, header):
        """`folder` is configured; builds there by both, at one path, from nothing."""
        self.same_answers(folder)
        shutil.copytree(self.path(folder), self.path("kept"), symlinks=True)
        self.run_in(folder, NINJA)
        theirs = self.products(folder)
        shutil.rmtree(self.path(folder))
        shutil.copytree(self.path("kept"), self.path(folder), symlinks=True)
        self.good("build", folder, "-j", "3")
        self.assertEqual(self.products(folder), theirs)
        self.up_to_date(folder)
        self.same_after_edit(folder, lambda: os.utime(self.path(header)))

        def change_flag():
            with open(self.path(folder + "/build.ninja"), encoding="utf-8") as file:
                text = file.read()
            changed, count = re.subn(r"(?m)^( +(FLAGS|ARGS) = .*)$", r"\1 -DNEW=1", text, count=1)
            self.assertEqual(count, 1)
            about = os.stat(self.path(folder + "/build.ninja"))
            self.file(folder + "/build.ninja", changed)
            os.utime(self.path(folder + "/build.ninja"), ns=(about.st_atime_ns, about.st_mtime_ns))
        self.same_after_edit(folder, change_flag)

    def same_after_edit(self, folder, edit):
        edit()
        theirs = self.steps(self.run_in(folder, NINJA, "-n", "-v"))
        self.assertEqual(self.steps(self.good("build", folder, "-n", "-v")), theirs)
        ran = self.steps(self.good("build", folder, "-v"))
        self.assertTrue(ran and set(ran) <= set(theirs), ran)  # restat may spare steps
        self.up_to_date(folder)

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_cmake_with_a_generated_header(self):
        subprocess.run([sys.executable, os.path.join(SOURCE, "tools/make_project.py"), self.path("p"), "6"], check=True)
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.path("p"), "-B", self.path("b")], check=True, stdout=subprocess.DEVNULL)
        self.same_builds("b", "p/shared.h")

    @unittest.skipUnless(shutil.which("meson"), "meson is not installed")
    def test_meson(self):
        os.mkdir(self.path("p"))
        for name, text in MESON_FILES.items():
            self.file("p/" + name, text)
        subprocess.run(["meson", "setup", self.path("b"), self.path("p")], check=True, stdout=subprocess.DEVNULL)
        self.same_builds("b", "p/e.h")

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_cmake_takes_it_for_ninja(self):
        os.mkdir(self.path("p"))
        self.file("p/CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p C)\ninclude(CheckIncludeFile)\n"
                  "check_include_file(stdio.h HAS_STDIO)\nadd_executable(e e.c)\n")
        self.file("p/e.c", "int main(void) { return 0; }\n")
        program = os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")
        self.run_in(".", "cmake", "-G", "Ninja", "-S", "p", "-B", "b", "-DCMAKE_MAKE_PROGRAM=" + program)
        self.assertIn("Linking C executable e", self.run_in(".", "cmake", "--build", "b", "-j", "2"))
        self.assertEqual(self.run_in(".", "cmake", "--build", "b").splitlines()[-1], "ninja: no work to do.")
        self.file("p/e.c", "int main(void) { return 1 - 1; }\n")
        self.assertIn("Building C object", self.run_in(".", "cmake", "--build", "b", "--target", "e", "--", "-k", "0"))
        self.assertIn("Cleaning", self.run_in(".", "cmake", "--build", "b", "--target", "clean"))
        self.run_in(".", "cmake", "-S", "p", "-B", "b")  # again, with the logs there: -t recompact, restat, cleandead
        self.run_in(".", "cmake", "--build", "b")
        self.up_to_date("b")

    @unittest.skipUnless(shutil.which("meson"), "meson is not installed")
    def test_meson_takes_it_for_ninja(self):
        os.mkdir(self.path("p"))
        for name, text in MESON_FILES.items():
            self.file("p/" + name, text)
        ninja = ["env", "NINJA=" + os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")]
        said = self.run_in(".", *ninja, "meson", "setup", "b", "p")
        self.assertNotIn("WARNING", said)
        self.assertTrue(os.path.exists(self.path("b/compile_commands.json")))
        self.assertIn("[", self.run_in(".", *ninja, "meson", "compile", "-C", "b"))
        self.assertIn("ninja: no work to do.", self.run_in(".", *ninja, "meson", "compile", "-C", "b"))
        self.assertRegex(self.run_in(".", *ninja, "meson", "test", "-C", "b"), r"Ok: +1")
        self.assertEqual(self.run_in("b", NINJA, "-n", "all").splitlines()[-1], "ninja: no work to do.")

    def reconfigures_once(self, file, text, said, *words):
        """After a change of what the manifest is made from; the step that makes it calls -t restat in its own folder."""
        self.run_in(".", *words)
        for content in (text, text, text + "# more\n"):
            self.file(file, content)
            os.utime(self.path(file), ns=(os.stat(self.path("b/build.ninja")).st_mtime_ns + 1,) * 2)
            self.assertEqual(self.run_in(".", *words).count(said), 1)
            self.assertIn("ninja: no work to do.", self.run_in(".", *words))
            self.up_to_date("b")
        self.assertTrue(os.path.exists(self.path("b/f")))  # the target that `text` adds

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_cmake_runs_again_below_it(self):
        os.mkdir(self.path("p"))
        text = "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(e e.c)\n"
        self.file("p/CMakeLists.txt", text)
        self.file("p/e.c", "int main(void) { return 0; }\n")
        program = os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")
        self.run_in(".", "cmake", "-G", "Ninja", "-S", "p", "-B", "b", "-DCMAKE_MAKE_PROGRAM=" + program)
        self.reconfigures_once("p/CMakeLists.txt", text + "add_executable(f e.c)\n", "Re-running CMake", "cmake", "--build", "b")

    @unittest.skipUnless(shutil.which("meson"), "meson is not installed")
    def test_meson_runs_again_below_it(self):
        os.mkdir(self.path("p"))
        text = "project('p', 'c')\nexecutable('e', 'e.c')\n"
        self.file("p/meson.build", text)
        self.file("p/e.c", "int main(void) { return 0; }\n")
        ninja = ["env", "NINJA=" + os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")]
        self.run_in(".", *ninja, "meson", "setup", "b", "p")
        self.reconfigures_once("p/meson.build", text + "executable('f', 'e.c')\n", "The Meson build system", *ninja, "meson", "compile",
                               "-C", "b")

    def test_by_ninjas_name_all_operands_are_targets(self):
        """A folder with a build.ninja, named as a target is: no folder to build in."""
        os.makedirs(self.path("b/sub"))
        self.file("b/build.ninja", "rule t\n  command = touch $out\nbuild sub: phony a\nbuild a: t\nbuild c: t\n")
        self.file("b/sub/build.ninja", "rule t\n  command = touch $out\nbuild sub: t\n")
        program = os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")
        for name in ("ninja", "ninja-build"):
            os.symlink(CLOTHO, self.path(name))
        for word in (program, self.path("ninja"), self.path("ninja-build")):
            self.assertEqual(self.run_in("b", word, "--version"), self.run_in("b", CLOTHO, "build", "--version"))
            self.assertRegex(self.run_in("b", word, "--version"), r"^1\.\d+\.\d+\n$")
            theirs = self.run_in(".", NINJA, "-C", "b", "-n", "-v", "sub")
            said = self.run_in(".", word, "-C", "b", "-v", "sub")
            self.assertEqual(said, theirs)
            self.assertEqual(os.listdir(self.path("b/sub")), ["build.ninja"])
        self.assertEqual(said, "ninja: Entering directory `b'\nninja: no work to do.\n")

    def test_by_ninjas_name_it_speaks_as_ninja(self):
        """What editors and scripts look for: who speaks, why a build stopped, exit codes, the tools."""
        program = os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")
        text = "rule f\n  command = false\nrule t\n  command = touch $out\nbuild a: f\nbuild b: f\nbuild c: t\nbuild all: phony a b c\n"

        def both(*words):
            said = []
            for word in (NINJA, program):
                self.file("build.ninja", text)
                for name in (".ninja_log", ".ninja_deps", "c"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
                said.append(subprocess.run([word, *words], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           check=False))
            self.assertEqual(said[0].returncode, said[1].returncode, words)
            return said

        for words, why in ((["-k1", "a"], "subcommand failed"), (["-j1", "-k2"], "subcommands failed"),
                           (["-k0"], "cannot make progress due to previous errors"), (["-k3"], "cannot make progress due to previous errors")):
            theirs, mine = both(*words)
            self.assertEqual([one.stdout.splitlines()[-1] for one in (theirs, mine)], ["ninja: build stopped: %s." % why] * 2)
            self.assertEqual(mine.stderr, "")
        theirs, mine = both("-n", "-d", "explain", "c")
        self.assertEqual((theirs.stderr, theirs.stdout), (mine.stderr, mine.stdout))
        self.assertIn("ninja explain: ", mine.stderr)
        for words in (("nosuch",), ("-t", "nosuch"), ("--nosuch",), ("-f", "nosuch"), ("-k", "x"), ("-d", "nosuch")):
            theirs, mine = both(*words)
            self.assertRegex(mine.stderr, "^ninja: error: [^\n]*\n$")
            self.assertEqual(mine.returncode, 1)
        self.file("build.ninja", "rule s\n  command = touch begun; sleep 60\nbuild a: s\n")
        with subprocess.Popen([program], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not os.path.exists(self.path("begun")):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LONG)
        self.assertEqual((process.returncode, out.splitlines()[-1], err), (2, "ninja: build stopped: interrupted by user.", ""))
        theirs, mine = both("-t", "list")
        lines = theirs.stdout.splitlines()
        self.assertEqual(mine.stdout.splitlines()[0], lines[0])
        self.assertEqual(sorted(mine.stdout.splitlines()), sorted(line for line in lines if "  browse  " not in line))
        self.assertEqual(self.good("build", "-t", "list").splitlines()[1:], mine.stdout.splitlines()[1:])

    def test_by_ninjas_name_a_manifest_that_cannot_be_made_anew_is_named(self):
        program = os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")
        text = "rule g\n  command = %s\n  generator = 1\nbuild build.ninja: g new\nbuild a: phony\n"

        def said(word, command, is_interrupted, *options):
            for name in ("begun", ".ninja_log", ".ninja_deps"):
                if os.path.exists(self.path(name)):
                    os.remove(self.path(name))
            self.file("build.ninja", text % command)
            os.utime(self.path("build.ninja"), (1, 1))
            with subprocess.Popen([word, *options], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                while is_interrupted and process.poll() is None and not os.path.exists(self.path("begun")):
                    time.sleep(0.01)
                if is_interrupted:
                    process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=LONG)
            return process.returncode, "" if is_interrupted else out, err

        self.file("new", "")
        for command, is_interrupted, options, why in (("false", False, (), "subcommand failed"),
                                                      ("false", False, ("-k0",), "cannot make progress due to previous errors"),
                                                      ("touch begun; sleep 60", True, (), "interrupted by user")):
            theirs, mine = (said(word, command, is_interrupted, *options) for word in (NINJA, program))
            self.assertEqual(theirs, mine)
            self.assertEqual((mine[0], mine[2]), (1, "ninja: error: rebuilding 'build.ninja': %s\n" % why))

    def test_a_hundred_thousand_statements(self):
        """Read whole: the last target's command is the last one's. How long it takes is bench/builds/parse.py's matter."""
        self.file("build.ninja", "rule r\n  command = cmd $x $in $out\n" + "".join(
            "build o%d: r i%d | h || o%d\n  x = %d\n" % (i, i, i // 2, i) for i in range(1, 100001)) + "build o0: phony\n")
        commands = subprocess.run([CLOTHO, "build", "-t", "commands", "o100000"], cwd=self.temporary.name, stdout=subprocess.PIPE,
                                  text=True, check=True, timeout=LONG).stdout.splitlines()
        self.assertEqual((len(commands), commands[-1]), (17, "cmd 100000 i100000 o100000"))


if __name__ == "__main__":
    unittest.main()
