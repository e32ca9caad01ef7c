#!/usr/bin/env python3
"""Checks the include directions: the clo_module lines of CMakeLists.txt are the architecture.

- a module is a folder of runtime/, M, or a folder in such a folder, M/N; a module's files lie in its own folder, not in
  those of its sub-modules; every folder with sources has a clo_module line;
- a file of a module includes "M/file.h" or "M/N/file.h", and only of modules among the USES of its own line; the lines
  name modules that exist and have no circle; runtime/library.h belongs to no module, and all may include it;
- the modules stand under `set(CLO_LIBRARY ...)`, and use those of their own library and of the ones above it only;
- files do not need each other in a circle (file_cycles.py says what that means);
- include/clotho/ includes <clotho/...> and plain C headers only;
- kernels/ includes its own files, plain C headers and those of instruction sets only; modules name it among their USES;
- tools/, examples/ and bench/ see public headers and their own files only; MAY_SEE names the folder that sees more;
- with --objects: between outer modules, what an object file needs of another one (public headers declare it too) is named
  in the USES as well;
- <stdatomic.h> and the compiler's atomic builtins only in runtime/sync and runtime/run, hwloc and an XML parser only in
  runtime/platform, liburcu only in runtime/sync, CLP only in runtime/plan, cJSON only in runtime/io, libuv, msgpack,
  libcurl and sqlite only in runtime/rpc.

usage: check_layers.py [--objects BUILD] [ROOT]; exit status 1 after one line a violation. `--self-test` proves that each
rule bites."""
import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

import file_cycles

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
ATOMIC = re.compile(r'\b__(atomic|sync)_[a-z]')
# library header prefix -> modules that may include it, with their sub-modules
OWNERS = {
    "stdatomic.h": {"sync", "run"},
    "hwloc": {"platform"},
    "libxml/": {"platform"},
    "expat.h": {"platform"},
    "urcu": {"sync"},
    "coin/": {"plan"},
    "cJSON.h": {"io"},
    "cjson/": {"io"},
    "uv.h": {"rpc"},
    "msgpack.h": {"rpc"},
    "curl/": {"rpc"},
    "sqlite3.h": {"rpc"},
}
ANYWHERE = "library.h"
CXX_SYSTEM = re.compile(r"[a-z_]+|cxxabi\.h")  # what the standard of C++ has, by its names
PUBLIC_SYSTEM = {"stdbool.h", "stddef.h", "stdint.h"}
PUBLIC_ONLY = ("tools", "examples", "bench")
# folder -> modules that it may see beside the public headers, with their sub-modules
MAY_SEE = {
    "bench/hand_over": {"run", "sync"},
    "bench/decision": {"base", "engine", "kernels", "learn", "policy"},
    "bench/kernels": {"kernels", "learn"},
    "bench/online": {"policy"},
    "bench/common": {"learn"},
    "bench/learned": {"plan"},
    "tools/clotho/train": {"learn"},
    "tools/ninja": {"base"},
    "tools/train": {"cost", "learn", "plan"},
}
KERNELS_SYSTEM = PUBLIC_SYSTEM | {"assert.h", "string.h", "immintrin.h", "cpuid.h", "arm_neon.h", "sys/auxv.h"}
NO_CIRCLES = ("include", "kernels", "runtime", "bench", "tools", "examples", "tests/fuzz_api")
SOURCES = (".c", ".h", ".cpp", ".hpp")


def read_modules(root):
    with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
        text = re.sub(r"#[^\n]*", "", file.read())
    uses = {}
    for words in (m.split() for m in re.findall(r"clo_module\(([^)]*)\)", text)):
        if words[0].startswith("name"):  # the function's own definition
            continue
        section, mine = None, set()
        for word in words[1:]:
            if word in ("SOURCES", "USES", "LIBS", "HOT", "COLD"):
                section = word
            elif section == "USES":
                mine.add(word)
        uses[words[0]] = uses.get(words[0], set()) | mine
    return uses


def read_libraries(root):
    """module -> place of its library in the file; modules above the first set(CLO_LIBRARY ...) have none."""
    with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
        text = re.sub(r"#[^\n]*", "", file.read())
    libraries, order = {}, []
    for library, module in re.findall(r"set\(CLO_LIBRARY (\w+)\)|clo_module\(([\w/]+)", text):
        if library:
            order.append(library)
        elif order:
            libraries[module] = len(order) - 1
    return libraries, order


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
        if header.startswith(prefix) and module.split("/")[0] not in owners:
            return "<%s> belongs to %s only" % (header, " and ".join(sorted("runtime/" + o for o in owners)))
    return None


