#!/usr/bin/env python3
"""R9 and R10, on the sources as they are.

cross.py decisions PROGRAM  R9: plans and decisions are the same, bit for bit, on every instruction set: PROGRAM is decisions.c
                     for this machine; it is built for aarch64 and for riscv64, run through qemu-user, and the hashes compared.
                     Mutation: use a float in a cost, or a char as a number.
cross.py no-float    R10: nothing on the decision path uses floating point: its sources compile with
                     -mgeneral-regs-only. Mutation: a double in runtime/policy/rank.c.
Exits 77 (skipped) if no cross compiler or emulator is installed (the line `cross` of toolchain/debian-packages.txt); with
CI in the environment that is a failure.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ("base", "sync", "graph", "generate", "platform", "cost", "trace", "plan", "learn", "policy", "engine", "sim")
FOREIGN = ("hwloc", "expat", "urcu", "cJSON", "shipped.h")  # sources with these need libraries that no cross compiler here has
FLAGS = ["-std=c17", "-O2", "-ffp-contract=off", '-DCLO_VERSION="0"', f"-I{ROOT}/include", f"-I{ROOT}/runtime", f"-I{ROOT}"]
MACHINES = [("aarch64-linux-gnu-gcc", "qemu-aarch64-static"), ("riscv64-linux-gnu-gcc", "qemu-riscv64-static")]
DECISION_PATH = [*sorted((ROOT / "runtime/policy").glob("*.c")), *sorted((ROOT / "runtime/learn").glob("*.c")),
                 *(ROOT / "runtime" / name for name in (
                     "engine/engine.c", "engine/program.c", "engine/scheduler.c", "engine/scheduler_job.c",
                     "engine/choose.c", "engine/start.c", "engine/room.c", "engine/lists.c", "engine/data.c",
                     "engine/note.c", "engine/view.c", "run/worker_loop.c", "run/share.c",
                     "run/wake.c", "run/home.c", "run/fast_path.c", "run/execute.c", "run/combining.c", "run/launch.c",
                     "run/begin.c", "run/cut.c", "run/end.c", "run/done.c", "run/watchdog_loop.c", "run/miss.c",
                     "run/overrun.c", "sync/park.c", "base/arena.c", "base/carve.c", "base/log2.c",
                     "base/crc.c"))]


def portable_sources():
    for module in MODULES:
        for source in sorted((ROOT / "runtime" / module).rglob("*.c")):
            if not any(f'"{word}' in line or f"<{word}" in line or f"/{word}" in line
                       for line in source.read_text().splitlines() if line.startswith("#include") for word in FOREIGN):
                yield source


def kernels(compiler, temporary):
    """The kernels of a machine, with the flags that each file of them wants."""
    architecture = compiler.split("-")[0]
    configure = ["cmake", "-S", str(ROOT / "tests/check"), "-B", str(temporary / "kernels"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/toolchain/{architecture}.cmake"]
    for command in (configure, ["cmake", "--build", str(temporary / "kernels"), "--target", "clo_kernels"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return sorted(str(path) for path in (temporary / "kernels").rglob("clo_kernels.dir/**/*.o"))


def build(compiler, temporary):
    objects = kernels(compiler, temporary)
    for source in portable_sources():
        target = temporary / ("-".join(source.relative_to(ROOT).with_suffix("").parts) + ".o")
        subprocess.run([compiler, *FLAGS, "-ffunction-sections", "-c", str(source), "-o", str(target)], check=True)
        objects.append(str(target))
    program = temporary / "decisions"
    subprocess.run([compiler, *FLAGS, "-static", str(ROOT / "tests/rt/decisions.c"), "-Wl,--gc-sections",
                    "-Wl,--unresolved-symbols=report-all", *objects, "-o", str(program), "-lpthread", "-lm"], check=True)
    return program


def lacking(what):
    """A package of our own list lacks: in CI a failure, else a skip that says what mends it."""
    with open(ROOT / "toolchain/debian-packages.txt", encoding="utf-8") as file:
        packages = next(line.split(":")[1].strip() for line in file if line.startswith("cross:"))
    print(f"skipped: {what}; mend: apt-get install -y --no-install-recommends {packages}")
    return 1 if os.environ.get("CI") else 77


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def decisions(program):
    hashes = {"this machine": run(program)}
    for compiler, emulator in MACHINES:
        if shutil.which(compiler) is None or shutil.which(emulator) is None:
            print(f"{compiler}: not installed, left out")
            continue
        with tempfile.TemporaryDirectory() as name:
            hashes[compiler] = run(emulator, str(build(compiler, pathlib.Path(name))))
    for machine, value in hashes.items():
        print(f"{machine}: {value}")
    if len(hashes) < 2:
        return lacking("no cross compiler with its emulator is installed")
    if len(hashes) < 1 + len(MACHINES) and os.environ.get("CI"):
        return lacking("not every cross compiler is installed")
    return 0 if len(set(hashes.values())) == 1 else 1


def no_float():
    compiler = "aarch64-linux-gnu-gcc" if shutil.which("aarch64-linux-gnu-gcc") else "gcc"
    if shutil.which(compiler) is None:
        return lacking("gcc is not installed")
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
    if len(sys.argv) == 3 and sys.argv[1] == "decisions":
        sys.exit(decisions(sys.argv[2]))
    if sys.argv[1:] == ["no-float"]:
        sys.exit(no_float())
    print(__doc__, file=sys.stderr)
    sys.exit(2)
