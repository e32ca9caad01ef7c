#!/usr/bin/env python3
"""Checks the kernels and inference on the machines that this one is not: builds check-kernels and check-infer with each cross
compiler, runs them through qemu-user on CPUs with and without the instruction sets that variants need, and looks for floating
point in the objects. check-infer knows the hash of the decisions that it has to come to.

usage: cross.py BUILD_FOLDER

Exits 77 (skipped) if a cross compiler or emulator is not installed (the line `cross` of toolchain/debian-packages.txt); with
CI in the environment that is a failure. Mutation: one product too few in kernels/arm/ or kernels/riscv/.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# architecture: emulator, then rows of the CPU, the variant that must be checked there, the one that must not be chosen
MACHINES = {
    "aarch64": ("qemu-aarch64-static", [("cortex-a53", "neon", "neondot"), ("cortex-a76", "neondot", None)]),
    "riscv64": ("qemu-riscv64-static", [("rv64,v=false", "scalar", "rvv"), ("rv64,v=true,vext_spec=v1.0", "rvv", None),
                                        ("rv64,v=true,vlen=512,vext_spec=v1.0", "rvv", None)]),
}


def lacking(what):
    """A package of our own list lacks: in CI a failure, else a skip that says what mends it."""
    with open(ROOT / "toolchain/debian-packages.txt", encoding="utf-8") as file:
        packages = next(line.split(":")[1].strip() for line in file if line.startswith("cross:"))
    print(f"skipped: {what}; mend: apt-get install -y --no-install-recommends {packages}")
    return 1 if os.environ.get("CI") else 77


def build(architecture, folder):
    configure = ["cmake", "-S", str(ROOT / "tests/check"), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/toolchain/{architecture}.cmake"]
    for command in (configure, ["cmake", "--build", str(folder)]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(done.stdout)
            return False
    return True


def check(architecture, folder):
    """Number of failures."""
    emulator, cpus = MACHINES[architecture]
    failures = 0
    for cpu, wanted, unwanted in cpus:
        print(f"-- {architecture}, {cpu}", flush=True)
        command = [emulator, "-cpu", cpu, str(folder / "check-kernels"), "--rounds", "1", "--no-times", "--require", wanted]
        failures += subprocess.run(command + (["--forbid", unwanted] if unwanted else [])).returncode != 0
        failures += subprocess.run([emulator, "-cpu", cpu, str(folder / "check-infer"), "--only", wanted]).returncode != 0
    objects = sorted(str(path) for path in folder.rglob("*.o")
                     if "clo_kernels.dir" in str(path) or "clo_check_learn.dir" in str(path))
    failures += subprocess.run([sys.executable, "-B", str(ROOT / "tools/check_no_float.py"), *objects]).returncode != 0
    return failures


def main(target):
    failures, absent = 0, []
    for architecture, (emulator, _) in MACHINES.items():
        missing = [tool for tool in (f"{architecture}-linux-gnu-gcc", emulator) if shutil.which(tool) is None]
        if missing:
            absent += missing
        elif build(architecture, target / architecture):
            failures += check(architecture, target / architecture)
        else:
            failures += 1
    if failures:
        return 1
    return lacking(" and ".join(absent) + " not installed") if absent else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(pathlib.Path(sys.argv[1])))
