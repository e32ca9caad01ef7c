"""`clotho platform calibrate --hosts` with three machines and more: what one moves to, and from, several others at once is
its port, in the file that is written; plans count it, and a run takes what they say."""
import json
import unittest

import support

RATE = 0.0125 * 1448 / 1514  # 100 Mbit/s in bytes/ns: what an Ethernet carries of it
BURST = "6000"
MOST = 0.2  # of the rate


def limit_what_enters(machines, index, rate):
    """At the other end of its veth, in the switch."""
    support.run("ip", "netns", "exec", machines.switch, "tc", "qdisc", "add", "dev", "p%d" % index, "root", "tbf", "rate", rate,
                "burst", BURST, "latency", "200ms")


class Ports(unittest.TestCase):
    def is_rate(self, value):
        self.assertGreater(value, RATE * (1 - MOST))
        self.assertLess(value, RATE * (1 + MOST))

    def calibrated(self, machines, engine):
        """Ports by machine, those in the file, and the file."""
        out = machines.path("measured.json")
        process = machines.start(engine, "calibrate", "--hosts", machines.cluster(), "-o", out, "--json", "--quick",
                                 "--silence", "30s")
        said, err = process.communicate(timeout=300)
        lines = [line for line in said.splitlines() if line.startswith("{")]
        if process.returncode != 0 or len(lines) != 1:
            raise RuntimeError("calibrate: exit %d\n%s%s" % (process.returncode, said, err))
        got = json.loads(lines[0])
        with open(out, encoding="utf-8") as file:
            written = [m["port_bytes_per_ns"] for m in json.load(file)["machines"]]
        for port in got["ports"]:
            print("%s: %s" % (engine, port))
        return got["ports"], written, out

    def check_out(self, machines, engine):
        ports, written, _ = self.calibrated(machines, engine)
        self.assertEqual([p["messages"] for p in ports], [2, 2, 2])
        self.is_rate(ports[0]["out_bytes_per_ns"])
        self.is_rate(written[0])
        for other in ports[1:]:  # what leaves them is faster, or two messages do not hinder each other
            self.assertTrue(other["out_bytes_per_ns"] == 0 or other["out_bytes_per_ns"] > RATE * 2, other)

    def test_what_leaves_a_machine(self):
        machines = support.Machines(3, rate={0: "100mbit"}, burst=int(BURST))
        self.addCleanup(machines.close)
        for engine in support.drawn():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.check_out(machines, e))

    def check_both(self, machines, engine):
        """All machines, both directions: as a network card is. Plans and runs of what was measured agree."""
        ports, written, cluster = self.calibrated(machines, engine)
        for port in ports:
            self.is_rate(port["out_bytes_per_ns"])
            self.is_rate(port["in_bytes_per_ns"])
        for port in written:
            self.is_rate(port)
        graph = machines.path("star.json")
        with open(graph, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1",
                       "tasks": [{"work_ns": 1000000, "executors": [0], "output_bytes": 1 << 20}]
                       + [{"work_ns": 1000000, "executors": [m], "output_bytes": 8} for m in (1, 2)],
                       "edges": [{"from": 0, "to": m, "bytes": 1 << 20} for m in (1, 2)]}, file)
        got = machines.run(engine, graph, "--hosts", cluster, "--planner", "heft")
        share = got["makespan_ns"] / got["predicted_ns"]
        print("%s: two messages of 1 MiB out of one machine: predicted %.1f ms, measured %.1f ms: %.3f" % (
            engine, got["predicted_ns"] / 1e6, got["makespan_ns"] / 1e6, share))
        self.assertGreater(got["predicted_ns"], 2 * (1 << 20) / (RATE * (1 + MOST)))
        self.assertGreater(share, 0.75)
        self.assertLess(share, 1.35)

    def test_both_directions(self):
        machines = support.Machines(3, rate="100mbit", burst=int(BURST))
        self.addCleanup(machines.close)
        for index in range(3):
            limit_what_enters(machines, index, "100mbit")
        for engine in support.drawn():
            with self.subTest(engine):
                support.holds(lambda e=engine: self.check_both(machines, e))

    def test_six_machines(self):
        """Four messages at once, the most there are."""
        machines = support.Machines(6)
        self.addCleanup(machines.close)
        for engine in support.engines():
            with self.subTest(engine):
                ports, written, _ = self.calibrated(machines, engine)
                self.assertEqual([p["messages"] for p in ports], [4] * 6)
                self.assertEqual(len(written), 6)

    def test_two_machines_have_no_ports_to_measure(self):
        """What the file says of ports stays."""
        machines = support.Machines(2)
        self.addCleanup(machines.close)
        out = machines.path("measured.json")
        engine = support.engines()[0]
        process = machines.start(engine, "calibrate", "--hosts", machines.cluster(port_bytes_per_ns=0.5), "-o", out,
                                 "--json", "--quick", "--silence", "30s")
        said, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads([line for line in said.splitlines() if line.startswith("{")][-1])["ports"], [])
        with open(out, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["port_bytes_per_ns"], 0.5)


if __name__ == "__main__":
    support.main()
