#!/usr/bin/env python3
"""Real trees, of Debian's sources: each is configured once, built at the same path by ninja and by `clotho build`, and judged. The
files must be equal, byte for byte, and ninja must find nothing to do after either.

usage: trees.py [--sources NAMES] [--jobs J] [--rounds N] [--folder F]

--sources  of: ninja-build cppcheck simdjson leveldb (all; those whose mirror answers)
--folder   keeps the sources for the next call (else they are fetched into a temporary folder)

Fetches with `apt-get source`, from a list of its own (Debian 12, deb-src), and needs the network, dpkg-dev and cmake. Prints for each
tree: statements, steps, both times with their range, the ratio, files that differ. Exit status 1: a tree differs."""
import argparse
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CLOTHO = os.path.abspath(os.environ.get("CLOTHO", "build/release/bin/clotho"))
SOURCES = ("ninja-build", "cppcheck", "simdjson", "leveldb")
FLAGS = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", "-DSIMDJSON_DEVELOPER_MODE=OFF",
         "-DLEVELDB_BUILD_TESTS=OFF", "-DLEVELDB_BUILD_BENCHMARKS=OFF",
         "-DCMAKE_CXX_FLAGS=-frandom-seed=1"]  # else objects for LTO differ between two runs of one compiler
NOT_PRODUCTS = re.compile(r"\.ninja_(log|deps)$|^\.clotho_")


def fetch(name, folder):
    """The unpacked source, or None where no mirror has it."""
    place = os.path.join(folder, name)
    lists = os.path.join(folder, "lists")
    if not os.path.isdir(place):
        os.makedirs(place)
        os.makedirs(os.path.join(lists, "partial"), exist_ok=True)
        with open(os.path.join(folder, "sources.list"), "w", encoding="utf-8") as file:
            file.write("deb-src http://deb.debian.org/debian bookworm main\n")
        own = ["-o", "Dir::Etc::sourcelist=%s/sources.list" % folder, "-o", "Dir::Etc::sourceparts=-",
               "-o", "Dir::State::lists=" + lists, "-o", "APT::Sandbox::User=root"]
        for words in (["update"], ["source", name]):
            done = subprocess.run(["apt-get", "-qq", *own, *words], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, check=False)
            if done.returncode != 0:
                print("%s: not fetched: %s" % (name, done.stderr.strip().splitlines()[-1:]))
                shutil.rmtree(place)
                return None
    return next((os.path.join(place, d) for d in sorted(os.listdir(place)) if os.path.isdir(os.path.join(place, d))), None)


def products(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if not NOT_PRODUCTS.search(os.path.relpath(path, folder)) and not os.path.islink(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def build(program, kept, tree, jobs):
    """Seconds of a build from nothing."""
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(kept, tree, symlinks=True)
    begin = time.monotonic()
    subprocess.run([*program, "-j", str(jobs)], cwd=tree, stdout=subprocess.DEVNULL, check=True)
    took = time.monotonic() - begin
    said = subprocess.run(["ninja", "-n"], cwd=tree, stdout=subprocess.PIPE, text=True, check=True).stdout
    return took, said.splitlines()[-1] == "ninja: no work to do."


def judge(name, source, folder, how):
    tree, kept = os.path.join(folder, name + "-build"), os.path.join(folder, name + "-kept")
    for place in (tree, kept):
        shutil.rmtree(place, ignore_errors=True)
    subprocess.run(["cmake", *FLAGS, "-S", source, "-B", tree], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    shutil.copytree(tree, kept, symlinks=True)
    steps = len(subprocess.run(["ninja", "-n"], cwd=tree, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
    times, is_good, differ = {"ninja": [], "clotho": []}, True, 0
    for _ in range(how.rounds):
        files = {}
        for program, words in (("ninja", ["ninja"]), ("clotho", [CLOTHO, "build"])):
            took, is_done = build(words, kept, tree, how.jobs)
            times[program].append(took)
            files[program] = products(tree)
            is_good &= is_done
        differ = max(differ, len(set(files["ninja"].items()) ^ set(files["clotho"].items())))
    ratios = sorted(a / b for a, b in zip(times["clotho"], times["ninja"]))
    print("%-12s %4d steps; ninja %.1f s (%.1f - %.1f), clotho %.1f s (%.1f - %.1f), ratio %.2f (%.2f - %.2f); %s, %d files differ" % (
        name, steps, *(v for p in ("ninja", "clotho") for v in (statistics.median(times[p]), min(times[p]), max(times[p]))),
        statistics.median(ratios), ratios[0], ratios[-1], "nothing left to do" if is_good else "NINJA FINDS WORK", differ))
    return is_good and differ == 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sources", default=" ".join(SOURCES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder")
    how = parser.parse_args()
    is_good, folder = True, how.folder or tempfile.mkdtemp()
    os.environ["CCACHE_DISABLE"] = "1"
    try:
        for name in how.sources.split():
            source = fetch(name, os.path.abspath(folder))
            if source is not None:
                is_good &= judge(name, source, os.path.abspath(folder), how)
    finally:
        if how.folder is None:
            shutil.rmtree(folder)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
