"""clotho build: one build at a time in a folder; others wait for it, but a step of it does not."""
import fcntl
import os
import signal
import subprocess
import time
import unittest

from support import CLOTHO, CommandTest
from test_build_dirty import NINJA

SH = "rule sh\n  command = $do\n"
WAITS = "clotho: another build runs in this folder; waiting for its end\n"


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Lock(CommandTest):
    def begin(self, *words):
        return subprocess.Popen([CLOTHO, "build", *words], cwd=self.temporary.name, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for(self, name, process):
        while not os.path.exists(self.path(name)) and process.poll() is None:
            time.sleep(0.005)
        self.assertTrue(os.path.exists(self.path(name)), process.stderr.read() if process.poll() is not None else "")

    def nothing_to_do(self, *words):
        self.assertEqual(subprocess.run([NINJA, "-n", *words], cwd=self.temporary.name, stdout=subprocess.PIPE, text=True,
                                        check=True).stdout.splitlines()[-1], "ninja: no work to do.")
        self.assertEqual(self.good("build", "-n", *words), "clotho: no work to do.\n")

    def test_each_step_runs_once_for_builds_that_begin_together(self):
        """With records of headers, whose numbers two writers of one log would mix up."""
        for i in range(40):
            self.file("o%d.h" % i, "")
        self.file("build.ninja", "rule r\n  command = echo x >> $out; echo $out: $out.h build.ninja > $out.d\n  depfile = $out.d\n  deps = gcc\n" +
                  "".join("build o%d: r\n" % i for i in range(40)))
        builds = [self.begin("-j", "3") for _ in range(4)]
        said = [(*build.communicate(), build.returncode) for build in builds]
        self.assertEqual([code for *_, code in said], [0] * 4, said)
        self.assertLessEqual({err for _, err, _ in said}, {"", WAITS})
        self.assertEqual({self.bytes("o%d" % i) for i in range(40)}, {b"x\n"})
        self.nothing_to_do()

    def test_what_another_build_has_changed_is_read(self):
        """It makes the manifest anew while the second one waits."""
        new = "rule gen\n  command = echo x > begun; until [ -e go ]; do sleep 0.01; done; cp new build.ninja\n  generator = 1\n" \
              "rule touch\n  command = touch $out\nbuild build.ninja: gen new\nbuild b: touch\n"
        self.file("build.ninja", new.replace("build b: touch", "build a: touch"))
        time.sleep(0.02)
        self.file("new", new)
        first = self.begin()
        self.wait_for("begun", first)
        with self.begin() as second:
            self.assertEqual(second.stderr.readline(), WAITS)
            self.file("go", "")
            self.assertEqual(first.communicate()[1], "")
            self.assertEqual((second.stdout.read(), second.wait()), ("clotho: no work to do.\n", 0))
        self.assertTrue(os.path.exists(self.path("b")) and not os.path.exists(self.path("a")))

    def test_a_step_may_build_in_its_own_folder(self):
        """Also through another folder, whose build is no wait for its parent's."""
        os.mkdir(self.path("other"))
        self.file("other/build.ninja", SH + "build c: sh\n  do = %s build -C .. b && touch c\n" % CLOTHO)
        self.file("build.ninja", SH + "build a: sh\n  do = %s build b && %s build other && touch a\nbuild b: sh\n  do = touch b\ndefault a\n"
                  % (CLOTHO, CLOTHO))
        self.assertIn("other", self.good("build", "-j", "1"))
        self.nothing_to_do("a")

    def test_a_killed_build_leaves_no_lock_and_a_waiting_one_can_be_interrupted(self):
        self.file("build.ninja", SH + "build a: sh\n  do = touch begun; sleep 77.25; touch a\nbuild b: sh\n  do = touch b\n")
        first = self.begin("a")
        self.wait_for("begun", first)
        with self.begin("b") as second:
            self.assertEqual(second.stderr.readline(), WAITS)
            self.assertEqual(self.good("build", "-n", "b").count("\n"), 1)  # nobody waits to look
            second.send_signal(signal.SIGINT)
            self.assertEqual(second.wait(), -signal.SIGINT)
        first.kill()
        first.communicate()
        folder = os.open(self.temporary.name, os.O_RDONLY)  # its helper has the lock until it has ended the command
        fcntl.flock(folder, fcntl.LOCK_EX)
        os.close(folder)
        self.assertFalse(os.path.exists(self.path("a")))  # it was not waited for
        self.good("build", "b")
        self.assertTrue(os.path.exists(self.path("b")))


if __name__ == "__main__":
    unittest.main()
