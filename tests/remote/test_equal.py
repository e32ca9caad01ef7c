"""Three machines give the outputs of one, hash for hash, on both MPIs; messages are those of the plan, and the bytes on
the wire are theirs."""
import json
import os
import shutil
import unittest

import support


class Equal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = support.Machines(3)
        cls.addClassCleanup(cls.machines.close)

    def graph(self, family, *options):
        path = self.machines.path(family + ".json")
        support.clotho("generate", family, *options, "--outputs", "-o", path)
        return path

    def one_machine(self, graph):
        return json.loads(support.clotho("run", graph, "--platform", "uniform:1", "--json"))["output_hash"]

    def check(self, engine, graph, runs, *more):
        cluster = self.machines.cluster()
        want = self.one_machine(graph)
        got = self.machines.run(engine, graph, "--hosts", cluster, "-n", max(1, int(runs * support.RUNS)), *more)
        self.assertEqual(got["output_hash"], want, got)
        self.assertEqual((got["different_outputs"], got["valid"]), (0, True), got)
        self.assertEqual((got["sent"], got["sent_bytes"]), (got["transfers"], got["transferred_bytes"]), got)
        self.assertGreater(got["transfers"], 0)
        return got

    def test_cholesky(self):
        graph = self.graph("cholesky", "--tasks", 120, "--work", "100us", "--ccr", 0.2)
        for engine in support.engines():
            with self.subTest(engine):
                self.check(engine, graph, 4)

    def test_layers_with_replicas(self):
        graph = self.graph("layered", "--tasks", 150, "--work", "100us", "--ccr", 1, "--duplicable", "--seed", 3)
        for engine in support.engines():
            with self.subTest(engine):
                got = self.check(engine, graph, 4, "--planner", "deft")
                self.assertGreater(got["duplicates_run"], 0)

    def test_instances(self):
        graph = self.graph("layered", "--tasks", 20, "--work", "50us", "--ccr", 0.5, "--instances", "1-6", "--seed", 5)
        for engine in support.engines():
            with self.subTest(engine):
                self.check(engine, graph, 2)

    def test_few_posted_receives_and_small_pieces(self):
        """What is not posted is taken as it comes; each message in several pieces; one large flow at a time."""
        graph = self.graph("cholesky", "--tasks", 56, "--work", "2ms", "--ccr", 0.2, "--seed", 2)
        for engine in support.engines():
            with self.subTest(engine):
                self.check(engine, graph, 2, "--posted", 2, "--piece", 30000, "--flows", 1)

    @unittest.skipUnless("mpich" in support.engines() and shutil.which("strace"), "no MPICH or no strace")
    def test_mpich_is_told_of_the_end(self):
        """A rank that ends without "finalize" is taken for dead, by luck of the moment and whatever its exit code is."""
        graph = self.graph("cholesky", "--tasks", 56, "--work", "10us", "--ccr", 0.2)
        path = self.machines.path("traced")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec strace -f -s 40 -e trace=write,exit_group -o %s.$(hostname) %s \"$@\"\n" % (
                path, os.path.join(support.BIN, support.PROGRAM["mpich"])))
        os.chmod(path, 0o755)
        self.machines.run("mpich", graph, "--hosts", self.machines.cluster(), program=path)
        for name in self.machines.names:
            with open("%s.%s" % (path, name), encoding="utf-8", errors="replace") as file:
                calls = file.read()
            self.assertIn('"cmd=finalize\\n"', calls, name)
            self.assertRegex(calls, r"exit_group\(0\b", name)
            self.assertNotIn("expecting cmd=", calls, "%s: MPI has read the answer to another's finalize" % name)

    def test_bytes_on_the_wire(self):
        graph = self.graph("cholesky", "--tasks", 120, "--work", "2ms", "--ccr", 0.2)
        for engine in support.engines():
            with self.subTest(engine):
                cluster = self.machines.cluster()
                runs = max(1, int(2 * support.RUNS))
                # What one empty run takes to start is not the plan's: heads of MPI, hashes, clocks.
                empty = self.machines.path("empty.json")
                support.clotho("generate", "cholesky", "--tasks", 120, "--work", "2ms", "-o", empty)
                before = self.machines.sent_bytes()
                self.machines.run(engine, empty, "--hosts", cluster)
                start = self.machines.sent_bytes() - before
                before = self.machines.sent_bytes()
                got = self.machines.run(engine, graph, "--hosts", cluster, "-n", runs)
                sent = self.machines.sent_bytes() - before - start
                share = sent / (runs * got["transferred_bytes"])
                print("%s: plan %d bytes, wire %d, %.4f of it; start %d" % (engine, runs * got["transferred_bytes"],
                                                                            sent, share, start))
                self.assertGreaterEqual(share, 1.0)
                self.assertLessEqual(share, 1.05)


if __name__ == "__main__":
    support.main()
