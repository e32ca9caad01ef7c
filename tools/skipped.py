#!/usr/bin/env python3
"""Prints what the tests skipped, why, and what mends it.

usage: skipped.py JUNIT          the file that ctest --output-junit has written
       skipped.py --self-test

A test that skips prints a line "skipped: WHY; mend: COMMAND"; the second part may be missing. Of Python's unittest, which prints
its reasons as "... skipped 'WHY'", these are taken. What our own list of packages could provide is a failure of that test, not a
skip, where CI is set in the environment; here everything is only listed. Always exits 0.
"""
import re
import sys
import xml.etree.ElementTree

LINE = re.compile(r"skipped: (.*)$", re.MULTILINE)
UNITTEST = re.compile(r"\.\.\. skipped (['\"])(.*)\1$", re.MULTILINE)  # of verbosity 2; a repr
CASES = re.compile(r"\[  SKIPPED \] (\d+) test|skipped=(\d+)")


def skipped(root):
    """Rows (test, what of it, reason, command)."""
    for case in root.iter("testcase"):
        output = case.findtext("system-out") or ""
        whole = case.get("status") == "notrun" or case.find("skipped") is not None
        counts = [int(a or b) for a, b in CASES.findall(output)]
        again = "ctest -V -R " + case.get("name")
        said = LINE.findall(output) + [why.replace("\\'", "'") for _, why in UNITTEST.findall(output)]
        reasons = sorted({(why.partition("; mend: ")[0], why.partition("; mend: ")[2] or again) for why in said})
        if not whole and not counts:
            continue
        what = "all of it" if whole else "%d of its cases" % sum(counts)
        for reason, command in reasons or [("it does not say why", again)]:
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
      <testcase name="remote.part" status="run"><system-out>test_2_gib (__main__.Narrow) ... skipped 'full runs only: 6 GiB; mend: CLO_RUNS=2 x'
test_3 (__main__.Narrow) ... skipped "it's long"
OK (skipped=2)</system-out></testcase>
      <testcase name="remote.all" status="notrun"><skipped/><system-out>skipped: no 'ip'; install iproute2
</system-out></testcase>
    </testsuite>"""
    want = [("rt.r09", "all of it", "no compiler", "apt-get install x"), ("unit.part", "2 of its cases", "no data", "fetch it"),
            ("cli.part", "3 of its cases", "it does not say why", "ctest -V -R cli.part"),
            ("remote.part", "2 of its cases", "full runs only: 6 GiB", "CLO_RUNS=2 x"),
            ("remote.part", "2 of its cases", "it's long", "ctest -V -R remote.part"),
            ("remote.all", "all of it", "no 'ip'; install iproute2", "ctest -V -R remote.all")]
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
