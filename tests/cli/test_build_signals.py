"""clotho build: signals, and an output that nobody reads. Exit status and what is left are those of ninja; nothing runs on."""
import ctypes
import errno
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

from support import CLOTHO, LONG, CommandTest
from test_build_lock import WAITS

NINJA = shutil.which("ninja")
SH = "rule sh\n  command = $do\n"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOGS = (".ninja_log", ".ninja_deps", ".clotho_steps")

# Of what runs when the signal comes: written (goes), not written (stays), not written but with a depfile (goes), a response file.
RUNNING = SH + """rule dep
  command = $do
  depfile = $out.d
rule rsp
  command = $do
  rspfile = $out.rsp
  rspfile_content = text
build half: sh in
  do = echo x > half; touch begun.half; $wait; echo y >> half
build kept: sh in
  do = touch begun.kept; $wait; echo new > kept
build depended: dep in
  do = echo depended: in > depended.d; touch begun.depended; $wait; touch depended
build asked: rsp in
  do = touch begun.asked; $wait; cat asked.rsp > asked
build done: sh
  do = touch done
build later: sh half kept depended asked done
  do = touch later
"""
PIDFD_OPEN = 434  # on all machines
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 38, 22, 2, 0x50000, 0x7fff0000


def deny(call, error):
    """From here on a system call fails: a filter that loads its number, compares, and returns."""
    lines = ((0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, SECCOMP_RET_ERRNO | error), (0x06, 0, 0, SECCOMP_RET_ALLOW))
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HP", len(lines), ctypes.addressof(text)))
    library = ctypes.CDLL(None)
    if library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or library.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        os._exit(99)  # pylint: disable=protected-access


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Signals(CommandTest):
    def begin(self, program, folder, *words, **how):
        return subprocess.Popen([*program, *words], cwd=self.path(folder), stdout=how.pop("stdout", subprocess.PIPE),
                                stderr=how.pop("stderr", subprocess.PIPE), start_new_session=True, **how)

    def wait_for(self, process, *names):
        while not all(os.path.exists(self.path(name)) for name in names) and process.poll() is None:
            time.sleep(0.005)
        self.assertIsNone(process.poll(), names)

    def end_of(self, running, folder, may_hang=False):
        """What it says until it ends. Else all of it is killed: a test that hangs tells nothing. None: it may hang, and did."""
        try:
            return running.communicate(timeout=10 if may_hang else LONG)
        except subprocess.TimeoutExpired:
            place = os.path.realpath(self.path(folder))
            running.kill()
            for number in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if os.readlink("/proc/%s/cwd" % number) == place:
                        os.kill(int(number), signal.SIGKILL)
                except OSError:  # ended, or somebody else's
                    pass
            said = running.communicate()
            if not may_hang:
                self.fail("it goes on after a signal: %s" % (said,))
            return None

    def nothing_runs(self, folder):
        """A command that was killed may be seen for a moment; one that was not runs on beyond the time that this test has."""
        place = os.path.realpath(self.path(folder))
        while True:
            left = []
            for number in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if os.readlink("/proc/%s/cwd" % number) == place:
                        left.append(number)
                except OSError:  # ended, or somebody else's
                    pass
            if not left:
                return
            time.sleep(0.01)

    def left(self, folder):
        return {name: self.bytes(folder + "/" + name) for name in sorted(os.listdir(self.path(folder))) if name not in LOGS}

    def both(self):
        return (("theirs", [NINJA]), ("mine", [CLOTHO, "build"]))

    def fresh(self, folder, text, files=()):
        shutil.rmtree(self.path(folder), ignore_errors=True)
        os.mkdir(self.path(folder))
        for name, content in [*files, ("build.ninja", text)]:
            self.file(folder + "/" + name, content)

    def test_an_interrupted_build_leaves_what_ninja_leaves_and_ninja_goes_on(self):
        old = [(name, name) for name in ("half", "kept", "depended", "asked")] + [("in", "in")]
        for number in ENDING:
            said = {}
            for folder, program in self.both():
                for _ in range(5):  # see below
                    self.fresh(folder, RUNNING.replace("$wait", "sleep 775.5"), old)
                    time.sleep(0.02)  # what is written again has another time
                    with self.begin(program, folder, "-j", "5") as running:
                        self.wait_for(running, *(folder + "/begun." + name for name, _ in old[:4]), folder + "/done", folder + "/.ninja_log")
                        while b"\tdone\t" not in self.bytes(folder + "/.ninja_log") and running.poll() is None:
                            time.sleep(0.005)  # until its end has been seen
                        running.send_signal(number)
                        ended = self.end_of(running, folder, may_hang=folder == "theirs")
                        if ended is not None:
                            break
                said[folder] = (running.returncode, self.left(folder))
                if folder == "mine":
                    out, err = ended
                    self.assertEqual(err.decode().count("\n"), 1, err)
                    self.assertIn(signal.strsignal(number), err.decode())
                    self.assertNotIn(b"FAILED", out)
                self.nothing_runs(folder)
            self.assertEqual(said["mine"], said["theirs"])
            self.assertEqual(said["mine"][0], 2)
            self.assertTrue({"kept", "asked.rsp", "done"} <= set(said["mine"][1]) and not {"half", "depended", "later"} & set(said["mine"][1]))
            self.file("mine/build.ninja", RUNNING.replace("$wait", "true"))
            subprocess.run([NINJA], cwd=self.path("mine"), check=True, stdout=subprocess.DEVNULL)
            self.assertEqual((self.bytes("mine/half"), self.bytes("mine/later")), (b"x\ny\n", b""))
            self.assertEqual(self.good("build", "mine").splitlines()[1:], ["clotho: no work to do."])

    def test_an_interrupt_of_what_comes_before_the_targets(self):
        """The manifest's own statement, dyndep files. Several signals at once are as one."""
        manifest = ("wait = %s\nrule g\n  command = touch begun; $wait; cp in build.ninja\n  generator = 1\n  restat = 1\nbuild build.ninja: g in\n"
                    "rule t\n  command = touch $out\nbuild a: t\n")
        dyndep = ("wait = %s\nrule g\n  command = printf 'ninja_dyndep_version = 1\\nbuild' > dd; touch begun; $wait; echo ' a: dyndep' >> dd\n"
                  "build dd: g\nrule t\n  command = touch $out\nbuild a: t || dd\n  dyndep = dd\n")
        for text, code, ninjas in ((manifest, 2, 1), (dyndep, 2, 2)):
            said = {}
            for folder, program in self.both():
                for _ in range(5):  # on a busy machine ninja 1.11 misses a signal now and then
                    self.fresh(folder, text % "sleep 779.5", [("in", text % "true")])
                    os.utime(self.path(folder + "/build.ninja"), (9, 9))
                    with self.begin(program, folder) as running:
                        self.wait_for(running, folder + "/begun")
                        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT)[:3 if folder == "mine" else 1]:
                            running.send_signal(number)  # ninja dies by the second
                        if self.end_of(running, folder, may_hang=folder == "theirs") is not None:
                            break
                said[folder] = (running.returncode, sorted(self.left(folder)))
                self.nothing_runs(folder)
            self.assertEqual((said["mine"][0], said["theirs"][0]), (code, ninjas))
            self.assertEqual(said["mine"][1], said["theirs"][1])
            self.assertTrue({"dd", "a"}.isdisjoint(said["mine"][1]))
            self.file("mine/build.ninja", text % "true")
            self.good("build", "mine", "a")

    def test_who_presses_ctrl_c_again_and_again_ends_it_as_once(self):
        self.fresh("mine", SH + "build a: sh\n  do = touch begun; sleep 780.5\n")
        codes = set()
        for _ in range(20):
            with self.begin([CLOTHO, "build"], "mine", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
                self.wait_for(running, "mine/begun")
                os.unlink(self.path("mine/begun"))
                while running.poll() is None:
                    running.send_signal(signal.SIGINT)
                codes.add(running.returncode)
        self.assertEqual(codes, {2})

    def test_a_command_that_ends_by_a_signal_or_with_any_status(self):
        """INT, TERM and HUP interrupt, whoever sends them; all else is a failure."""
        for how in ["kill -%s $$$$" % name for name in ("INT", "TERM", "HUP", "KILL", "PIPE", "USR1")] + ["exit %d" % n for n in
                                                                                                      (1, 2, 127, 130, 255)]:
            for words in (("-j", "1"), ("-j", "1", "-k", "0")):
                said = {}
                for folder, program in self.both():
                    self.fresh(folder, SH + "build a: sh\n  do = echo said; %s\nbuild b: sh\n  do = touch b\nbuild c: sh a\n"
                                            "  do = touch c\n" % how)
                    done = subprocess.run([*program, *words, *(["--policy", "fifo"] if folder == "mine" else [])], cwd=self.path(folder),
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
                    said[folder] = (done.returncode, sorted(self.left(folder)), done.stdout.count("said\n"), done.stdout.count("FAILED: a"))
                with self.subTest(how, words=words):
                    self.assertEqual(said["mine"], said["theirs"])

    def test_what_a_failing_step_leaves_behind_is_ended(self):
        self.fresh("mine", SH + "build a: sh\n  do = (sh -c 'sleep 776.5 & sleep 776.5' & sleep 776.5 &) > log 2>&1; touch a.begun; exit 3\n")
        done = subprocess.run([CLOTHO, "build", "mine"], cwd=self.path("."), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LONG, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(os.path.exists(self.path("mine/a.begun")))
        self.nothing_runs("mine")

    def test_an_output_that_nobody_reads_ends_the_build_without_half_a_file(self):
        text = SH + ("build half: sh\n  do = echo x > half; touch begun; sleep 777.5; echo y >> half\n"
                     "build said: sh\n  do = until [ -e begun ]; do sleep 0.01; done; touch said\nbuild later: sh said\n  do = touch later\n")
        for both in (False, True):
            self.fresh("mine", text)
            reader, writer = os.pipe()
            os.close(reader)
            with self.subTest(both), self.begin([CLOTHO, "build"], "mine", "-j", "2", stdout=writer,
                                                stderr=writer if both else subprocess.PIPE) as running:
                os.close(writer)
                _, err = self.end_of(running, "mine")
                self.assertEqual((running.returncode, err), (-signal.SIGPIPE, None if both else b""))
            self.nothing_runs("mine")
            self.assertEqual(sorted(self.left("mine")), ["begun", "build.ninja", "said"])
            self.file("mine/build.ninja", text.replace("sleep 777.5", "true"))
            self.assertIn("half", self.good("build", "mine", "-v"))
            self.assertEqual(subprocess.run([NINJA, "-n"], cwd=self.path("mine"), stdout=subprocess.PIPE, check=True).stdout,
                             b"ninja: no work to do.\n")

    def test_who_ignores_a_closed_pipe_gets_the_whole_build(self):
        for folder, program in self.both():
            self.fresh(folder, SH + "build a: sh\n  do = touch a\nbuild b: sh a\n  do = grep SigIgn /proc/self/status > b\n")
            reader, writer = os.pipe()
            os.close(reader)
            with self.begin(program, folder, stdout=writer, restore_signals=False,
                            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) as running:
                os.close(writer)
                _, err = self.end_of(running, folder)
                self.assertTrue(os.path.exists(self.path(folder + "/b")), folder)
                if folder == "mine":  # ninja says nothing, with 0
                    self.assertEqual((running.returncode, err.count(b"\n")), (1, 1), err)
                    self.assertIn(b"standard output", err)
        self.assertEqual(int(self.bytes("mine/b").split()[1], 16) >> (signal.SIGPIPE - 1) & 1, 0)  # a command has it as usual

    def test_a_full_disk_below_the_output_loses_lines_not_steps(self):
        self.fresh("mine", SH + "build a: sh\n  do = touch a\nbuild b: sh a\n  do = touch b\n")
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.bad(1, "build", "mine", stdout=full, holds="standard output")
        self.assertTrue(os.path.exists(self.path("mine/b")))
        self.assertEqual(self.good("build", "mine").splitlines()[1:], ["clotho: no work to do."])

    def test_a_build_that_waits_for_another_is_ended_by_a_signal_and_has_touched_nothing(self):
        self.fresh("mine", SH + "build a: sh\n  do = touch begun; until [ -e go ]; do sleep 0.01; done; touch a\nbuild b: sh\n  do = touch b\n")
        with self.begin([CLOTHO, "build"], "mine", "a") as first:
            self.wait_for(first, "mine/begun")
            before = {name: self.bytes("mine/" + name) for name in os.listdir(self.path("mine"))}
            for number in (*ENDING, signal.SIGPIPE, signal.SIGKILL):
                with self.subTest(number), self.begin([CLOTHO, "build"], "mine", "b") as second:
                    self.assertEqual(second.stderr.readline().decode(), WAITS)
                    second.send_signal(number)
                    self.assertEqual(second.wait(LONG), -number)
            self.assertEqual({name: self.bytes("mine/" + name) for name in os.listdir(self.path("mine"))}, before)
            self.file("mine/go", "")
            self.assertEqual(first.wait(LONG), 0)
        self.good("build", "mine", "b")

    def helper_of(self, builder):
        for thread in os.listdir("/proc/%d/task" % builder.pid):
            with open("/proc/%d/task/%s/children" % (builder.pid, thread), encoding="utf-8") as file:
                children = file.read().split()
            if children:
                return int(children[0])
        return self.fail("no helper runs")

    def test_nobody_begins_while_commands_of_a_killed_build_still_run(self):
        """Its helper is stopped for a while, as if it had much to end."""
        self.fresh("mine", SH + "build a: sh\n  do = echo $$$$ > first; [ -e again ] || sleep 778.5; touch a\n")
        with self.begin([CLOTHO, "build"], "mine") as first:
            while not os.path.exists(self.path("mine/first")) or not self.bytes("mine/first"):
                time.sleep(0.005)
            helper = self.helper_of(first)
            os.kill(helper, signal.SIGSTOP)
            try:
                with self.begin([CLOTHO, "build"], "mine") as second:
                    self.assertEqual(second.stderr.readline().decode(), WAITS)
                    self.file("mine/again", "")
                    first.kill()
                    first.wait()
                    command = int(self.bytes("mine/first"))
                    time.sleep(0.3)  # enough for a build that does not wait
                    os.kill(command, 0)
                    self.assertIsNone(second.poll())
                    self.assertEqual(int(self.bytes("mine/first")), command)
                    os.kill(helper, signal.SIGCONT)
                    self.assertEqual(second.wait(LONG), 0)
            finally:
                os.kill(helper, signal.SIGCONT) if os.path.exists("/proc/%d" % helper) else None
        self.assertNotEqual(int(self.bytes("mine/first")), command)

    def test_a_helper_that_is_stopped_does_not_hold_an_interrupt(self):
        """Once, or again whenever it goes on."""
        for how in ("kill -STOP $$PPID; touch begun; sleep 780.5", "touch begun; while :; do kill -STOP $$PPID; done",
                    "touch begun; trap '' INT TERM HUP; while :; do kill -STOP $$PPID; done"):
            for number in ENDING:
                self.fresh("mine", SH + "build a: sh\n  do = %s\n" % how)
                with self.subTest(how, number=number), self.begin([CLOTHO, "build"], "mine") as running:
                    self.wait_for(running, "mine/begun")
                    running.send_signal(number)
                    self.end_of(running, "mine")
                    self.assertEqual(running.returncode, 2)
                self.nothing_runs("mine")

    def test_a_kernel_without_pidfd_open_builds(self):
        """As kernels before 5.3 (ENOSYS) and profiles of containers (EPERM) have it."""
        for error in (errno.ENOSYS, errno.EPERM):
            self.fresh("mine", SH + "build a: sh\n  do = touch a\nbuild b: sh a\n  do = exit 3\n")
            with self.subTest(error), self.begin([CLOTHO, "build"], "mine", preexec_fn=lambda error=error: deny(PIDFD_OPEN, error)) as running:
                self.assertEqual((running.wait(LONG), os.path.exists(self.path("mine/a"))), (1, True))


if __name__ == "__main__":
    unittest.main()
