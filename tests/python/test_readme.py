"""The lines and programs of bindings/python/README.md work as they are printed, one after the other."""
import os
import re
import subprocess
import sys
import unittest

from support import LONG, PACKAGE, SOURCE, PackageTest, needs

try:
    from clotho import rpc  # noqa: F401 # pylint: disable=unused-import
    HAS_RPC = True
except ImportError:
    HAS_RPC = False
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
BUILD = os.environ.get("CLO_BUILD", os.path.join(SOURCE, "build", "release"))


def readme():
    with open(os.path.join(SOURCE, "bindings", "python", "README.md"), encoding="utf-8") as file:
        return file.read()


class Readme(PackageTest):
    @needs("networkx", "pandas", "matplotlib")
    def test_the_programs(self):
        languages = [language for language, _ in BLOCK.findall(readme())]
        self.assertEqual(set(languages), {"sh", "python"})
        program = "\n".join(text for language, text in BLOCK.findall(readme())
                            if language == "python" and (HAS_RPC or "clotho import rpc" not in text))
        said = self.python(program, environment={"MPLBACKEND": "Agg", "MPLCONFIGDIR": self.folder})
        self.assertIn("6 * 6 + 6 = 42", said)
        self.assertEqual("OK 12 FOR A BOOK" in said, HAS_RPC)
        for name in ("by_rank", "policy oldest_first"):
            self.assertIn(name, said)
        for picture in ("plan.svg", "jobs.svg"):
            self.assertTrue(os.path.getsize(self.path(picture)) > 1000)

    def test_the_command_lines(self):
        done = []
        for language, text in BLOCK.findall(readme()):
            for line in text.splitlines() if language == "sh" else ():
                line = line.partition("#")[0].strip()
                if line.startswith("ninja -C build/release ") or line.startswith("cmake --preset release && ninja -C build/release "):
                    target = line.split()[-1]  # in this build, whatever its name is
                    said = subprocess.run(["cmake", "--build", BUILD, "--target", "help"], capture_output=True, text=True, timeout=LONG,
                                          check=True).stdout
                    self.assertRegex(said, r"(?m)^%s: " % re.escape(target))
                elif line.startswith("export PYTHONPATH="):
                    self.assertEqual(line, "export PYTHONPATH=$PWD/build/release/python")
                    self.assertTrue(os.path.samefile(PACKAGE, os.path.join(BUILD, "python")))
                elif line.startswith("/usr/bin/python3 -c "):
                    program = re.fullmatch(r'/usr/bin/python3 -c "(.*)"', line).group(1)
                    self.assertIn("rk3588", self.python(program))
                else:
                    self.fail("this test does not know what to do with: " + line)
                done.append(line)
        self.assertEqual(len(done), 4)

    def test_links_and_names(self):
        text = BLOCK.sub("", readme())
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, "bindings", "python", link)), link)
        import clotho
        for name in re.findall(r"`clotho\.(\w+)", text):
            self.assertTrue(hasattr(clotho, name), name)
        self.assertEqual(sys.version_info[0], 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
