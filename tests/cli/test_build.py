"""clotho build: what it reads is what ninja reads. ninja's own tools are the judge, on manifests for each feature of the
language, on random ones, on a project that CMake makes and on the build folder of this test."""
import os
import random
import shutil
import subprocess
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest

NINJA = shutil.which("ninja")
HEAD = "rule cc\n  command = cc $flags $in -o $out\nrule touch\n  command = touch $out\n"

# name -> files; the manifest is "build.ninja"
GOOD = {
    "empty": "",
    "kinds of inputs": HEAD + "build a b | c d: cc e f | g h || i j |@ v w\nbuild v: touch\nbuild w: touch a\n",
    "escapes": HEAD + "flags = a$$b$:c$ d\nbuild $ a$:b$ : cc c$$d e$ f$\n   g\n  flags = -x $\n     -y\nbuild n: touch a$\n    b\n",
    "quotes": HEAD + "build it's: cc a'b c$ d e$$f (g) h\"i ä\n",
    "late and early": "x = 1\nrule r\n  command = $x $y $in $out\ny = 2\nx = 3\nz = $x$y\nx = 4\nbuild a: r $z\nbuild b: r $z\n  x = $x!\n"
                      "  y = $x?\n",
    "braces and dots": "a.b = 1\na = 2\nrule r\n  command = $a.b ${a.b} ${a}b $a-b\nbuild o: r\n",
    "in newline": "rule r\n  command = cat $out.rsp\n  rspfile = $out.rsp\n  rspfile_content = $in_newline\nbuild o: r a$ b c d | e\n",
    "rules that use rules": "rule r\n  command = x $description $out\n  depfile = $out.d\n  description = $rspfile $depfile\n"
                            "  rspfile = $out.rsp\n  rspfile_content = $in\nbuild o: r a b\nbuild p: r a b\n  depfile = q\n",
    "a file's variable before the rule's": "command = file $in\nrule r\n  command = rule $in\nbuild a: r b\nbuild c: r d\n  x = 1\n",
    "pools": "pool p\n  depth = 2\npool q\n  depth = $n\nrule r\n  command = x\n  pool = p\nbuild a: r\nbuild b: r\n  pool = q\n"
             "build c: r\n  pool =\nbuild d: r\n  pool = console\n",
    "phony": HEAD + "build all: phony a b\nbuild a: touch\nbuild b: touch a\nbuild none: phony\n",
    "defaults": HEAD + "build a: touch\nbuild b: touch\nbuild c: touch a\ndefault b\ndefault a ./b c\n",
    "paths": HEAD + "build ./a//b/../c: cc ../x/./y /z/../w ./. d/e/../../f /\nbuild q/: touch a/c\nbuild ..: touch ../../a/..\n",
    "comments": "# one\n" + HEAD + "   # indented\nbuild a: touch #b\n#\n\n  \nbuild c: touch\n  # no binding\n  flags = # text\nbuild d: cc\n",
    "line ends": HEAD.replace("\n", "\r\n") + "build a: touch $\r\n  b\r\n  flags = 1$\r\n 2\r\n",
    "required version": "ninja_required_version = 1.5\n" + HEAD + "build a: touch\n",
    "dyndep": "rule r\n  command = x\nbuild a: r b || dd\n  dyndep = dd\nbuild dd: r\n",
    "validation of a validation": HEAD + "build a: touch |@ b\nbuild b: touch |@ c\nbuild c: touch a\n",
    "words that look like keywords": "rule build.x\n  command = rules\nbuilds = pool\nbuild default: build.x include\n",
    "a value with anything": "x = : | || |@ = # build\nrule r\n  command = $x\nbuild a: r\n",
    "the same input twice": HEAD + "build a: cc b b | b || b\n",
    "many outputs": HEAD + "build a b c d: touch\nbuild e: cc d c\n",
    "include": {"build.ninja": "x = 1\ninclude sub/$f.ninja\nsubninja sub/in.ninja\nsubninja two.ninja\n" + "build z: inner\n",
                "sub/.ninja": "rule inner\n  command = inner $x\nx = 2\n",
                "sub/in.ninja": "x = 3\nrule inner\n  command = nested $x $y\nbuild s: inner\nsubninja sub/deep.ninja\ninclude sub/inc.ninja\n"
                                "build t: inner\n",
                "sub/deep.ninja": "build d: inner\nx = 5\n", "sub/inc.ninja": "x = 4\ny = 6\n",
                "two.ninja": "build u: inner\n  x = 9\nbuild all: phony s t d z u\n"},
}

