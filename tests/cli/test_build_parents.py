"""clotho build below clotho build: a step waits for no folder of its parents, and for all others."""
import fcntl
import os
import subprocess
import unittest

from support import CLOTHO, CommandTest

WAITS = "clotho: another build runs in this folder; waiting for its end\n"


class Parents(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("build.ninja", "rule sh\n  command = touch a\nbuild a: sh\n")
        about = os.stat(self.temporary.name)
        self.name = " %x:%x" % (about.st_dev, about.st_ino)
        self.folder = os.open(self.temporary.name, os.O_RDONLY)
        self.addCleanup(os.close, self.folder)
        fcntl.flock(self.folder, fcntl.LOCK_EX)

    def test_a_folder_of_a_parent_is_known_among_others_that_begin_like_it(self):
        for parents in (self.name, self.name + "0" + self.name, self.name + " 1:2", " 1" + self.name, self.name + "0 1:2" + self.name):
            with self.subTest(parents):
                self.good("build", "-t", "clean", environment={"CLOTHO_BUILDS": parents})

    def test_other_folders_are_waited_for(self):
        for parents in ("", self.name[:-1], self.name + "0", " 1:2 3:4", self.name + "0" + self.name + "1"):
            with self.subTest(parents):
                with subprocess.Popen([CLOTHO, "build"], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, env={**os.environ, "CLOTHO_BUILDS": parents}) as process:
                    self.assertEqual(process.stderr.readline(), WAITS)
                    fcntl.flock(self.folder, fcntl.LOCK_UN)
                    self.assertEqual(process.wait(), 0)
                fcntl.flock(self.folder, fcntl.LOCK_EX)


if __name__ == "__main__":
    unittest.main()
