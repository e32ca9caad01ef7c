"""`clotho platform calibrate --hosts`: a rate that was set with tc is measured, in the direction that it was set; planning
commands predict from the file that was written. What cannot be measured is refused in one line."""
import json
import os
import unittest

import support

RATE = 0.0125 * 1448 / 1514  # 100 Mbit/s in bytes/ns: what an Ethernet carries of it


class Rate(unittest.TestCase):
    def check(self, machines, engine):
        links, _, out = support.calibrate(machines, engine, "--quick")
        self.assertGreater(links[0, 1]["bandwidth_beyond"], RATE * 0.9)
        self.assertLess(links[0, 1]["bandwidth_beyond"], RATE * 1.1)
        self.assertGreater(links[1, 0]["bandwidth_beyond"], RATE * 4)
        for size in (100000, 400000):
            predicted = support.transfer_ns(machines, out, size)
            self.assertGreater(predicted, size / RATE * 0.85)
            self.assertLess(predicted, size / RATE * 1.15 + 200000)
        for flows in ("flows2_permille", "flows4_permille"):  # at once they share it
            self.assertLess(links[0, 1][flows], 1300)

    def test_rate_of_one_direction(self):
        """What leaves machine 0 is slow, what leaves machine 1 is not."""
        machines = support.Machines(2, rate={0: "100mbit"}, burst=6000)
        self.addCleanup(machines.close)
        for engine in support.drawn():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.check(machines, e))

    def test_refused(self):
        machines = support.Machines(2)
        self.addCleanup(machines.close)
        cluster = machines.cluster()
        three = machines.path("three.json")
        with open(three, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.cluster/1", "machines": [{"name": n, "platform": "uniform:1"} for n in "abc"],
                       "link": {"latency_ns": 1, "bandwidth_bytes_per_ns": 1}}, file)
        for engine in support.engines()[:1]:
            for words, wanted in ((("calibrate",), "--hosts"), (("calibrate", "--hosts", "none.json"), "none.json"),
                                  (("calibrate", "--hosts", three), "has 3 machines, and there are 2 ranks"),
                                  (("calibrate", "--hosts", cluster, "--quick", "-o", "/nowhere/out.json"), "/nowhere/out.json")):
                with self.subTest(engine, words=words):
                    process = machines.start(engine, *words)
                    out, err = process.communicate(timeout=400)
                    self.assertNotEqual(process.returncode, 0, out)
                    self.assertIn(wanted, err)
        self.assertFalse(os.path.exists("/nowhere/out.json"))


if __name__ == "__main__":
    support.main()