def check_lines(root, uses):
    """The clo_module lines among themselves."""
    path = os.path.join(root, "CMakeLists.txt")
    for module in sorted(uses):
        if module.count("/") > 1:
            yield path, 0, "module %s: modules have two levels at most" % module
        for unknown in sorted(uses[module] - uses.keys()):
            yield path, 0, "module %s uses %s, which has no clo_module line" % (module, unknown)
    libraries, order = read_libraries(root)
    for module, place in sorted(libraries.items()):
        for used in sorted(uses[module]):
            if libraries.get(used, 0) > place:
                yield path, 0, "module %s of %s uses %s of %s" % (module, order[place], used, order[libraries[used]])
    cycle = find_cycle(uses)
    if cycle:
        yield path, 0, "the modules %s use each other in a circle" % ", ".join(cycle)


def check_include(module, uses, header):
    target = os.path.dirname(header)
    if header == ANYWHERE:
        return None
    if target not in uses:
        return '"%s": write it as "module/file.h"' % header
    if target != module and target not in uses[module]:
        return '"%s": %s does not use %s by its clo_module line' % (header, module, target)
    return None


def check_module(paths, module, uses):
    for path in paths:
        for number, quoted, header in includes(path):
            fault = check_include(module, uses, header) if quoted else library_rule(module, header)
            if fault:
                yield path, number, fault
        if module.split("/")[0] not in OWNERS["stdatomic.h"]:
            with open(path, encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, 1):
                    if ATOMIC.search(line):
                        yield path, number, "atomic builtins belong to runtime/run and runtime/sync only"


def check_modules(root, uses):
    """Every folder with sources is a module of its own: what lies in a sub-module's folder is not its parent's."""
    folders = {}
    for path in sources(root, "runtime"):
        if os.path.relpath(path, os.path.join(root, "runtime")) != ANYWHERE:
            folders.setdefault(os.path.dirname(path), []).append(path)
    for folder, paths in folders.items():
        module = os.path.relpath(folder, os.path.join(root, "runtime")).replace(os.sep, "/")
        if module in uses:
            yield from check_module(paths, module, uses)
        else:
            yield folder, 0, "has no clo_module line in CMakeLists.txt"


def check_circles(root, folder):
    files = {}
    for path in sources(root, folder, SOURCES):
        with open(path, encoding="utf-8", errors="replace") as file:
            files[os.path.relpath(path, root).replace(os.sep, "/")] = file.read()
    needs = file_cycles.read_rooms(files, folder)
    for circle in file_cycles.circles(needs):
        yield os.path.join(root, os.path.dirname(circle[0])), 0, file_cycles.describe(circle, needs)


def check_public(root):
    for path in sources(root, "include/clotho"):
        for number, quoted, header in includes(path):
            if quoted or not (header.startswith("clotho/") or header in PUBLIC_SYSTEM):
                yield path, number, "a public header includes %s; only <clotho/...>, %s" % (
                    header, ", ".join(sorted(PUBLIC_SYSTEM)))
            elif header.endswith(".hpp"):
                yield path, number, "a header of C includes <%s>, which is C++" % header
    for path in sources(root, "include/clotho", (".hpp",)):
        for number, quoted, header in includes(path):
            if quoted or not (header.startswith("clotho/") or CXX_SYSTEM.fullmatch(header)):
                yield path, number, "a public header of C++ includes %s; only <clotho/...>, and headers of C++" % header


def check_kernels(root):
    for path in sources(root, "kernels", SOURCES + (".S",)):
        for number, quoted, header in includes(path):
            if quoted and not header.startswith("kernels/"):
                yield path, number, '"%s": kernels/ includes nothing of the runtime; write its own as "kernels/file.h"' % header
            elif not quoted and header not in KERNELS_SYSTEM:
                yield path, number, "<%s>: kernels/ includes %s only" % (header, ", ".join(sorted(KERNELS_SYSTEM)))


