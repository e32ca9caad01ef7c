#!/usr/bin/env python3
"""Runs a test program where CPU time is short: constrained.py one-cpu|quota PROGRAM

one-cpu: all threads on one CPU, so whoever waits for another thread must give way to it.
quota:   a cgroup that may use 20 ms of each 100 ms, so every thread is stopped for tens of milliseconds at any point.
Exits 77 (skipped) where the system does not let us: no second CPU is needed, but cgroups need root and version 2 or 1.
"""
import os
import pathlib
import subprocess
import sys

SECONDS = 800


def run(program, enter):
    """1 if it fails or does not end, else 0."""
    try:
        code = subprocess.run([program], preexec_fn=enter, stdout=subprocess.DEVNULL, timeout=SECONDS).returncode
    except subprocess.TimeoutExpired:
        code = f"no end in {SECONDS} s"
    print(f"{pathlib.Path(program).name}: {code}", flush=True)
    return int(code != 0)


def one_cpu():
    cpu = min(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {cpu})


def quota_group():
    """A new group with a quota, or None."""
    for root, limits in (("/sys/fs/cgroup", {"cpu.max": "20000 100000"}),
                         ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"})):
        group = pathlib.Path(root) / f"clotho-test-{os.getpid()}"
        if not (group.parent / "cgroup.procs").exists():
            continue  # no cgroup file system
        try:
            if "cpu.max" in limits:
                (group.parent / "cgroup.subtree_control").write_text("+cpu")
            group.mkdir()
            for name, value in limits.items():
                (group / name).write_text(value)
            return group
        except OSError:
            if group.is_dir():
                group.rmdir()
    return None


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("one-cpu", "quota"):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "one-cpu":
        return run(sys.argv[2], one_cpu())
    group = quota_group()
    if group is None:
        print("skipped: a group with a CPU quota cannot be made here; mend: run as root, with cgroups that may be written")
        return 77
    try:
        return run(sys.argv[2], lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    finally:
        group.rmdir()


if __name__ == "__main__":
    sys.exit(main())
