"""A rank that does not begin: it is stopped before MPI does, or hangs while it reads its files. After --start the others
say so, in one line each, the exit status is not 0, and no process is left."""
import json
import os
import signal
import subprocess
import time
import unittest

import support

START_S = 12 if support.SANITIZED else 4
START_MAX_S = 64  # for a machine that is too busy for MPI to begin
NOT_BEGUN = "clotho: MPI does not begin on all ranks; is one stopped, or can it not be reached"


class Begin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = support.Machines(3)
        cls.addClassCleanup(cls.machines.close)
        cls.machines.more["openmpi"] = ["--mca", "odls_base_sigkill_timeout", "0"]
        cls.graph = cls.machines.path("graph.json")
        with open(cls.graph, "w", encoding="utf-8") as file:
            json.dump({"format": "clotho.graph/1", "name": "g", "tasks": [{"name": "a", "work_ns": 1000}], "edges": []},
                      file)

    def script(self, engine, *middle):
        """A program that does this on the second machine before it becomes the rank."""
        path = self.machines.path("begins")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ng=$1; shift\ncase $(hostname) in %s)\n%s\nesac\nexec %s \"$g\" \"$@\"\n" % (
                self.machines.names[1], "\n".join(middle), os.path.join(support.BIN, support.PROGRAM[engine])))
        os.chmod(path, 0o755)
        return path

    def fails(self, engine, program, pattern, seconds=START_S):
        """--start is a nanosecond less than whole seconds: the last microsecond of one."""
        process = self.machines.start(engine, self.graph, "--hosts", self.machines.cluster(), "--unpinned", "--start",
                                      "%dns" % (seconds * 10 ** 9 - 1), program=program)
        try:
            out, err = process.communicate(timeout=400)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail("it hangs: %s" % (process.communicate(),))
        self.assertNotEqual(process.returncode, 0, out + err)
        if NOT_BEGUN in err and pattern != NOT_BEGUN and seconds < START_MAX_S:
            self.fails(engine, program, pattern, 2 * seconds)
            return
        self.assertRegex(err, pattern)
        deadline = time.monotonic() + 300
        while self.machines.ranks(support.PROGRAM[engine]) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.machines.ranks(support.PROGRAM[engine]), [])

    def test_a_rank_is_stopped_before_mpi_begins(self):
        for engine in support.engines():
            with self.subTest(engine):
                self.fails(engine, self.script(engine, "while :; do kill -STOP $$; done"), NOT_BEGUN)

    def test_a_rank_hangs_over_its_files(self):
        pipe = self.machines.path("pipe")
        os.mkfifo(pipe)
        for engine in support.engines():
            with self.subTest(engine):
                self.fails(engine, self.script(engine, "g=" + pipe),
                           r"clotho: rank [02] \(\w+\): no sign of life from rank 1 ")


if __name__ == "__main__":
    support.main()
