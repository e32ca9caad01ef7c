"""Machines with clocks that differ by days: in the joined trace nothing begins before what it waits for, and the file shows
it in the same order. The error of the clocks is said, and small beside the shift."""
import json
import unittest

import support


class Clocks(unittest.TestCase):
    def test_shifted(self):
        machines = support.Machines(3, shifts=(0, 100000, 3000))
        self.addCleanup(machines.close)
        graph = machines.path("g.json")
        support.clotho("generate", "cholesky", "--tasks", 120, "--work", "200us", "--ccr", 0.1, "--outputs", "-o", graph)
        edges = [(e["from"], e["to"]) for e in self.edges(graph)]
        for engine in support.engines():
            with self.subTest(engine):
                trace = machines.path("trace.json")
                got = machines.run(engine, graph, "--hosts", machines.cluster(), "-n", max(1, int(2 * support.RUNS)),
                                   "--trace", trace)
                print("%s: clocks joined within %d ns, makespan %d ns" % (engine, got["clock_error_ns"],
                                                                          got["makespan_ns"]))
                self.assertTrue(got["valid"])
                self.assertGreater(got["clock_error_ns"], 0)
                self.assertLess(got["makespan_ns"], 60e9, "a shift is in the trace")
                # Beyond what the comparison of clocks leaves open nothing may be early.
                self.assertLessEqual(got["worst_effect_ns"], 2 * got["clock_error_ns"], got)
                times = self.times(trace)
                for source, target in edges:
                    self.assertGreaterEqual(times[target][0] * 1000 + 2 * got["clock_error_ns"] + 1000,
                                            times[source][1] * 1000, (source, target))

    def edges(self, graph):
        with open(graph, encoding="utf-8") as file:
            document = json.load(file)
        names = [t["name"] for t in document["tasks"]]
        return [{k: names[e[k]] if isinstance(e[k], int) else e[k] for k in ("from", "to")} for e in document["edges"]]

    def times(self, trace):
        """Start and end in us of each task by its name."""
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        return {e["name"]: (e["ts"], e["ts"] + e["dur"]) for e in events if e.get("ph") == "X" and "dur" in e}


if __name__ == "__main__":
    support.main()
