#!/usr/bin/env python3
"""Do the stress tests of runtime/sync and of what builds on its grace periods catch what they claim to catch?

Each line of MUTATIONS weakens one memory order, or drops one step, in a copy of runtime/sync; the model checker or the stress
test, built from the copy, must then fail: a data race, a lost or doubled item, or a hang. RUN_MUTATIONS do the same to a
source of runtime/run and link it in front of the library. A mutation whose text is no longer in the source is an error too,
so the lists cannot rot. Needs clang; exits 77 (skipped) without it.

usage: mutations.py [BUILD], a build with the thread sanitizer; without it RUN_MUTATIONS are left out.

One in eight is tried, drawn by CLO_SAMPLE (tests/support/sample.h); with CLO_FULL in the environment all are.
"""
import functools
import os
import pathlib
import random
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
    ("countdown.h", "atomic_store_explicit(&countdown->left, clo_countdown_needs(countdown), memory_order_relaxed); /* [C] */", "",
     "model"),
    ("stack.h", "first, memory_order_release, /* [A] */", "first, memory_order_relaxed,", "model"),
    ("stack.h", "CLO_ITEM_NONE, memory_order_acquire); /* [B] */", "CLO_ITEM_NONE, memory_order_relaxed);", "model"),
    ("mailbox.h", "&empty, item, memory_order_release, /* [A] */", "&empty, item, memory_order_relaxed,", "model"),
    ("mailbox.h", "CLO_MAILBOX_EMPTY, memory_order_acquire); /* [B] */", "CLO_MAILBOX_EMPTY, memory_order_relaxed);", "model"),
    ("once.h", "2 * run, memory_order_release); /* [A] */", "2 * run, memory_order_relaxed);", "model"),
    ("once.h", "while (atomic_load_explicit(&once->state, memory_order_acquire) != 2 * run) /* [B] */",
     "while (atomic_load_explicit(&once->state, memory_order_relaxed) != 2 * run)", "model"),
    ("semaphore.h", "&semaphore->head, memory_order_acquire); /* [A] */", "&semaphore->head, memory_order_relaxed);", "model"),
    ("semaphore.h", "memory_order_acq_rel, memory_order_relaxed)) /* [B] */", "memory_order_acquire, memory_order_relaxed))", "model"),
    ("semaphore.h", "&page->kept[r], memory_order_acquire);", "&page->kept[r], memory_order_relaxed);", "model"),
    ("semaphore.h", "state->kept[r], memory_order_release);", "state->kept[r], memory_order_relaxed);", "model"),
    ("semaphore.h", "if (atomic_load_explicit(&semaphore->head, memory_order_relaxed) == head) /* [E] */", "if (1)", "model"),
    ("semaphore.h", "    state->watched = 0;\n    return true;", "    state->watched = 0;\n    return false;", "model"),
    ("semaphore.h", "(!may_fit && state->oldest != CLO_SEMAPHORE_NEW)", "!may_fit", "model"),
    ("semaphore.h", "        state->overtakes++;", "        ;", "model"),
    ("combining.h", "slots[slot].news, news, memory_order_release);", "slots[slot].news, news, memory_order_relaxed);", "model"),
    ("combining.h", "atomic_load_explicit(place, memory_order_acquire); /* [B] */",
     "atomic_load_explicit(place, memory_order_relaxed);", "model"),
    ("combining.h", "1, memory_order_acq_rel) == 0; /* [C] */", "1, memory_order_release) == 0;", "model"),
    ("combining.h", "&handled, 0, memory_order_acq_rel, /* [D] */", "&handled, 0, memory_order_acquire,", "model"),
    ("combining.h", "&combining->vacant, 1, memory_order_release); /* [F] */",
     "&combining->vacant, 1, memory_order_relaxed);", "model"),
    ("combining.h", "&combining->vacant, 0, memory_order_acquire) == 0) /* [G] */",
     "&combining->vacant, 0, memory_order_relaxed) == 0)", "model"),
    ("combining.h", "atomic_exchange_explicit(&combining->vacant, 0, memory_order_acquire) == 0) /* [G] */",
     "atomic_load_explicit(&combining->vacant, memory_order_acquire) == 0)", "model"),
    ("combining.h", "&combining->posts, &handled, 0, memory_order_acq_rel, /* [D] */",
     "&combining->posts, &(uint32_t){atomic_load_explicit(&combining->posts, memory_order_relaxed)}, 0, memory_order_acq_rel,", "model"),
    ("ring.h", "tail + 1, memory_order_release); /* [A] */", "tail + 1, memory_order_relaxed);", "model"),
    ("ring.h", "&ring->tail, memory_order_acquire)) /* [B] */", "&ring->tail, memory_order_relaxed))", "model"),
    ("ring.h", "head + 1, memory_order_release); /* [C] */", "head + 1, memory_order_relaxed);", "model"),
    ("ring.h", "&ring->head, memory_order_acquire) > ring->mask) { /* [D] */",
     "&ring->head, memory_order_relaxed) > ring->mask) {", "model"),
    ("park.c", "        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);", "        ;", "model"),
    ("park.c", "        atomic_fetch_add_explicit(&fence->order, 1, memory_order_acq_rel);", "        ;", "model"),
    ("park.h", "        atomic_fetch_add_explicit(&fence->order, 1, memory_order_acq_rel);", "        ;", "model"),
    ("park.c", "    clo_futex_wake_all(&parker->state);", "", "model"),
    ("park.h", "CLO_PARK_IDLE, memory_order_release); /* [A] */", "CLO_PARK_IDLE, memory_order_relaxed);", "model"),
    ("park.h", "state | CLO_PARK_LENT,\n                                                   memory_order_acquire, /* [B] */",
     "state | CLO_PARK_LENT, memory_order_relaxed,", "model"),
    ("park.h", "state & CLO_PARK_OWNER,\n                                                    memory_order_release, /* [C] */",
     "state & CLO_PARK_OWNER, memory_order_relaxed,", "model"),
    ("park.c", "CLO_PARK_ASLEEP,\n                                                  memory_order_release, /* [A] */",
     "CLO_PARK_ASLEEP, memory_order_relaxed,", "model"),
    ("park.c", "CLO_PARK_AWAKE, memory_order_release); /* [E] */", "CLO_PARK_AWAKE, memory_order_relaxed);", "model"),
    ("park.c", "CLO_PARK_ASLEEP | CLO_PARK_LENT | CLO_PARK_CALLED :", "CLO_PARK_ASLEEP | CLO_PARK_LENT :", "model"),
    ("park.c", "        next = state | CLO_PARK_CALLED;\n",
     "        next = (state & CLO_PARK_LENT) != 0 ? state : state | CLO_PARK_CALLED;\n", "model"),
    ("park.h", "state + note * CLO_PARK_NOTE,\n                                                   memory_order_seq_cst, /* [I] */",
     "state + note * CLO_PARK_NOTE, memory_order_relaxed,", "model"),
    ("park.h", "owner | CLO_PARK_LENT,\n                                                   memory_order_acquire, /* [J], and [B] */",
     "owner | CLO_PARK_LENT, memory_order_relaxed,", "model"),
    ("park.h", "state / CLO_PARK_NOTE == note && (owner", "(owner", "model"),
    ("park.c", "            next -= state & CLO_PARK_OWNER;", "            next = CLO_PARK_AWAKE;", "model"),
    ("park.c", "CLO_PARK_AWAKE, memory_order_seq_cst) / CLO_PARK_NOTE; /* [K] */",
     "CLO_PARK_AWAKE, memory_order_acq_rel) / CLO_PARK_NOTE;", "model"),
    ("park.c", "atomic_exchange_explicit(&parker->state, CLO_PARK_AWAKE, memory_order_seq_cst) / CLO_PARK_NOTE; /* [K] */",
     "state / CLO_PARK_NOTE;", "model"),
    ("park.h", "CLO_PARK_AWAKE, memory_order_seq_cst) == /* [K] */", "CLO_PARK_AWAKE, memory_order_acq_rel) ==", "model"),
    ("searching.h", "memory_order_release, /* [A] */", "memory_order_relaxed,", "model"),
    ("searching.h", "CLO_SEARCHING_NONE, memory_order_seq_cst) == /* [B] */", "CLO_SEARCHING_NONE, memory_order_relaxed) ==", "model"),
    ("searching.h", "           CLO_SEARCHING_TRUSTED;\n}", "           99;\n}", "model"),
    ("searching.h", "memory_order_seq_cst) == CLO_SEARCHING_TRUSTED || /* [C] */", "memory_order_relaxed) == CLO_SEARCHING_TRUSTED ||", "model"),
    ("searching.h", "        if (atomic_compare_exchange_strong_explicit(&searching->state, &state, CLO_SEARCHING_TRUSTED,\n"
     "                                                    memory_order_release, /* [A] */\n"
     "                                                    memory_order_relaxed))\n", "", "model"),
    ("visit.h", "0, memory_order_acq_rel) != 0; /* [A] */", "0, memory_order_relaxed) != 0;", "model"),
    ("visit.h", "0, memory_order_acq_rel) != 0; /* [A] */", "0, memory_order_acquire) != 0;", "model"),
    ("visit.h", "1, memory_order_acq_rel); /* [B] */", "1, memory_order_relaxed);", "model"),
    ("visit.h", "&visits->were, memory_order_acquire) == 0)", "&visits->were, memory_order_relaxed) == 0)", "model"),
    ("visit.h", "atomic_fetch_or_explicit(&visits->were, 0, memory_order_acq_rel) != 0; /* [A] */",
     "atomic_load_explicit(&visits->were, memory_order_acquire) != 0;", "model"),
    ("eventcount.h", "&eventcount->rings, 1, memory_order_release); /* [A] */", "&eventcount->rings, 1, memory_order_relaxed);", "model"),
    ("eventcount.h", "&eventcount->rings, memory_order_acquire); /* [B] */", "&eventcount->rings, memory_order_relaxed);", "model"),
    ("completion.h", "memory_order_release, memory_order_relaxed); /* [A] */", "memory_order_relaxed, memory_order_relaxed);", "model"),
    ("completion.h", "&completion->word, memory_order_acquire); /* [B] */", "&completion->word, memory_order_relaxed);", "model"),
    ("completion.h", "if (atomic_load_explicit(&completion->number, memory_order_relaxed) != number)", "if (0)", "model"),
    ("timeout_slot.h", "memory_order_seq_cst); /* [A] */\n    int64_t next_ns = atomic_load_explicit(&timeouts->next_ns, memory_order_seq_cst);",
     "memory_order_release);\n    int64_t next_ns = atomic_load_explicit(&timeouts->next_ns, memory_order_relaxed);", "model"),
    ("timeout_slot.h", "    atomic_store_explicit(&timeouts->next_ns, INT64_MAX, memory_order_seq_cst); /* [C] */\n", "", "model"),
    ("timeout_slot.h", "    word =\n        atomic_exchange_explicit(&timeout->word, clo_timeout_word(word >> 2, CLO_TIMEOUT_IDLE), memory_order_acq_rel);",
     "    atomic_store_explicit(&timeout->word, clo_timeout_word(word >> 2, CLO_TIMEOUT_IDLE), memory_order_release);", "model"),
    ("first_wins.h", "CLO_FIRST_WINS_BEGUN, memory_order_acq_rel) &", "CLO_FIRST_WINS_BEGUN, memory_order_relaxed) &", "model"),
    ("first_wins.h", "&before, after, memory_order_acq_rel, /* [B] */", "&before, after, memory_order_relaxed,", "model"),
    ("first_wins.h", "memory_order_acquire) & (uint32_t)CLO_FIRST_WINS_WON << other) !=",
     "memory_order_relaxed) & (uint32_t)CLO_FIRST_WINS_WON << other) !=", "model"),
    ("first_wins.h", "CLO_FIRST_WINS_POSTED, memory_order_acq_rel) & both) ==", "CLO_FIRST_WINS_POSTED, memory_order_relaxed) & both) ==", "model"),
    ("first_wins.h", "memory_order_acq_rel, memory_order_relaxed)); /* [E] */", "memory_order_relaxed, memory_order_relaxed));", "model"),
    ("first_wins.h", "is_good && (before & any) == 0 ? mine : 0", "is_good ? mine : 0", "model"),
    ("outcome.h", "&open, failure, memory_order_release, /* [A] */", "&open, failure, memory_order_relaxed,", "model"),
    ("outcome.h", "&outcome->word, memory_order_acquire); /* [B] */", "&outcome->word, memory_order_relaxed);", "model"),
    ("outcome.h", "(void)atomic_compare_exchange_strong_explicit(&outcome->word, &open, failure, memory_order_release, /* [A] */",
     "(void)open, atomic_store_explicit(&outcome->word, failure, memory_order_release), (void)(", "model"),
    ("outcome.h", "(void)atomic_compare_exchange_strong_explicit(&outcome->word, &open, cut, memory_order_relaxed,",
     "(void)open, atomic_store_explicit(&outcome->word, cut, memory_order_relaxed), (void)(", "model"),
    ("eventcount.h", "    clo_futex_wake_all(&eventcount->rings);", "", "model"),
    ("stop.h", "atomic_load_explicit(&stop->cancelled, memory_order_seq_cst) == submit; /* [B] */",
     "atomic_load_explicit(&stop->cancelled, memory_order_relaxed) == submit;", "model"),
    ("stop.h", "    if (clo_stop_is_cancelled(stop))\n        atomic_fetch_or_explicit(&stop->run, 1, memory_order_relaxed);", "",
     "model"),
    ("stop.h", "uint64_t run = atomic_load_explicit(&stop->run, memory_order_seq_cst); /* [D] */",
     "uint64_t run = atomic_load_explicit(&stop->run, memory_order_relaxed);", "model"),
    ("stop.h", "if (atomic_load_explicit(&stop->submit, memory_order_acquire) != submit)", "if (0)", "model"),
    ("stop.h", "atomic_fetch_or_explicit(&stop->run, 1, memory_order_release); /* [F] */",
     "atomic_fetch_or_explicit(&stop->run, 1, memory_order_relaxed);", "model"),
    ("stop.h", "    (void)atomic_load_explicit(&stop->run, memory_order_acquire);", "", "model"),
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
    ("phase.h", "CLO_PHASE_DONE + CLO_PHASE_READER, memory_order_seq_cst); /* [A] [E] */",
     "CLO_PHASE_DONE + CLO_PHASE_READER, memory_order_release);", "model"),
    ("phase.h", "CLO_PHASE_DONE + CLO_PHASE_READER, memory_order_seq_cst); /* [A] [E] */",
     "CLO_PHASE_DONE + CLO_PHASE_READER, memory_order_relaxed);", "model"),
    ("phase.h", "&phase->word, memory_order_seq_cst) % CLO_PHASE_READER == CLO_PHASE_DONE; /* [B] [E] */",
     "&phase->word, memory_order_acquire) % CLO_PHASE_READER == CLO_PHASE_DONE;", "model"),
    ("phase.h", "&phase->word, memory_order_seq_cst) % CLO_PHASE_READER == CLO_PHASE_DONE; /* [B] [E] */",
     "&phase->word, memory_order_relaxed) % CLO_PHASE_READER == CLO_PHASE_DONE;", "model"),
    ("watch.h", "noted + 1, memory_order_release); /* [D] */", "noted + 1, memory_order_relaxed);", "model"),
    ("watch.h", "&watch->noted, memory_order_acquire)) /* [E] */", "&watch->noted, memory_order_relaxed))", "model"),
    ("watch.h", "return (word & 3) == CLO_WATCH_RUNNING && now_ns > body->over_ns;", "return now_ns > body->over_ns;", "model"),
    ("countdown.h", "hits, memory_order_acq_rel) != hits) /* [A] */", "hits, memory_order_relaxed) != hits)", "thread"),
    ("stack.h", "first, memory_order_release, /* [A] */", "first, memory_order_relaxed,", "thread"),
    ("stack.h", "CLO_ITEM_NONE, memory_order_acquire); /* [B] */", "CLO_ITEM_NONE, memory_order_relaxed);", "thread"),
    ("once.h", "2 * run, memory_order_release); /* [A] */", "2 * run, memory_order_relaxed);", "thread"),
    ("combining.h", "slots[slot].news, news, memory_order_release);", "slots[slot].news, news, memory_order_relaxed);", "thread"),
    ("semaphore.h", "    state->watched = 0;\n    return true;", "    state->watched = 0;\n    return false;", "plain"),
    ("semaphore.h", "        state->overtakes++;", "        ;", "plain"),
    ("semaphore.h", "state->overtakes >= CLO_OVERTAKES_MAX && ticket > state->oldest", "false", "plain"),
    ("rcu.h", "target, memory_order_release); /* [A] */", "target, memory_order_relaxed);", "thread"),
    ("rcu.h", "&pointer->target, memory_order_acquire); /* [B] */", "&pointer->target, memory_order_relaxed);", "thread"),
    ("rcu.c", "    urcu_bp_synchronize_rcu();\n", "", "thread"),
    ("rcu.c", "    urcu_bp_synchronize_rcu();\n", "", "plain"),
    ("rcu.c", "    urcu_bp_read_lock();\n", "", "thread"),
]

