"""clotho build: a manifest that another build writes while this one reads it, before this one has the lock."""
import os
import subprocess
import unittest

from support import CLOTHO, LONG, CommandTest

TOUCH = "rule t\n  command = touch $out\n"


class Stale(CommandTest):
    def held_while_reading(self, *words, change):
        """Runs the command, which is held in its first reading of `part`: a pipe. Then `change` is done."""
        os.mkfifo(self.path("part"))
        self.file("build.ninja", TOUCH + "build old: t\ninclude part\n")
        with subprocess.Popen([CLOTHO, "build", *words], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            with open(self.path("part"), "w", encoding="utf-8") as pipe:  # waits for the reader
                change()
                pipe.write("# nothing\n")
            out, err = process.communicate(timeout=LONG)
        self.assertEqual((process.returncode, err), (0, ""))
        return out

    def write_anew(self):
        """As CMake does: a new file takes the name, and its time is older than the reading."""
        os.utime(self.file("build.ninja.tmp", TOUCH + "build new: t\n"), (1e9, 1e9))
        os.rename(self.path("build.ninja.tmp"), self.path("build.ninja"))

    def test_steps_of_the_new_one_run(self):
        self.assertEqual(self.held_while_reading(change=self.write_anew), "[1/1] touch new\n")
        self.assertFalse(os.path.exists(self.path("old")))

    def test_files_of_the_old_one_are_not_cleaned(self):
        self.file("old", "")
        self.file("new", "")
        self.assertEqual(self.held_while_reading("-t", "clean", change=self.write_anew), "Cleaning... 1 files.\n")
        self.assertTrue(os.path.exists(self.path("old")) and not os.path.exists(self.path("new")))

    def test_files_that_it_includes_count(self):
        def change():
            self.file("part.tmp", "build new: t\n")
            os.rename(self.path("part.tmp"), self.path("part"))
        self.assertIn("[2/2] touch ", self.held_while_reading("-j", "1", change=change))
        self.assertTrue(os.path.exists(self.path("old")) and os.path.exists(self.path("new")))

    def test_a_manifest_from_a_pipe_is_read_once(self):
        self.assertEqual(self.good("build", "-f", "/dev/stdin", stdin=TOUCH + "build a: t\n"), "[1/1] touch a\n")


if __name__ == "__main__":
    unittest.main()
