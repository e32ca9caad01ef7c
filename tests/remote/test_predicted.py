"""Over a link of 100 Mbit/s (tbf) a run takes what the plan says, within 15 %: with replicas, and without them, which is slower
and sends more, one message at a time; and with messages at once out of one machine, where the cluster file has ports."""
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

    def fan(self, machines):
        """An output that two other machines take at once; three times, one after the other."""
        tasks, edges = [], []
        for level in range(3):
            at = len(tasks)
            tasks += [{"name": "%s%d" % (b, level), "work_ns": WORK_NS // 4, "output_bytes": BYTES if i == 0 else 8,
                       "executors": [i]} for i, b in enumerate("sab")]
            edges += [{"from": at, "to": at + i, "bytes": BYTES} for i in (1, 2)]
            edges += [{"from": at - i, "to": at, "bytes": 8} for i in (1, 2) if level > 0]
        path = machines.path("fan.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "fan", "tasks": tasks, "edges": edges}, file)
        return path

    def check_fan(self, machines, engine, graph):
        shares = []
        for more in ({}, {"port_bytes_per_ns": RATE}):
            cluster = machines.cluster(latency_ns=100000, bandwidth=RATE, **more)
            got = machines.run(engine, graph, "--hosts", cluster, "-n", 3)
            shares.append(got["makespan_ns"] / got["predicted_ns"])
            print("%s, %s: predicted %.1f ms, measured %.1f ms (%.3f)" % (
                engine, more or "no ports", got["predicted_ns"] / 1e6, got["makespan_ns"] / 1e6, shares[-1]))
        self.assertGreater(shares[0], 1.3)  # the two messages of a level take twice as long as one
        self.assertGreater(shares[1], 0.85)
        self.assertLess(shares[1], 1.15)

    def test_messages_at_once_share_a_port(self):
        machines = support.Machines(3, rate="100mbit", burst=6000)
        self.addCleanup(machines.close)
        graph = self.fan(machines)
        for engine in support.drawn():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.check_fan(machines, e, graph))

    def test_over_a_slow_link(self):
        machines = support.Machines(2, rate="100mbit", burst=6000)
        self.addCleanup(machines.close)
        graph, cluster = self.graph(machines), machines.cluster(latency_ns=100000, bandwidth=RATE)
        for engine in support.drawn():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.check(machines, e, graph, cluster))


if __name__ == "__main__":
    support.main()