# (file of runtime/, text to find, replacement, stress test), under ThreadSanitizer: who still reads what is
# about to be freed, and in what order do submits arrive?
RUN_MUTATIONS = [
    ("run/records/monitor.c", "        clo_rcu_wait();\n", "        ;\n", "test_monitor"),
    ("profile/snapshot.c", "    clo_rcu_wait();\n", "", "test_profile_snapshots"),
    ("run/control/job_create.c", "    clo_monitor_remove(job);\n", "", "test_monitor"),
    ("run/control/policy_swap.c", "        clo_rcu_wait();\n", "", "test_monitor"),
    ("run/control/policy_swap.c", "        clo_scheduling_wait_for_makers(runtime, version);\n", "", "test_monitor"),
    ("run/control/policy_swap.c", "    clo_rcu_publish(&scheduling->monitored, use.policy);\n", "", "test_monitor"),
    ("run/control/attach.c", "(makers, 1, memory_order_release) == 1)", "(makers, 1, memory_order_relaxed) == 1)", "test_monitor"),
    ("run/records/monitor.c", "    clo_rcu_enter();\n", "", "test_monitor"),
    ("run/scheduler/combining.c", "    while (chain != CLO_ITEM_NONE) { /* oldest first */", "    for (ordered = chain; 0;) {",
     "test_submit_order"),
]

