#!/usr/bin/env python3
"""R10: nothing on the decision path uses floating point: its sources compile with -mgeneral-regs-only.

At -O0, where nothing is left out that an optimiser finds dead, and which takes a third of the time of -O2.
Mutation: a double in runtime/policy/queue/rank.c."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=c17", "-O0", "-ffp-contract=off", '-DCLO_VERSION="0"', f"-I{ROOT}/include", f"-I{ROOT}/runtime", f"-I{ROOT}"]
DECISION_PATH = [*sorted((ROOT / "runtime/policy").rglob("*.c")), *sorted((ROOT / "runtime/learn").rglob("*.c")),
                 *(ROOT / "runtime" / name for name in (
                     "engine/execution/engine.c", "engine/program/program.c", "engine/scheduler/scheduler.c", "engine/state/scheduler_job.c",
                     "engine/scheduler/choose.c", "engine/scheduler/start.c", "engine/scheduler/reservation.c", "engine/state/lists.c", "engine/execution/data.c",
                     "engine/state/note.c", "engine/scheduler/view.c", "run/threads/worker_loop.c", "run/sharing/share.c",
                     "run/sharing/wake.c", "run/sharing/owner.c", "run/dispatch/fast_path.c", "run/dispatch/execute.c", "run/dispatch/policy.c",
                     "run/body/body.c", "run/body/real.c", "run/scheduler/combining.c", "run/dispatch/launch.c",
                     "run/job/begin.c", "run/job/cut.c", "run/job/end.c", "run/job/done.c", "run/threads/watchdog_loop.c", "run/extras/miss.c",
                     "run/extras/overrun.c", "sync/sleep/park.c", "base/arena.c", "base/carve.c", "base/numbers/log2.c",
                     "base/numbers/crc.c",
                     # learning, on the workers and beside them
                     "base/clock.c", "run/records/recorder.c", "run/records/stamp.c", "run/records/record.c")),
                 *sorted((ROOT / "runtime/profile").rglob("*.c")), ROOT / "runtime/sim/predict.c"]


def main():
    compiler = "aarch64-linux-gnu-gcc" if shutil.which("aarch64-linux-gnu-gcc") else "gcc"
    failed = 0
    for source in DECISION_PATH:
        done = subprocess.run([compiler, *FLAGS, "-mgeneral-regs-only", "-S", str(source), "-o", os.devnull],
                              capture_output=True, text=True)
        if done.returncode != 0:
            failed += 1
            print(done.stderr.splitlines()[0:3])
    print(f"{len(DECISION_PATH) - failed} of {len(DECISION_PATH)} sources of the decision path are free of floating point")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
