#!/usr/bin/env python3
"""Checks the rooms of runtime/: each folder with sources has a README.md of at most 60 lines whose table names exactly the files
that lie there, and at most 20 sources.

A row of the table is `| \\`name\\`, \\`other\\` | what they hold |`; a name is a file without its ending (a header and its source
are one). Folders in the folder have READMEs of their own; a row of them begins with `name/`.

usage: check_rooms.py [ROOT]; exit status 1 after one line a fault. `--self-test` proves that each rule bites."""
import contextlib
import io
import pathlib
import re
import sys
import tempfile

SOURCES_MAX, LINES_MAX = 20, 60
ROW = re.compile(r"^\|([^|]*`[^|]*)\|")
NAME = re.compile(r"`([a-z0-9_]+/?)`")


def named(readme):
    """What the first column of the README's tables names."""
    return [name for line in readme.splitlines() if (row := ROW.match(line)) for name in NAME.findall(row.group(1))]


def faults_of(folder):
    sources = [path for path in folder.iterdir() if path.suffix in (".c", ".h")]
    inner = {path.name + "/" for path in folder.iterdir() if path.is_dir() and any(path.rglob("*.[ch]"))}
    if not sources and not inner:
        return
    if len(sources) > SOURCES_MAX:
        yield "%d sources; at most %d, so that a reader sees what is there" % (len(sources), SOURCES_MAX)
    path = folder / "README.md"
    if not path.exists():
        yield "has no README.md"
        return
    text = path.read_text(encoding="utf-8")
    if text.count("\n") > LINES_MAX:
        yield "README.md has %d lines; at most %d" % (text.count("\n"), LINES_MAX)
    there, names = {path.stem for path in sources} | inner, named(text)
    for name in sorted(there - set(names)):
        yield "README.md does not name %s" % name
    for name in sorted(set(names) - there):
        yield "README.md names %s, which is not there" % name
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "README.md names %s twice" % name


def check(root):
    runtime, count = pathlib.Path(root) / "runtime", 0
    for folder in sorted(path for path in runtime.rglob("*") if path.is_dir()):
        for fault in faults_of(folder):
            print("%s: %s" % (folder.relative_to(root), fault))
            count += 1
    return count


GOOD = {"a/one.c": "", "a/one.h": "", "a/README.md": "| file | holds |\n|---|---|\n| `one` | x |\n| `b/` | y |\n",
        "a/b/two.h": "", "a/b/README.md": "| `two` | z |\n"}
BAD = {
    "has no README": {"a/b/README.md": None},
    "does not name one": {"a/README.md": "| `b/` | y |\n"},
    "does not name b/": {"a/README.md": "| `one` | x |\n"},
    "names three, which is not there": {"a/b/README.md": "| `two`, `three` | z |\n"},
    "names two twice": {"a/b/README.md": "| `two` | z |\n| `two` | z |\n"},
    "README.md has 61 lines": {"a/b/README.md": "| `two` | z |\n" + 60 * "\n"},
    "21 sources": {"a/b/f%d.h" % n: "" for n in range(20)},
}


def self_test():
    failed = 0
    for expected, change in [("", {})] + list(BAD.items()):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **change}.items():
                if text is not None:
                    path = pathlib.Path(root) / "runtime" / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                count = check(root)
            if (count == 0) != (expected == "") or expected not in shown.getvalue():
                print("self-test: '%s' gave %d faults:\n%s" % (expected or "nothing", count, shown.getvalue()))
                failed = 1
    print("rooms: self-test %s" % ("FAILED" if failed else "passed, %d faults found" % len(BAD)))
    return failed


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        sys.exit(self_test())
    count = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    print("rooms: %s" % ("clean" if count == 0 else "%d faults" % count))
    sys.exit(1 if count else 0)
