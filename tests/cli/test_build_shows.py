"""clotho build: what it prints is what ninja prints, on a terminal and in a file; what ran as a trace, a picture, a summary."""
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import unittest

from support import CLOTHO, LONG, CommandTest

NINJA = shutil.which("ninja")

# A chain: with one job ninja has no choice of order.
CHAIN = """
rule say
  command = $do touch $out
  description = step $out $long
rule quiet
  command = touch $out
build a: say
  do = printf 'no line end';
build b: say a
  do = printf '\\033[31mred\\033[0m\\nplain\\n';
  long = 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789
build c: quiet b
build d: say c
  do = echo of the console;
  pool = console
build e: say d
  do = exit 3;
build f: say d
"""


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Lines(CommandTest):
    columns = 60

    def run_in(self, folder, program, terminal, environment):
        """What the program prints in a fresh folder, to a terminal or to a pipe."""
        shutil.rmtree(self.path(folder), ignore_errors=True)
        os.mkdir(self.path(folder))
        self.file(folder + "/build.ninja", CHAIN)
        clean = {k: v for k, v in os.environ.items() if k not in ("NINJA_STATUS", "MAKEFLAGS", "CLICOLOR_FORCE")}
        how = {"cwd": self.path(folder), "env": {**clean, **environment}, "stdin": subprocess.DEVNULL}
        if not terminal:
            return subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LONG, check=False, **how).stdout
        mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, self.columns, 0, 0))
        with subprocess.Popen(program, stdout=theirs, stderr=subprocess.DEVNULL, **how):
            os.close(theirs)
            text = b""
            while True:
                try:
                    got = os.read(mine, 4096)
                except OSError:  # the other end is closed
                    break
                if not got:
                    break
                text += got
        os.close(mine)
        return text

    def same(self, *words, terminal=True, **environment):
        """Both print the same. What each says last, and of itself, is its own."""
        environment.setdefault("TERM", "xterm")
        theirs = self.run_in("theirs", [NINJA, "-j1", *words], terminal, environment)
        mine = self.run_in("mine", [CLOTHO, "build", "-j1", "--policy", "fifo", *words], terminal, environment)
        theirs = re.sub(rb"ninja: [^\n]*\n", b"", theirs)
        self.assertEqual(mine, theirs)
        return mine

    def test_lines_are_those_of_ninja(self):
        on_terminal = self.same("-k", "0")
        self.assertIn(b"\r[1/6] step a \x1b[K", on_terminal)
        self.assertIn(b"...", on_terminal)
        self.same("-k", "0", terminal=False)
        self.same("-k", "0", "-v")
        self.same("-k", "0", TERM="dumb")
        self.same("-k", "0", "-v", terminal=False)
        self.assertIn(b"\x1b[31m", self.same("-k", "0", terminal=False, CLICOLOR_FORCE="1"))
        self.assertNotIn(b"\x1b[31m", self.same("-k", "0", terminal=False, CLICOLOR_FORCE="0"))

    def test_a_line_is_never_wider_than_the_terminal(self):
        """0: the terminal does not say how wide it is."""
        for self.columns in (0, 1, 2, 3, 4, 5, 9):
            with self.subTest(self.columns):
                self.same()

    def test_the_status_is_what_the_user_asks_for(self):
        for status in ("[%s/%t %r %u %f %p] ", "%%%f> ", "", "no field "):
            self.same("-k", "0", NINJA_STATUS=status)
            self.same("-k", "0", terminal=False, NINJA_STATUS=status)
        shown = self.run_in("rates", [CLOTHO, "build", "-k", "0"], False, {"NINJA_STATUS": "%o %c %e|"}).decode()
        self.assertRegex(shown, r"(?m)^\d+\.\d \? \d+\.\d{3}\|step a")
        self.file("build.ninja", CHAIN)
        for status, what in (("%q", "%q"), ("%", "%"), ("100%", "%"), ("%f %q%", "%q")):
            said = self.say("build", environment={"NINJA_STATUS": status})
            self.assertEqual((said.code, len(said.err.splitlines())), (2, 1), said.err)
            self.assertIn("NINJA_STATUS has '%s', which" % what, said.err)

    def test_lines_of_others_wait_for_the_console(self):
        self.file("build.ninja", "rule sh\n  command = $do\nbuild a: sh\n  pool = console\n  do = touch begun; while [ ! -e b ]; do "
                  "sleep 0.01; done; sleep 0.1; echo console; touch a\nbuild b: sh\n  do = while [ ! -e begun ]; do sleep 0.01; done; "
                  "echo other; touch b\n")
        lines = self.good("build", "-j", "2").splitlines()
        self.assertEqual([line for line in lines if line in ("console", "other")], ["console", "other"])