PART = 8  # one in so many is tried, unless CLO_FULL is set
URCU = ["-lurcu-bp", "-lurcu-common"]
TIMEOUT = {"model": 300, "thread": 10, "plain": 10, "run": 100}  # seconds
ROUNDS = {"model": 1, "thread": 40, "plain": 40, "run": 20}  # a weakened order on real hardware shows only now and then
ROOT = pathlib.Path(__file__).resolve().parents[2]


COMPILE = {
    "model": ["cc", "-O2", "-Dsyscall=model_syscall", "-D__builtin_ia32_pause=model_relax", f"-I{ROOT}/tests/model"],
    "thread": ["clang", "-fsanitize=thread", "-g", "-O1"],
    "plain": ["clang", "-O2"],
}
SHARED = ["-std=gnu17", "-w", "-DCLO_VERSION=\"\"", f"-I{ROOT}/runtime", f"-I{ROOT}/include"]


@functools.lru_cache(maxsize=None)
def objects(directory: pathlib.Path, how: str) -> list[str]:
    """What no mutation touches, compiled once for each way of building."""
    sources = ["tests/model/model"] if how == "model" else [f"runtime/base/{name}" for name in ("status", "text", "memory")]
    built = []
    for source in [*sources, "runtime/base/clock"]:
        built.append(str(directory / f"{how}_{pathlib.Path(source).name}.o"))
        subprocess.run([*COMPILE[how], *SHARED, "-c", str(ROOT / f"{source}.c"), "-o", built[-1]], check=True)
    return built


