"""Over a link of 100 Mbit/s (tbf) a run takes what the plan says, within 15 %: with replicas, and without them, which is slower
and sends more. Messages do not overlap here; how several at once share a link is no part of the model."""
import json
import unittest

import support

RATE = 0.0125 * 1448 / 1514  # 100 Mbit/s in bytes/ns: what an Ethernet carries of it
WORK_NS = 40000000
BYTES = 1000000  # 84 ms on the link: twice what it takes to compute them again


class Predicted(unittest.TestCase):
    def graph(self, machines):
        """A cheap source with a large output, and a branch for each machine; three times, one after the other."""
        tasks, edges = [], []
        for level in range(3):
            at = len(tasks)
            tasks.append({"name": "source%d" % level, "work_ns": WORK_NS, "output_bytes": BYTES, "duplicable": True})
            tasks += [{"name": "%s%d" % (b, level), "work_ns": 4 * WORK_NS, "output_bytes": 8, "executors": [i]}
                      for i, b in enumerate("ab")]
            edges += [{"from": at, "to": at + i, "bytes": BYTES} for i in (1, 2)]
            edges += [{"from": at - i, "to": at, "bytes": 8} for i in (1, 2) if level > 0]
        path = machines.path("g.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "branches", "tasks": tasks, "edges": edges}, file)
        return path

    def check(self, machines, engine, graph, cluster):
        found = {}
        for name, words in (("with replicas", ()), ("without", ("--no-duplicates",))):
            got = machines.run(engine, graph, "--hosts", cluster, "--planner", "deft", "-n", max(3, int(support.RUNS)), *words)
            share = got["makespan_ns"] / got["predicted_ns"]
            print("%s, %s: predicted %.1f ms, measured %.1f ms (%.3f), %d bytes sent" % (
                engine, name, got["predicted_ns"] / 1e6, got["makespan_ns"] / 1e6, share, got["sent_bytes"]))
            self.assertGreater(share, 0.85)
            self.assertLess(share, 1.15)
            found[name] = got
        few, many = found["with replicas"], found["without"]
        self.assertGreater(few["duplicates_run"], 0)
        self.assertGreater(many["makespan_ns"], few["makespan_ns"])
        self.assertGreater(many["sent_bytes"], few["sent_bytes"])

    def test_over_a_slow_link(self):
        machines = support.Machines(2, rate="100mbit", burst=6000)
        self.addCleanup(machines.close)
        graph, cluster = self.graph(machines), machines.cluster(latency_ns=100000, bandwidth=RATE)
        for engine in support.engines():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.check(machines, e, graph, cluster))


if __name__ == "__main__":
    support.main()
