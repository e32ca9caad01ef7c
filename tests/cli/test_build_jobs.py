"""clotho build: jobs of makes and of LTO links below the steps count against -j, and no token is lost for long."""
import json
import os
import shutil
import subprocess
import threading
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest

MAKE = shutil.which("make")
GCC = shutil.which("gcc")
SH = "rule sh\n  command = $do\n"

# Prints how many tokens are in the pipe that MAKEFLAGS names; with "steal" it takes one, and does not give it back.
TOKENS = """
import fcntl, os, re, struct, sys, termios
pipe = int(re.search(r"--jobserver-auth=(\\d+),", os.environ["MAKEFLAGS"])[1])
if "steal" in sys.argv:
    os.read(pipe, 1)
elif "forge" in sys.argv:
    os.write(pipe, b"+")
else:
    print(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"0000"))[0])
"""

# One job: how many run while it does, itself among them. mkdir is atomic.
JOB = "mkdir $(RUN)/$@; ls $(RUN) | wc -l >> $(LOG)/$@; sleep 0.05; ls $(RUN) | wc -l >> $(LOG)/$@; rmdir $(RUN)/$@"


class Jobs(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("tokens.py", TOKENS)
        os.mkdir(self.path("run"))
        os.mkdir(self.path("log"))
        self.clean = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "NINJA_STATUS")}

    def build(self, *words, code=0, environment=None):
        done = subprocess.run([CLOTHO, "build", *words], cwd=self.temporary.name, env={**self.clean, **(environment or {})},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONG, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def most_at_once(self):
        counts = [int(line) for name in os.listdir(self.path("log")) for line in self.bytes("log/" + name).split()]
        self.assertEqual(os.listdir(self.path("run")), [])
        return max(counts), len(counts)

    def recursive_makes(self):
        """Two makes with a make below each, and steps of the build itself; each job counts who runs."""
        names = ["%s%d" % (kind, i) for kind in "ab" for i in range(6)]
        rule = "RUN = %s\nLOG = %s\n" % (self.path("run"), self.path("log"))
        for top in ("one", "two"):
            mine, below = (" ".join(top + n for n in names if n[0] == kind) for kind in "ab")
            self.file(top + ".mk", rule + "all: %s below\nbelow:\n\t@$(MAKE) -f %s-below.mk\n%s:\n\t@%s\n" % (mine, top, mine, JOB))
            self.file(top + "-below.mk", rule + "all: %s\n%s:\n\t@%s\n" % (below, below, JOB))
        own = JOB.replace("$(RUN)", "run").replace("$(LOG)", "log").replace("$@", "$out")
        return ("rule own\n  command = %s\n" % own + "".join("build own%d: own\n" % i for i in range(8)) +
                "build one: sh\n  do = make -f one.mk\nbuild two: sh\n  do = make -f two.mk\n")

    @unittest.skipUnless(MAKE, "make is not installed")
    def test_no_limit_is_no_limit(self):
        """As many steps as there are, each of which waits for all others."""
        self.file("build.ninja", "rule r\n  command = touch $out; while test $$(ls | grep -c ^s) -lt 40; do sleep 0.02; done\n" +
                  "".join("build s%d: r\n" % i for i in range(40)))
        self.good("build", "-j0")
        self.assertIn("with -j 40", self.good("build", "-j0", "--plan"))
        self.assertIn("path->node hash load", self.good("build", "-d", "stats"))

    def test_recursive_makes_and_steps_never_exceed_the_jobs(self):
        self.file("build.ninja", SH + "build first: sh\n  do = python3 tokens.py > tokens.first\n" +
                  self.recursive_makes().replace(": own", ": own || first").replace(": sh", ": sh || first") +
                  "build last: sh || one two own0 own1 own2 own3 own4 own5 own6 own7\n  do = python3 tokens.py > tokens.last\n")
        self.build("-j", "3")
        most, counts = self.most_at_once()
        self.assertEqual(counts, 2 * (8 + 4 * 6))
        self.assertLessEqual(most, 3)
        self.assertGreaterEqual(most, 2)
        self.assertEqual(self.bytes("tokens.first"), b"2\n")  # one is this step's
        self.assertEqual(self.bytes("tokens.last"), b"2\n")
        self.assertEqual([name for name in os.listdir(self.path(".")) if name.startswith("clotho-")], [])

    @unittest.skipUnless(MAKE, "make is not installed")
    def test_one_job_is_one_job_everywhere(self):
        self.file("build.ninja", SH + self.recursive_makes())
        self.build("-j", "1")
        self.assertEqual(self.most_at_once(), (1, 64))

    def test_tokens_that_children_took_with_them_come_back(self):
        self.file("build.ninja", SH + "build a: sh\n  do = echo $$$$ > a.pid; python3 tokens.py steal; kill -9 $$$$\nbuild b: sh\n"
                  "  do = python3 tokens.py steal; python3 tokens.py > b\nbuild c: sh b\n"
                  "  do = until [ -s a.pid ] && ! kill -0 $$(cat a.pid) 2>&-; do sleep 0.01; done; python3 tokens.py > c\n"
                  "build d: sh c\n  do = python3 tokens.py forge; python3 tokens.py > d\nbuild e: sh d\n  do = python3 tokens.py > e\n")
        self.build("-j", "4", "-k", "0", "--policy", "fifo", code=1)
        self.assertEqual((self.bytes("d"), self.bytes("e")), (b"4\n", b"3\n"))
        os.unlink(self.path("b"))
        self.build("-j", "4", "e")
        self.assertEqual((self.bytes("b"), self.bytes("c")), (b"2\n", b"3\n"))

    def test_a_build_goes_on_when_all_tokens_are_stolen(self):
        self.file("build.ninja", SH + "".join("build %d: sh %s\n  do = python3 tokens.py steal; touch %d\n" % (i, i - 1 or "", i)
                                              for i in range(1, 8)))
        self.build("-j", "2")

    def test_what_the_environment_says(self):
        self.file("build.ninja", SH + "build a: sh\n  do = echo \"$$MAKEFLAGS\" > a\n")
        self.build("-j", "5")
        self.assertRegex(self.bytes("a").decode(), r"^ -j5 --jobserver-auth=(\d+),\1\n$")
        for old, new in (("ks", r"^ks -j5 --j\S+\n$"), (" -j9 --jobserver-auth=77,78 -k", r"^ -j5 --j\S+ -k\n$"),
                         ("k -- A=-x", r"^k -j5 --j\S+ -- A=-x\n$")):
            os.unlink(self.path("a"))
            self.build("-j", "5", environment={"MAKEFLAGS": old})
            self.assertRegex(self.bytes("a").decode(), new)
        os.unlink(self.path("a"))
        self.build("-j", "5", "--no-jobserver", environment={"MAKEFLAGS": "k"})
        self.assertEqual(self.bytes("a"), b"k\n")
        os.unlink(self.path("a"))
        said = self.build(environment={"TMPDIR": self.path("nowhere")})
        self.assertIn("no jobserver: No such file", said.stderr)

    @unittest.skipUnless(MAKE, "make is not installed")
    def test_below_a_make_its_tokens_are_used(self):
        self.file("build.ninja", SH + self.recursive_makes() + "build says: sh\n  do = echo \"$$MAKEFLAGS\" > says\n")
        self.file("Makefile", "all: x\n\t+@%s build\nx:\n\t@echo \"$(MAKEFLAGS)\" > made\n" % CLOTHO)
        subprocess.run(["make", "-j3"], cwd=self.temporary.name, env=self.clean, check=True, stdout=subprocess.DEVNULL, timeout=LONG)
        most, counts = self.most_at_once()
        self.assertEqual(counts, 64)
        self.assertLessEqual(most, 3)
        self.assertRegex(self.bytes("says").decode(), r"--jobserver-auth=\d+,\d+")

    @unittest.skipUnless(MAKE, "make is not installed")
    def test_a_jobserver_that_is_closed_is_not_used(self):
        self.file("build.ninja", SH + "build a: sh\n  do = echo \"$$MAKEFLAGS\" > a\n")
        self.build(environment={"MAKEFLAGS": " -j4 --jobserver-auth=77,78"})
        self.assertNotIn(b"77,78", self.bytes("a"))

    @unittest.skipIf(SANITIZED, "long")
    @unittest.skipUnless(MAKE and GCC, "gcc or make is not installed")
    def test_links_with_lto_never_exceed_the_jobs(self):
        for i in range(8):
            self.file("f%d.c" % i, "".join("int f%d_%d(int x) { return x * %d + (x >> %d); }\n" % (i, k, k + 3, k % 7)
                                           for k in range(100)))
        self.file("main.c", "int f0_0(int);\nint main(void) { return f0_0(0); }\n")
        # gcc's own streaming forks know no jobserver, and are switched off
        flags = ("-O1 -flto=jobserver -fno-fat-lto-objects --param lto-partitions=6 --param lto-min-partition=10 "
                 "--param lto-max-streaming-parallelism=1")
        objects = "".join(" f%d.o" % i for i in range(8)) + " main.o"
        # gcc's link starts $MAKE for its parts: a make that writes down what it was given
        self.file("make", "#!/bin/sh\necho \"$MAKEFLAGS\" >> %s\nexec %s \"$@\"\n" % (self.path("made"), MAKE))
        os.chmod(self.path("make"), 0o755)
        self.file("build.ninja", "rule cc\n  command = gcc %s -c $in -o $out\nrule ld\n  command = gcc %s -rdynamic $in -o $out\n" %
                  (flags, flags) + "".join("build %s.o: cc %s.c\n" % (n, n) for n in ["main"] + ["f%d" % i for i in range(8)]) +
                  "".join("build e%d: ld%s\n" % (i, objects) for i in range(3)) + SH +
                  "build tokens: sh || e0 e1 e2\n  do = python3 tokens.py > tokens\n")
        most, stop = [0], threading.Event()

        def watch():
            before = self.compilers()
            while not stop.is_set():
                now = self.compilers()
                most[0] = max(most[0], len(before & now))  # all of these ran between the two looks
                before = now
                stop.wait(0.002)
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            self.build("-j", "2", environment={"MAKE": self.path("make")})
        finally:
            stop.set()
            watcher.join()
        self.assertLessEqual(most[0], 2)
        self.assertGreater(most[0], 0)
        self.assertGreaterEqual(self.bytes("made").count(b"--jobserver-auth="), 3)
        self.assertEqual(self.bytes("tokens"), b"1\n")  # of two, one is that step's

    def compilers(self):
        """Compilers of this test that run, each at the moment when it is looked at: number and start."""
        found, here = set(), os.path.realpath(self.temporary.name)
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % number, encoding="utf-8", errors="replace") as file:
                    name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
                words = rest.split()
                if name.startswith(("cc1", "lto1")) and words[0] not in "ZX" and os.readlink("/proc/%s/cwd" % number) == here:
                    found.add((number, words[19]))
            except OSError:  # ended, or somebody else's
                pass
        return found

    def default_jobs(self, preexec=None):
        self.file("build.ninja", SH + "build a: sh\n  do = true\n")
        return json.loads(self.good("build", "--plan", "--json", preexec=preexec))["jobs"]

    def test_without_j_there_are_jobs_for_the_cpus_that_this_process_may_use(self):
        """ninja's rule; a container's CPUs are a set, or a quota of time."""
        cpus = sorted(os.sched_getaffinity(0))
        for count in sorted({1, 2, min(3, len(cpus))} & set(range(len(cpus) + 1))):
            jobs = self.default_jobs(preexec=lambda some=cpus[:count]: os.sched_setaffinity(0, some))
            self.assertIn(jobs, (count + 1 + (count > 2), 2, 3))  # a quota of this machine may be less
            if count == 1:
                self.assertEqual(jobs, 2)

    def test_a_quota_of_cpu_time_counts_as_cpus(self):
        group = "/sys/fs/cgroup/cpu/clotho-test-%d" % os.getpid()
        try:
            os.mkdir(group)
            self.addCleanup(os.rmdir, group)
            with open(group + "/cpu.cfs_quota_us", "w", encoding="utf-8") as file:
                file.write("150000")
        except OSError as error:
            self.skipTest("no group of CPU time can be made here: %s" % error)

        def enter():
            with open(group + "/cgroup.procs", "w", encoding="utf-8") as file:
                file.write("0")
        self.assertEqual(self.default_jobs(preexec=enter), 2)

    def test_a_load_above_the_limit_lets_one_step_run(self):
        job = JOB.replace("$(RUN)", "run").replace("$(LOG)", "log").replace("$@", "$out")
        self.file("build.ninja", "rule own\n  command = %s\n" % job + "".join("build own%d: own\n" % i for i in range(6)))
        for _ in range(100):  # a machine that did nothing for a minute
            if os.getloadavg()[0] > 0.01:
                break
            time.sleep(0.5)
        self.build("-j", "4", "-l", "0.000001")
        self.assertEqual(self.most_at_once(), (1, 12))
        self.bad(2, "build", "-l", "much", holds="-l is 'much'")
        self.bad(2, "build", "-l", "-1", holds="-l")


if __name__ == "__main__":
    unittest.main()
