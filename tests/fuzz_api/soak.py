#!/usr/bin/env python3
"""Lets the fuzzer of API sequences run for long while it is stopped and continued: soak.py SECONDS PROGRAM [option...]

The program gets --alarms, so that SIGALRM storms come from within. This parent stops and continues it at random moments and
looks at its memory, threads and descriptors. Exit status 1 if the program fails, does not end, or goes on growing."""
import os
import random
import signal
import statistics
import subprocess
import sys
import time

GROWTH_KIB = 64 << 10  # of the median of the last quarter over that of the second
GRACE = 300            # seconds beyond SECONDS; a stopped program makes no headway


def look(pid):
    """Resident KiB, threads, descriptors; None if it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return (int(fields["VmRSS"].split()[0]), int(fields["Threads"]), len(os.listdir(f"/proc/{pid}/fd")))
    except (OSError, KeyError):
        return None


def storm(process, seconds):
    """Stops and continues the process until it ends; what was seen of it, one row a second."""
    rng, rows, stops, begin, next_look = random.Random(1), [], 0, time.monotonic(), 0.0
    while process.poll() is None:
        now = time.monotonic() - begin
        if now > seconds + GRACE:
            process.send_signal(signal.SIGABRT)  # it prints what its threads do
            process.wait(60)
            sys.exit("soak: no end after %d s" % now)
        if now >= next_look:
            next_look = now + 1
            row = look(process.pid)
            if row:
                rows.append(row)
        time.sleep(rng.choice((0.001, 0.01, 0.05, 0.3)) * rng.random())
        process.send_signal(signal.SIGSTOP)
        time.sleep(rng.choice((0, 0.001, 0.02)) * rng.random())
        process.send_signal(signal.SIGCONT)
        stops += 1
    return rows, stops


def main(seconds, program):
    process = subprocess.Popen([*program, "--seconds", str(seconds), "--alarms"])
    rows, stops = storm(process, seconds)
    if process.returncode != 0:
        sys.exit("soak: the program ended with %d" % process.returncode)
    quarter = max(1, len(rows) // 4)
    memory = [row[0] for row in rows] or [0]
    before, after = statistics.median(memory[quarter:2 * quarter] or memory), statistics.median(memory[-quarter:])
    print("soak: %d s, %d stops; resident %d KiB in the second quarter, %d in the last; most threads %d, descriptors %d" % (
        seconds, stops, before, after, max((row[1] for row in rows), default=0), max((row[2] for row in rows), default=0)))
    if after > before + GROWTH_KIB:
        sys.exit("soak: it grows")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    main(int(sys.argv[1]), sys.argv[2:])
