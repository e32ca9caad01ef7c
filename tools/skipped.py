#!/usr/bin/env python3
"""Prints what the tests skipped, why, and what mends it.

usage: skipped.py JUNIT          the file that ctest --output-junit has written
       skipped.py --self-test

A test that skips prints a line "skipped: WHY; mend: COMMAND". What our own list of packages could provide is a failure of
that test, not a skip, where CI is set in the environment; here everything is only listed. Always exits 0.
"""
import re
import sys
import xml.etree.ElementTree

LINE = re.compile(r"skipped: (.*?); mend: (.*)")
CASES = re.compile(r"\[  SKIPPED \] (\d+) test|skipped=(\d+)")


def skipped(root):
    """Rows (test, what of it, reason, command)."""
    for case in root.iter("testcase"):
        output = case.findtext("system-out") or ""
        whole = case.get("status") == "notrun" or case.find("skipped") is not None
        counts = [int(a or b) for a, b in CASES.findall(output)]
        reasons = sorted(set(LINE.findall(output)))
        if not whole and not counts:
            continue
        what = "all of it" if whole else "%d of its cases" % sum(counts)
        for reason, command in reasons or [("it does not say why", "ctest -V -R " + case.get("name"))]:
            yield case.get("name"), what, reason, command


def report(root):
    rows = list(skipped(root))
    lines = ["== skipped: nothing"] if not rows else ["== skipped, and what mends it"]
    for test, what, reason, command in rows:
        lines += ["%s (%s): %s" % (test, what, reason), "    %s" % command]
    return "\n".join(lines)


def self_test():
    text = """<testsuite>
      <testcase name="good" status="run"><system-out>fine</system-out></testcase>
      <testcase name="rt.r09" status="notrun"><skipped/><system-out>skipped: no compiler; mend: apt-get install x</system-out></testcase>
      <testcase name="unit.part" status="run"><system-out>skipped: no data; mend: fetch it
[  SKIPPED ] 2 test(s), listed below:</system-out></testcase>
      <testcase name="cli.part" status="run"><system-out>OK (skipped=3)</system-out></testcase>
    </testsuite>"""
    want = [("rt.r09", "all of it", "no compiler", "apt-get install x"), ("unit.part", "2 of its cases", "no data", "fetch it"),
            ("cli.part", "3 of its cases", "it does not say why", "ctest -V -R cli.part")]
    root = xml.etree.ElementTree.fromstring(text)
    if list(skipped(root)) != want:
        return "skipped.py: its own example gives %s" % list(skipped(root))
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    print(report(xml.etree.ElementTree.parse(sys.argv[1]).getroot()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
