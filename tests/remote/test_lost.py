"""A rank that dies (kill -9) or stops (SIGSTOP), each in turn, and a body that fails: the run ends with an exit status
that is not 0, and says which rank and which task. Within 5 s of it the line is there and the other ranks have ended; what the
launcher takes after that is its own. No process is left."""
import os
import re
import signal
import threading
import time
import unittest

import support

BODIES_S = 0.45  # of 0.2 s each
LIMIT_S = 5.0 * (4.0 if support.SANITIZED else 1.0)


class Watch(threading.Thread):
    """Moments from now on: of the first line that names the rank, of the end of each process, in s. Time in which this machine
    was too busy to wake this thread is not counted."""

    def __init__(self, process, pids, pattern):
        super().__init__(daemon=True)
        self.process, self.left, self.pattern = process, set(pids), re.compile(pattern)
        self.text, self.line_s, self.ranks_s = "", None, None
        os.set_blocking(process.stderr.fileno(), False)

    def is_there(self, pid):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def run(self):
        counted, last = 0.0, time.monotonic()
        is_open = True
        while is_open or self.left:
            time.sleep(0.01)
            now = time.monotonic()
            counted, last = counted + min(now - last, 0.05), now
            try:
                new = os.read(self.process.stderr.fileno(), 65536) if is_open else b""
                is_open = is_open and new != b""
                self.text += new.decode(errors="replace")
            except BlockingIOError:
                pass
            if self.line_s is None and self.pattern.search(self.text):
                self.line_s = counted
            self.left = {pid for pid in self.left if self.is_there(pid)}
            if self.ranks_s is None and not self.left:
                self.ranks_s = counted


