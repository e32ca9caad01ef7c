#!/usr/bin/env python3
"""Manifests beside ninja: ninja.py BIN_DIR [SECONDS] [--scenes N] [--seed N] [--scene K] [--jobs N] [--out DIR]

Random scenes (ninja_draw.py) are built in two folders, by ninja in one and by `clotho build` of BIN_DIR in the other,
with the same random edits (ninja_edits.py) and the same command lines. After each action both must agree: on success,
on the steps that ran, on all files, on "no work to do.", on what tools and dry runs print (ninja_rounds.py). At the end
of a scene a clean build by ninja must give the same outputs. What docs/BUILD.md names as a difference is allowed
(ALLOWED); then one folder becomes a copy of the other, logs too, and the scene goes on.

A finding is a folder found-N: both folders before the action and after it, the command lines, and what differs.
`--seed S --scene K` plays one scene again. Exit status 1 if there was a finding; 77 without ninja."""
import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ninja_draw
from ninja_actions import Actions
from ninja_rounds import Crash, Finding

NINJA = shutil.which("ninja")


def keep(rounds, finding, folder, words):
    """Leaves what is needed to look at it. Returns the folder."""
    number = 1
    while os.path.exists(os.path.join(folder, "found-%d" % number)):
        number += 1
    place = os.path.join(folder, "found-%d" % number)
    os.makedirs(place)
    for name in ("theirs", "mine"):
        for state, where in (("before", os.path.join(rounds.base, "before-" + name)), ("after", rounds.folders[name])):
            if os.path.exists(where):
                shutil.copytree(where, os.path.join(place, "%s-%s" % (state, name)), symlinks=True)
    with open(os.path.join(place, "commands"), "w", encoding="utf-8") as file:
        file.write("# again: %s\n%s\n" % (words, "\n".join(rounds.told)))
    with open(os.path.join(place, "differs"), "w", encoding="utf-8") as file:
        file.write(str(finding) + "\n")
    return place


def play(options, seed, number, totals):
    """One scene. Returns the number of findings, 0 or 1."""
    draw = random.Random("%d %d" % (seed, number))
    with tempfile.TemporaryDirectory(prefix="attack-") as base:
        rounds = Actions(base, ninja_draw.Scene(draw), options.bin_dir)
        try:
            rounds.play()
            return 0
        except Crash:
            totals["allowed crash of ninja"] += 1
            return 0
        except Finding as finding:
            again = "%s %s --seed %d --scene %d" % (sys.argv[0], options.bin_dir, seed, number)
            place = keep(rounds, finding, options.out, again)
            print("%s: scene %d: %s" % (place, number, str(finding).replace("\n", " ")[:300]), flush=True)
            return 1
        finally:
            totals.update(rounds.counts)


def several(options, seed):
    """One process per job, each with a seed of its own."""
    running = []
    for job in range(options.jobs):
        words = [sys.executable, "-B", os.path.abspath(__file__), options.bin_dir, str(options.seconds), "--seed",
                 str(seed + job), "--out", os.path.join(options.out, "job-%d" % job)]
        running.append(subprocess.Popen(words + (["--scenes", str(options.scenes)] if options.scenes else [])))
    return max(process.wait() for process in running)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", help="folder of the program clotho")
    parser.add_argument("seconds", nargs="?", type=float, default=60)
    parser.add_argument("--scenes", type=int, help="so many scenes, whatever the time")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--scene", type=int, help="only the scene of this number")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="attack-ninja", help="where findings are left (attack-ninja)")
    options = parser.parse_args()
    if not NINJA:
        print("skipped: ninja is not installed; mend: apt-get install ninja-build")
        return 77
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    options.out = os.path.abspath(options.out)
    print("ninja.py: seed %d" % seed, flush=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored
    if options.jobs > 1:
        return several(options, seed)
    begin, number, found, totals = time.monotonic(), options.scene or 0, 0, collections.Counter()
    played = 0
    while True:
        found += play(options, seed, number, totals)
        played, number = played + 1, number + 1
        if options.scene is not None or (played >= options.scenes if options.scenes else
                                         time.monotonic() - begin >= options.seconds):
            break
    allowed = ["%d %s" % (totals[name], name[8:]) for name in sorted(totals) if name.startswith("allowed ")]
    print("ninja.py: seed %d: %d scenes, %d actions, %d pairs of runs, %d steps in %d s; %d findings; allowed: %s" % (
        seed, played, totals["actions"], totals["pairs"], totals["steps"], time.monotonic() - begin, found,
        ", ".join(allowed) or "none"))
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
