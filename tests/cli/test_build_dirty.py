"""clotho build -n against ninja -n: the same steps in the same order, after any edit of a tree."""
import os
import random
import shutil
import subprocess
import unittest

from support import SANITIZED, CommandTest

NINJA = shutil.which("ninja")

# Every kind of step, of cheap commands. `gcc` writes the file and a depfile with the headers that the source names.
MANIFEST = """
ninja_required_version = 1.5
builddir = logs
flags = -a
pool one
  depth = 1
rule gcc
  command = (cat $in; echo $flags) > $out && (echo $out: $in `cat $in.deps`) > $out.d
  depfile = $out.d
  deps = gcc
  description = GCC $out
rule dep
  command = cat $in > $out && (echo $out: $in `cat $in.deps`) > $out.d
  depfile = $out.d
rule same
  command = cat $in > $out.tmp; if cmp -s $out.tmp $out; then rm $out.tmp; else mv $out.tmp $out; fi
  restat = 1
rule cat
  command = cat $in > $out
rule rsp
  command = cat $out.rsp > $out
  rspfile = $out.rsp
  rspfile_content = $in $more
rule gen
  command = cat $in > $out; : $flags
  generator = 1
rule two
  command = cat $in > one$n; cat $in > two$n

build gen.h: same gen.in
build a.o: gcc a.c || gen.h
build b.o: gcc b.c | b.extra || gen.h
  flags = -b $flags
build c.o: dep c.c || headers
build headers: phony gen.h d.h
build d.h: cat d.in
build e.o: gcc e.c
  pool = one
build f.o: gcc f.c
  pool = one
build lib: rsp a.o b.o
  more = x
build one1 | two1: two lib
  n = 1
build check: cat lib |@ checked
build checked: cat e.o f.o
build conf: gen conf.in
build user: cat conf c.o
build say: cat two1 || always
  pool = console
build always: phony
build all: phony check one1 user say nested
subninja sub.ninja
"""
SUB = "flags = -n\nbuild nested: same lib c.o\nbuild deeper: gcc g.c | nested\ndefault all deeper\n"
SOURCES = {"gen.in": "g\n", "b.extra": "x\n", "d.in": "d\n", "conf.in": "c\n",
           **{s + ".c": s + "\n" for s in "abcefg"}, **{h: h + "\n" for h in ("x.h", "y.h", "z.h")},
           "a.c.deps": "gen.h x.h\n", "b.c.deps": "gen.h y.h\n", "c.c.deps": "x.h d.h\n", "e.c.deps": "z.h\n",
           "f.c.deps": "\n", "g.c.deps": "y.h ./z.h\n"}


