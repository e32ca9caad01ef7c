#!/usr/bin/env python3
"""Libraries and programs carry no more than they did. usage: sizes.py BUILD

LIMITS are what the next larger round number allows, in KiB of text and data (size(1)); the goals stand in bench/footprint/README.md.
A limit that fails is a new dependency, or code in the wrong library: `nm` and the linker's --print-gc-sections or -Map show which.
Flags decide sizes, so with other flags than those of a release build on x86-64 with gcc this skips."""
import pathlib
import platform
import subprocess
import sys

LIMITS = {"lib/libclotho.so": 500, "bin/closure-steal": 210, "bin/closure-heft": 285, "bin/closure-whole": 360, "bin/closure-best": 795,
          "bin/closure-all": 1180}
TEXT_BYTES_MAX = 500_000  # of libclotho.so
# What decides, reads and writes is not in a program that only runs or plans with HEFT; nor are features that its runtime has not.
FEATURES = ("clo_scheduler_create", "clo_scheduling_look", "clo_releases_create", "clo_timeline_next", "clo_pacing_padded")
ABSENT = {"bin/closure-steal": ("clo_plan_create", "clo_plan_check", "clo_shipped_files", "clo_best_fill", "clo_simulate", *FEATURES),
          "bin/closure-heft": ("clo_planner_peft", "clo_shipped_files", "clo_best_fill", "clo_simulate", *FEATURES),
          "bin/closure-best": ("clo_document_load", "clo_policy_decima", "clo_decima_model", "clo_decima_own_model")}


def size(path):
    line = subprocess.run(["size", path], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()
    return int(line[0]), int(line[1])


def symbols(path):
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def main():
    build = pathlib.Path(sys.argv[1])
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    flags = ("CMAKE_BUILD_TYPE:STRING=Release\n", "CMAKE_C_FLAGS_RELEASE:STRING=-O2 -DNDEBUG\n", "CMAKE_C_FLAGS:STRING=\n")
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False).stdout
    if platform.machine() != "x86_64" or not all(flag in cache for flag in flags) or "gcc" not in compiler.lower() and "cc (" not in compiler:
        print("skipped: sizes are those of gcc's release build on x86-64; mend: cmake --preset release")
        return 77
    failures = 0
    for name, limit in LIMITS.items():
        text, data = size(build / name)
        print(f"{name}: {(text + data) / 1024:.1f} KiB of at most {limit}")
        failures += text + data > 1024 * limit
    text, _ = size(build / "lib/libclotho.so")
    print(f"lib/libclotho.so: {text} bytes of text of at most {TEXT_BYTES_MAX}")
    failures += text > TEXT_BYTES_MAX
    for name, absent in ABSENT.items():
        found = symbols(build / name) & set(absent)
        if found:
            print(f"{name} carries {', '.join(sorted(found))}")
        failures += bool(found)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
