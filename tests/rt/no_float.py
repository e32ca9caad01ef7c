#!/usr/bin/env python3
"""R10: nothing on the decision path uses floating point: its sources compile with -mgeneral-regs-only.

Mutation: a double in runtime/policy/rank.c."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=c17", "-O2", "-ffp-contract=off", '-DCLO_VERSION="0"', f"-I{ROOT}/include", f"-I{ROOT}/runtime", f"-I{ROOT}"]
DECISION_PATH = [*sorted((ROOT / "runtime/policy").glob("*.c")), *sorted((ROOT / "runtime/learn").glob("*.c")),
                 *(ROOT / "runtime" / name for name in (
                     "engine/engine.c", "engine/program.c", "engine/scheduler.c", "engine/scheduler_job.c",
                     "engine/choose.c", "engine/start.c", "engine/room.c", "engine/lists.c", "engine/data.c",
                     "engine/note.c", "engine/view.c", "run/worker_loop.c", "run/share.c",
                     "run/wake.c", "run/home.c", "run/fast_path.c", "run/execute.c", "run/combining.c", "run/launch.c",
                     "run/begin.c", "run/cut.c", "run/end.c", "run/done.c", "run/watchdog_loop.c", "run/miss.c",
                     "run/overrun.c", "sync/park.c", "base/arena.c", "base/carve.c", "base/log2.c",
                     "base/crc.c"))]


def main():
    compiler = "aarch64-linux-gnu-gcc" if shutil.which("aarch64-linux-gnu-gcc") else "gcc"
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        for source in DECISION_PATH:
            done = subprocess.run([compiler, *FLAGS, "-mgeneral-regs-only", "-c", str(source), "-o", f"{name}/x.o"],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                failed += 1
                print(done.stderr.splitlines()[0:3])
    print(f"{len(DECISION_PATH) - failed} of {len(DECISION_PATH)} sources of the decision path are free of floating point")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
