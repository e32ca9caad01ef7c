"""The command and programs of a cross-build on a whole board of two kinds of CPUs, emulated, under Debian's kernel.

usage: test_board.py HOST BUILD SYSROOT KERNEL    HOST is a build for this machine, BUILD one for aarch64, SYSROOT what it was
    linked with, KERNEL a folder that toolchain/sysroot.sh has filled

Prints "ok NAME" or "not ok NAME: why" for each step of steps.py. No step judges by a time. Mutations: see README.md."""
import os
import sys
import tempfile

from boot import Missing, boot, device_tree, image, kernel_of, libraries
from steps import STEPS, Wrong, prepare


def content(path):
    with open(path, "rb") as file:
        return file.read()


def files_of(build, sysroot, inputs, lines):
    """{path on the board: bytes}."""
    tests = {line.split()[1][1:] for line in lines if " /tests/" in line}  # "all /tests/NAME"
    programs = {"bin/clotho": "bin/clotho", "bin/pinned": "tests/board-pinned", **{name: name for name in tests}}
    programs = {name: os.path.join(build, path) for name, path in programs.items()}
    files = {name: content(path) for name, path in programs.items()}
    files.update({"lib/" + name: content(path) for name, path in libraries(programs.values(), sysroot).items()})
    files.update({"work/" + name: text for name, text in inputs.items()})
    files["init"] = content(os.path.join(build, "tests/board-init"))
    files["steps"] = "".join(line + "\n" for line in lines).encode()
    return files


def judged(steps, ended, files):
    """Prints a line for each step; returns how many are wrong."""
    at = wrong = 0
    for step in steps:
        results = [ended.get(number) for number in range(at, at + len(step.lines))]
        at += len(step.lines)
        try:
            if None in results:
                raise Wrong(f"{step.lines[results.index(None)]!r} has not ended")
            step.judge(results, files)
            print(f"ok {step.name} ({sum(done.seconds for done in results):.1f} s)")
        except (Wrong, ValueError, KeyError) as why:
            wrong += 1
            print(f"not ok {step.name}: {why}")
    return wrong


def main(host, build, sysroot, kernel):
    try:
        vmlinuz = kernel_of(kernel)
    except Missing as what:
        print(f"skipped: {what}")
        return 1 if os.environ.get("CI") else 77
    with tempfile.TemporaryDirectory() as folder:
        inputs = prepare(os.path.abspath(host), folder)
        lines = [line for step in STEPS for line in step.lines]
        tree, whole = os.path.join(folder, "tree"), os.path.join(folder, "image")
        device_tree(tree)
        with open(whole, "wb") as file:
            file.write(image(os.path.join(build, "tests/board-entry"), vmlinuz))
        said, done = boot(folder, whole, tree, files_of(build, sysroot, inputs, lines))
        wrong = judged(STEPS, done, inputs)
    if wrong:
        print("-- the end of the console\n" + said[-6000:])
    print(f"{len(STEPS) - wrong} of {len(STEPS)} steps are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