# name -> files, part of the message; ninja refuses them too, on the same line
BAD = {
    "no rule": ("build a: nothing b\n", "no rule 'nothing'"),
    "no output": (HEAD + "build : cc a\n", "output"),
    "no colon": (HEAD + "build a cc b\n", "':'"),
    "no command": ("rule r\n  description = x\n\nbuild a: r\n", "no command"),
    "unknown binding": ("rule r\n  command = x\n  colour = y\n", "'colour'"),
    "rspfile alone": ("rule r\n  command = x\n  rspfile = y\n\n", "rspfile_content"),
    "rule twice": (HEAD + "rule cc\n  command = x\n", "already"),
    "output twice": (HEAD + "build a: cc\n\nbuild b a: cc\n", "line 5"),
    "output twice in one": (HEAD + "build a a: cc\n", "'a'"),
    "pool twice": ("pool p\n  depth = 1\npool p\n  depth = 2\n", "already"),
    "pool without depth": ("pool p\n\n", "no depth"),
    "pool with a bad depth": ("pool p\n  depth = -3\n", "depth"),
    "pool with more": ("pool p\n  width = 1\n", "depth and nothing else"),
    "unknown pool": (HEAD + "build a: cc\n  pool = p\n", "no pool 'p'"),
    "unknown default": (HEAD + "default a\n", "'a'"),
    "default of nothing": (HEAD + "default\n", "no target"),
    "empty path": (HEAD + "build $x: cc\n", "empty"),
    "escape": ("x = a$!\n", "'$$'"),
    "tab": ("rule r\n\tcommand = x\n", "tab"),
    "indent": ("  x = 1\n", "indented"),
    "no value": ("x\n", "'='"),
    "no line end": ("x = 1", "line end"),
    "a comment without a line end": ("x = 1\n# y", "'#'"),
    "carriage return": ("x = a\rb\n", "carriage"),
    "version": ("ninja_required_version = 99.1\n", "99.1"),
    "not there": ("include nothing.ninja\n", "build.ninja:1: nothing.ninja: cannot be read"),
    "not there, three deep": ({"build.ninja": "x = 1\nsubninja a.ninja\n", "a.ninja": "\n\ninclude $\n  b.ninja\n",
                               "b.ninja": "y = 1\ny = 2\nsubninja gone\n"}, "b.ninja:3: gone: cannot be read"),
    "a folder": ("\n\ninclude .\n", "build.ninja:3: .: cannot be read"),
    "dyndep no input": ("rule r\n  command = x\nbuild a: r\n  dyndep = b\n", "dyndep"),
    "an error in an include": ({"build.ninja": "x = 1\ninclude b.ninja\n", "b.ninja": "\n\nbuild\n"}, "b.ninja:3:"),
}


