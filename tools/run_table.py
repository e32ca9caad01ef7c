#!/usr/bin/env python3
"""Prints one table from the JSON lines of `clotho run --json` and of the example applications. Exit status 1 if a line
says that its result is not valid, or if there is none."""
import json
import sys

DISTURBED = 0.1  # of the CPUs for other programs: then a prediction tells nothing
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns"))


def show_ns(ns):
    if ns is None:
        return "-"
    for size, unit in UNITS:
        if ns >= size or size == 1:
            return "%.*f %s" % (0 if size == 1 else 2, ns / size, unit)


def show_range(low, high):
    return "-" if low is None or high is None else "%s .. %s" % (show_ns(low), show_ns(high))


def show_error(error, others, kept):
    if error is None:
        return "-"
    if kept == 0:
        return "unsteady"
    return "disturbed" if others is not None and others > DISTURBED else "%.1f %%" % (100 * abs(error))


def row(one):
    measured = one.get("measured_ns")
    if not isinstance(measured, (int, float)):  # the command lists all runs there and has the median as makespan
        measured = one.get("makespan_ns")
    error = one.get("error", one.get("prediction_error"))
    speedup, others = one.get("speedup"), one.get("foreign_load")
    noise, kept, dropped = one.get("deviation"), one.get("turns_kept"), one.get("turns_dropped")
    extra = ""
    if "residual" in one:
        extra = ", residual %.1e" % one["residual"]
    elif "detections" in one:
        found = one["detections"]
        extra = ", %s detections" % (len(found) if isinstance(found, list) else found)
    elif one.get("replay_equal"):
        extra = ", replayed alike"
    if one.get("device_kernels"):
        extra += ", with a device of OpenCL"
    return (
        one.get("app") or one.get("graph"),
        one.get("dispatch") if one.get("dispatch") in ("steal",) else one.get("planner") or one.get("policy") or one.get("dispatch"),
        show_ns(one.get("predicted_ns")),
        show_range(one.get("predicted_low_ns"), one.get("predicted_high_ns")),
        show_ns(measured) + (" emulated" if one.get("emulated") else ""),
        show_error(error, others, kept),
        show_error(one.get("own_error"), others, kept),
        "-" if noise is None or kept is None or kept < 2 else "%.1f %%" % (100 * noise),
        "-" if kept is None else "%d of %d" % (kept, kept + dropped),
        "-" if others is None else "%.0f %%" % (100 * others),
        "-" if speedup is None else "%.2f" % speedup,
        ("valid" if one.get("valid") else "NOT VALID") + extra,
    )


def main(path):
    with open(path, encoding="utf-8") as file:
        runs = [json.loads(line) for line in file if line.strip()]
    head = ("application", "dispatch", "predicted", "9 of 10 runs", "measured", "error", "own", "noise", "steady", "others", "speedup", "check")
    rows = [head] + [row(one) for one in runs]
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(head))]
    print()
    for number, r in enumerate(rows):
        cells = [str(c).ljust(w) if i in (0, 1, len(head) - 1) else str(c).rjust(w) for i, (c, w) in enumerate(zip(r, widths))]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * w for w in widths))
    print(
        "\npredicted: before each run, from what each task took on each CPU in runs by work stealing (median and range of 200"
        "\nsimulations with drawn durations); error: of the measured time, the median over the runs; own: the error if tasks are"
        "\ntaken to last as in earlier runs of the same plan, in the same order, with the same things in the caches; noise: how"
        "\nfar runs are from their own median; steady: the runs that count, those at whose end each CPU computed and read a cache"
        "\nas fast as before the runs that were learned just before (a tenth, a fifth); others: share of the CPUs that other"
        "\nprograms and other guests of the host took meanwhile, above 10 % the error tells nothing. speedup: over one core."
    )
    return 0 if runs and all(one.get("valid") for one in runs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