class Lost(unittest.TestCase):
    # Open MPI's launcher takes about 3 s to end what it does not stop at once.
    QUICK = ["--mca", "odls_base_sigkill_timeout", "0"]

    @classmethod
    def setUpClass(cls):
        cls.machines = support.Machines(3)
        cls.addClassCleanup(cls.machines.close)
        # So that those who live can say who does not. (Open MPI's --enable-recovery does that too, but ends with 0.)
        cls.machines.more["mpich"] = ["-disable-auto-cleanup"]
        cls.machines.more["openmpi"] = cls.QUICK
        # A chain of levels: everybody waits for everybody, for 20 s.
        cls.graph = cls.machines.path("long.json")
        support.clotho("generate", "layered", "--tasks", 300, "--work", "200ms", "--ccr", 0.02, "--width", 3, "--outputs",
                       "-o", cls.graph)
        cls.cluster = cls.machines.cluster()

    def begin(self, engine):
        """Starts a run; returns it once all ranks run workers."""
        process = self.machines.start(engine, self.graph, "--hosts", self.cluster, "--unpinned", "--json",
                                      *(("--silence", "4s") if support.SANITIZED else ()))
        while process.poll() is None:
            ranks = self.machines.ranks(support.PROGRAM[engine])
            if len(ranks) == 3 and all(self.has_run(pid) for _, pid in ranks):
                return process, ranks
            time.sleep(0.05)
        self.fail("the run did not begin: %s" % (process.communicate(timeout=10),))

    def has_run(self, pid):
        """A thread beside the first one has had the CPU time of more than two bodies: messages of one level have come, so
        all ranks know each other, however slow this machine is."""
        used = 0
        try:
            for thread in os.listdir("/proc/%d/task" % pid):
                with open("/proc/%d/task/%s/stat" % (pid, thread), encoding="utf-8", errors="replace") as file:
                    if int(thread) != pid:
                        used = max(used, int(file.read().rsplit(")", 1)[1].split()[11]))
        except OSError:
            return False
        return used > BODIES_S * os.sysconf("SC_CLK_TCK")

    def hit(self, engine, victim, number):
        # After a kill that would leave nobody the time to say more.
        self.machines.more["openmpi"] = self.QUICK if number == signal.SIGSTOP else []
        self.addCleanup(self.machines.more.update, openmpi=self.QUICK)
        process, ranks = self.begin(engine)
        awaited = r"task '[^']+' \(instance \d+\) is awaited from rank %d\b" % victim
        names_it = r"rank %d\b[^\n]*(%s|its last one by the plan is '[^']+')" % (victim, awaited)
        if number == signal.SIGKILL:  # the launcher sees it, too, and may tell the others before they do
            names_it += r"|was told to end; " + awaited
        others = [pid for i, (_, pid) in enumerate(ranks) if i != victim]
        watch = Watch(process, others, names_it)
        os.kill(ranks[victim][1], number)
        watch.start()
        try:
            process.wait(timeout=400)
            watch.join(timeout=400)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        out, err = process.stdout.read(), watch.text
        process.stdout.close()
        process.stderr.close()
        print("%s: rank %d, signal %d: exit %d; line after %s s, other ranks ended after %s s: %s" % (
            engine, victim, number, process.returncode, watch.line_s and "%.2f" % watch.line_s,
            watch.ranks_s and "%.2f" % watch.ranks_s,
            "; ".join(line for line in err.splitlines() if line.startswith("clotho:"))))
        self.assertNotEqual(process.returncode, 0, out + err)
        self.assertEqual([line for line in out.splitlines() if line.startswith("{")], [], "a result all the same")
        self.assertRegex(err, r"rank %d\b" % victim)
        self.assertIsNotNone(watch.line_s, err)
        self.assertIsNotNone(watch.ranks_s, "a rank is left")
        deadline = time.monotonic() + 300
        while self.machines.ranks(support.PROGRAM[engine]) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.machines.ranks(support.PROGRAM[engine]), [])
        return watch.line_s, watch.ranks_s

    def victims(self):
        return range(3) if support.RUNS > 1 else (1,)

    def test_killed(self):
        for engine in support.engines():
            for victim in self.victims():
                with self.subTest(engine=engine, victim=victim):
                    support.in_time(lambda e=engine, v=victim: self.hit(e, v, signal.SIGKILL), LIMIT_S)

    def test_stopped(self):
        for engine in support.engines():
            for victim in (range(3) if engine == "openmpi" else self.victims()):
                with self.subTest(engine=engine, victim=victim):
                    support.in_time(lambda e=engine, v=victim: self.hit(e, v, signal.SIGSTOP), LIMIT_S)

    def test_another_plan(self):
        """One rank has another graph: a clear line, not a hang."""
        for engine in support.engines():
            with self.subTest(engine):
                other = self.machines.path("other.json")
                support.clotho("generate", "layered", "--tasks", 40, "--outputs", "--seed", 1, "-o", other)
                link = self.machines.path("link")
                script = self.machines.path("choose")
                with open(script, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\ncase $(hostname) in *rB) g=%s;; *) g=%s;; esac\nexec %s $g \"$@\"\n" % (
                        other, self.graph, os.path.join(support.BIN, support.PROGRAM[engine])))
                os.chmod(script, 0o755)
                self.assertFalse(os.path.exists(link))
                process = self.machines.start(engine, "--hosts", self.cluster, "--unpinned", program=script)
                out, err = process.communicate(timeout=400)
                self.assertNotEqual(process.returncode, 0, out)
                self.assertRegex(err, r"clotho: rank \d \(\w+\): not all ranks have the same graph")

    def test_bad_input(self):
        run = (self.graph, "--hosts", self.cluster)
        for words, wanted in ((("nothing.json", "--hosts", self.cluster), "nothing.json"),
                              ((self.graph,), "--hosts"),
                              ((self.graph, "--hosts", self.graph), "clotho.cluster/1"),
                              ((*run, "--trace", "/nowhere/t"), "/nowhere/t.*nothing was begun"),
                              ((*run, "-g", "/nowhere/g"), "/nowhere/g.*nothing was begun"),
                              ((*run, "--trace", self.cluster), "would replace"),
                              (("calibrate", *run[1:], "-o", "/nowhere/c"), "/nowhere/c.*nothing was begun")):
            for engine in support.engines():
                with self.subTest(engine=engine, words=words):
                    process = self.machines.start(engine, *words)
                    out, err = process.communicate(timeout=400)
                    self.assertNotEqual(process.returncode, 0, out)
                    self.assertTrue(re.search(wanted, err), err)


if __name__ == "__main__":
    support.main()
