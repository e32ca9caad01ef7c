"""What cffi is told is what the compiler makes of the headers; each status has its exception; the library lacks no function."""
import os
import re
import shutil
import subprocess
import unittest

from support import PACKAGE, SOURCE, PackageTest

from clotho import errors, library
from clotho.library import ffi, lib

INCLUDE = os.path.join(SOURCE, "include")


def structs():
    """The structs with fields that the library shows, by name."""
    for name in ffi.list_types()[0] + ffi.list_types()[1]:
        kind = ffi.typeof(name) if name in ffi.list_types()[0] else ffi.typeof("struct " + name)
        if kind.kind == "struct" and kind.fields:
            yield name if name in ffi.list_types()[0] else "struct " + name, kind


class Declarations(PackageTest):
    def compile(self, lines):
        """The compiler's word on a program of static assertions."""
        with open(self.path("facts.c"), "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\n#include <clotho/clotho.h>\n#include <clotho/rpc.h>\n%s\n" % "\n".join(lines))
        return subprocess.run(["cc", "-std=c11", "-fsyntax-only", "-I", INCLUDE, self.path("facts.c")], capture_output=True, text=True,
                              check=False)

    def test_sizes_and_offsets_are_the_compilers(self):
        lines = []
        for name, kind in structs():
            lines.append('_Static_assert(sizeof(%s) == %d, "%s");' % (name, ffi.sizeof(kind), name))
            lines += ['_Static_assert(offsetof(%s, %s) == %d, "%s.%s");' % (name, field, at.offset, name, field)
                      for field, at in kind.fields]
            lines += ['_Static_assert(sizeof(((%s *)0)->%s) == %d, "%s.%s");' % (name, field, ffi.sizeof(at.type), name, field)
                      for field, at in kind.fields]
        self.assertGreater(len(lines), 1000)
        self.assertEqual(self.compile(lines).stderr, "")
        broken = lines[0].replace("== ", "== 1")  # this test can fail
        self.assertIn("static assertion failed", self.compile([broken]).stderr)

    def test_constants_and_enums_are_the_compilers(self):
        lines = ['_Static_assert((%s) == (%s), "%s");' % (name, "%dLL" % value if -2**63 < value < 2**63 else "%dULL" % value, name)
                 for name, value in library.CONSTANTS.items()]
        for name in ("CLO_NONE", "CLO_TIME_NEVER", "CLO_RESOURCES_MAX", "CLO_STAGE_MOVE", "CLO_PENDING"):
            self.assertIn(name, library.CONSTANTS)
        for kind in map(ffi.typeof, ffi.list_types()[0]):
            if kind.kind == "enum":
                lines += ['_Static_assert(%s == %d, "%s");' % (name, value, name) for value, name in kind.elements.items()]
        self.assertGreater(len(lines), 120)
        self.assertEqual(self.compile(lines).stderr, "")

    def test_every_function_of_the_headers_is_declared_and_there(self):
        found = set()
        for name in sorted(os.listdir(os.path.join(INCLUDE, "clotho"))):
            if not name.endswith(".h"):  # the C++ face has nothing of its own in the libraries
                continue
            with open(os.path.join(INCLUDE, "clotho", name), encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            if name == "rpc.h":  # a library of its own, where there is one
                continue
            found |= set(re.findall(r"^CLO_API\b[^;{(]*?\b(clo_\w+)\s*\(", text, re.M))
        self.assertGreater(len(found), 150)
        for name in sorted(found):
            self.assertEqual(ffi.typeof(getattr(lib, name)).kind, "function", name)

    def test_every_status_has_an_exception_with_its_line(self):
        for value, name in library.STATUSES.items():
            if value != 0:
                self.assertTrue(issubclass(errors.CLASSES[name], errors.Error), name)
                self.assertEqual(errors.CLASSES[name].status, name)
        self.assertEqual(set(errors.CLASSES), set(library.STATUSES.values()) - {"OK"})
        with self.assertRaisesRegex(errors.ArgumentError, "^clo_platform_open: ") as caught:
            library.check(lib.clo_platform_open(ffi.NULL, ffi.NULL))
        self.assertIsInstance(caught.exception, ValueError)

    def test_a_library_that_is_not_there_is_one_line(self):
        said = self.python("try:\n import clotho\nexcept ImportError as error: print(error)", environment={"CLOTHO_LIBRARY": self.folder})
        self.assertIn("libclotho-io.so.0 cannot be loaded", said)
        self.assertIn("set CLOTHO_LIBRARY to its folder", said)

    def test_a_library_of_another_version_is_one_line(self):
        shutil.copytree(os.path.join(PACKAGE, "clotho"), self.path("clotho"))
        with open(self.path("clotho/_declarations.py"), "a", encoding="utf-8") as file:
            file.write('VERSION = "9.1.0"\n')
        folder = os.path.join(os.path.dirname(PACKAGE), "lib")
        said = self.python("import sys\nsys.path.insert(0, sys.argv[1])\ntry:\n import clotho\nexcept ImportError as error: print(error)",
                           self.folder, environment={"CLOTHO_LIBRARY": folder})
        self.assertRegex(said, r"^libclotho-io\.so\.0 is version \d.*, this package is for 9\.1\.0; set CLOTHO_LIBRARY")


if __name__ == "__main__":
    unittest.main(verbosity=2)
