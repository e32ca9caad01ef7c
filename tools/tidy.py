#!/usr/bin/env python3
"""clang-tidy over the sources, of which it reads only what has changed since it was last found clean.

usage: tidy.py BUILD [--nodes N] [--jobs N] [--all] [--again N] [--update]

BUILD is a build folder of Ninja, whose compile_commands.json and recorded dependencies it uses, so it must be built. A source
is clean if clang-tidy, the options, the source and every header that it includes, system headers among them, are what they
were: their hash is a file's name in $XDG_CACHE_HOME/clotho/tidy (~/.cache), or a line of toolchain/tidy-clean.txt, which a fresh
machine has, too. --update writes that list anew where all is clean. Of what only the list calls clean, a part is read again, as
lists can be wrong: all N-th sources, beginning with one that CLO_SAMPLE draws. Tests are left out: CMocka's macros make them long.
Prints what it finds and exits 1; also if clang-tidy crashes or cannot read a file.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("runtime/", "kernels/", "tools/", "examples/", "bench/")
LISTED = ROOT / "toolchain/tidy-clean.txt"
DIGITS = 16  # of a hash, in the list
ITSELF = "runtime/base/status.c"  # defines what analyzer.h redefines
KEPT_DAYS = 30
LAUNCHER = re.compile(r"^\S*ccache ")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FINDING = re.compile(r"(^| )(error|warning): ")


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=50000, help="of clang's analyser, for each function; its time grows with them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="also what was found clean before")
    parser.add_argument("--again", type=int, default=0, metavar="N", help="each N-th source that only the list calls clean is read (0: none)")
    parser.add_argument("--update", action="store_true", help="writes the list anew if all is clean")
    return parser.parse_args()


def dependencies(build):
    """Object file -> all files that it was made of, as ninja recorded them."""
    text = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found, files = {}, []
    for line in text.splitlines():
        if line.startswith("    "):
            files.append(str((build / line.strip()).resolve()))
        elif ": #deps" in line:
            found[line.partition(": #deps")[0]] = files = []
    return found


class Contents:
    """Hashes of files, each read once."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            try:
                self.known[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
            except OSError:
                self.known[path] = None  # a header that is gone: the source must be read again
        return self.known[path]


def sources(build):
    """Rows (source relative to the root, its compile command, its object file)."""
    rows = {}
    for row in json.loads((build / "compile_commands.json").read_text()):
        path = str(pathlib.Path(row["directory"], row["file"]).resolve())
        name = os.path.relpath(path, ROOT)
        if name.startswith(FOLDERS) and name.endswith(".c"):
            target = re.search(r" -o (\S+)", row["command"])
            rows.setdefault(name, (name, row["command"], row.get("output") or (target and target[1])))
    return sorted(rows.values())


def tidy_command(build, nodes, name):
    command = ["clang-tidy", "-quiet", "-p", str(build)]
    if name != ITSELF:
        command += [f"-extra-arg=-include{ROOT}/toolchain/analyzer.h", "-extra-arg=-Xclang", "-extra-arg=-analyzer-config",
                    "-extra-arg=-Xclang", f"-extra-arg=max-nodes={nodes}"]
    return command + [str(ROOT / name)]


def key_of(row, command, contents, depends, common):
    """None where nothing is known of what the source includes."""
    name, compiled, target = row
    files = depends.get(target)
    hashes = [contents.of(path) for path in files or []]
    if not hashes or None in hashes or contents.of(str(ROOT / name)) not in hashes:
        return None
    words = [common, name, LAUNCHER.sub("", compiled).replace(str(ROOT), "."), " ".join(command).replace(str(ROOT), ".")]
    return hashlib.sha256("\n".join(words + hashes).encode()).hexdigest()


def run(command):
    """(is clean, what it said)"""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    text = COLOUR.sub("", done.stdout)
    return done.returncode == 0 and not FINDING.search(text), text or f"clang-tidy ended with {done.returncode}: {command[-1]}\n"


def sweep(store):
    """Entries that nothing has used for long."""
    for entry in store.iterdir():
        if time.time() - entry.stat().st_mtime > KEPT_DAYS * 86400:
            entry.unlink(missing_ok=True)


def listed():
    try:
        return set(LISTED.read_text().split())
    except OSError:
        return set()


class Clean:
    """What is known to be clean, here or by the list."""

    def __init__(self, store, again):
        self.store, self.list, self.again = store, listed(), again
        self.draw = int(os.environ.get("CLO_SAMPLE") or 0)
        self.seen = 0

    def has(self, key):
        if key is None:
            return False
        if (self.store / key).exists():
            (self.store / key).touch()
            return True
        if key[:DIGITS] not in self.list:
            return False
        self.seen += 1
        return not self.again or (self.seen + self.draw) % self.again != 0


def main():
    args = options()
    store = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "clotho/tidy"
    store.mkdir(parents=True, exist_ok=True)
    sweep(store)
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"version \S+", version)[0]  # without the processor, that it names too
    contents, depends = Contents(), dependencies(args.build)
    common = version + (ROOT / ".clang-tidy").read_text() + (ROOT / "toolchain/analyzer.h").read_text()
    rows, work, keys = sources(args.build), [], []
    clean = Clean(store, args.again)
    for row in rows:
        command = tidy_command(args.build, args.nodes, row[0])
        keys.append(key_of(row, command, contents, depends, common))
        if args.all or not clean.has(keys[-1]):
            work.append((command, keys[-1]))
    found = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (command, key), (is_clean, text) in zip(work, pool.map(run, [command for command, _ in work])):
            if is_clean and key is not None:
                (store / key).touch()
            if not is_clean:
                found += 1
                print(text, end="")
    if args.update and not found and None not in keys:
        LISTED.write_text("".join(sorted(f"{key[:DIGITS]}\n" for key in keys)))
    print(f"clang-tidy: {len(rows)} sources, {len(work)} read, {len(rows) - len(work)} unchanged; {found} with findings")
    return 1 if found or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
