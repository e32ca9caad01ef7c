"""A message that takes far longer than --silence: signs of life stand behind it in one connection, and nobody may be taken
for lost all the same. A rank that is stopped or killed in the middle of it is found as soon as ever."""
import json
import os
import signal
import time
import unittest

import support
from test_lost import LIMIT_S, Watch

SILENCE_S = 2 * (2 if support.SANITIZED else 1)
RATE_MBIT = 40
ALIVE_MIB = 8 * SILENCE_S  # 1.7 * SILENCE_S
LOST_MIB = 96   # 20 s


def ignored_signals(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        return int(next(line for line in file if line.startswith("SigIgn:")).split()[1], 16)


class SlowLink(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = support.Machines(3, rate="%dmbit" % RATE_MBIT, burst=1 << 18)
        cls.addClassCleanup(cls.machines.close)
        cls.machines.more["mpich"] = ["-disable-auto-cleanup"]
        cls.machines.more["openmpi"] = ["--mca", "odls_base_sigkill_timeout", "0"]

    def begin(self, engine, mib, both_ways, *more):
        """Two tasks on the first two machines, and the output of one (of each) on the other one."""
        path = self.machines.path("graph.json")
        tasks = [{"name": "t%d" % i, "work_ns": 1000, "executors": [i % 2],
                  "output_bytes": mib << 20 if i == 0 or (both_ways and i == 1) else 8} for i in range(4)]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "g", "tasks": tasks,
                       "edges": [{"from": 0, "to": 3, "bytes": 1000}, {"from": 1, "to": 2, "bytes": 8}]}, file)
        return self.machines.start(engine, path, "--hosts", self.machines.cluster(), "--unpinned", "--json", "--silence",
                                   "%ds" % SILENCE_S, *more)

    def test_nobody_is_taken_for_lost(self):
        """The cluster file says 800 Mbit/s, as if it were measured when the link was better."""
        for engine in support.engines():
            for both_ways in (False, True) if support.RUNS > 1 else (True,):
                with self.subTest(engine, both_ways=both_ways):
                    began = time.monotonic()
                    process = self.begin(engine, ALIVE_MIB, both_ways)
                    out, err = process.communicate(timeout=400)
                    self.assertEqual(process.returncode, 0, out + err)
                    got = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])
                    self.assertEqual((got["sent"], got["valid"]), (2, True))
                    self.assertGreater(time.monotonic() - began, 1.5 * SILENCE_S, "the link is not slow")

    def begin_to_send(self, engine):
        """A run in the middle of its message, and its ranks. On a busy machine it may be through before that is seen."""
        for _ in range(5):
            before = self.machines.sent_bytes()
            process = self.begin(engine, LOST_MIB, False)
            while process.poll() is None:
                ranks = self.machines.ranks(support.PROGRAM[engine])
                if self.machines.sent_bytes() - before >= 2 << 20 and len(ranks) == 3:
                    return process, ranks
                time.sleep(0.05)
            said = process.communicate()
        return self.fail("no run was seen in the middle: %s" % (said,))

    def lose(self, engine, victim, number):
        process, ranks = self.begin_to_send(engine)
        try:
            for _, pid in ranks:  # else who writes to a killed rank may die before it has named it
                self.assertTrue(ignored_signals(pid) >> (signal.SIGPIPE - 1) & 1)
            watch = Watch(process, [pid for i, (_, pid) in enumerate(ranks) if i != victim], r"rank %d\b" % victim)
            os.kill(ranks[victim][1], number)
            watch.start()
            process.wait(timeout=400)
            watch.join(timeout=400)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        out = process.stdout.read()
        process.stdout.close()
        process.stderr.close()
        print("%s: rank %d, signal %d: exit %d; line after %s s, others ended after %s s" % (
            engine, victim, number, process.returncode, watch.line_s, watch.ranks_s))
        self.assertNotEqual(process.returncode, 0, out + watch.text)
        self.assertIsNotNone(watch.line_s, watch.text)
        self.assertIsNotNone(watch.ranks_s, "a rank is left")
        deadline = time.monotonic() + 300
        while self.machines.ranks(support.PROGRAM[engine]) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.machines.ranks(support.PROGRAM[engine]), [])
        return (watch.line_s,)

    def test_a_rank_is_lost_in_the_middle(self):
        """The one that sends, and the one that receives."""
        for engine in support.engines():
            for victim in (0, 1):
                for number in (signal.SIGSTOP, signal.SIGKILL) if support.RUNS > 1 or victim == 0 else (signal.SIGSTOP,):
                    with self.subTest(engine, victim=victim, signal=number):
                        support.in_time(lambda e=engine, v=victim, n=number: self.lose(e, v, n), LIMIT_S + SILENCE_S)


if __name__ == "__main__":
    support.main()