def check_users(root, folder, uses):
    internal = {module.split("/")[0] for module in uses}
    for path in sources(root, folder, SOURCES):
        if os.sep + "tests" + os.sep in path:  # tests of a program's own parts may use the tests' support
            continue
        inside = os.path.relpath(path, root).replace(os.sep, "/")
        more = {module for home, modules in MAY_SEE.items() if inside.startswith(home + "/") for module in modules}
        for number, quoted, header in includes(path):
            if quoted and header.split("/")[0] in more:
                continue
            if quoted:
                target = os.path.normpath(os.path.join(os.path.dirname(path), header))
                near = os.path.normpath(os.path.join(root, folder, header))
                homes = tuple(os.path.join(root, home) + os.sep for home in PUBLIC_ONLY)
                if not any(os.path.exists(p) and p.startswith(homes) for p in (target, near)):
                    yield path, number, '"%s" is no file of %s; only public headers may be seen' % (
                        header, ", ".join(PUBLIC_ONLY))
            elif "/" in header and header.split("/")[0] in internal:
                yield path, number, "<%s> is internal; only public headers may be seen" % header


SYMBOL = re.compile(r"\S*?/runtime/(\S+)\.o:\s*[0-9a-f]*\s+([A-Za-z]) (\S+)$")


def read_symbols(lines):
    """Lines of nm -A: where each symbol is defined, and file -> what it needs."""
    defined, needed = {}, {}
    for line in lines:
        match = SYMBOL.match(line)
        if match and match.group(2) == "U":
            needed.setdefault(match.group(1), set()).add(match.group(3))
        elif match:
            defined[match.group(3)] = os.path.dirname(match.group(1))
    return defined, needed


def check_symbols(root, uses, lines):
    """Inside an outer module the includes and the circles of files say enough."""
    defined, needed = read_symbols(lines)
    for file, names in sorted(needed.items()):
        module = os.path.dirname(file)
        for name in sorted(names & defined.keys()):
            target = defined[name]
            if target.split("/")[0] != module.split("/")[0] and target not in uses.get(module, ()):
                yield os.path.join(root, "runtime", file), 0, "needs %s of %s, which %s does not use by its clo_module line" % (
                    name, target, module)


def nm(root, build):
    """nm's lines of all objects of runtime/ whose source is there."""
    objects = [path for path in sources(build, "CMakeFiles", (".c.o",)) if "/runtime/" in path]
    objects = [path for path in objects if os.path.exists(os.path.join(root, "runtime", path.split("/runtime/", 1)[1][:-2]))]
    if not objects:
        sys.exit("check_layers.py: no object files below %s; build first" % build)
    return subprocess.run(["nm", "-A", "-g", *objects], capture_output=True, text=True, check=True).stdout.splitlines()


def check(root, symbols=()):
    uses = {**read_modules(root), "kernels": set()}  # a module that stands beside runtime/
    faults = [*check_lines(root, uses), *check_modules(root, uses), *check_public(root), *check_kernels(root)]
    faults += check_symbols(root, uses, symbols)
    for folder in PUBLIC_ONLY:
        faults += check_users(root, folder, uses)
    for folder in NO_CIRCLES:
        faults += check_circles(root, folder)
    for path, number, what in faults:
        print("%s:%d: %s" % (os.path.relpath(path, root), number, what))
    return len(faults)


SELF_TEST_LINES = ("clo_module(base SOURCES a.c)\nclo_module(io SOURCES b.c USES base)\nclo_module(run SOURCES c.c)\n"
                   "clo_module(plan/list SOURCES l.c USES base)\nclo_module(plan SOURCES p.c USES base plan/list)\n")
