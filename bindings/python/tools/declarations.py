#!/usr/bin/env python3
"""Makes clotho/_declarations.py, what cffi knows of the library, from the public headers. usage: declarations.py INCLUDE CC VERSION OUT

The headers go through the C preprocessor; what stands in include/clotho/ is left, without attributes. Macros that are numbers
become CONSTANTS. Nothing is typed twice, so a header that changes changes this too (tests/python/test_declarations.py compares
sizes and offsets with those of the compiler)."""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

import cffi

MACRO = re.compile(r"^#define (CLO_\w+) (.+)$")
HEADERS = "#include <clotho/clotho.h>\n#include <clotho/rpc.h>\n"  # rpc.h: its library is opened by clotho.rpc alone
MARK = "clo_value_of"
ENDING = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")
CAST = re.compile(r"\(\s*(?:u?int\d+_t|int|long|unsigned)\s*\)")


def preprocess(cc, include, text, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=".h", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return subprocess.run([cc, "-E", "-I", include, *flags, file.name], capture_output=True, text=True, check=True).stdout


def declarations(cc, include):
    """What the headers of the folder declare, and nothing of the system's."""
    kept, ours, folder = [], False, os.path.join(os.path.realpath(include), "clotho") + os.sep
    for line in preprocess(cc, include, HEADERS, "-D__attribute__(x)=").splitlines():
        mark = re.match(r'# \d+ "(.*)"', line)
        if mark:
            ours = os.path.realpath(mark.group(1)).startswith(folder)
        elif ours and line.strip():
            kept.append(line)
    return "\n".join(kept)


def constants(cc, include):
    """{name: number} of the macros that stand for a number."""
    head = "#include <stdint.h>\n" + HEADERS
    names = sorted({m.group(1) for m in map(MACRO.match, preprocess(cc, include, head, "-dM").splitlines()) if m})
    text = preprocess(cc, include, head + "".join('%s "%s" %s;\n' % (MARK, name, name) for name in names), "-P")
    found = {}
    for name, value in re.findall(MARK + r' "(\w+)" ([^;]*);', text):
        value = ENDING.sub(r"\1", CAST.sub("", value)).strip()
        if re.fullmatch(r"[\d\sxXa-fA-F()+*<>-]+", value) and re.search(r"\d", value):
            found[name] = eval(value, {"__builtins__": {}})  # pylint: disable=eval-used # digits and operators only
    return found


def main(include, cc, version, out):
    ffi = cffi.FFI()
    ffi.set_source("clotho._declarations", None)
    ffi.cdef(declarations(cc, include) + "\nvoid free(void *);\n")
    with contextlib.redirect_stdout(io.StringIO()):  # it tells what it makes
        ffi.emit_python_code(out)
    with open(out, "a", encoding="utf-8") as file:
        file.write("VERSION = %r\n" % version)
        file.write("CONSTANTS = {\n%s}\n" % "".join("    %r: %d,\n" % item for item in sorted(constants(cc, include).items())))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__.splitlines()[0])
    main(*sys.argv[1:])
