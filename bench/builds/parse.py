#!/usr/bin/env python3
"""How long clotho and ninja take to read a manifest of many edges, paired in one run: the ratio and its range.

usage: parse.py [EDGES] [ROUNDS]    (100 000 edges, 9 rounds; CLOTHO names the command)"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CLOTHO = os.path.abspath(os.environ.get("CLOTHO", "build/release/bin/clotho"))


def manifest(edges):
    """As CMake writes them: two lines of bindings an edge, implicit and order-only inputs."""
    lines = ["flags = -O2 -g", "rule cc", "  command = cc $FLAGS $INCLUDES -c $in -o $out", "  depfile = $out.d", "  deps = gcc",
             "rule ld", "  command = cc $in -o $out"]
    for i in range(edges):
        if i % 100 == 99:
            lines.append("build lib/l%d.so: ld %s || phony%d" % (i, " ".join("dir%d/f%d.o" % (k % 50, k) for k in range(i - 99, i)), i))
            lines.append("build phony%d: phony" % i)
        else:
            lines += ["build dir%d/f%d.o: cc ../src/dir%d/f%d.c | gen.h || order" % (i % 50, i, i % 50, i),
                      "  FLAGS = $flags -DX=%d" % i, "  INCLUDES = -I../src/dir%d -I." % (i % 50)]
    return "\n".join(lines) + "\nbuild order: phony\nbuild gen.h: phony\n"


def seconds(program, folder):
    begin = time.monotonic()
    subprocess.run([*program, "-t", "targets"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def main(edges, rounds):
    ninja = shutil.which("ninja") or sys.exit("ninja is not installed")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "build.ninja"), "w", encoding="utf-8") as file:
            file.write(manifest(edges))
        mine, theirs = [], []
        for _ in range(rounds):
            theirs.append(seconds([ninja], folder))
            mine.append(seconds([CLOTHO, "build"], folder))
    ratios = sorted(a / b for a, b in zip(mine, theirs))
    print("%d edges: clotho %.3f s (%.3f - %.3f), ninja %.3f s (%.3f - %.3f); ratio %.2f (%.2f - %.2f)" % (
        edges, statistics.median(mine), min(mine), max(mine), statistics.median(theirs), min(theirs), max(theirs),
        statistics.median(ratios), ratios[0], ratios[-1]))


if __name__ == "__main__":
    if len(sys.argv) > 3 or not all(a.isdigit() and int(a) > 0 for a in sys.argv[1:]):
        sys.exit(__doc__)
    numbers = [int(a) for a in sys.argv[1:]] + [100000, 9][len(sys.argv) - 1:]
    main(*numbers)
