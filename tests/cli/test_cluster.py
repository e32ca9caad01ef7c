"""Cluster files where other verbs take a platform: plan, check, simulate, run in virtual time, platform show."""
import json
import unittest

from support import CommandTest


class Cluster(CommandTest):
    def cluster(self, name="lab.json", **more):
        return self.file(name, {"format": "clotho.cluster/1", "name": "lab", "machines": [
            {"name": "a", "platform": "uniform:2"}, {"name": "b", "platform": "zcu102"}],
            "link": {"latency_ns": 20000, "bandwidth_bytes_per_ns": 0.1}, **more})

    def made(self):
        path = self.path("g.json")
        self.say("generate", "layered", "--tasks", 60, "--work", "300us", "--ccr", 0.3, "--duplicable", "--seed", 4, "-o", path)
        return path

    def object(self, *words):
        said = self.say(*words, "--json")
        self.assertEqual((said.code, said.err), (0, ""), said.out)
        return json.loads(said.out)

    def test_a_plan_over_the_cluster(self):
        graph, cluster, plan = self.made(), self.cluster(), self.path("plan.json")
        got = self.object("plan", graph, "--platform", cluster, "--planner", "deft", "--out", plan)
        self.assertEqual((got["platform"], got["valid"]), ("lab", True))
        self.assertGreater(got["transferred_bytes"], 0)
        self.assertAlmostEqual(got["gap"], got["makespan_ns"] / got["lower_bound_ns"] - 1, places=4)
        self.assertEqual(self.object("check", graph, plan, "--platform", cluster)["makespan_ns"], got["makespan_ns"])
        with open(plan, encoding="utf-8") as file:
            executors = {row["executor"] for row in json.load(file)["placements"]}
        self.assertEqual({e.split("/")[0] for e in executors}, {"a", "b"})
        # A slower link makes the same plan invalid: it is the links of the file that count.
        slow = self.cluster("slow.json", link={"latency_ns": 2000000, "bandwidth_bytes_per_ns": 0.01})
        said = self.say("check", graph, plan, "--platform", slow)
        self.assertEqual(said.code, 1, said.out)

    def test_simulate_and_virtual_run(self):
        graph, cluster, plan = self.made(), self.cluster(), self.path("plan.json")
        planned = self.object("plan", graph, "--platform", cluster, "--out", plan)
        run = self.object("run", graph, "--platform", cluster, "--planner", "heft", "--clock", "virtual")
        self.assertEqual(run["makespan_ns"], planned["makespan_ns"])
        self.assertGreater(self.object("simulate", graph, "--platform", cluster, "--policy", "eft")["makespan_ns"],
                           planned["lower_bound_ns"] - 1)

    def test_ports(self):
        """They count in the choice of the plan, and where it is followed in virtual time; elsewhere one line says that they do not."""
        graph, plan = self.made(), self.path("plan.json")
        cluster = self.cluster("ports.json", port_bytes_per_ns=0.01)
        times = self.object("plan", graph, "--platform", cluster, "--contention", "times")
        chosen = self.object("plan", graph, "--platform", cluster, "--out", plan)
        self.assertLess(chosen["makespan_ns"], times["makespan_ns"])
        self.assertEqual(self.object("check", graph, plan, "--platform", cluster)["makespan_ns"], chosen["makespan_ns"])
        run = self.object("run", graph, "--platform", cluster, "--planner", "heft", "--clock", "virtual")
        self.assertEqual(run["makespan_ns"], chosen["makespan_ns"])
        for words in (("simulate", graph, "--platform", cluster, "--policy", "fifo"),
                      ("run", graph, "--platform", cluster, "--policy", "fifo", "--clock", "virtual")):
            said = self.say(*words)
            self.assertEqual((said.code, said.out), (1, ""), said)
            self.assertRegex(said.err, "machines with ports, which .* not count; leave port_bytes_per_ns out\n$")
            self.assertEqual(said.err.count("\n"), 1)
        self.assertEqual(self.say("plan", graph, "--contention", "none").code, 2)

    def test_show(self):
        shown = self.object("platform", "show", self.cluster())
        self.assertEqual([e["name"] for e in shown["executors"]][:2], ["a/e0", "a/e1"])
        self.assertFalse(shown["coherent"])

    def test_refused(self):
        graph = self.made()
        for name, text, wanted in (("g2.json", '{"format": "clotho.graph/1"}', "is no cluster file"),
                                   ("cut.json", "{", "cut.json:1"), ("none.json", None, "No such file"),
                                   ("more.json", '{"format": "clotho.cluster/1", "machines": []}', "1 .. 1024 machines")):
            path = self.file(name, text) if text is not None else self.path(name)
            for words in (("plan", graph, "--platform", path), ("platform", "show", path)):
                said = self.say(*words)
                self.assertEqual((said.code, said.out), (1, ""), said)
                self.assertIn(wanted, said.err)
                self.assertEqual(said.err.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