class Tree(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("build.ninja", MANIFEST)
        self.file("sub.ninja", SUB)
        for name, text in SOURCES.items():
            self.file(name, text)

    def run_ninja(self, *words):
        return subprocess.run([NINJA, *words], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)

    def steps(self, *words):
        """The steps of both, which must be the same."""
        theirs = self.run_ninja("-n", *words)
        mine = self.say("build", "-n", *words)
        if theirs.returncode == 0:
            self.assertEqual(mine.err, "")
            lines, their_lines = mine.out.replace("clotho: ", "").splitlines(), theirs.stdout.replace("ninja: ", "").splitlines()
            their_lines = [line for line in their_lines if not line.startswith("warning: ")]
            if any("cat two1 > say" in line for line in lines):  # ninja loses lines while a step has the console
                self.assertEqual(len(lines), int(lines[0].split("/")[1].split("]")[0]))
                lines = [line for line in lines if line in their_lines]
            self.assertEqual(lines, their_lines, self.run_ninja("-n", "-v", "-d", "explain").stdout)
        else:
            self.assertEqual((mine.code, mine.out), (1, ""), theirs.stdout)
            self.assertEqual(len(mine.err.splitlines()), 1, mine.err)
        return theirs.stdout

    def edit(self, draw):
        """One random edit. Returns what it was."""
        files = sorted(f for f in os.listdir(self.temporary.name) if os.path.isfile(self.path(f)) and not f.endswith("ninja"))
        kind = draw.choice(("touch", "touch", "write", "old", "remove", "deps", "flags", "log", "deps log", "torn", "newest"))
        name = draw.choice(files)
        if kind == "touch":
            os.utime(self.path(name))
        elif kind == "write":
            self.file(name, self.bytes(name) + b"more\n")
        elif kind == "old":
            os.utime(self.path(name), (1, 1) if draw.random() < 0.5 else (0, 0))
        elif kind == "remove" and name not in SOURCES:
            os.unlink(self.path(name))
        elif kind == "deps":
            self.file(draw.choice("abcefg") + ".c.deps", " ".join(draw.sample(("x.h", "y.h", "z.h", "gen.h", "no.h"), 2)))
        elif kind == "flags":
            text = self.bytes("build.ninja").decode()
            self.file("build.ninja", text.replace("flags = -", "flags = -" + draw.choice("pq"), 1))
        elif kind == "log":
            lines = self.bytes("logs/.ninja_log").splitlines(True)
            del lines[draw.randrange(1, len(lines)) if len(lines) > 1 else 0]
            self.file("logs/.ninja_log", b"".join(lines))
        elif kind in ("deps log", "torn"):
            log = "logs/.ninja_deps" if kind == "deps log" else "logs/.ninja_log"
            with open(self.path(log), "r+b") as file:
                file.truncate(max(20, os.path.getsize(self.path(log)) - draw.randint(1, 60)))
        elif kind == "newest":
            os.utime(self.path(name), (2e9, 2e9))
        return kind, name

@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Steps(Tree):
    def test_random_edits_make_the_same_steps_dirty(self):
        draw = random.Random(5)
        self.assertIn("[1/", self.steps("-v"))
        self.run_ninja()
        self.assertIn("no work", self.steps("-v", "say"))
        seen = set()
        for i in range(30 if SANITIZED else 60):
            done = [self.edit(draw) for _ in range(draw.choice((1, 1, 1, 2, 4)))]
            with self.subTest(i, edits=done):
                seen.add(self.steps("-v"))
            if i % 7 == 0:
                self.steps("lib", "c.o")
            if i % 3 == 2:
                self.run_ninja()
        self.assertGreater(len(seen), 10)

    def test_reasons(self):
        self.run_ninja()
        os.utime(self.path("x.h"), (2e9, 2e9))
        os.unlink(self.path("conf"))
        said = self.say("build", "-n", "--explain")
        self.assertIn("explain: output a.o older than most recent input x.h", said.err)
        self.assertIn("explain: output conf doesn't exist", said.err)

    def test_what_is_missing_or_in_a_circle_is_one_line(self):
        os.unlink(self.path("a.c"))
        self.bad(1, "build", "-n", holds=("'a.c'", "needed by 'a.o'", "build.ninja:"))
        self.file("circle.ninja", "rule r\n  command = x\nbuild a: r b\nbuild b c: r d\nbuild d: r a\nbuild z: phony\n")
        self.bad(1, "build", "-f", "circle.ninja", "-n", "c", holds="b -> d -> a -> b")
        self.file("circle.ninja", "rule r\n  command = x\nbuild a: r b\nbuild b: r a\n")
        self.bad(1, "build", "-f", "circle.ninja", "-n", holds="cycle")

    def test_a_long_chain_needs_no_deep_stack(self):
        count = 200000
        self.file("chain.ninja", "rule r\n  command = x\n" + "".join("build n%d: r n%d\n" % (i + 1, i) for i in range(count)))
        self.file("n0", "")
        out = self.good("build", "-f", "chain.ninja", "-n")
        self.assertEqual(out.splitlines()[-1], "[%d/%d] x" % (count, count))

    def test_logs_of_others(self):
        os.mkdir(self.path("logs"))
        self.file("logs/.ninja_log", "# ninja log v8\n")
        self.bad(1, "build", "-n", holds=("version 8", "newer ninja"))
        self.file("logs/.ninja_log", "# ninja log v3\nxyz\n")
        self.file("logs/.ninja_deps", b"# ninjadeps\n\x03\0\0\0garbage")
        self.assertIn("[1/", self.good("build", "-n"))

    def test_the_manifest_is_made_first(self):
        self.file("build.ninja", "rule g\n  command = cp in build.ninja\n  generator = 1\nbuild build.ninja: g in\n"
                                 "rule r\n  command = touch $out\nbuild a: r\n")
        os.utime(self.path("build.ninja"), (9, 9))
        self.file("in", "")
        self.steps("-v")
        os.utime(self.path("in"), (5, 5))
        self.steps("-v")


if __name__ == "__main__":
    unittest.main()
