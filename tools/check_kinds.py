#!/usr/bin/env python3
"""What a job is, is decided once: where it is made. Checks that no other source of runtime/run/ asks for it.

A job's clock, plan, policy and releases in flight choose its tables (run/state/dispatch.h, run/state/pacing.h); what
differs between kinds of jobs is a member of these. So the words that ask anew stand only in the files of MAY_ASK. And the
structs of a job and of a worker keep what all kinds share, the rest in named parts: FIELDS_MAX fields.

usage: check_kinds.py [ROOT]; exit status 1 after one line a fault. `--self-test` proves that each word is found."""
import contextlib
import io
import pathlib
import re
import sys
import tempfile

ASKS = {
    "the clock": r"CLO_CLOCK_\w+",
    "the fast path": r"\bis_fast\b",
    "a policy": r"\bscheduled\s*[!=]=\s*NULL",
    "releases in flight": r"\bpipeline\s*[!=]=\s*NULL",
    "events in virtual time": r"\bvirtual_time\s*[!=]=\s*NULL",
    "times that were decided": r"\bstart_ns\s*[!=]=\s*NULL",
}
WORD = re.compile("|".join("(%s)" % word for word in ASKS.values()))
# Where a runtime, its scheduler, a job and a plan for it are made; and what a dispatch itself refuses at create.
MAY_ASK = ("control/runtime_create.c", "control/attach.c", "control/clocks.c", "control/job_create.c",
           "control/place.c", "job/job_body.c", "dispatch/pipeline.c")
FIELDS_MAX = {"clo_job": ("state/job.h", 35), "clo_worker": ("state/worker.h", 40)}


def count_fields(text, struct):
    """Of the struct's own; a part counts once, also an anonymous one. None: it is not there."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    begin = re.search(r"struct %s \{" % struct, text)
    if begin is None:
        return None
    count, depth = 0, 0
    for char in text[begin.end():]:
        depth += (char in "{[(") - (char in "}])")
        if depth < 0:
            return count
        count += depth == 0 and char in ";,"


def check_fields(rooms):
    faults = 0
    for struct, (name, most) in FIELDS_MAX.items():
        path = rooms / name
        count = count_fields(path.read_text(encoding="utf-8"), struct) if path.exists() else None
        if count is None or count > most:
            print("runtime/run/%s: %s has %s fields, at most %d; put those that belong together into a part with a name" %
                  (name, struct, count, most))
            faults += 1
    return faults


def check(root):
    rooms, count = pathlib.Path(root) / "runtime/run", 0
    for path in sorted(path for path in rooms.rglob("*") if path.suffix in (".c", ".h")):
        if path.relative_to(rooms).as_posix() in MAY_ASK:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for found in WORD.finditer(line):
                print("%s:%d: '%s' asks for %s again; give clo_dispatch or clo_pacing a member that says what differs, "
                      "and set it in the file of each kind" %
                      (path.relative_to(root), number, found.group(), list(ASKS)[found.lastindex - 1]))
                count += 1
    for name in MAY_ASK:
        if not (rooms / name).exists():
            print("runtime/run/%s: MAY_ASK names it, and it is not there" % name)
            count += 1
    return count + check_fields(rooms)


GOOD = "int64_t now_ns = job->kind->numbers_events ? job->start_ns : 0;\n"
BAD = ["if (clock != CLO_CLOCK_REAL)", "return job->is_fast;", "if (job->scheduled == NULL)", "job->pipeline != NULL ?",
       "if (job->virtual_time!=NULL)", "job->start_ns != NULL"]
STRUCT = "struct %s {\n    /* a; b */\n    int many[2], %s;\n    union {\n        int a;\n        int b;\n    };\n} x;\n"


def write_structs(rooms, more):
    for struct, (name, most) in FIELDS_MAX.items():
        (rooms / name).parent.mkdir(parents=True, exist_ok=True)
        (rooms / name).write_text(STRUCT % (struct, ", ".join("f%d" % i for i in range(most - 2 + more))))


def self_test():
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        for more in (0, 1):
            write_structs(pathlib.Path(root), more)
            with contextlib.redirect_stdout(io.StringIO()):
                count = check_fields(pathlib.Path(root))
            if count != 2 * more:
                print("self-test: %d fields more than the most gave %d faults" % (more, count))
                failed = 1
    for line in [None] + BAD:
        with tempfile.TemporaryDirectory() as root:
            rooms = pathlib.Path(root) / "runtime/run"
            for name in MAY_ASK + ("records/one.c",):
                (rooms / name).parent.mkdir(parents=True, exist_ok=True)
                (rooms / name).write_text("\n".join(BAD) if name in MAY_ASK else GOOD + (line or ""))
            write_structs(rooms, 0)
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                count = check(root)
            if count != (line is not None) or (line and "runtime/run/records/one.c:2: " not in shown.getvalue()):
                print("self-test: '%s' gave %d faults:\n%s" % (line or "nothing", count, shown.getvalue()))
                failed = 1
    print("kinds: self-test %s" % ("FAILED" if failed else "passed, %d faults found" % len(BAD)))
    return failed


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        sys.exit(self_test())
    count = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    print("kinds: %s" % ("clean" if count == 0 else "%d faults" % count))
    sys.exit(1 if count else 0)
