"""clotho build: interrupts at random points lose nothing. Each leaves no process and a good folder, the next build goes on, and at
the end the files are those of a build that nobody interrupted. A hundred of them; 12 in CI and under sanitizers."""
import os
import random
import signal
import subprocess
import time
import unittest

from support import CLOTHO, LONG, SANITIZED
from test_build_dirty import NINJA, SOURCES, Tree

ROUNDS = 12 if SANITIZED or os.environ.get("CI") else 100

HOW = ((), ("--memory", "4G"), ("--summary", "--trace", "trace.json"), ("--policy", "fifo", "-k", "0"))

# As the steps of test_build_dirty, but each writes its file in two halves.
SLOW = (("cat $in > $out", "(cat $in; sleep 0.0$slow; echo end) > $out"),
        ("(cat $in; echo $flags) > $out", "(cat $in; sleep 0.0$slow; echo $flags) > $out"))


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Interrupts(Tree):
    def setUp(self):
        super().setUp()
        text = self.bytes("build.ninja").decode()
        for old, new in SLOW:
            text = text.replace(old, new)
        self.file("build.ninja", "slow = 3\n" + text)

    def processes(self):
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/cwd" % number) == os.path.realpath(self.temporary.name):
                    found.append(number)
            except OSError:  # ended, or somebody else's
                pass
        return found

    def wait_until_nothing_runs(self):
        """What has been killed may be seen for a moment; what has not runs on beyond the time that this test has."""
        while self.processes():
            time.sleep(0.01)

    def products(self):
        return {name: self.bytes(name) for name in os.listdir(self.temporary.name)
                if os.path.isfile(self.path(name)) and not name.endswith((".ninja", ".json"))}

    def start(self, *words):
        # a session of its own: a signal to its group is what Ctrl-C in a terminal is
        return subprocess.Popen([CLOTHO, "build", "-j", "3", *words], cwd=self.temporary.name, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def test_a_hundred_interrupts_lose_nothing(self):
        draw = random.Random(19)
        begin = time.monotonic()
        self.good("build", "-j", "3")
        whole, interrupted, gone = time.monotonic() - begin, 0, []
        for i in range(ROUNDS):
            for name in draw.sample(sorted(SOURCES), 4):
                os.utime(self.path(name))
            with self.subTest(i), self.start(*draw.choice(HOW)) as running:
                time.sleep(draw.uniform(0, 1.2 * whole))
                number, was_running = draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)), running.poll() is None
                begin = time.monotonic()
                try:
                    if draw.random() < 0.5:
                        os.killpg(running.pid, number)
                    else:
                        running.send_signal(number)
                except ProcessLookupError:
                    pass
                _, err = running.communicate(timeout=LONG)
                gone.append(time.monotonic() - begin)
                self.assertIn(running.returncode, (0, 2, -number), err)
                if running.returncode != 0 and was_running:
                    interrupted += 1
                self.wait_until_nothing_runs()
            if i % 10 == 9:
                self.settle(by_ninja=i % 20 == 9)
        self.settle()
        print("%d of %d interrupted; after the signal the build took %.2f s at most" % (interrupted, ROUNDS, max(gone)))
        mine = self.products()
        for name in mine:
            if name not in SOURCES:
                os.unlink(self.path(name))
        for name in (".ninja_log", ".ninja_deps"):
            os.unlink(self.path("logs/" + name))
        subprocess.run([NINJA], cwd=self.temporary.name, stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(mine, self.products())

    def test_steps_that_ignore_signals_are_ended_with_the_build(self):
        self.file("build.ninja", "rule r\n  command = trap '' INT TERM HUP; setsid sh -c \"trap '' INT TERM HUP; sleep 774.5\" & "
                  "touch $out; while :; do sleep 774.5; done\nbuild begun1: r\nbuild begun2: r\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), self.start() as running:
                while not (os.path.exists(self.path("begun1")) and os.path.exists(self.path("begun2"))) and running.poll() is None:
                    time.sleep(0.01)
                running.send_signal(number)
                begin = time.monotonic()
                running.communicate(timeout=LONG)
                took = time.monotonic() - begin
                self.assertEqual(running.returncode, 2)
                self.wait_until_nothing_runs()
                print("after the signal the build took %.2f s" % took)  # its steps would sleep for minutes

    def settle(self, by_ninja=False):
        """The next build ends well, also if it is ninja's, and then there is nothing to do, for ninja neither."""
        if by_ninja:
            said = self.run_ninja()
            self.assertEqual(said.returncode, 0, said.stdout)
        else:
            self.good("build", "-j", "3")
        self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")
        self.assertEqual(self.run_ninja("-n", "-d", "explain").stdout.splitlines()[-1], "ninja: no work to do.")


if __name__ == "__main__":
    unittest.main()
