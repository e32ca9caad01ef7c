"""The wheel: complete, listed as wheels must be, the same each time, and at work where nothing else of Clotho is."""
import base64
import csv
import glob
import hashlib
import io
import os
import subprocess
import sys
import unittest
import zipfile

from support import LONG, SOURCE, PackageTest

BUILD = os.environ.get("CLO_BUILD", os.path.join(SOURCE, "build", "release"))
VERSION = __import__("clotho").__version__


class Wheel(PackageTest):
    def make(self, name):
        os.mkdir(self.path(name))
        subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "bindings", "python", "tools", "wheel.py"), "cmake", BUILD, VERSION,
                        self.path(name)], check=True, capture_output=True, timeout=LONG)
        found = glob.glob(self.path(name + "/*.whl"))
        self.assertEqual(len(found), 1)
        return found[0]

    def test_it_is_whole_and_works_alone(self):
        path = self.make("a")
        self.assertRegex(os.path.basename(path), r"^clotho-%s-py3-none-linux_\w+\.whl$" % VERSION)
        with open(path, "rb") as a, open(self.make("b"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            record = "clotho-%s.dist-info/RECORD" % VERSION
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(archive.namelist()))
            for name, digest, size in rows:
                if name != record:
                    data = archive.read(name)
                    hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, int(size)), ("sha256=" + hashed, len(data)), name)
            metadata = archive.read("clotho-%s.dist-info/METADATA" % VERSION).decode()
            self.assertIn("\nVersion: %s\n" % VERSION, metadata)
            archive.extractall(self.path("alone"))
        modules = {os.path.basename(name) for name in glob.glob(os.path.join(SOURCE, "bindings", "python", "clotho", "*.py"))}
        self.assertEqual(set(os.listdir(self.path("alone/clotho"))), modules | {"_declarations.py", "lib", "share"})
        said = subprocess.run([sys.executable, "-B", "-c", """
import clotho, os
folder = os.path.dirname(clotho.__file__)
graph = clotho.Graph.generate("fft", tasks=30)
print(clotho.plan(graph, "sg2042", "best", schedules_max=20).check().planner)   # a board whose file is in the wheel
with open("/proc/self/maps") as maps:
    paths = {line.split()[-1] for line in maps if "libclotho" in line}
print(sorted(os.path.basename(path) for path in paths if path.startswith(folder)), len(paths))
"""], capture_output=True, text=True, cwd=self.folder, timeout=LONG, env={"PYTHONPATH": self.path("alone"), "PATH": os.environ["PATH"]},
                              check=False)
        libraries = ["libclotho-decide.so.0", "libclotho-device.so.0", "libclotho-io.so.0", "libclotho.so.0"]
        self.assertEqual((said.stdout, said.stderr), ("best\n%s 4\n" % libraries, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
