#!/usr/bin/env python3
"""Each public header says at the end of its first comment which library has its functions and tables: "Library: NAME.", with the names
that another library has behind it. usage: libraries.py BUILD INCLUDE [--write]; --write puts the lines there."""
import collections
import pathlib
import re
import subprocess
import sys
import textwrap

LIBRARIES = ("libclotho", "libclotho-decide", "libclotho-device", "libclotho-io", "libclotho-rpc")
DECLARATION = re.compile(r"^CLO_API\b(?:[^;{]*?\b(clo_\w+)\s*\(|\s+extern const clo_\w+([^;{]*);)", re.M)
LINE = re.compile(r"\n \*\n \* Library: [^/]*?(?= \*/)")


def exported(build):
    found = {}
    for library in LIBRARIES:
        if not (build / "lib" / (library + ".so")).exists():  # what it needs is not installed
            continue
        lines = subprocess.run(["nm", "-D", "--defined-only", build / "lib" / (library + ".so")], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        found.update({line.split()[2].split("@")[0]: library for line in lines})
    return found


def declared(text):
    for function, tables in DECLARATION.findall(text):
        yield from [function] if function else re.findall(r"\bclo_\w+", tables)


def sentence(names, where):
    """What the header must say; None if it declares nothing that a library has."""
    by = collections.defaultdict(list)
    for name in names:
        by[where.get(name, "no library")].append(name)
    if not by:
        return None
    most = max(LIBRARIES, key=lambda library: (len(by[library]), library))
    others = "; ".join(f"{library} has {', '.join(by[library])}" for library in (*LIBRARIES, "no library") if library != most and by[library])
    return f"Library: {most}" + (f"; {others}." if others else ".")


def main():
    build, include, is_writing = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), "--write" in sys.argv
    where, faults = exported(build), 0
    for path in sorted(include.glob("*.h")):
        text = path.read_text(encoding="utf-8")
        wanted = sentence(list(declared(text)), where)
        if wanted is None:
            continue
        lines = "".join("\n * " + line for line in textwrap.wrap(wanted, 113))
        if is_writing:
            at = text.index(" */")
            head = LINE.sub("", text[:at] + " */").removesuffix(" */")
            path.write_text(head + "\n *" + lines + text[at:], encoding="utf-8")
        elif not text[:text.index(" */")].endswith("\n *" + lines):
            print(f"{path.name}: the first comment must end with: {wanted}")
            faults += 1
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
