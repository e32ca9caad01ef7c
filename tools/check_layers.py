#!/usr/bin/env python3
"""Checks the include directions: the clo_module lines of CMakeLists.txt are the architecture.

- runtime/M/ includes "M/..." and "N/..." only where M's line has N among its USES, and the lines have no cycle;
- include/clotho/ includes <clotho/...> and plain C headers only;
- tools/, examples/ and bench/ see public headers and their own files only;
- <stdatomic.h> and the compiler's atomic builtins only in runtime/sync and runtime/run, hwloc and an XML parser only in
  runtime/platform, cJSON only in runtime/io.

usage: check_layers.py [ROOT]; exit status 1 after one line a violation. `--self-test` proves that each rule bites."""
import contextlib
import io
import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
ATOMIC = re.compile(r'\b__(atomic|sync)_[a-z]')
# library header prefix -> modules that may include it
OWNERS = {
    "stdatomic.h": {"sync", "run"},
    "hwloc": {"platform"},
    "libxml/": {"platform"},
    "expat.h": {"platform"},
    "cJSON.h": {"io"},
    "cjson/": {"io"},
}
PUBLIC_SYSTEM = {"stdbool.h", "stddef.h", "stdint.h"}
PUBLIC_ONLY = ("tools", "examples", "bench")


def read_modules(root):
    with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
        text = re.sub(r"#[^\n]*", "", file.read())
    uses = {}
    for words in (m.split() for m in re.findall(r"clo_module\(([^)]*)\)", text)):
        if words[0].startswith("name"):  # the function's own definition
            continue
        section, mine = None, set()
        for word in words[1:]:
            if word in ("SOURCES", "USES", "LIBS"):
                section = word
            elif section == "USES":
                mine.add(word)
        uses[words[0]] = uses.get(words[0], set()) | mine
    return uses


def find_cycle(uses):
    """A list of modules on a cycle of the USES, or None. Repeatedly drops what uses nothing that is left."""
    left = {m: set(u) for m, u in uses.items()}
    while True:
        leaves = [m for m, u in left.items() if not u & left.keys()]
        if not leaves:
            return sorted(left) or None
        for m in leaves:
            del left[m]


