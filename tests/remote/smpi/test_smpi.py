"""Runs of 64 ranks under SimGrid SMPI, in simulated time: random plans all come to their end, with the messages of the plan in the
order of their urgency, and the outputs of one machine; a rank that goes silent, fails or has something else than the rest is
named by the others. What runs is runtime/remote; executors are those of virtual.c.

CLO_RUNS multiplies the number of plans: CLO_RUNS=25 runs 1000. SMPI_PROGRAM is the library that CMake builds."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

RANKS = 64
RUNS = float(os.environ.get("CLO_RUNS", "1"))
PLANS = int((8 if RUNS <= 1 else 40) * RUNS)
PROGRAM = os.environ.get("SMPI_PROGRAM", "")
# As the model of the plans: a message takes latency + bytes / bandwidth. What SMPI adds is that messages share links,
# those of a machine in each direction: ports.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="125MBps" lat="20us"/>
</platform>
""" % (RANKS - 1)
WORDS = ["-no-privatize", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/test:0", "--cfg=smpi/iprobe:0",
         "--cfg=smpi/grow-injected-times:no", "--cfg=smpi/lat-factor:0:1", "--cfg=smpi/bw-factor:0:1",
         "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0", "--log=root.thresh:error"]


class Smpi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with open(os.path.join(cls.folder.name, "platform.xml"), "w", encoding="utf-8") as file:
            file.write(PLATFORM)
        with open(os.path.join(cls.folder.name, "hosts"), "w", encoding="utf-8") as file:
            file.write("".join("n%d\n" % i for i in range(RANKS)))

    def smpi(self, ranks, *words, timeout=400 + 10 * PLANS):
        """What is printed, line by line, and the exit status, which is 0 after MPI_Abort, too."""
        process = subprocess.Popen(["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts",
                                    *WORDS, PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, cwd=self.folder.name, start_new_session=True)
        try:
            out, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # smpirun is a script: what it runs would stay
            process.communicate()
            raise
        return out.splitlines(), process.returncode

    def plans(self, ranks, first, count, what="plans"):
        lines, code = self.smpi(ranks, what, first, count)
        self.assertEqual(code, 0, lines)
        got = json.loads([line for line in lines if line.startswith("{")][-1])
        print("%d ranks: %d %s, %d transfers, %d bytes, %d replicas; simulated over predicted: %.3f" % (
            got["ranks"], got["plans"], what, got["transfers"], got["bytes"], got["replicas"], got["stretch"]))
        self.assertEqual((got["ranks"], got["plans"], got["wrong"]), (ranks, count, 0), lines)
        self.assertEqual(got["messages"], got["transfers"])
        return got

    def test_plans(self):
        got = self.plans(RANKS, 1, PLANS)
        self.assertGreater(got["transfers"], 20 * PLANS)
        self.assertGreater(got["replicas"], 0)

    def test_few_ranks(self):
        """More tasks for each of them: more messages that wait for each other. Seed 0 compares clocks, too."""
        got = self.plans(6, 0, 4 * PLANS)
        self.assertGreater(got["transfers"], 200 * PLANS)

    def test_plans_that_count_ports(self):
        """Of the same graphs: messages that share links in the plan, too, come when the plan says, but for polls."""
        for ranks, count, most in ((6, PLANS, 1.3), (RANKS, 6, 1.75)):
            with self.subTest(ranks=ranks):
                alone, shared = (self.plans(ranks, 1, count, what)["stretch"] for what in ("plans", "ports"))
                self.assertGreater(shared, 0.98)  # nothing comes early
                self.assertLess(shared, most)
                self.assertLess(shared - 1, 0.6 * (alone - 1))

    def said(self, *words):
        lines, _ = self.smpi(RANKS, *words)
        found = [re.fullmatch(r"([\d.]+) s: (.*)", line) for line in lines]
        return [(float(f.group(1)), f.group(2)) for f in found if f is not None]

    def test_a_silent_rank(self):
        """All others say which one, just after a second of silence, and some say which task they wait for."""
        for rank in (0, 1) if RUNS > 1 else (0,):
            with self.subTest(rank=rank):
                said = self.said("silent", rank)
                self.assertEqual(len(said), RANKS - 1, said)
                for when, line in said:
                    self.assertIn("no sign of life from rank %d (m%d) for 1.0 s" % (rank, rank), line)
                    self.assertTrue(1.0 <= when < 1.2, (when, line))
                self.assertTrue([l for _, l in said if re.search(r"task 't\d+' \(instance \d\) is awaited from rank %d" % rank, l)])

    def test_few_tags(self):
        """More transfers than the MPI has tags: a line on each rank, and nothing is sent under a wrong one."""
        said = self.said("tags", 5)
        self.assertEqual(len(said), RANKS, said)
        for _, line in said:
            self.assertRegex(line, r"the plan has \d+ transfers, and this MPI has 5 tags \(MPI_TAG_UB\)")

    def test_a_body_that_fails(self):
        said = self.said("failing", 0)
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0][1], r"rank 0 \(m0\): task 't\d+' \(instance \d\) failed with code 7")

    def test_something_different(self):
        names = {"graph": "graph", "platform": "platform", "times": "execution times", "plan": "plan", "pieces": "size of pieces"}
        for rank, (what, name) in enumerate(names.items()):
            with self.subTest(what):
                said = self.said("different", what, rank * 15)
                self.assertEqual(len(said), RANKS, said)
                for _, line in said:
                    self.assertIn("not all ranks have the same " + name, line)


if __name__ == "__main__":
    if shutil.which("smpirun") is None or not os.path.exists(PROGRAM):
        print("skipped: no SimGrid SMPI when this was built; mend: apt-get install libsimgrid-dev, and build again")
        sys.exit(77)
    unittest.main(verbosity=2)
