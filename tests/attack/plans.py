#!/usr/bin/env python3
"""Plans and the checker against a second reading of the rules: plans.py BIN_DIR [SECONDS] [option...]

Draws graphs with platforms (plans_draw.py), lets every planner plan them, and judges each plan by the rules of the
documents (plans_rules.py), by `clotho check`, and by a run under the virtual clock. Plans are changed
(plans_change.py), and both judges must agree about what comes out. For small graphs all plans are tried
(plans_optimum.py).

  SECONDS      how long (60)
  --seed N     of the graphs; without it a new one, which is printed
  --graphs N   so many graphs, instead of a time
  --case N     only this graph of the seed, as a reproducer says
  --jobs N     processes (2)
  --out DIR    where findings go (plans-found): DIR/found-N/ with the files, the commands and what is wrong

Exit status 1 if anything was found."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import plans_steps

ALIKE = 5  # findings of one kind that are kept; the others are counted


def planners_of(clotho):
    said = subprocess.run([clotho, "list", "planners", "--json"], capture_output=True, check=True, text=True)
    policies = subprocess.run([clotho, "list", "policies", "--json"], capture_output=True, check=True, text=True)
    return ([p["name"] for p in json.loads(said.stdout)["planners"]],
            [p["name"] for p in json.loads(policies.stdout)["policies"]])


def play(clotho, names, seed, number, out):
    """One graph with all that is tried on it. Returns counts, and findings as (what, folder)."""
    rng = random.Random("%d.%d" % (seed, number))
    with tempfile.TemporaryDirectory(prefix="plans-") as folder:
        case = plans_steps.Case(clotho, names, rng, folder)
        case.go()
        kept = []
        for k, (what, history, files) in enumerate(case.findings):
            place = os.path.join(out, "new-%d-%d" % (number, k))
            os.makedirs(place)
            for name, content in files.items():
                with open(os.path.join(place, name), "wb") as file:
                    file.write(content)
            with open(os.path.join(place, "commands.txt"), "w", encoding="utf-8") as file:
                file.write("# plans.py BIN_DIR --seed %d --case %d\n%s\n" % (seed, number, "\n".join(history)))
            with open(os.path.join(place, "wrong.txt"), "w", encoding="utf-8") as file:
                file.write(what + "\n")
            kept.append((what, place))
        return case.counts, kept


class Findings:
    """Numbers what was found, and keeps a few of each kind."""

    def __init__(self, out):
        self.out, self.kinds, self.kept = out, collections.Counter(), 0

    def add(self, what, place):
        kind = re.sub(r"[0-9]+", "#", what)[:60]
        self.kinds[kind] += 1
        if self.kinds[kind] > ALIKE:
            shutil.rmtree(place)
            return
        while os.path.exists(os.path.join(self.out, "found-%d" % self.kept)):
            self.kept += 1
        target = os.path.join(self.out, "found-%d" % self.kept)
        os.rename(place, target)
        print("%s: %s" % (target, what), flush=True)


def numbers(options, begin):
    """The graphs to play, until the time is up."""
    if options.case is not None:
        yield options.case
        return
    number = 0
    while number < options.graphs if options.graphs else time.monotonic() - begin < options.seconds:
        yield number
        number += 1


def play_all(options, clotho, names, findings):
    counts, begin = collections.Counter(), time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        waiting = set()
        for number in numbers(options, begin):
            waiting.add(pool.submit(play, clotho, names, options.seed, number, options.out))
            if len(waiting) < 2 * options.jobs:
                continue
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            collect(done, counts, findings)
        collect(waiting, counts, findings)
    return counts, time.monotonic() - begin


def collect(done, counts, findings):
    for one in done:
        more, found = one.result()
        counts.update(more)
        for what, place in found:
            findings.add(what, place)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--case", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="plans-found")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


def main():
    options = parse()
    clotho = os.path.join(os.path.abspath(options.bin), "clotho")
    options.out = os.path.abspath(options.out)
    print("plans: seed %d" % options.seed, flush=True)
    findings = Findings(options.out)
    counts, seconds = play_all(options, clotho, planners_of(clotho), findings)
    print("plans: seed %d, %d s: %s; %d findings of %d kinds" % (
        options.seed, seconds, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())),
        sum(findings.kinds.values()), len(findings.kinds)))
    return 1 if findings.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
