#!/usr/bin/env python3
"""Runs ctest, prints its slowest tests and, if the machine was calm, those that took longer than a limit; fails at twice the limit.

usage: test_times.py [--slowest N] [--limit SECONDS] JUNIT -- COMMAND...   JUNIT is what COMMAND's --output-junit has written
       test_times.py --self-test

A machine is calm if other programs, the host's other guests among them (steal time), took at most a tenth of the processors
while COMMAND ran. On any other machine a time says nothing about a test: the limit is then not judged, which is said.
Hosts of CI differ by a factor of 1.6 in speed, so a test fails only at twice the limit. The exit status is COMMAND's, or 1 for such.
"""
import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree

import calm

CALM = 0.1
SLOW_HOST = 2


def times(root):
    """(seconds, test), the slowest first."""
    return sorted(((float(case.get("time") or 0), case.get("name")) for case in root.iter("testcase")), reverse=True)


def report(rows, slowest, limit, others):
    """Lines to print, and whether a test is too slow on any host."""
    lines = [f"== the slowest {min(slowest, len(rows))} of {len(rows)} tests, s"] if slowest else []
    lines += [f"{seconds:8.1f}  {name}" for seconds, name in rows[:slowest]]
    over = [row for row in rows if limit and row[0] > limit]
    if over and others > CALM:
        lines.append(f"== {len(over)} tests took more than {limit:g} s; not judged: others had {100 * others:.0f} % of the processors")
    elif over:
        lines += [f"== too slow: {name} took {seconds:.0f} s, the limit is {limit:g} s; take smaller samples (./dev test --full "
                  "has the whole ones) or split it" for seconds, name in over]
    return lines, others <= CALM and any(seconds > SLOW_HOST * limit for seconds, _ in over)


def self_test():
    root = xml.etree.ElementTree.fromstring('<testsuite><testcase name="a" time="2"/><testcase name="b" time="91.5"/></testsuite>')
    rows = times(root)
    calm, is_calm_slow = report(rows, 1, 90, 0.02)
    busy, is_busy_slow = report(rows, 0, 40, 0.5)
    fine = report(rows, 0, 100, 0.0)
    if rows != [(91.5, "b"), (2.0, "a")] or is_calm_slow or is_busy_slow or not report(rows, 0, 40, 0.0)[1] or fine != ([], False):
        return f"test_times.py: its own example gives {rows} {calm} {busy} {fine}"
    if calm[1].split() != ["91.5", "b"] or "too slow: b took 92 s" not in calm[2] or "not judged" not in busy[0]:
        return f"test_times.py: its own example prints {calm} {busy}"
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slowest", type=int, default=0, metavar="N")
    parser.add_argument("--limit", type=float, default=0, metavar="SECONDS")
    parser.add_argument("junit")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    if os.path.exists(args.junit):
        os.unlink(args.junit)  # of the run before
    watch = calm.Watch()
    status = subprocess.run(args.command).returncode
    others = watch.others()
    if not os.path.exists(args.junit):
        return status or 1
    lines, is_slow = report(times(xml.etree.ElementTree.parse(args.junit).getroot()), args.slowest, args.limit, others)
    print("\n".join(lines), flush=True)
    return status or int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