def includes(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == '"', match.group(2)


def sources(root, folder, endings=(".c", ".h")):
    for where, folders, files in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(files):
            if name.endswith(endings):
                yield os.path.join(where, name)


def library_rule(module, header):
    for prefix, owners in OWNERS.items():
        if header.startswith(prefix) and module not in owners:
            return "<%s> belongs to %s only" % (header, " and ".join(sorted("runtime/" + o for o in owners)))
    return None


def check_module(root, module, uses):
    for path in sources(root, os.path.join("runtime", module)):
        for number, quoted, header in includes(path):
            if quoted:
                target = header.split("/")[0]
                if "/" not in header or target not in uses:
                    yield path, number, '"%s": write it as "module/file.h"' % header
                elif target != module and target not in uses[module]:
                    yield path, number, '"%s": %s does not use %s by its clo_module line' % (header, module, target)
            else:
                fault = library_rule(module, header)
                if fault:
                    yield path, number, fault
        if module not in OWNERS["stdatomic.h"]:
            with open(path, encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, 1):
                    if ATOMIC.search(line):
                        yield path, number, "atomic builtins belong to runtime/run and runtime/sync only"


def check_public(root):
    for path in sources(root, "include/clotho"):
        for number, quoted, header in includes(path):
            if quoted or not (header.startswith("clotho/") or header in PUBLIC_SYSTEM):
                yield path, number, "a public header includes %s; only <clotho/...>, %s" % (
                    header, ", ".join(sorted(PUBLIC_SYSTEM)))


def check_users(root, folder):
    for path in sources(root, folder, (".c", ".h", ".cpp", ".hpp")):
        if os.sep + "tests" + os.sep in path:  # tests of a program's own parts may use the tests' support
            continue
        for number, quoted, header in includes(path):
            if quoted:
                target = os.path.normpath(os.path.join(os.path.dirname(path), header))
                near = os.path.normpath(os.path.join(root, folder, header))
                homes = tuple(os.path.join(root, home) + os.sep for home in PUBLIC_ONLY)
                if not any(os.path.exists(p) and p.startswith(homes) for p in (target, near)):
                    yield path, number, '"%s" is no file of %s; only public headers may be seen' % (
                        header, ", ".join(PUBLIC_ONLY))
            elif re.match(r"(base|sync|graph|platform|cost|plan|policy|engine|run|sim|trace|io|body)/", header):
                yield path, number, "<%s> is internal; only public headers may be seen" % header


def check(root):
    uses = read_modules(root)
    faults = []
    cycle = find_cycle(uses)
    if cycle:
        faults.append((os.path.join(root, "CMakeLists.txt"), 0, "the modules %s use each other in a circle" % ", ".join(cycle)))
    runtime = os.path.join(root, "runtime")
    for module in sorted(os.listdir(runtime)):
        if os.path.isdir(os.path.join(runtime, module)) and any(sources(root, os.path.join("runtime", module))):
            if module not in uses:
                faults.append((os.path.join(runtime, module), 0, "has no clo_module line in CMakeLists.txt"))
            else:
                faults += check_module(root, module, uses)
    faults += check_public(root)
    for folder in PUBLIC_ONLY:
        faults += check_users(root, folder)
    for path, number, what in faults:
        print("%s:%d: %s" % (os.path.relpath(path, root), number, what))
    return len(faults)


def self_test():
    """Each rule must find its violation in a small tree, and find nothing in the tree without them."""
    good = {
        "CMakeLists.txt": "clo_module(base SOURCES a.c)\nclo_module(io SOURCES b.c USES base)\nclo_module(run SOURCES c.c)\n",
        "runtime/base/a.c": '#include "base/a.h"\n', "runtime/base/a.h": "\n",
        "runtime/io/b.c": '#include "base/a.h"\n#include <cjson/cJSON.h>\n',
        "runtime/run/c.c": "#include <stdatomic.h>\n",
        "include/clotho/x.h": "#include <stdint.h>\n", "tools/t.c": "#include <clotho/x.h>\n",
        "examples/e.c": "\n", "bench/b.c": "\n",
    }
    bad = {
        "upward include": {"runtime/base/a.c": '#include "io/b.h"\n'},
        "bare include": {"runtime/base/a.c": '#include "a.h"\n'},
        "atomics": {"runtime/io/b.c": "#include <stdatomic.h>\n"},
        "builtins": {"runtime/io/b.c": "int f(int *p) { return __atomic_load_n(p, 0); }\n"},
        "hwloc": {"runtime/io/b.c": "#include <hwloc.h>\n"},
        "cJSON": {"runtime/base/a.c": "#include <cjson/cJSON.h>\n"},
        "public header": {"include/clotho/x.h": "#include <pthread.h>\n"},
        "tool": {"tools/t.c": '#include "../runtime/base/a.h"\n'},
        "tool by path": {"tools/t.c": "#include <base/a.h>\n"},
        "no line": {"runtime/new/n.c": "\n"},
        "cycle": {"CMakeLists.txt": "clo_module(base SOURCES a.c USES io)\nclo_module(io SOURCES b.c USES base)\n"
                                    "clo_module(run SOURCES c.c)\n"},
    }
    failed = 0
    for name, change in [("nothing", {})] + sorted(bad.items()):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**good, **change}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            with contextlib.redirect_stdout(io.StringIO()):
                found = check(root)
            if (found == 0) != (name == "nothing"):
                print("self-test: '%s' gave %d violations" % (name, found))
                failed = 1
    print("layers: self-test %s" % ("FAILED" if failed else "passed, %d rules bite" % len(bad)))
    return failed


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        sys.exit(self_test())
    count = check(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")))
    print("layers: %s" % ("clean" if count == 0 else "%d violations" % count))
    sys.exit(1 if count else 0)