def random_manifest(draw):
    """Rules with bindings that use each other, edges over a few paths, includes."""
    paths = ["p%d" % i for i in range(30)] + ["d/e%d" % i for i in range(10)] + ["s$ p", "./c/../c%d" % draw.randrange(9), "q'q"]
    draw.shuffle(paths)
    text, made = ["v%d = %s\n" % (i, draw.choice(["", "x", "a $v0", "${v1}$v2", "'y'"])) for i in range(4)], 0
    for r in range(4):
        text.append("rule r%d\n  command = c%d $in $v%d $out $description $w\n  description = $v1 ${in_newline}\n" % (r, r, r))
        if draw.random() < 0.5:
            text.append("  depfile = $out.d\n  deps = gcc\n" if draw.random() < 0.5 else "  restat = 1\n  generator = $w\n")
    while made < len(paths) - 1:
        count = min(draw.randint(1, 3), len(paths) - made)
        outs, made = paths[made:made + count], made + count
        line = "build " + (" ".join(outs[:-1]) + " | " + outs[-1] if count > 1 and draw.random() < 0.3 else " ".join(outs)) + ":"
        if draw.random() < 0.2:
            line += " phony"
        else:
            line += " r%d" % draw.randrange(4)
        for mark in ("", " |", " ||", " |@"):
            if draw.random() < 0.6:
                line += mark + "".join(" " + draw.choice(paths + ["src%d" % i for i in range(9)])
                                       for _ in range(draw.randint(0, 3)))
        text.append(line + "\n")
        for key in ("w", "v1", "description"):
            if draw.random() < 0.2:
                text.append("  %s = %s\n" % (key, draw.choice(["", "1", "$v2 $w", "$$"])))
        if draw.random() < 0.1:
            text.append("v%d = new%d\n" % (draw.randrange(4), made))
    return "".join(text)


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Reading(CommandTest):
    def files(self, files, folder="."):
        for name, text in (files if isinstance(files, dict) else {"build.ninja": files}).items():
            path = os.path.join(self.temporary.name, folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)

    def both(self, folder, *tool):
        """The same words to both; names of targets may be many."""
        ninja, mine = (subprocess.run([*program, "-t", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      timeout=LONG, check=False)
                       for program, words in (([NINJA], tool), ([CLOTHO, "build"], tool)))
        self.assertEqual(ninja.returncode, 0, ninja.stderr)
        self.assertEqual(mine.stderr, b"")
        return ninja.stdout, mine.stdout

    def same_graph(self, folder):
        """Nothing but the answers of ninja's tools. Returns the number of outputs."""
        for tool in (("targets", "all"), ("targets", "rule"), ("compdb",), ("rules",), ("rules", "-d")):
            self.assertEqual(*self.both(folder, *tool))
        names = self.names(folder)
        for some in (names[i:i + 1000] for i in range(0, len(names), 1000)):
            self.assertEqual(*self.both(folder, "query", *some))
            self.assertEqual(*self.both(folder, "commands", *some))
        return len(names)

    def names(self, folder):
        said = subprocess.run([NINJA, "-t", "targets", "all"], cwd=folder, stdout=subprocess.PIPE, check=True)
        return [line.rsplit(b": ", 1)[0] for line in said.stdout.splitlines() if line]

    def test_every_feature_is_read_as_ninja_reads_it(self):
        for name, files in GOOD.items():
            with self.subTest(name):
                folder = os.path.join(self.temporary.name, name)
                self.files(files, name)
                self.same_graph(folder)

    def test_behind_an_empty_path_comes_no_blank(self):
        """`/` is one; ninja's tools take no such name as a target."""
        self.files("rule r\n  command = cat $in : $out\nbuild o / p: r / // a /. b\nbuild q: r a / b\n", "empty")
        for tool in (("targets", "all"), ("compdb",), ("commands", "o", "q")):
            self.assertEqual(*self.both(os.path.join(self.temporary.name, "empty"), *tool))

    def test_every_fault_is_one_line_where_ninja_sees_it(self):
        for name, (files, part) in BAD.items():
            with self.subTest(name):
                self.files(files, name)
                folder = os.path.join(self.temporary.name, name)
                ninja = subprocess.run([NINJA, "-t", "targets"], cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(ninja.returncode, 1)
                said = self.bad(1, "build", "-C", folder, "-t", "targets", holds=part)
                place = ninja.stderr.splitlines()[0].split(" ")[2]
                if place.endswith(":"):
                    self.assertIn(" " + place, said.err)

    def test_random_manifests(self):
        draw = random.Random(7)
        for i in range(4 if SANITIZED else 12):
            folder = os.path.join(self.temporary.name, "random%d" % i)
            self.files(random_manifest(draw), folder)
            self.same_graph(folder)

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_a_project_of_cmake(self):
        self.files({"CMakeLists.txt": "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(l STATIC l.c)\n"
                                      "add_custom_command(OUTPUT g.h COMMAND sh -c \"echo int g(void)\\; > g.h\")\n"
                                      "add_executable(e e.c ${CMAKE_BINARY_DIR}/g.h)\ntarget_link_libraries(e l)\n"
                                      "target_include_directories(e PRIVATE ${CMAKE_BINARY_DIR})\nadd_subdirectory(sub)\n",
                    "sub/CMakeLists.txt": "add_custom_target(t ALL COMMAND sh -c \"echo 'a b'\" DEPENDS e)\n",
                    "l.c": "int l(void) { return 1; }\n", "e.c": "#include <g.h>\nint main(void) { return 0; }\n"}, "p")
        folder = os.path.join(self.temporary.name, "p")
        subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder + "/b"], check=True, stdout=subprocess.DEVNULL)
        self.assertGreater(self.same_graph(folder + "/b"), 20)

    def test_the_build_folder_of_this_command(self):
        folder = os.path.dirname(os.path.dirname(CLOTHO))
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            self.skipTest("not built by ninja")
        for tool in (("targets", "all"), ("targets", "rule"), ("compdb",), ("rules",), ("rules", "-d")):
            self.assertEqual(*self.both(folder, *tool))
        self.assertEqual(*self.both(folder, "commands"))
        some = [n for n in self.names(folder) if b"edge" in n][:500]
        self.assertEqual(*self.both(folder, "query", *some))

    def test_where_the_folder_and_the_targets_are_said(self):
        self.files(HEAD + "build a: touch\nbuild b: touch\n", "d")
        here = self.good("build", "-C", "d", "-t", "commands", "a")
        self.assertEqual(here, "touch a\n")
        self.assertEqual(self.good("build", "d", "a", "-t", "commands"), here)
        self.assertEqual(self.good("build", "d", "-t", "commands"), "touch a\ntouch b\n")
        self.bad(1, "build", "nowhere", holds="build.ninja")
        self.bad(1, "build", "d", "c", holds="'c'")
        self.bad(1, "build", "-C", "nowhere", holds="nowhere")
        self.bad(2, "build", "d", "-t", "nothing", holds="query")

    def test_files_in_files_ten_thousand_deep(self):
        for i in range(9999):
            self.file("f%d" % i, "x = %d\nsubninja f%d\n" % (i, i + 1))
        self.file("f9999", "rule r\n  command = $x\nbuild a: r\n")
        self.assertEqual(self.good("build", "-f", "f0", "-t", "commands"), "9998\n")
        self.file("f9999", "subninja f10000\n")
        self.file("f10000", "x = 1\n")
        self.bad(1, "build", "-f", "f0", "-t", "commands", holds="10000 deep")
        self.file("loop", "include ./loop\n")
        self.bad(1, "build", "-f", "loop", holds="includes itself")

    def test_values_that_double_are_stopped(self):
        self.file("build.ninja", "x = 0123456789\n" + "x = $x$x\n" * 60)
        self.bad(1, "build", holds="contain themselves")
        self.file("build.ninja", "rule r\n  command = $depfile\n  depfile = $rspfile\n  rspfile = $depfile\n"
                                 "  rspfile_content = x\nbuild a: r\n")
        self.bad(1, "build", "-t", "commands", holds="needs itself")

    def test_a_rule_may_use_a_variable_twice(self):
        """ninja 1.11 calls this a cycle."""
        self.file("build.ninja", "rule r\n  command = x $description $description\n  description = d $out\nbuild a: r\n")
        self.assertEqual(self.good("build", "-t", "commands"), "x d a d a\n")

    def test_a_phony_statement_that_names_itself_does_not(self):
        self.file("build.ninja", "build a: phony a b || a c\n")
        self.assertEqual(self.good("build", "-t", "query", "a"), "a:\n  input: phony\n    b\n    || c\n  outputs:\n    a\n    a\n")
        self.file("build.ninja", "build a: phony b\nbuild all: phony a all\nbuild other: phony\n")
        self.assertEqual(self.good("build", "-t", "targets"), "other: phony\n")  # all is used, if only by itself: no root

    def test_no_text(self):
        self.file("build.ninja", b"x = 1\0\n")
        self.bad(1, "build", holds="zero byte")
        self.bad(1, "build", "-f", ".", holds="directory")


if __name__ == "__main__":
    unittest.main()
