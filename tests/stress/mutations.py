#!/usr/bin/env python3
"""Does the stress test of runtime/sync catch what it claims to catch?

Each line of MUTATIONS weakens one memory order, or drops one step, in a copy of runtime/sync; the model checker or the stress
test, built from the copy, must then fail: a data race, a lost or doubled item, or a hang. A mutation whose text is no longer
in the source is an error too, so the list cannot rot. Needs clang; exits 77 (skipped) without it.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# (file, text to find, replacement, how to build: "model" = the exhaustive checker of tests/model, which catches each for
# certain on any machine; "thread" = the stress test under ThreadSanitizer; "plain" = the stress test, as on the hardware)
MUTATIONS = [
    ("countdown.h", "hits, memory_order_acq_rel) != hits) /* [A] */", "hits, memory_order_relaxed) != hits)", "model"),
    ("countdown.h", "hits, memory_order_acq_rel) != hits) /* [A] */", "hits, memory_order_release) != hits)", "model"),
    ("countdown.h", "hits, memory_order_acq_rel) != hits) /* [A] */", "hits, memory_order_acquire) != hits)", "model"),
    ("countdown.h", "&countdown->left, memory_order_acquire) != hits &&",
     "&countdown->left, memory_order_relaxed) != hits &&", "model"),
    ("countdown.h", "atomic_store_explicit(&countdown->left, countdown->needs, memory_order_relaxed); /* [C] */", "", "model"),
    ("stack.h", "first, memory_order_release, /* [A] */", "first, memory_order_relaxed,", "model"),
    ("stack.h", "CLO_ITEM_NONE, memory_order_acquire); /* [B] */", "CLO_ITEM_NONE, memory_order_relaxed);", "model"),
    ("hand.h", "&empty, item, memory_order_release, /* [A] */", "&empty, item, memory_order_relaxed,", "model"),
    ("hand.h", "CLO_HAND_EMPTY, memory_order_acquire); /* [B] */", "CLO_HAND_EMPTY, memory_order_relaxed);", "model"),
    ("once.h", "2 * run, memory_order_release); /* [A] */", "2 * run, memory_order_relaxed);", "model"),
    ("once.h", "while (atomic_load_explicit(&once->state, memory_order_acquire) != 2 * run) /* [B] */",
     "while (atomic_load_explicit(&once->state, memory_order_relaxed) != 2 * run)", "model"),
    ("ledger.h", "&ledger->head, memory_order_acquire); /* [A] */", "&ledger->head, memory_order_relaxed);", "model"),
    ("ledger.h", "memory_order_acq_rel, memory_order_relaxed)) /* [B] */", "memory_order_acquire, memory_order_relaxed))", "model"),
    ("ledger.h", "&page->kept[r], memory_order_acquire);", "&page->kept[r], memory_order_relaxed);", "model"),
    ("ledger.h", "state->kept[r], memory_order_release);", "state->kept[r], memory_order_relaxed);", "model"),
    ("ledger.h", "if (atomic_load_explicit(&ledger->head, memory_order_relaxed) == head) /* [E] */", "if (1)", "model"),
    ("ledger.h", "    state->watched = 0;\n    return true;", "    state->watched = 0;\n    return false;", "model"),
    ("ledger.h", "(!may_fit && state->oldest != CLO_LEDGER_NEW)", "!may_fit", "model"),
    ("ledger.h", "        state->overtakes++;", "        ;", "model"),
    ("combining.h", "slots[slot].news, news, memory_order_release);", "slots[slot].news, news, memory_order_relaxed);", "model"),
    ("combining.h", "atomic_load_explicit(place, memory_order_acquire); /* [B] */",
     "atomic_load_explicit(place, memory_order_relaxed);", "model"),
    ("combining.h", "1, memory_order_acq_rel) == 0; /* [C] */", "1, memory_order_release) == 0;", "model"),
    ("combining.h", "&handled, 0, memory_order_acq_rel, /* [D] */", "&handled, 0, memory_order_acquire,", "model"),
    ("combining.h", "&combining->posts, &handled, 0, memory_order_acq_rel, /* [D] */",
     "&combining->posts, &(uint32_t){atomic_load_explicit(&combining->posts, memory_order_relaxed)}, 0, memory_order_acq_rel,", "model"),
    ("ring.h", "tail + 1, memory_order_release); /* [A] */", "tail + 1, memory_order_relaxed);", "model"),
    ("ring.h", "&ring->tail, memory_order_acquire)) /* [B] */", "&ring->tail, memory_order_relaxed))", "model"),
    ("ring.h", "head + 1, memory_order_release); /* [C] */", "head + 1, memory_order_relaxed);", "model"),
    ("ring.h", "&ring->head, memory_order_acquire) > ring->mask) { /* [D] */",
     "&ring->head, memory_order_relaxed) > ring->mask) {", "model"),
    ("park.c", "        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);", "        ;", "model"),
    ("park.c", "        atomic_fetch_add_explicit(&barrier->order, 1, memory_order_acq_rel);", "        ;", "model"),
    ("park.h", "        atomic_fetch_add_explicit(&barrier->order, 1, memory_order_acq_rel);", "        ;", "model"),
    ("park.c", "    clo_futex_wake_all(&parker->asleep);", "", "model"),
    ("bell.h", "&bell->rings, 1, memory_order_release); /* [A] */", "&bell->rings, 1, memory_order_relaxed);", "model"),
    ("bell.h", "&bell->rings, memory_order_acquire); /* [B] */", "&bell->rings, memory_order_relaxed);", "model"),
    ("bell.h", "    clo_futex_wake_all(&bell->rings);", "", "model"),
    ("stop.h", "atomic_load_explicit(&stop->cancelled, memory_order_seq_cst) == submit; /* [B] */",
     "atomic_load_explicit(&stop->cancelled, memory_order_relaxed) == submit;", "model"),
    ("stop.h", "    if (clo_stop_is_cancelled(stop))\n        atomic_fetch_or_explicit(&stop->run, 1, memory_order_relaxed);", "",
     "model"),
    ("stop.h", "uint64_t run = atomic_load_explicit(&stop->run, memory_order_seq_cst); /* [D] */",
     "uint64_t run = atomic_load_explicit(&stop->run, memory_order_relaxed);", "model"),
    ("stop.h", "if (atomic_load_explicit(&stop->submit, memory_order_acquire) != submit)", "if (0)", "model"),
    ("stop.h", "while (newest < submit &&", "while (newest != submit &&", "model"),
    ("stop.h", "uint64_t run = number << 1;",
     "uint64_t run = (number, atomic_load_explicit(&stop->run, memory_order_relaxed) & ~1ull);", "model"),
    ("phase.h", "CLO_PHASE_DONE, memory_order_release); /* [A]", "CLO_PHASE_DONE, memory_order_relaxed); /* [A]", "model"),
    ("phase.h", "word + CLO_PHASE_READER,\n                                                  memory_order_acquire, /* [B] */",
     "word + CLO_PHASE_READER, memory_order_relaxed,", "model"),
    ("phase.h", "CLO_PHASE_READER, memory_order_release); /* [C] */", "CLO_PHASE_READER, memory_order_relaxed);", "model"),
    ("phase.h", "CLO_PHASE_RUNNING,\n                                                   memory_order_acquire, /* [D] */",
     "CLO_PHASE_RUNNING, memory_order_relaxed,", "model"),
    ("phase.h", "(word == CLO_PHASE_IDLE || word == CLO_PHASE_DONE) &&", "word % CLO_PHASE_READER != CLO_PHASE_RUNNING &&", "model"),
    ("watch.h", "noted + 1, memory_order_release); /* [D] */", "noted + 1, memory_order_relaxed);", "model"),
    ("watch.h", "&watch->noted, memory_order_acquire)) /* [E] */", "&watch->noted, memory_order_relaxed))", "model"),
    ("watch.h", "return (word & 3) == CLO_WATCH_RUNNING && now_ns > body->over_ns;", "return now_ns > body->over_ns;", "model"),
    ("countdown.h", "hits, memory_order_acq_rel) != hits) /* [A] */", "hits, memory_order_relaxed) != hits)", "thread"),
    ("stack.h", "first, memory_order_release, /* [A] */", "first, memory_order_relaxed,", "thread"),
    ("stack.h", "CLO_ITEM_NONE, memory_order_acquire); /* [B] */", "CLO_ITEM_NONE, memory_order_relaxed);", "thread"),
    ("once.h", "2 * run, memory_order_release); /* [A] */", "2 * run, memory_order_relaxed);", "thread"),
    ("combining.h", "slots[slot].news, news, memory_order_release);", "slots[slot].news, news, memory_order_relaxed);", "thread"),
    ("ledger.h", "    state->watched = 0;\n    return true;", "    state->watched = 0;\n    return false;", "plain"),
]

ROUNDS = 6  # a weakened order on real hardware shows only now and then
ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(temporary: pathlib.Path, how: str) -> pathlib.Path:
    program = temporary / "test"
    shared = ["-std=gnu17", "-w", "-DCLO_VERSION=\"\"", f"-I{temporary}", f"-I{ROOT}/runtime", f"-I{ROOT}/include"]
    clock = str(ROOT / "runtime/base/clock.c")
    if how == "model":
        model = ROOT / "tests/model"
        subprocess.run(["cc", "-O2", *shared, "-Dsyscall=model_syscall", "-D__builtin_ia32_pause=model_relax", f"-I{model}",
                        str(model / "model.c"), str(model / "test_model_sync.c"), str(temporary / "sync/park.c"), clock,
                        "-o", str(program)], check=True)
        return program
    flags = ["-fsanitize=thread", "-g", "-O1"] if how == "thread" else ["-O2"]
    subprocess.run(["clang", *flags, *shared, f"-I{ROOT}/tests/support", str(ROOT / "tests/stress/test_sync.c"),
                    str(temporary / "sync/park.c"), clock,
                    *(str(ROOT / f"runtime/base/{name}.c") for name in ("status", "text", "memory")),
                    "-o", str(program), "-lcmocka", "-lpthread"], check=True)
    return program


def is_caught(program: pathlib.Path, how: str, scenario: str) -> bool:
    command = [str(program)] + ([scenario] if how == "model" and scenario else [])
    for _ in range(1 if how == "model" else ROUNDS):
        try:
            if subprocess.run(command, capture_output=True, timeout=300 if how == "model" else 10).returncode != 0:
                return True
        except subprocess.TimeoutExpired:
            return True
    return False


def main() -> int:
    if shutil.which("clang") is None:
        print("skipped: clang is not installed; mend: apt-get install clang")
        return 1 if os.environ.get("CI") else 77
    survivors = 0
    for header, old, new, how in [("park.h", "", "", "thread"), ("park.h", "", "", "model")] + MUTATIONS:
        with tempfile.TemporaryDirectory() as name:
            temporary = pathlib.Path(name)
            shutil.copytree(ROOT / "runtime/sync", temporary / "sync")
            text = (temporary / "sync" / header).read_text()
            if old not in text:
                print(f"{header}: '{old}' is not in the source any more; mend the list")
                return 1
            (temporary / "sync" / header).write_text(text.replace(old, new, 1) if old else text)
            # The scenarios of a header are named after it.
            caught = is_caught(build(temporary, how), how, header.split(".")[0] if old else "")
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
