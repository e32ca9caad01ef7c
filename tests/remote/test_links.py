"""`clotho platform calibrate --hosts`: a delay that was set with tc (or by relay.py) is measured, and the size up to which the
MPI sends at once shows as a step: a rendezvous takes a round trip more."""
import json
import unittest

import support

LIMITS = {"openmpi": (49152, 65536), "mpich": (4096, 65536)}


class Links(unittest.TestCase):
    def check(self, machines, engine, delay_ns):
        links, limit, out = support.calibrate(machines, engine, "--quick")
        with open(out, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["cut_bytes"], [limit, limit + 1])
        self.assertGreaterEqual(limit, LIMITS[engine][0])
        self.assertLessEqual(limit, LIMITS[engine][1])
        for link in links.values():
            self.assertGreater(link["latency_ns"], delay_ns)
            self.assertLess(link["latency_ns"], delay_ns * 1.15 + 300000)
            self.assertGreater(link["step_ns"], 1.5 * delay_ns)
        self.assertGreater(support.transfer_ns(machines, out, 1), delay_ns)
        self.assertGreater(support.transfer_ns(machines, out, 70000), 2.5 * delay_ns)

    def test_delay_and_limit(self):
        for delay_us in (1000, 5000) if support.RUNS > 1 else (1000,):
            machines = support.Machines(2, delay_us=delay_us)
            self.addCleanup(machines.close)
            print("delay by %s" % ("netem" if machines.relay is None else "relay.py"))
            for engine in support.drawn():
                with self.subTest(engine, delay_us=delay_us):
                    support.holds(lambda m=machines, e=engine, d=delay_us: self.check(m, e, d * 1000))


if __name__ == "__main__":
    support.main()
