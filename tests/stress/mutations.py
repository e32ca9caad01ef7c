#!/usr/bin/env python3
"""Does the stress test of runtime/sync catch what it claims to catch?

Each line of MUTATIONS weakens one memory order, or drops one step, in a copy of the headers; the stress test, built from the
copy, must then fail: a data race under ThreadSanitizer, a lost or doubled item, or a hang. A mutation whose text is no longer
in the source is an error too, so the list cannot rot. Needs clang; exits 77 (skipped) without it.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Not here: deque.h [C] and [D]. Their race needs two steals inside one store-buffer delay of the owner, which two cores do
# not show in minutes.
#
# (header, text to find, replacement, how to build: "thread" = ThreadSanitizer, "plain" = optimised, as on the hardware)
MUTATIONS = [
    ("countdown.h", "1, memory_order_acq_rel) == 1; /* [A] */", "1, memory_order_relaxed) == 1;", "thread"),
    ("countdown.h", "1, memory_order_acq_rel) == 1; /* [A] */", "1, memory_order_release) == 1;", "thread"),
    ("countdown.h", "&countdown->left, memory_order_acquire) == 1", "&countdown->left, memory_order_relaxed) == 1", "thread"),
    ("stack.h", "first, memory_order_release, /* [A] */", "first, memory_order_relaxed,", "thread"),
    ("stack.h", "CLO_ITEM_NONE, memory_order_acquire); /* [B] */", "CLO_ITEM_NONE, memory_order_relaxed);", "thread"),
    ("deque.h", "bottom + 1, memory_order_release); /* [A] */", "bottom + 1, memory_order_relaxed);", "thread"),
    ("deque.h", """top + 1, memory_order_seq_cst, /* [F] */
                                                 memory_order_relaxed))
        return CLO_ITEM_NONE;""", """top + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return item;""", "plain"),
    ("once.h", "&once->state, 2, memory_order_release); /* [A] */", "&once->state, 2, memory_order_relaxed);", "thread"),
    ("once.h", """uint32_t state = atomic_load_explicit(&once->state, memory_order_acquire); /* [B] */""",
     """uint32_t state = atomic_load_explicit(&once->state, memory_order_relaxed);
    if (state == 2)
        return false;""", "thread"),
    ("gate.h", "&gate->locked, 0, memory_order_release", "&gate->locked, 0, memory_order_relaxed", "thread"),
    ("gate.h", "gate->waiting = CLO_ITEM_NONE;\n    clo_gate_unlock", "clo_gate_unlock", "plain"),
]

ROUNDS = 6  # a weakened order on real hardware shows only now and then
ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(folder: pathlib.Path, how: str) -> pathlib.Path:
    program = folder / "test"
    flags = ["-fsanitize=thread", "-g", "-O1"] if how == "thread" else ["-O2"]
    sources = [ROOT / "tests/stress/test_sync.c", folder / "sync/park.c", ROOT / "runtime/base/status.c"]
    subprocess.run(["clang", "-std=c17", "-w", "-DCLO_VERSION=\"\"", *flags, f"-I{folder}", f"-I{ROOT}/runtime",
                    f"-I{ROOT}/include", f"-I{ROOT}/tests/support", *map(str, sources), "-o", str(program), "-lcmocka",
                    "-lpthread"], check=True)
    return program


def is_caught(program: pathlib.Path) -> bool:
    for _ in range(ROUNDS):
        try:
            if subprocess.run([str(program)], capture_output=True, timeout=10).returncode != 0:
                return True
        except subprocess.TimeoutExpired:
            return True
    return False


def main() -> int:
    if shutil.which("clang") is None:
        print("skipped: clang is not installed")
        return 77
    survivors = 0
    for header, old, new, how in [("park.h", "", "", "thread")] + MUTATIONS:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copytree(ROOT / "runtime/sync", folder / "sync")
            text = (folder / "sync" / header).read_text()
            if old not in text:
                print(f"{header}: '{old}' is not in the source any more; mend the list")
                return 1
            (folder / "sync" / header).write_text(text.replace(old, new, 1) if old else text)
            caught = is_caught(build(folder, how))
        if old == "":
            if caught:
                print("the unmutated source fails")
                return 1
            continue
        print(f"{'caught  ' if caught else 'SURVIVED'} {how:7} {header}: {old.splitlines()[0].strip()[:80]}", flush=True)
        survivors += not caught
    print(f"{len(MUTATIONS) - survivors} of {len(MUTATIONS)} mutations caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
