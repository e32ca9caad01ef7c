"""Plans and decisions are the same, bit for bit, on every instruction set (R9), and the command works on each.

usage: same.py HOST BUILD EMULATOR...    HOST is a build for this machine, BUILD one that EMULATOR runs

What SAME names prints the same on both. What RUNS names works on the emulated one: each run is checked and replayed by itself.
Mutation: use a float in a cost, or a char as a number."""
import os
import re
import subprocess
import sys
import tempfile

SAME = [
    "tests/decisions",
    "bin/clotho --version",
    "bin/clotho list planners",
    "bin/clotho generate montage --tasks 60 --seed 1 -o graph.json",
    *(f"bin/clotho plan graph.json --platform rk3588 --planner {planner} --json" for planner in ("heft", "deft", "peft")),
    "bin/clotho simulate graph.json --platform rk3588 --policy eft --json",
]
RUNS = [f"bin/clotho run graph.json --platform uniform:4 --unpinned --scale 0.0001 {how} --json"
        for how in ("--planner heft", "--planner deft", "--policy steal", "--policy eft", "--planner heft --clock virtual",
                    "--releases-in-flight 3 --releases 20")]
MEASURED = re.compile(r'"(plan_ns|decision_ns)": (\d+|\{[^}]*\})')


def run(folder, line, before=()):
    program, *words = line.split()
    done = subprocess.run([*before, os.path.join(folder, program), *words], capture_output=True, text=True, check=False)
    return done.returncode, MEASURED.sub("", done.stdout), done.stderr


def main(host, build, *emulator):
    host, build = os.path.abspath(host), os.path.abspath(build)
    if not all(os.path.exists(os.path.join(host, line.split()[0])) for line in SAME):
        print(f"{host} lacks what there is to compare with; run: ./dev build")
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for line in SAME + RUNS:
            status, printed, said = run(build, line, emulator)
            here = run(host, line) if line in SAME else (status, printed, "")
            if status != 0 or here[:2] != (status, printed):
                wrong += 1
                print(f"-- {line}\nstatus {status}: {printed[-1000:]}{said[-1000:]}\n-- on this machine\nstatus {here[0]}: {here[1][-1000:]}{here[2]}")
    print(f"{len(SAME) + len(RUNS) - wrong} of {len(SAME) + len(RUNS)} are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
