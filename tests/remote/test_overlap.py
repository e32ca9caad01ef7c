"""Messages move while bodies run: where computing takes longer than sending, executors wait for other machines for less than 10 % of
their time; for messages that an MPI sends at once, and for those that need both ends (rendezvous)."""
import json
import unittest

import support

RATE = 0.0125 * 1448 / 1514  # 100 Mbit/s in bytes/ns: what an Ethernet carries of it
WORK_NS = 40000000
STEPS = 20


class Overlap(unittest.TestCase):
    def graph(self, machines, size):
        """A chain on each machine; each step of the second one needs the same step of the first one."""
        tasks = [{"name": "make%d" % i, "work_ns": WORK_NS, "output_bytes": size, "executors": [0]} for i in range(STEPS)]
        tasks += [{"name": "use%d" % i, "work_ns": WORK_NS, "output_bytes": 8, "executors": [1]} for i in range(STEPS)]
        edges = [{"from": i, "to": STEPS + i, "bytes": size} for i in range(STEPS)]
        edges += [{"from": c + i, "to": c + i + 1} for c in (0, STEPS) for i in range(STEPS - 1)]
        path = machines.path("g.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "two chains", "tasks": tasks, "edges": edges}, file)
        return path

    def check(self, machines, engine, size, cluster):
        got = machines.run(engine, self.graph(machines, size), "--hosts", cluster, "-n", max(1, int(support.RUNS)))
        print("%s, %d bytes (%.1f ms a message, %.1f ms a step): waits %.3f, predicted %.1f ms, measured %.1f ms" % (
            engine, size, size / RATE / 1e6, WORK_NS / 1e6, got["wait_share"], got["predicted_ns"] / 1e6, got["makespan_ns"] / 1e6))
        self.assertEqual((got["sent"], got["sent_bytes"]), (STEPS, STEPS * size))
        self.assertLess(got["wait_share"], 0.1)
        self.assertGreater(got["communication_cpu_ns"], 0)  # what polls take is said
        # One after the other they would take this.
        self.assertLess(got["makespan_ns"], STEPS * (WORK_NS + size / RATE))

    def test_small_and_large_messages(self):
        machines = support.Machines(2, rate="100mbit", burst=6000)
        self.addCleanup(machines.close)
        cluster = machines.cluster(latency_ns=100000, bandwidth=RATE)
        for engine in support.drawn():
            for size in (12000, 360000):
                with self.subTest(engine, size=size):
                    if size < 65536:  # too short for the last line of check
                        support.holds(lambda e=engine, s=size: self.assertLess(
                            machines.run(e, self.graph(machines, s), "--hosts", cluster)["wait_share"], 0.1))
                    else:
                        support.holds(lambda e=engine, s=size: self.check(machines, e, s, cluster))

    def check_one(self, machines, engine, size, cluster):
        """Makespan over that of one machine."""
        got = machines.run(engine, self.graph(machines, size), "--hosts", cluster)
        share = got["makespan_ns"] / (2 * STEPS * WORK_NS)
        print("%s, %d bytes (%.1f ms a message, %.1f ms a step): %.2f of the time of one machine, predicted %.2f" % (
            engine, size, size / RATE / 1e6, WORK_NS / 1e6, share, got["predicted_ns"] / (2 * STEPS * WORK_NS)))
        return share

    def test_faster_or_slower_than_one_machine(self):
        """Where computing takes longer than sending two machines are faster than one, else slower; both are said."""
        machines = support.Machines(2, rate="100mbit", burst=6000)
        self.addCleanup(machines.close)
        cluster = machines.cluster(latency_ns=100000, bandwidth=RATE, port_bytes_per_ns=RATE)
        for engine in support.drawn():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.assertLess(self.check_one(machines, e, 12000, cluster), 0.8))
                self.assertGreater(self.check_one(machines, engine, 1500000, cluster), 1.2)


if __name__ == "__main__":
    support.main()