SELF_TEST_TREE = {
    "CMakeLists.txt": SELF_TEST_LINES,
    "runtime/base/a.c": '#include "base/a.h"\n#include "base/member.h"\nint a(void)\n{\n    return 1;\n}\n',
    "runtime/base/a.h": "int a(void);\n",
    "runtime/base/member.h": "/* a() and the members a are no circle, nor is the declaration */\n"
                             "extern \"C\" {\nint a(void);\nstruct s { int a; };\n}\n"
                             "static inline int m(struct s *s) { return s->a; }\n",
    "runtime/io/b.c": '#include "base/a.h"\n#include <cjson/cJSON.h>\n',
    "runtime/run/c.c": "#include <stdatomic.h>\n",
    "runtime/plan/p.c": '#include "plan/p.h"\n#include "plan/list/l.h"\n', "runtime/plan/p.h": "\n",
    "runtime/plan/list/l.c": '#include "plan/list/l.h"\n#include "base/a.h"\n', "runtime/plan/list/l.h": "\n",
    "include/clotho/x.h": "#include <stdint.h>\n", "include/clotho/y.h": "#include <clotho/x.h>\n",
    "kernels/k.c": '#include "kernels/k.h"\n#include <immintrin.h>\n', "kernels/k.h": "\n",
    "tools/t.c": "#include <clotho/x.h>\n", "examples/e.c": "\n", "bench/b.c": "\n", "bench/decision/d.c": '#include "base/a.h"\n',
}
# what a change to the tree above must be called; the name is a part of the line
SELF_TEST_FAULTS = {
    "upward include": ("base does not use io", {"runtime/base/a.c": '#include "io/b.h"\n'}),
    "bare include": ('as "module/file.h"', {"runtime/base/a.c": '#include "a.h"\n'}),
    "sub-module by half its name": ('as "module/file.h"', {"runtime/plan/p.c": '#include "list/l.h"\n'}),
    "parent from sub-module": ("plan/list does not use plan ", {"runtime/plan/list/l.c": '#include "plan/p.h"\n'}),
    "library that stands above": ("module base of a uses io of b", {
        "CMakeLists.txt": "set(CLO_LIBRARY a)\nclo_module(base SOURCES a.c USES io)\nset(CLO_LIBRARY b)\nclo_module(io SOURCES b.c)\n"
                          "clo_module(run SOURCES c.c)\nclo_module(plan)\nclo_module(plan/list)\n"}),
    "sub-module not in USES": ("io does not use plan/list", {"runtime/io/b.c": '#include "plan/list/l.h"\n'}),
    "parent's USES are not the sub-module's": ("plan/list does not use io", {
        "CMakeLists.txt": SELF_TEST_LINES.replace("USES base plan/list", "USES base io plan/list"),
        "runtime/plan/list/l.c": '#include "io/b.h"\n'}),
    "atomics": ("<stdatomic.h> belongs", {"runtime/io/b.c": "#include <stdatomic.h>\n"}),
    "atomics in a sub-module": ("<stdatomic.h> belongs", {"runtime/plan/list/l.c": "#include <stdatomic.h>\n"}),
    "builtins": ("builtins belong", {"runtime/io/b.c": "int f(int *p) { return __atomic_load_n(p, 0); }\n"}),
    "hwloc": ("<hwloc.h> belongs", {"runtime/io/b.c": "#include <hwloc.h>\n"}),
    "liburcu": ("<urcu/urcu-bp.h> belongs", {"runtime/run/c.c": "#include <urcu/urcu-bp.h>\n"}),
    "cJSON": ("cJSON.h> belongs", {"runtime/base/a.c": "#include <cjson/cJSON.h>\n"}),
    "public header": ("a public header includes", {"include/clotho/x.h": "#include <pthread.h>\n"}),
    "public header of C++": ("a public header of C++ includes", {"include/clotho/x.hpp": "#include <memory>\n#include <pthread.h>\n"}),
    "C++ in a header of C": ("which is C++", {"include/clotho/x.h": "#include <clotho/y.hpp>\n", "include/clotho/y.hpp": "\n"}),
    "tool": ("only public headers", {"tools/t.c": '#include "../runtime/base/a.h"\n'}),
    "tool by path": ("is internal", {"tools/t.c": "#include <base/a.h>\n"}),
    "bench by a sub-module's path": ("is internal", {"bench/b.c": "#include <plan/list/l.h>\n"}),
    "more than the folder may see": ("only public headers", {"bench/decision/d.c": '#include "io/b.h"\n'}),
    "example by a new module's path": ("is internal", {
        "CMakeLists.txt": SELF_TEST_LINES + "clo_module(learn SOURCES n.c)\n", "runtime/learn/n.h": "\n",
        "examples/e.c": "#include <learn/n.h>\n"}),
    "kernel that sees the runtime": ("nothing of the runtime", {"kernels/k.c": '#include "base/a.h"\n'}),
    "kernel with a library": ("<stdio.h>: kernels/", {"kernels/k.c": "#include <stdio.h>\n"}),
    "kernels not in USES": ("io does not use kernels", {"runtime/io/b.c": '#include "kernels/k.h"\n'}),
    "no line": ("runtime/new:0: has no clo_module", {"runtime/new/n.c": "\n"}),
    "no line of a sub-module": ("runtime/plan/new:0: has no clo_module", {"runtime/plan/new/n.c": "\n"}),
    "third level": ("two levels", {"CMakeLists.txt": SELF_TEST_LINES + "clo_module(plan/list/deep SOURCES d.c)\n"}),
    "unknown module used": ("no clo_module line", {
        "CMakeLists.txt": SELF_TEST_LINES.replace("USES base)", "USES gone)", 1)}),
    "module circle": ("base, io, plan, plan/list use each other", {
        "CMakeLists.txt": SELF_TEST_LINES.replace("base SOURCES a.c", "base SOURCES a.c USES io plan")}),
    "file circle of includes": ("a and own need each other", {
        "runtime/base/a.h": '#include "base/own.h"\n', "runtime/base/own.h": '#include "base/a.h"\n'}),
    "file circle by a definition": ("own uses a(a)", {
        "runtime/base/a.c": '#include "base/a.h"\n#include "base/own.h"\nint a(void)\n{\n    return own();\n}\n',
        "runtime/base/own.h": "int own(void);\n",
        "runtime/base/own.c": "int a(void);\nint own(void)\n{\n    return a();\n}\n"}),
    "file circle by a constant": ("own uses limit(a)", {
        "runtime/base/a.c": '#include "base/own.h"\nconst int limit = 3;\n',
        "runtime/base/own.h": "int own(void);\n",
        "runtime/base/own.c": "extern const int limit;\nint own(void)\n{\n    return limit;\n}\n"}),
    "file circle by an inline function": ("own uses a(a)", {
        "runtime/base/a.c": '#include "base/own.h"\nint a(void)\n{\n    return 1;\n}\n',
        "runtime/base/own.h": "int a(void);\nstatic inline int own(void) { return a(); }\n"}),
    "file circle of three": ("m, n and o need each other", {
        "bench/m.h": '#include "n.h"\n', "bench/n.h": '#include "o.h"\n', "bench/o.h": '#include "m.h"\n'}),
    "file circle of public headers": ("x and y need each other", {"include/clotho/x.h": "#include <clotho/y.h>\n"}),
    "file circle with C++": ("m and n need each other", {
        "bench/m.cpp": '#include "n.h"\nextern "C" int m(void)\n{\n    return 1;\n}\n',
        "bench/n.h": "int m(void);\nstatic inline int n(void) { return m(); }\n"}),
    **{"file circle in " + folder: ("m and n need each other", {
        folder + "/m.h": '#include "n.h"\n', folder + "/n.h": '#include "m.h"\n'})
       for folder in NO_CIRCLES[2:]},
}


