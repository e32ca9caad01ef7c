"""clotho build --memory: measured, learned, held; and nothing of a step is left, however it ends."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, SOURCE, CommandTest

TAKE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int count, char **words)
{
    size_t bytes = strtoul(words[1], NULL, 10) << 20;
    char *taken = malloc(bytes);
    FILE *file = fopen(words[3], "w");
    if (count < 4 || taken == NULL || file == NULL)
        return 1;
    memset(taken, 1, bytes);
    nanosleep(&(struct timespec){0, atol(words[2]) * 1000000}, NULL);
    return fprintf(file, "%d\\n", taken[bytes / 2]) < 0 || fclose(file) != 0;
}
"""
RULES = "rule cc\n  command = ./take $mib $ms $out\nrule link__of_target\n  command = ./take $mib $ms $out\n"
SH = "rule sh\n  command = $do\n"


class Memory(CommandTest):
    def take(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler is installed")
        self.file("take.c", TAKE)
        subprocess.run([compiler, "-O1", "take.c", "-o", "take"], cwd=self.temporary.name, check=True)

    def steps(self, compiles, links, mib=30, link_mib=90, ms=150):
        self.take()
        self.file("build.ninja", RULES + "".join("build o%d: cc\n  mib = %d\n  ms = %d\n" % (i, mib, ms) for i in range(compiles)) +
                  "".join("build l%d: link__of_target o%d\n  mib = %d\n  ms = %d\n" % (i, i % compiles, link_mib, ms) for i in range(links)))

    def built(self, *words, code=0):
        said = self.say("build", *words)
        self.assertEqual(said.code, code, said.err + said.out)
        return said.out

    def needs_groups(self, said):
        why = re.search(r"largest process of each step \((.*)\)", said)
        if why:
            self.skipTest(why.group(1))

    def learned(self):
        lines = self.bytes(".clotho_steps").decode().splitlines()
        self.assertEqual(lines[0], "# clotho steps v1")
        return {line.split("\t")[8]: line.split("\t") for line in lines[1:] if line.count("\t") == 8}

    def clean(self):
        for name in os.listdir(self.temporary.name):
            if re.fullmatch(r"[ol]\d+", name):
                os.unlink(self.path(name))

    def left(self, word):
        """Command lines of processes of this test that have `word` among their arguments."""
        found, here = [], os.path.realpath(self.temporary.name)
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % number, "rb") as file:
                    arguments = file.read().split(b"\0")
                is_ours = os.readlink("/proc/%s/cwd" % number) == here
            except OSError:
                continue
            if is_ours and word.encode() in arguments:
                found.append(arguments)
        return found

    def gone(self, word):
        while self.left(word):  # it would run on beyond the time that this test has
            time.sleep(0.01)

    def begin(self, written, *words):
        running = subprocess.Popen([CLOTHO, "build", *words], cwd=self.temporary.name, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        while not os.path.exists(self.path(written)) and running.poll() is None:
            time.sleep(0.01)
        return running

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_peaks_are_learned_and_held(self):
        self.steps(4, 3)
        self.built("-j", "4")
        known = self.learned()
        self.assertEqual(len(known), 7)
        for name, line in known.items():
            mib = int(line[2]) / 1024
            self.assertTrue(90 <= mib < 110 if name[0] == "l" else 30 <= mib < 50, line)
            self.assertEqual((line[4], line[7]), ("1", "link" if name[0] == "l" else "cc"))
        self.clean()
        said = self.built("-j", "4", "--memory", "200M")
        self.assertIn("7 of 7 steps known before, 0 killed", said)
        self.needs_groups(said)
        held = float(re.search(r"at most ([\d.]+) MiB at once", said).group(1))
        self.assertTrue(89 <= held <= 200, said)
        self.assertIn("budget 200.0 MiB (a limit of the control group)", said)
        self.assertTrue(all(line[4] == "2" for line in self.learned().values()))
        self.clean()  # a policy that knows of no memory is held back when its steps are to begin
        self.assertIn("7 of 7 steps known before, 0 killed, 0 run again", self.built("-j", "4", "--memory", "200M", "--policy", "rank"))

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_the_second_build_is_predicted_though_ninjas_log_is_gone(self):
        self.steps(12, 4, ms=400)
        self.needs_groups(self.built("-j", "8", "--memory", "220M"))
        self.clean()
        os.unlink(self.path(".ninja_log"))  # .clotho_steps knows the times, too
        said = self.built("-j", "8", "--memory", "220M", "--summary")
        self.assertIn("16 of 16 steps known before, 0 killed", said)
        self.assertRegex(said, r"predicted .*, from the times of 16 of 16 steps; [\d.]+ % off")

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_a_first_build_without_history_is_not_killed(self):
        self.steps(5, 5, ms=400)
        for policy in ((), ("--policy", "rank"), ("--policy", "fifo")):
            with self.subTest(policy):
                said = self.built("-j", "6", "--memory", "220M", *policy)
                self.assertIn("0 of 10 steps known before, 0 killed", said)
                self.clean()
                os.unlink(self.path(".clotho_steps"))

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_steps_that_are_not_known_run_together_once_a_few_of_their_class_are_measured(self):
        self.take()
        meet = ": > begun.%d; until [ $$(ls begun.* | wc -l) -ge 3 ]; do sleep 0.1; done; "
        self.file("build.ninja", "rule cc\n  command = $meet ./take 20 100 $out\nbuild o0: cc\nbuild o1: cc\n" +
                  "".join("build o%d: cc o0 o1\n  meet = %s\n" % (i, meet % i) for i in range(2, 8)))
        said = self.built("-j", "8", "--memory", "200M")  # by the largest guess for each alone two would fit
        self.assertIn("0 of 8 steps known before, 0 killed", said)

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_of_unknown_steps_that_outgrow_their_class_one_is_ended_and_runs_again_alone(self):
        grow = TAKE.replace("memset(taken, 1, bytes);", "for (size_t at = 0; at < bytes; at += 1 << 20) {\n"
                            "        memset(taken + at, 1, 1 << 20);\n        nanosleep(&(struct timespec){0, atol(words[4]) * 1000000}, NULL);\n    }")
        self.file("take.c", grow)
        subprocess.run(["cc", "-O1", "take.c", "-o", "take"], cwd=self.temporary.name, check=True)
        meet = ": > begun.%d; until [ $$(ls begun.* | wc -l) -ge 2 ]; do sleep 0.01; done; "
        ended = "0 killed, 1 run again alone; 1 ended here as the budget was full"
        for ms in (10, 40, 160, 640):  # until they meet where they are large, and this build sees it first, however slow the machine is
            for name in [".clotho_steps"] + [name for name in os.listdir(self.temporary.name) if name.startswith("begun.")]:
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            self.clean()
            self.file("build.ninja", "rule cc\n  command = $meet ./take $mib 900 $out %d\nbuild o0: cc\n  mib = 2\n" % ms +
                      "".join("build o%d: cc o0\n  mib = 70\n  meet = %s\n" % (i, meet % i) for i in (1, 2)))
            said = self.built("-j", "4", "--memory", "120M")
            self.needs_groups(said)
            self.assertTrue(all(os.path.exists(self.path("o%d" % i)) for i in range(3)))
            if ended in said:
                break
        self.assertRegex(said, r"[1-9]\d* run again alone")
        if not os.environ.get("CI"):  # the kernel may come first where this process has to wait for a CPU
            self.assertIn(ended, said)
        self.clean()
        self.assertIn("3 of 3 steps known before, 0 killed, 0 run again", self.built("-j", "4", "--memory", "120M"))

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_known_steps_share_the_cpus_as_they_used_them(self):
        cpus = os.cpu_count()
        step = ": > runs.$out; ls runs.* | wc -l > $out; sleep 0.2; rm runs.$out"
        self.file("build.ninja", "rule sh\n  command = %s\n" % step + "".join("build o%d: sh\n" % i for i in range(2 * cpus + 8)))
        self.built("-j", str(cpus + 4))
        lines = self.bytes(".clotho_steps").decode().splitlines()  # as if each had used a CPU
        self.file(".clotho_steps", "\n".join([lines[0]] + [re.sub(r"^\d+\t\d+", "200\t200", line) for line in lines[1:]]) + "\n")
        self.clean()
        self.assertIn("%d of %d steps known before" % (2 * cpus + 8, 2 * cpus + 8), self.built("-j", str(cpus + 4), "--memory", "4G"))
        most = max(int(self.bytes("o%d" % i)) for i in range(2 * cpus + 8))
        self.assertLessEqual(most, cpus * 9 // 8)

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_a_step_that_outgrew_what_was_learned_runs_again_alone(self):
        for ms in (900, 3600, 14400):  # until they meet where they are large, however slow the machine is
            kills = self.outgrow(ms)
            if kills > 0:
                break
        self.assertGreaterEqual(kills, 1)
        self.assertTrue(all(os.path.exists(self.path("o%d" % i)) for i in range(3)))
        self.clean()
        self.assertIn("3 of 3 steps known before, 0 killed", self.built("-j", "3", "--memory", "150M"))

    def outgrow(self, ms):
        """Three steps of 90 MiB that are known as small ones begin together; how many were killed."""
        self.clean()
        for name in [".clotho_steps", "take"] + [name for name in os.listdir(self.temporary.name) if name.startswith("begun.")]:
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        self.steps(3, 0, ms=ms)
        said = self.built("-j", "3", "--memory", "150M")
        self.needs_groups(said)
        self.clean()
        lines = self.bytes(".clotho_steps").decode().splitlines()  # all look small: two of three together are too many
        self.file(".clotho_steps", "\n".join([lines[0]] + [re.sub(r"^(\d+\t\d+)\t\d+\t\d+", r"\1\t9\t9", line) for line in lines[1:]]) + "\n")
        self.file("take", "#!/bin/sh\n: > begun.$3; until [ $(ls begun.* | wc -l) -eq 3 ]; do sleep 0.01; done\nexec ./more \"$@\"\n")
        self.file("take.c", TAKE.replace("<< 20", "* 3 << 20"))
        subprocess.run(["cc", "-O1", "take.c", "-o", "more"], cwd=self.temporary.name, check=True)
        os.chmod(self.path("take"), 0o755)
        said = self.built("-j", "3", "--memory", "150M")
        return int(re.search(r"(\d+) killed, (\d+) run again alone", said).group(1))

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_a_step_that_cannot_fit_fails_with_a_reason(self):
        self.steps(1, 1, link_mib=200)
        said = self.say("build", "--memory", "100M")
        self.needs_groups(said.out)
        self.assertEqual(said.code, 1)
        self.assertIn("FAILED: l0", said.out)
        self.assertIn("killed for want of memory, though it ran alone", said.out)
        self.assertIn("0 of 2 steps known before, 2 killed, 1 run again alone", said.out)
        self.clean()
        self.assertIn("0 killed", self.built("--memory", "400M"))

    @unittest.skipIf(SANITIZED or not shutil.which("ninja"), "a sanitizer takes memory of its own; or there is no ninja")
    def test_ninja_is_killed_where_this_build_is_not(self):
        sys.path.insert(0, os.path.join(SOURCE, "bench", "builds"))
        import memory_budget  # pylint: disable=import-outside-toplevel
        kills = 0
        for ms in (300, 1000, 3000, 9000):  # until steps of ninja meet, however slow the machine is
            self.steps(4, 4, ms=ms)
            try:
                group = memory_budget.Group(100 << 20)
            except SystemExit:
                self.skipTest("no memory control group can be made")
            subprocess.run(["ninja", "-j8"], cwd=self.temporary.name, stdout=subprocess.DEVNULL, check=False,
                           preexec_fn=lambda group=group: group.put("cgroup.procs", 0))
            kills = group.kills()
            group.end()
            self.clean()
            if kills > 0:
                break
        self.assertGreater(kills, 0)
        self.assertIn(" 0 killed", self.built("-j", "8", "--memory", "100M"))
        self.clean()
        self.assertIn("8 of 8 steps known before, 0 killed", self.built("-j", "8", "--memory", "100M"))

    def test_a_history_that_is_torn_foreign_or_not_writable(self):
        self.file("build.ninja", SH + "build a: sh\n  do = touch a\nbuild b: sh\n  do = touch b\n")
        self.built()
        self.assertEqual(sorted(self.learned()), ["a", "b"])
        with open(self.path(".clotho_steps"), "ab") as file:
            file.write(b"nonsense\n1\t2\t3\t4\t5\t1\tff\tsh\ttorn")
        os.unlink(self.path("a"))
        self.built()
        self.assertEqual(self.learned()["a"][4], "2")
        self.assertNotIn("torn", self.bytes(".clotho_steps").decode())
        self.file(".clotho_steps", "# clotho steps v9\nwhatever\n")
        os.unlink(self.path("a"))
        self.built()
        self.assertEqual(self.bytes(".clotho_steps"), b"# clotho steps v9\nwhatever\n")
        os.unlink(self.path(".clotho_steps"))
        os.mkdir(self.path(".clotho_steps"))
        os.unlink(self.path("a"))
        self.bad(1, "build", holds=".clotho_steps")

    def test_budgets(self):
        self.file("build.ninja", SH + "build a: sh\n  do = true\n")
        for text in ("", "x", "-1M", "12", "1023K", "3X", "1MM", "nan", "inf", "1e99", "auto4", "0x1000000G"):
            self.bad(2, "build", "--memory", text, holds="--memory")
        for text in ("1M", "1.5G", "2T", "1048576", "auto"):
            self.assertIn("budget ", self.built("--memory", text))

    def test_what_a_command_leaves_behind_in_its_session_is_ended(self):
        self.file("build.ninja", SH + "build a: sh\n  do = (sleep 771.5 </dev/null >/dev/null 2>&1 &) ; touch a\n")
        self.built()
        self.gone("771.5")

    def test_nothing_is_left_of_a_build_that_is_interrupted_or_killed(self):
        self.file("build.ninja", SH + "build b: sh\n  do = setsid sh -c 'trap \"\" INT TERM HUP; touch begun; while :; do sleep "
                  "772.5; done' & sleep 772.5\nbuild c: sh\n  do = touch begun; sleep 772.5\n  pool = console\n")
        for number, target in ((signal.SIGINT, "b"), (signal.SIGTERM, "b"), (signal.SIGKILL, "b"), (signal.SIGTERM, "c"),
                               (signal.SIGKILL, "c")):
            with self.subTest(number, target=target), self.begin("begun", target) as running:
                running.send_signal(number)
                self.assertEqual(running.wait(LONG), -9 if number == signal.SIGKILL else 2)
                self.gone("772.5")
                os.unlink(self.path("begun"))

    def test_a_helper_that_is_killed_leaves_nothing(self):
        self.file("build.ninja", SH + "build b: sh\n  do = setsid sh -c 'touch begun; while :; do sleep 773.5; done' & sleep 773.5\n")
        with self.begin("begun", "b") as running:
            with open("/proc/%d/task/%d/children" % (running.pid, running.pid), encoding="utf-8") as file:
                children = file.read().split()
            for thread in os.listdir("/proc/%d/task" % running.pid):
                with open("/proc/%d/task/%s/children" % (running.pid, thread), encoding="utf-8") as file:
                    children += file.read().split()
            self.assertEqual(len(set(children)), 1)
            os.kill(int(children[0]), signal.SIGKILL)
            self.assertEqual(running.wait(LONG), 1)
        self.gone("773.5")


if __name__ == "__main__":
    unittest.main()