def build(temporary: pathlib.Path, directory: pathlib.Path, how: str, header: str) -> pathlib.Path:
    program = temporary / "test"
    command = [*COMPILE[how], f"-I{temporary}", *SHARED, *objects(directory, how), str(temporary / "sync/sleep/park.c")]
    if how == "model":
        command += [str(ROOT / "tests/model/test_model_sync.c")]
    else:
        test = "test_rcu" if header.startswith("rcu.") else "test_sync"
        command += [f"-I{ROOT}/tests/support", str(ROOT / f"tests/stress/{test}.c"), str(temporary / "sync/protocol/rcu.c"),
                    "-lcmocka", *URCU, "-lpthread"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def build_run(temporary: pathlib.Path, test: str, source: pathlib.Path, built: pathlib.Path) -> pathlib.Path:
    """The mutated source stands before the library, whose own object of it is then not taken."""
    program = temporary / "test"
    wraps = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign")]
    libraries = subprocess.run(["pkg-config", "--libs", "hwloc", "expat", "libcjson", "liburcu-bp"], check=True,
                               capture_output=True, text=True).stdout.split()
    subprocess.run(["clang", "-fsanitize=thread", "-g", "-O1", "-std=gnu17", "-w", "-DCLO_VERSION=\"\"",
                    f"-I{ROOT}/runtime", f"-I{ROOT}/include", f"-I{ROOT}/tests/support",
                    str(ROOT / f"tests/stress/{test}.c"), str(source), "-Wl,--undefined=__wrap_calloc", *wraps,
                    *(str(built / "lib" / name) for name in ("libclo_test_support.a", "libclotho-decide.a", "libclotho.a")),
                    "-o", str(program),
                    "-lcmocka", *libraries, "-lpthread", "-lm"], check=True)
    return program


# The model checker's is the test model.sync.
UNMUTATED = [("park.h", "thread"), ("rcu.h", "thread"), ("rcu.h", "plain")]


def is_caught(program: pathlib.Path, how: str, scenario: str) -> bool:
    command = [str(program)] + ([scenario] if how == "model" and scenario else [])
    for _ in range(ROUNDS[how]):
        try:
            if subprocess.run(command, capture_output=True, timeout=TIMEOUT[how]).returncode != 0:
                return True
        except subprocess.TimeoutExpired:
            return how != "model"  # a hang is what stress tests are to find; the checker ends, or it is at fault
    return False


def check_unmutated(program: pathlib.Path, how: str, what: str) -> None:
    """What is caught must be the mutation: the source as it is passes, however loaded the machine is."""
    for _ in range(2 if os.environ.get("CLO_FULL") else 1):  # the stress tests of the same stage are these programs, too
        done = subprocess.run([str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=1000)
        if done.returncode != 0:
            sys.exit(f"the unmutated source of {what} fails ({how}, status {done.returncode}):\n{done.stdout[-8000:]}")


def build_mutated(temporary: pathlib.Path, built: pathlib.Path, path: str, old: str, new: str, test: str) -> pathlib.Path:
    text = (ROOT / "runtime" / path).read_text()
    source = temporary / pathlib.Path(path).name
    source.write_text(text.replace(old, new, 1) if old else text)
    return build_run(temporary, test, source, built)


def source_of(folder: pathlib.Path, name: str) -> pathlib.Path:
    """The file of that name in one of the folders of sync/."""
    return next((folder / "sync").glob(f"*/{name}"))


def drawn(mutations: list) -> list:
    """Those that are tried, in the order of the list, once the text of each has been found where it belongs."""
    for path, old, *_ in mutations:
        if old not in (ROOT / "runtime" / path if "/" in path else source_of(ROOT / "runtime", path)).read_text():
            sys.exit(f"{path}: '{old}' is not in the source any more; mend the list")
    if os.environ.get("CLO_FULL"):
        return mutations
    draw = random.Random(f"{os.environ.get('CLO_SAMPLE', 0)} {len(mutations)}")
    chosen = set(draw.sample(range(len(mutations)), -(-len(mutations) // PART)))
    return [mutation for n, mutation in enumerate(mutations) if n in chosen]


def try_all_run(built: pathlib.Path, mutations: list) -> int:
    """Returns how many nobody notices."""
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        check_unmutated(build_mutated(pathlib.Path(name), built, "run/records/monitor.c", "", "", "test_monitor"), "run",
                        "runtime/run")
    for path, old, new, test in mutations:
        with tempfile.TemporaryDirectory() as name:
            caught = is_caught(build_mutated(pathlib.Path(name), built, path, old, new, test), "run", "")
        print(f"{'caught  ' if caught else 'SURVIVED'} run     {path}: {old.strip()[:80]}", flush=True)
        survivors += not caught
    return survivors


def try_all_sync(directory: pathlib.Path, mutations: list) -> int:
    """Returns how many nobody notices."""
    survivors = 0
    for header, old, new, how in [(header, "", "", how) for header, how in UNMUTATED] + mutations:
        with tempfile.TemporaryDirectory() as name:
            temporary = pathlib.Path(name)
            shutil.copytree(ROOT / "runtime/sync", temporary / "sync")
            source = source_of(temporary, header)
            text = source.read_text()
            source.write_text(text.replace(old, new, 1) if old else text)
            program = build(temporary, directory, how, header)
            if old == "":
                check_unmutated(program, how, header)
                continue
            caught = is_caught(program, how, header.split(".")[0])  # a header's scenarios bear its name
        print(f"{'caught  ' if caught else 'SURVIVED'} {how:7} {header}: {old.splitlines()[0].strip()[:80]}", flush=True)
        survivors += not caught
    return survivors


def main() -> int:
    if shutil.which("clang") is None:
        print("skipped: clang is not installed; mend: apt-get install clang")
        return 1 if os.environ.get("CI") else 77
    sync, run = drawn(MUTATIONS), drawn(RUN_MUTATIONS) if len(sys.argv) > 1 else []
    with tempfile.TemporaryDirectory() as shared:
        survivors = try_all_sync(pathlib.Path(shared), sync)
    if run:
        survivors += try_all_run(pathlib.Path(sys.argv[1]), run)
    tried = len(sync) + len(run)
    print(f"{tried - survivors} of {tried} mutations caught, of {len(MUTATIONS) + len(RUN_MUTATIONS)} in the lists")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
