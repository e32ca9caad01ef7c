"""clotho build: SIGKILL at random moments. No file that is half written ever looks whole: the next build, of clotho or of ninja, makes
the files of a build that nobody killed, and then there is nothing to do, for ninja neither. Some dozens of kills; a thousand with --full."""
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest
from test_build_dirty import MANIFEST, NINJA, SOURCES, SUB, Tree

FULL = "--full" in sys.argv or os.environ.get("CLO_FULL", "") != ""
SEED = int(os.environ.get("CLO_SAMPLE") or 41) if FULL else 41
KILLS = 1000 if FULL else 10 if SANITIZED else 30
HOW = ("builder", "group", "helper", "helpers", "all", "shell", "stopped builder", "stopped helpers", "stopped all",
       "orphans")

# Each file is written in two halves, outputs of generators and those of two statements too.
MORE = """
rule slowly
  command = cat $in > $out; sleep $slow; echo end >> $out; echo $out: $in z.h > $out.d
  depfile = $out.d
  generator = 1
rule keep
  command = cat $in > $out.tmp; sleep $slow; cmp -s $out.tmp $out || cat $out.tmp > $out; rm $out.tmp
  restat = 1
build late: slowly f.o
build kept: keep g.in
build user2: cat kept late
default user2
"""
SLOW = (("cat $in > $out", "(cat $in; sleep $slow; echo end) > $out"),
        ("(cat $in; echo $flags) > $out", "(cat $in; sleep $slow; echo $flags) > $out"),
        ("cat $in > one$n; cat $in > two$n", "cat $in > one$n; sleep $slow; cat $in > two$n; sleep $slow; echo end >> one$n"),
        ("cat $out.rsp > $out", "cat $out.rsp > $out; sleep $slow; cat $out.rsp >> $out"))


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Kills(Tree):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("whole"))
        self.content = {**SOURCES, "g.in": "g\n"}
        text = MANIFEST + MORE
        for old, new in SLOW:
            self.assertIn(old, text)
            text = text.replace(old, new)
        for folder, slow in ((".", "0.02"), ("whole", "0")):
            self.file(folder + "/build.ninja", "slow = %s\n" % slow + text)
            self.file(folder + "/sub.ninja", SUB)
            for name, what in self.content.items():
                self.file(os.path.join(folder, name), what)

    def products(self, folder="."):
        return {name: self.bytes(os.path.join(folder, name)) for name in os.listdir(self.path(folder))
                if os.path.isfile(self.path(os.path.join(folder, name))) and not name.endswith((".ninja", ".tmp", ".rsp"))}

    def processes(self):
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/cwd" % number) == os.path.realpath(self.temporary.name):
                    found.append(int(number))
            except OSError:  # ended, or somebody else's
                pass
        return found

    def children_of(self, parents, program):
        found = []
        for number in self.processes():
            try:
                with open("/proc/%d/stat" % number, encoding="utf-8") as file:
                    name, rest = file.read().split(" (", 1)[1].rsplit(") ", 1)
                if name == program and int(rest.split()[1]) in parents:
                    found.append(number)
            except OSError:
                pass
        return found

    def wait_until_nothing_runs(self):
        """Commands of a build whose helpers were killed, too, go on: ninja's and ours."""
        while self.processes():
            time.sleep(0.01)

    def change(self, draw):
        """What the killed build has to do: all; or what some edits ask for, while old outputs are there."""
        made = sorted(set(self.products()) - set(self.content))
        if draw.random() < 0.3:
            shutil.rmtree(self.path("logs"), ignore_errors=True)
            for name in made:
                os.unlink(self.path(name))
            return
        time.sleep(0.02)  # so that sources are newer than what was made of them
        for name in draw.sample(made, min(len(made), draw.choice((0, 1, 4, 20)))):
            os.unlink(self.path(name))
        for name in draw.sample([n for n in sorted(self.content) if not n.endswith(".deps")], draw.choice((0, 1, 3))):
            self.content[name] += "%d\n" % draw.randrange(100)
            self.file(name, self.content[name])
            self.file("whole/" + name, self.content[name])

    def send(self, number, *processes):
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:  # it has ended
                pass

    def kill(self, builder, how):
        """`how`: who is killed; behind `stopped`: first all of those are stopped, for a moment. Orphans: helpers that are stopped while
        the builder is killed, and go on."""
        helpers = self.children_of((builder,), "clotho-step")
        if how == "orphans":
            self.send(signal.SIGSTOP, *helpers)
            self.send(signal.SIGKILL, builder)
            time.sleep(0.03)
            self.send(signal.SIGCONT, *helpers)
            return
        victims = {"builder": (builder,), "group": (builder, -builder), "helper": helpers[:1], "helpers": helpers,
                   "all": (builder, *helpers), "shell": self.children_of(helpers, "sh")[:1]}[how.rsplit(" ", 1)[-1]]
        if how.startswith("stopped"):
            self.send(signal.SIGSTOP, *victims)
            time.sleep(0.03)
        self.send(signal.SIGKILL, *victims)

    def kill_builds(self, draw, how):
        """One build or some in a row, each goes on where a killed one has ended. Returns how many did not end by themselves."""
        killed = 0
        for _ in range(draw.choice((1, 1, 2, 3))):
            words = draw.choice(([CLOTHO, "build"], [os.path.join(os.path.dirname(CLOTHO), "clotho-ninja")]))
            with subprocess.Popen([*words, "-j", "3", "-k", "0"], cwd=self.temporary.name, start_new_session=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
                for _ in range(draw.choice((0, 0, 1, 2, 3, 5, 8, 13))):  # steps that end before
                    running.stdout.readline()
                time.sleep(draw.uniform(0, 0.04))
                self.kill(running.pid, how)
                running.communicate(timeout=LONG)
                killed += running.returncode != 0
        return killed

    def test_after_a_kill_at_any_moment_the_next_build_makes_the_same_files(self):
        draw = random.Random(SEED)
        killed = rounds = 0
        while killed < KILLS:  # some builds end before they are killed
            rounds += 1
            self.change(draw)
            subprocess.run([NINJA], cwd=self.path("whole"), stdout=subprocess.DEVNULL, check=True)
            how, by_ninja = draw.choice(HOW), draw.random() < 0.5
            with self.subTest(rounds, how=how, by_ninja=by_ninja):
                killed += self.kill_builds(draw, how)
                if by_ninja or how.endswith("all"):
                    self.wait_until_nothing_runs()
                if by_ninja:
                    said = self.run_ninja()
                    self.assertEqual(said.returncode, 0, said.stdout)
                else:
                    self.say("build", "-j", "3")  # may say that it waits for the commands of the killed one
                mine, theirs = self.products(), self.products("whole")
                self.assertEqual({n for n in mine if mine[n] != theirs.get(n)} | set(theirs) - set(mine), set())
                self.assertEqual(self.run_ninja("-n", "-d", "explain").stdout.splitlines()[-1], "ninja: no work to do.")
                self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")
        self.assertGreaterEqual(killed, KILLS, rounds)


HALF = """rule r
  command = echo x > $out; if [ -e wait ]; then touch begun; sleep 3600; fi; [ ! -e fail ] && echo y >> $out
rule two
  command = echo x > a; if [ -e wait ]; then touch begun; sleep 3600; fi; [ ! -e fail ] && echo y >> a && cp a b
rule gen
  command = echo x > $out; if [ -e wait ]; then touch begun; sleep 3600; fi; [ ! -e fail ] && echo y >> $out
  generator = 1
rule dep
  command = printf 'ou' > $out.d; echo x > $out; if [ -e wait ]; then touch begun; sleep 3600; fi; $
      [ ! -e fail ] && echo y >> $out && echo $out: in > $out.d
  depfile = $out.d
"""


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Halves(CommandTest):
    """One step, whose output was current and is missing, or was never made; it is killed, or fails, in the middle."""

    def runs(self, program):
        words = [NINJA] if program == NINJA else [CLOTHO, "build"]
        return b"[1/1]" in subprocess.run([*words, "-n"], cwd=self.temporary.name, stdout=subprocess.PIPE, check=False).stdout

    def begin(self, what, is_new):
        for name in os.listdir(self.temporary.name):
            os.unlink(self.path(name))
        self.file("in", "")
        self.file("build.ninja", HALF + what)
        if not is_new:
            self.good("build")
            os.unlink(self.path("a"))

    def leave_half(self, how):
        if how == "fail":
            self.file("fail", "")
            self.assertEqual(self.say("build").code, 1)
            os.unlink(self.path("fail"))
            return
        self.file("wait", "")
        with subprocess.Popen([CLOTHO, "build"], cwd=self.temporary.name, start_new_session=True, stdout=subprocess.DEVNULL) as running:
            while not os.path.exists(self.path("begun")) and running.poll() is None:
                time.sleep(0.005)
            os.killpg(running.pid, signal.SIGKILL)
        os.unlink(self.path("wait"))
        os.unlink(self.path("begun"))

    def test_a_step_that_did_not_end_well_runs_again(self):
        for what in ("build a: r in\n", "build a b: two in\n", "build a: gen in\n", "build a: gen\n", "build a: dep in\n", "build a: r | in\n"):
            for is_new in (False, True):
                for how in ("kill", "fail"):
                    with self.subTest(what, is_new=is_new, how=how):
                        self.begin(what, is_new)
                        self.leave_half(how)
                        self.assertEqual(self.bytes("a"), b"x\n")
                        self.assertTrue(self.runs(CLOTHO))
                        if what not in ("build a: gen\n", "build a: dep in\n"):  # ninja asks no log there; cannot read half a depfile
                            self.assertTrue(self.runs(NINJA))
                        self.say("build", "-t", "restat")
                        self.assertTrue(self.runs(CLOTHO))
                        self.say("build")  # may say that it waits
                        self.assertEqual(self.bytes("a"), b"x\ny\n")
                        self.assertFalse(self.runs(CLOTHO) or self.runs(NINJA))

    def test_half_a_manifest_that_lost_its_own_statement_is_said(self):
        first = "rule t\n  command = touch $out\nbuild a: t\n"
        self.file("in", first + "rule g\n  command = head -n 3 in > build.ninja; if [ -e wait ]; then touch begun; sleep 3600; fi; cp in build.ninja\n"
                  "  generator = 1\nbuild build.ninja: g in\ndefault a\n")
        self.file("build.ninja", self.bytes("in"))
        os.utime(self.path("build.ninja"), (9, 9))
        self.leave_half("kill")
        self.assertEqual(self.bytes("build.ninja").decode(), first)
        folder = os.open(self.temporary.name, os.O_RDONLY)  # its helper has the lock until it has ended the command
        fcntl.flock(folder, fcntl.LOCK_EX)
        os.close(folder)
        self.assertIn("build.ninja: the command that makes it has not ended well", self.say("build").err)
        self.file("build.ninja", self.bytes("in"))
        self.say("build")
        self.assertEqual(self.good("build"), "clotho: no work to do.\n")


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--full"])
