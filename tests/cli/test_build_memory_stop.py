"""clotho build --memory: a step that is killed for want of memory while the build stops already."""
import glob
import os
import shutil
import subprocess
import unittest

import test_build_memory
from support import SANITIZED, CommandTest

GROW = test_build_memory.TAKE.replace(
    "memset(taken, 1, bytes);",
    "for (size_t at = 0; at < bytes; at += 1 << 20) {\n        memset(taken + at, 1, 1 << 20);\n"
    "        nanosleep(&(struct timespec){0, atol(words[4]) * 1000000}, NULL);\n    }")


class Stop(CommandTest):
    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_a_step_that_does_not_run_again_says_why_it_was_killed(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler is installed")
        self.file("take.c", GROW)
        subprocess.run([compiler, "-O1", "take.c", "-o", "take"], cwd=self.temporary.name, check=True)
        for ms in (10, 40, 160, 640):  # until the build stops before they are large, however slow the machine is
            for name in (".clotho_steps", ".ninja_log", ".ninja_deps", "o0", "o1", "o2", *map(os.path.basename, glob.glob(self.path("begun.*")))):
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            all_begun = "until [ $$(ls begun.* | wc -l) -ge 3 ]; do sleep 0.01; done"
            self.file("build.ninja", "rule cc\n  command = $meet ./take $mib 900 $out %d\nrule fails\n  command = : > begun.f; %s; exit 1\n"
                      "build o0: cc\n  mib = 2\nbuild f: fails o0\n" % (ms, all_begun) +
                      "".join("build o%d: cc o0\n  mib = 70\n  meet = : > begun.%d; %s;\n" % (i, i, all_begun) for i in (1, 2)))
            said = self.say("build", "-j", "4", "--memory", "120M", "--summary")
            test_build_memory.Memory.needs_groups(self, said.out)
            self.assertEqual(said.code, 1, said.out)
            if "run again alone" in said.out and " 0 run again alone" in said.out:
                break
        self.assertIn("\nkilled for want of memory; it does not run again, because the build stops\n", said.out)
        killed = said.out.count("\nkilled for want of memory; it does not run again")  # both, where the first's memory is slow to go
        self.assertIn("%d steps failed" % (1 + killed), said.err)


if __name__ == "__main__":
    unittest.main()
