"""clotho build: what a step is given and what is measured of it. Order-only inputs from nothing, folders, no zombies, memory of
all its processes but not of files, and a prediction that is the sum of what the log says."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest

NINJA = shutil.which("ninja")
SH = "rule sh\n  command = $do\n"

# Waits for as long as a process below the builder has ended that nobody has waited for: for ever if it is left so.
ZOMBIES = """
import os, time
def about(number):
    with open("/proc/%s/stat" % number, encoding="utf-8", errors="replace") as file:
        name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
    return name, rest.split()[0], rest.split()[1]
builder = "self"
while about(builder)[0] != "clotho":
    builder = about(builder)[2]
def is_left(number):
    try:
        chain = [number]
        while chain[-1] not in ("0", "1"):
            chain.append(about(chain[-1])[2])
        return about(number)[1] in "ZX" and builder in chain
    except OSError:  # ended
        return False
for number in filter(str.isdigit, os.listdir("/proc")):
    while is_left(number):
        time.sleep(0.01)
"""

# Two processes that hold 60 MiB each at the same time.
TWO = """
import os, time
reader, writer = os.pipe()
others, own = os.pipe()
if os.fork() == 0:
    held = b"1" * (60 << 20)
    os.write(writer, b"x")
    os.read(others, 1)
    os._exit(len(held) == 0)
held = b"2" * (60 << 20)
os.read(reader, 1)
time.sleep(0.4)
os.write(own, b"x")
os.wait()
open("two", "w").write(str(len(held)))
"""


class Steps(CommandTest):
    def learned_mib(self):
        lines = self.bytes(".clotho_steps").decode().splitlines()
        return {line.split("\t")[8]: int(line.split("\t")[2]) / 1024 for line in lines[1:]}

    def test_order_only_inputs_come_first_in_a_build_from_nothing(self):
        """Also through a phony statement, and though all else that a step needs is there."""
        self.file("in", "")
        self.file("build.ninja", SH + "rule use\n  command = cat gen.h in > $out\nbuild gen.h: sh\n  do = sleep 0.3; echo x > gen.h\n"
                  "build headers: phony gen.h\nbuild a: use in || gen.h\nbuild b: use in || headers\nbuild c: use in | headers\n")
        self.good("build", "-j", "4")
        self.assertEqual([self.bytes(name) for name in "abc"], [b"x\n"] * 3)

    def test_folders_of_outputs_depfiles_and_response_files_are_made(self):
        self.file("in", "")
        self.file("build.ninja", "rule r\n  command = cp rsp/for/$out deps/of/x.d.in; echo $out: in > deps/of/x.d; touch $out 2/o/b\n"
                  "  depfile = deps/of/x.d\n  rspfile = rsp/for/$out\n  rspfile_content = content\nbuild 1/o/a | 2/o/b: r in\n")
        self.good("build")
        self.assertEqual(self.bytes("deps/of/x.d.in"), b"content")
        self.assertEqual(os.listdir(self.path("rsp/for/1/o")), [])
        self.assertTrue(os.path.exists(self.path("1/o/a")) and os.path.exists(self.path("2/o/b")))

    def test_no_ended_process_is_left_unseen(self):
        self.file("zombies.py", ZOMBIES)
        self.file("build.ninja", SH + "".join("build o%d: sh\n  do = (setsid sleep 0.01 >log 2>&1 </dev/null &); sleep 0.01 & touch o%d\n" % (i, i)
                                              for i in range(20)) +
                  "build last: sh %s\n  do = python3 zombies.py && touch last\n" % " ".join("o%d" % i for i in range(20)))
        self.good("build", "-j", "4")

    def test_a_step_of_the_console_hangs_up_nobody_beside_a_stopped_process(self):
        """The kernel sends SIGHUP to a group with a stopped member that loses its last tie to its session: none may seem to be one."""
        self.file("build.ninja", SH + "build a: sh\n  do = touch a\n  pool = console\n")
        self.file("beside.sh", "sleep 781.5 & kill -STOP $!; until grep -q ') T' /proc/$!/stat; do :; done\n"
                  "\"$1\" build >said; echo $? >status; grep -c ') T' /proc/$!/stat >stopped\n")
        with subprocess.Popen(["sh", "beside.sh", CLOTHO], cwd=self.temporary.name, start_new_session=True) as running:
            running.wait(LONG)
            os.killpg(running.pid, signal.SIGKILL)
        self.assertEqual((self.bytes("status"), self.bytes("stopped")), (b"0\n", b"1\n"))

    @unittest.skipIf(SANITIZED, "a sanitizer's library must be the first")
    def test_a_step_of_the_console_begins_when_its_helper_has_left_the_session(self):
        self.file("build.ninja", SH + "build a: sh\n  do = cat /proc/$$PPID/stat /proc/$$$$/stat > a\n  pool = console\n")
        self.good("build", environment={"LD_PRELOAD": os.environ["CLO_SLOW_SETSID"]})
        helper, command = (line.rsplit(")", 1)[1].split() for line in self.bytes("a").decode().splitlines())
        self.assertEqual(command[3], str(os.getsid(0)))
        self.assertNotEqual(helper[3], command[3])

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_memory_is_that_of_all_processes_and_not_of_written_files(self):
        self.file("two.py", TWO)
        self.file("build.ninja", SH + "build files: sh\n  do = head -c 120000000 /dev/zero > files; sleep 0.2\n"
                  "build below: sh\n  do = sh -c 'python3 -c \"import time; held = bytes(1) * 1; held = b\\\"1\\\" * (70 << 20); time.sleep(0.2)\"; "
                  "true'; touch below\nbuild two: sh\n  do = python3 two.py\n")
        said = self.good("build", "-j", "1", "--memory", "4G")
        mib = self.learned_mib()
        self.assertLess(mib["files"], 40, mib)
        self.assertTrue(70 <= mib["below"] < 110, mib)
        why = re.search(r"largest process of each step \((.*)\)", said)
        if why:
            self.skipTest(why.group(1))
        self.assertTrue(120 <= mib["two"] < 180, mib)

    def test_a_prediction_is_a_simulation_with_the_times_of_the_log(self):
        """Whatever the steps take now: times that somebody has written into the log."""
        times_s = {"a": 3, "b": 2, "c": 4, "d": 1}
        self.file("build.ninja", SH + "pool one\n  depth = 1\n" + "".join("build %s: sh %s\n  do = touch %s\n" % (name, needs, name)
                                                                          for name, needs in (("a", ""), ("b", "a"), ("c", ""), ("d", ""))))
        for jobs, makespan_s in (("1", 10), ("2", 5), ("4", 5)):
            self.good("build")
            log = [line.split("\t") for line in self.bytes(".ninja_log").decode().splitlines()]
            self.file(".ninja_log", log[0][0] + "\n" + "".join("\t".join(["70", str(70 + 1000 * times_s[line[3]]), *line[2:]]) + "\n"
                                                             for line in log[1:]))
            os.unlink(self.path(".clotho_steps"))
            for name in times_s:
                os.unlink(self.path(name))
            said = self.good("build", "-j", jobs, "--summary")
            predicted, unit = re.search(r"predicted +(\S+) (\S+), from the times of 4 of 4 steps", said).groups()
            self.assertEqual((float(predicted), unit), (makespan_s, "s"), said)


if __name__ == "__main__":
    unittest.main()
