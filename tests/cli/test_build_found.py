"""clotho build: inputs that compilers find (deps = gcc, deps = msvc), and what restat may believe. ninja is the judge."""
import hashlib
import os
import random
import re
import subprocess
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest
from test_build_dirty import NINJA

SAID = ("a.cpp\nb.cpp\nP: z.h\r\nP:   ./sub/../in.h\nwarning\nc.c\nP:x.h\rP:z.h\nP:\nP:  \nC:/Program Files/Q.h\n"
        "P:c:/PROGRAM files/q.h\nlast")


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Found(CommandTest):
    def trees(self, files):
        """The same files in two folders, one for each builder."""
        for folder in ("theirs", "mine"):
            os.makedirs(self.path(folder + "/sub"))
            for name, content in files.items():
                self.file(folder + "/" + name, content)

    def change(self, action, name):
        time.sleep(0.02)  # further than a tick of the clock of files
        for folder in ("theirs", "mine"):
            action(self.path(folder + "/" + name))

    def both(self, *words):
        """What both print must be the same, but for the last line of a failed build. Returns it."""
        theirs = subprocess.run([NINJA, "-C", "theirs", *words], cwd=self.temporary.name, capture_output=True, check=False)
        mine = self.say("build", "-C", "mine", *words)
        self.assertEqual(mine.code, theirs.returncode, mine.err)
        text = theirs.stdout.decode().replace("ninja: build stopped: subcommand failed.\n", "").replace("ninja: ", "clotho: ").replace("`theirs'", "`mine'")
        self.assertEqual(mine.out, text.replace("\r\n", "\n"))
        return mine.out

    def test_a_flood_of_output_is_ninjas_byte_for_byte(self):
        """More than stays in memory: colours and names of headers on both sides of its pieces, lines without an end; and held back,
        as another step has the console from before the flood until its end was seen."""
        parts = (b"plain\n", b"\033[31mred\033[0m", b"\033", b"\033[", b"P: x.h\r\n", b"P:  z.h\n", b"\r", b"\n", b"y" * 200000 + b"\n",
                 b"abc.c\n", b"w" * 70000)
        flood, chance = bytearray(), random.Random(5)
        while len(flood) < 20 << 20:
            flood += chance.choice(parts)
        self.trees({"build.ninja": "rule r\n  command = cat said; touch $out\nrule v\n  command = cat said; touch $out\n  deps = msvc\n"
                    "  msvc_deps_prefix = P:\nrule w\n  command = touch $out.begun; while test ! -e $until.begun; do sleep 0.02; done; $do\n"
                    "  description = w\nbuild a: v\nbuild b: w || a\n  until = c\n  do = cat said\n"
                    "build c: w || a\n  until = d\n  pool = console\nbuild d: w || b\n  until = e\nbuild e: w || c\n  until = e\n",
                    "said": "", "x.h": "", "z.h": ""})
        for folder in ("theirs", "mine"):
            self.file(folder + "/said", bytes(flood))
        plain = {**os.environ, "NINJA_STATUS": ""}  # d and e end in either order
        theirs = subprocess.run([NINJA, "-j3"], cwd=self.path("theirs"), env=plain, capture_output=True, check=True, timeout=LONG)
        with subprocess.Popen([CLOTHO, "build", "-j3"], cwd=self.path("mine"), env=plain, stdout=subprocess.PIPE) as mine:
            said = mine.stdout.read(30 << 20)  # b's is being printed
            with open("/proc/%d/status" % mine.pid, encoding="ascii") as file:
                peak_kib = int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1))
            said += mine.stdout.read()
        self.assertEqual(mine.returncode, 0)
        self.assertEqual(hashlib.sha256(said).digest(), hashlib.sha256(theirs.stdout).digest())
        if not SANITIZED:
            self.assertLess(peak_kib, 36 << 10)  # what was said is 40 MiB in all
        self.assertEqual([name for name in os.listdir(self.path("mine")) if name.startswith(".clotho-")], [])
        deps = subprocess.run([NINJA, "-t", "deps", "a"], cwd=self.path("mine"), capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.strip() for line in deps.splitlines()[1:3]], ["x.h", "z.h"])

    def test_headers_that_the_output_names(self):
        for prefix in ("P:", "Note: including file: "):
            with self.subTest(prefix):
                self.trees({"build.ninja": "rule r\n  command = cat said; touch $out\n  deps = msvc\n" +
                            ("msvc_deps_prefix = P:\n" if prefix == "P:" else "") + "build a: r\n",
                            "said": SAID.replace("P:", prefix), "in.h": "", "x.h": "", "z.h": ""})
                self.assertTrue(self.both().endswith("\nC:/Program Files/Q.h\nlast\n"))
                self.both()
                for action, name in ((os.utime, "in.h"), (os.utime, "x.h"), (os.unlink, "z.h")):
                    self.change(action, name)
                    self.assertIn("[1/1]", self.both("-n"))
                    self.both()
                self.assertEqual(self.bytes("mine/.ninja_deps")[:60], self.bytes("theirs/.ninja_deps")[:60])
            subprocess.run(["rm", "-r", self.path("theirs"), self.path("mine")], check=True)

    def test_a_failed_step_loses_the_lines_too(self):
        self.trees({"build.ninja": "rule r\n  command = echo 'Note: including file: in.h'; echo bad; exit 1\n  deps = msvc\n"
                    "build a: r\nrule g\n  command = echo 'b: in.h' > b.d; exit 1\n  deps = gcc\n  depfile = b.d\nbuild b: g\n"})
        self.assertNotIn("in.h\n", self.both("a").split("exit 1\n", 2)[2])
        self.both("b")
        self.assertFalse(os.path.exists(self.path("mine/b.d")) or os.path.exists(self.path("theirs/b.d")))

    def test_deps_that_cannot_be_read_fail_the_step(self):
        for rule, why in (("deps = gcc", "a depfile"), ("deps = gcc\n  depfile = a.d", "':'"), ("deps = cc", "gcc or msvc")):
            with self.subTest(rule):
                self.file("build.ninja", "rule r\n  command = touch $out; echo x > a.d\n  %s\nbuild a: r\n" % rule)
                said = self.say("build")
                self.assertEqual((said.code, said.err), (1, "clotho: 1 step failed; see above\n"))
                self.assertIn(why, said.out)
                os.unlink(self.path("a"))

    def test_backslashes_before_the_end_of_a_line_or_file(self):
        """One alone lets the line go on, or ends a name; more are part of it, and the line ends."""
        texts = [b"a: x%sy%sz%s" % (slashes + end, slashes, last) for slashes in (b"\\", b"\\" * 2, b"\\" * 3)
                 for end in (b"\n", b"\r\n", b"\r", b"\0", b" \n", b"\t") for last in (b"", b"\n", slashes, b"\\:" + slashes)]
        self.trees({"build.ninja": "rule r\n  command = cp $out.said $out.d; touch $out\n  depfile = $out.d\n  deps = gcc\n" +
                    "".join("build %d: r\n" % i for i in range(len(texts)))})
        for folder in ("theirs", "mine"):
            for i, text in enumerate(texts):
                with open(self.path("%s/%d.said" % (folder, i)), "wb") as file:
                    file.write(text)
        subprocess.run([NINJA, "-C", "theirs"], cwd=self.temporary.name, stdout=subprocess.DEVNULL, check=True)
        self.good("build", "-C", "mine")
        said = [subprocess.run([NINJA, "-t", "deps"], cwd=self.path(folder), capture_output=True, check=True).stdout
                for folder in ("theirs", "mine")]
        theirs, mine = (sorted(re.sub(rb"mtime \d+", b"", each) for each in text.rstrip(b"\n").split(b"\n\n")) for text in said)
        self.assertEqual(mine, theirs)
        self.assertEqual(len(mine), len(texts))

    def test_the_count_of_steps_is_ninjas_when_restat_spares_some(self):
        self.trees({"build.ninja": "rule same\n  command = cmp -s $in $out || cp $in $out\n  restat = 1\nrule cp\n  command = cp $in $out\n"
                    "build a: same in\nbuild b: cp a\nbuild c: cp b\n", "in": "x"})
        self.both()
        self.change(os.utime, "in")
        self.assertIn("[1/3] cmp", self.both())
        self.both()

    def test_a_change_in_the_tick_of_the_old_time_is_a_change(self):
        """An output of 'now' is written again, and the clock of files has not gone on: its time is the same, it is not."""
        rules = ("rule r\n  command = if grep -q new in; then date +%%s > begun; until [ `date +%%s` -gt `cat at` ]; do sleep 0.05; done; fi; "
                 "cp in a; touch -d @`cat at` a; : %s\n  restat = 1\nrule cp\n  command = cp a b; touch -d @`cat at` b\n"
                 "build a: r in\nbuild b: cp a\n")
        wait_s = 1
        for _ in range(6):
            at_s = int(time.time()) + 1 + wait_s
            self.file("at", str(at_s))
            self.file("in", "old")
            self.file("build.ninja", rules % "first")
            self.good("build")
            self.assertEqual(self.bytes("b"), b"old")
            self.file("in", "new")
            self.file("build.ninja", rules % "second")
            self.good("build")
            if int(self.bytes("begun")) < at_s:
                self.assertEqual(self.bytes("b"), b"new")
                return
            wait_s *= 2  # a slow machine: the step began too late
        self.skipTest("this machine takes longer than a minute to begin a step")

    def test_files_from_before_1970(self):
        self.trees({"build.ninja": "rule cp\n  command = cp $in $out\nbuild a: cp in\nbuild b: cp a\n", "in": "x"})
        for folder in ("theirs", "mine"):
            os.utime(self.path(folder + "/in"), (-5, -5))
        self.both()
        self.both()
        for folder in ("theirs", "mine"):
            os.utime(self.path(folder + "/b"), (-7000, -7000))
        self.assertIn("cp a b", self.both("-n"))
        self.both()
        self.assertEqual(self.both().splitlines()[1:], ["clotho: no work to do."])


if __name__ == "__main__":
    unittest.main()