SELF_TEST_SYMBOLS = """b/CMakeFiles/clo_base.dir/runtime/base/a.c.o:0000000000000000 T a
b/CMakeFiles/clo_io.dir/runtime/io/b.c.o:                 U a
b/CMakeFiles/clo_run.dir/runtime/run/c.c.o:                 U a
b/CMakeFiles/clo_run.dir/runtime/run/c.c.o:                 U malloc
b/CMakeFiles/clo_plan.dir/runtime/plan/p.c.o:0000000000000010 D p
b/CMakeFiles/clo_plan_list.dir/runtime/plan/list/l.c.o:                 U p"""


def symbols_test():
    """Of the pairs above only run -> base is not in SELF_TEST_LINES, as plan and plan/list are one outer module."""
    with tempfile.TemporaryDirectory() as root:
        with open(os.path.join(root, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(SELF_TEST_LINES)
        found = [what for _, _, what in check_symbols(root, read_modules(root), SELF_TEST_SYMBOLS.splitlines())]
    if found == ["needs a of base, which run does not use by its clo_module line"]:
        return 0
    print("self-test: symbols gave %s" % found)
    return 1


def self_test():
    """Each rule must find its violation in a small tree and call it by its name, and find nothing in the tree itself."""
    failed = 0
    for name, (expected, change) in [("nothing", ("", {}))] + sorted(SELF_TEST_FAULTS.items()):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**SELF_TEST_TREE, **change}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                found = check(root)
            if (found == 0) != (name == "nothing") or expected not in shown.getvalue():
                print("self-test: '%s' gave %d violations:\n%s" % (name, found, shown.getvalue()))
                failed = 1
    failed |= symbols_test()
    print("layers: self-test %s" % ("FAILED" if failed else "passed, %d faults found" % len(SELF_TEST_FAULTS)))
    return failed


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        sys.exit(self_test())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(__file__), ".."))
    parser.add_argument("--objects", metavar="BUILD", help="look at the object files of a build, too")
    asked = parser.parse_args()
    at = os.path.abspath(asked.root)
    count = check(at, nm(at, asked.objects) if asked.objects else ())
    print("layers: %s" % ("clean" if count == 0 else "%d violations" % count))
    sys.exit(1 if count else 0)