class Reports(CommandTest):
    MANIFEST = ("rule sh\n  command = sleep $t; touch $out\npool one\n  depth = 1\nbuild long: sh\n  t = 0.4\nbuild last: sh long\n"
                "  t = 0.2\n" + "".join("build s%d: sh\n  t = 0.05\n" % i for i in range(3)) + "build all: phony last s0 s1 s2\n")

    def test_the_trace_and_the_picture_are_of_what_ran(self):
        self.file("build.ninja", self.MANIFEST)
        os.mkdir(self.path("home"))
        subprocess.run([CLOTHO, "build", "..", "-j", "2", "--trace", "t.json", "--gantt", "g.svg"], cwd=self.path("home"), check=True,
                       stdout=subprocess.DEVNULL)
        with open(self.path("home/t.json"), encoding="utf-8") as file:
            trace = json.load(file)
        self.assertEqual(trace["otherData"]["times"], "measured")
        ran = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
        self.assertEqual(sorted(n for n in ran if n != "all"), ["last", "long", "s0", "s1", "s2"])
        self.assertGreaterEqual(ran["long"]["dur"], 4e5)
        self.assertGreaterEqual(ran["last"]["ts"], ran["long"]["ts"] + ran["long"]["dur"])
        self.assertIn(b"<svg", self.bytes("home/g.svg"))
        self.assertIn(b"long", self.bytes("home/g.svg"))

    def test_the_picture_has_the_bound_of_the_summary(self):
        """Of what was measured; also in a first build, of which nothing is known before."""
        def bound_s(text):
            value, unit = re.search(r"lower bound +([\d.]+) (s|ms|us|µs)", text).groups()
            return float(value) * {"s": 1, "ms": 1e-3}.get(unit, 1e-6)
        self.file("build.ninja", self.MANIFEST)
        for _ in range(2):
            said = bound_s(self.good("build", "-j", "2", "--summary", "--gantt", "g.svg"))
            drawn = bound_s(self.bytes("g.svg").decode())
            self.assertAlmostEqual(said / drawn, 1, delta=0.01)
            self.assertNotIn("gap -", self.bytes("g.svg").decode())
            os.unlink(self.path("long"))

    def test_a_summary_says_what_held_the_build(self):
        self.file("build.ninja", self.MANIFEST)
        said = self.good("build", "-j", "2", "--summary")
        self.assertIn("built         5 steps in ", said)
        self.assertIn("predicted     nothing", said)
        self.assertRegex(said, r"critical path \S+ \S+ in 2 steps, .* the longest of them:\n +\S+ \S+  long\n +\S+ \S+  last\n")
        for name in ("long", "last"):
            os.unlink(self.path(name))
        said = self.good("build", "-j", "2", "--summary")
        self.assertIn("built         2 steps", said)
        self.assertRegex(said, r"predicted     \S+ \S+, from the times of 2 of 2 steps; \S+ % off")
        self.assertRegex(said, r"what helps    (the critical path|others use)")
        self.assertEqual(self.good("build", "--summary"), "clotho: no work to do.\n")

    def test_a_failed_build_shows_what_ran(self):
        self.file("build.ninja", "rule sh\n  command = $do\nbuild a: sh\n  do = touch a\nbuild b: sh a\n  do = exit 2\nbuild c: sh b\n"
                  "  do = touch c\n")
        said = self.say("build", "--summary", "--trace", "t.json")
        self.assertEqual(said.code, 1)
        self.assertIn("built         2 steps", said.out)
        with open(self.path("t.json"), encoding="utf-8") as file:
            self.assertIn("b", [e["name"] for e in json.load(file)["traceEvents"] if e["ph"] == "X"])
        said = self.say("build", "--gantt", "g.svg")
        self.assertEqual(said.code, 1)
        self.assertIn("<title>b: failed</title>", self.bytes("g.svg").decode())
        said = self.say("build", "--report", "p.html")
        page = self.bytes("p.html").decode()
        self.assertIn("<dt>failed</dt><dd>b</dd>", page)
        self.assertNotIn("<dt>speedup</dt>", page)
        self.assertIn("<dt>executions</dt><dd>1, 0 replicas</dd>", page)  # c was never begun
        self.good("build", "a", "--plan", "--report", "p.html")
        self.assertIn("<h1>build, planned</h1>", self.bytes("p.html").decode())

    def test_a_build_that_stopped_is_not_compared_with_a_whole_one(self):
        self.file("build.ninja", "rule sh\n  command = [ ! -e bad ] && touch $out\nbuild a: sh\nbuild b: sh a\nbuild c: sh b\n")
        self.good("build")
        self.file("bad", "")
        for name in "abc":
            os.unlink(self.path(name))
        said = self.say("build", "--summary")
        self.assertEqual(said.code, 1)
        self.assertRegex(said.out, r"\npredicted     \S+ \S+ for all 3 steps, of which 1 ran\n")

    def test_a_file_on_standard_output_is_alone_there(self):
        self.file("build.ninja", "rule sh\n  command = $do\n  description = step $out\nbuild a: sh\n  do = echo said; touch a\nbuild b: sh a\n"
                  "  pool = console\n  do = echo of the console; touch b\n")
        for option, begins, ends in (("--report", "<!doctype html>", "</html>\n"), ("--gantt", "<svg", "</svg>\n"), ("--trace", "{", "}\n")):
            said = self.say("build", option, "-", "--summary")
            self.assertEqual(said.code, 0, said.err)
            self.assertTrue(said.out.startswith(begins) and said.out.endswith(ends), said.out[:200])
            self.assertFalse(re.search(r"^(\[\d+/|said|of the console|built)", said.out, re.M), option)
            for line in ("step a", "said", "of the console", "built         2 steps"):
                self.assertIn(line, said.err, option)
            for name in "ab":
                os.unlink(self.path(name))
        for option, begins in (("--report", "<!doctype html>"), ("--gantt", "<svg"), ("--out", "{")):
            said = self.say("build", "--plan", option, "-")
            self.assertTrue(said.code == 0 and said.out.startswith(begins), said)
            self.assertIn("makespan", said.err)
            self.assertNotIn("\nmakespan ", said.out)
        self.good("build")
        said = self.say("build", "--report", "-")
        self.assertEqual((said.code, said.out, said.err), (0, "", "clotho: no work to do.\n"))
        self.bad(2, "build", "--report", "-", "--trace", "-", holds="two files want standard output")
        self.bad(2, "build", "--plan", "--json", "--out", "-", holds="--json and '-' both want standard output")

    def test_files_that_cannot_be_written_are_one_line(self):
        self.file("build.ninja", self.MANIFEST)
        self.bad(1, "build", "--trace", "no/t.json", "s0", holds=["no/t.json", "nothing was begun"])
        self.assertFalse(os.path.exists(self.path("s0")))
        self.bad(1, "build", "--gantt", "no/g.svg", "s1", holds="no/g.svg")
        self.bad(2, "build", "--plan", "--trace", "t", holds="--plan")
        self.bad(2, "build", "--plan", "--summary", holds="--plan")
        self.bad(2, "build", "-n", "--summary", holds="-n")


if __name__ == "__main__":
    unittest.main()
