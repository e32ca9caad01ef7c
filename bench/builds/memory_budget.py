#!/usr/bin/env python3
"""Time of a build under one memory budget, by ninja and by `clotho build --memory`.

usage: memory_budget.py [--set steps|llvm] [--jobs J] [--budget MIB] [--rounds N] [--seed S] [--clotho PROGRAM] [--json]

--set steps  generated: compiles and links that take known memory for a known time (needs a C compiler)
--set llvm   small programs, each linked statically with all of LLVM (needs llvm-14-dev and g++)

The budget is the limit of a memory control group around the whole build, the same for all. In each round, one after the
other:
  ninja -jJ        as people call it; the kernel kills steps of it
  ninja -jF        F = budget / largest step: what always fits
  pool D           ninja -jJ with a pool of depth D for the links, D = 1 .. F
  first, learned   clotho build -jJ --memory budget, without a history and with one
"best pool" is that with the shortest median among those that were never killed. The bound is the largest of work / J,
CPU time / CPUs, critical path and sum(memory * time) / budget, with the shortest time of each step that any of our runs
saw. Exit status 1: a build of ours failed or was killed. Exit status 77, after one line: no control group can be made."""
import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TAKE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int count, char **words)
{
    size_t bytes = strtoul(words[1], NULL, 10) << 20;
    long ms = atol(words[2]);
    char *taken = malloc(bytes);
    FILE *file = count > 3 ? fopen(words[3], "w") : NULL;
    if (taken == NULL || file == NULL)
        return 1;
    memset(taken, 1, bytes);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    return fprintf(file, "%d\\n", taken[bytes / 2]) < 0 || fclose(file) != 0;
}
"""
LLVM = """#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
int tool_%d(void)
{
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    return LLVMRunPasses(LLVMModuleCreateWithName("m"), "default<O2>", 0, LLVMCreatePassBuilderOptions()) != 0;
}
int main(void) { return tool_%d(); }
"""


class Group:
    """A memory control group of our own, of version 1 or 2."""

    def __init__(self, limit):
        parent, self.version = None, 0
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            lines = [line.strip().split(":", 2) for line in file]
        for _, names, path in lines:
            if "memory" in names.split(","):
                parent, self.version = "/sys/fs/cgroup/memory" + path, 1
        for _, names, path in lines:
            if parent is None and names == "":
                parent, self.version = "/sys/fs/cgroup" + path, 2
        self.path = os.path.join(parent or "/nowhere", "memory-budget-%d" % os.getpid())
        try:
            os.mkdir(self.path)
            self.put("memory.limit_in_bytes" if self.version == 1 else "memory.max", limit)
        except OSError as error:
            print("skipped: no memory control group can be made: %s" % error)
            if os.path.isdir(self.path):
                os.rmdir(self.path)
            sys.exit(77)

    def put(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(str(value))

    def kills(self):
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return int(re.search(r"^oom_kill (\d+)", file.read(), re.M).group(1))

    def end(self):
        for _ in range(500):
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.01)


def steps_set(folder, draw):
    with open(os.path.join(folder, "take.c"), "w", encoding="utf-8") as file:
        file.write(TAKE)
    subprocess.run(["cc", "-O1", "take.c", "-o", "take"], cwd=folder, check=True)
    text = "rule cc\n  command = ./take $mib $ms $out\nrule link\n  command = ./take $mib $ms $out\n"
    for i in range(60):
        text += "build o%d: cc\n  mib = %d\n  ms = %d\n" % (i, draw.choice((8, 12, 16, 20, 24, 40)), draw.randint(300, 900))
    for i in range(12):
        text += "build l%d: link %s\n  mib = %d\n  ms = %d\n" % (i, " ".join("o%d" % (5 * i + k) for k in range(5)),
                                                              draw.randint(110, 160), draw.randint(800, 1500))
    return text, "link", 400, 12


def llvm_set(folder, _draw):
    config = shutil.which("llvm-config-14")
    if config is None or not shutil.which("g++"):
        print("skipped: llvm-config-14 or g++ is not installed; install llvm-14-dev and g++")
        sys.exit(77)

    def say(*words):
        return " ".join(subprocess.run([config, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.split())
    libraries = re.sub(r"-lPolly\w*", "", say("--link-static", "--ldflags", "--libs", "all", "--system-libs"))
    text = "rule cc\n  command = gcc -O1 %s -c $in -o $out\n" % say("--cflags")
    text += "rule link\n  command = g++ $in -o $out %s\n" % libraries
    for i in range(4):
        with open(os.path.join(folder, "t%d.c" % i), "w", encoding="utf-8") as file:
            file.write(LLVM % (i, i))
        text += "build o%d: cc t%d.c\nbuild l%d: link o%d\n" % (i, i, i, i)
    return text, "link", 1600, 4


class Builds:
    def __init__(self, folder, options, text, link):
        self.folder, self.options, self.text, self.link = folder, options, text, link
        self.steps = {}

    def clean(self, forget):
        for name in os.listdir(self.folder):
            if re.fullmatch(r"[ol]\d+|\.ninja_log|\.ninja_deps", name) or (forget and name == ".clotho_steps"):
                os.unlink(os.path.join(self.folder, name))

    def write(self, pool):
        text = self.text if pool == 0 else self.text.replace("rule %s\n" % self.link, "pool few\n  depth = %d\nrule %s\n  pool = few\n"
                                                             % (pool, self.link))
        with open(os.path.join(self.folder, "build.ninja"), "w", encoding="utf-8") as file:
            file.write(text)

    def ninja(self, jobs, pool=0):
        self.clean(False)
        self.write(pool)
        group = Group(self.options.budget << 20)
        begun = time.monotonic()
        done = subprocess.run(["ninja", "-j%d" % jobs], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: group.put("cgroup.procs", 0), check=False)
        took, kills = time.monotonic() - begun, group.kills()
        group.end()
        return {"seconds": took, "failed": done.returncode != 0, "kills": kills, "again": 0}

    def clotho(self, forget):
        self.clean(forget)
        self.write(0)
        begun = time.monotonic()
        done = subprocess.run([self.options.clotho, "build", "-j", str(self.options.jobs), "--memory", "%dM" % self.options.budget],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        took = time.monotonic() - begun
        found = re.search(r"(\d+) killed, (\d+) run again", done.stdout)
        if done.returncode != 0 or found is None:
            print(done.stdout[-2000:], file=sys.stderr)
        if "largest process" in done.stdout:
            print("skipped: " + done.stdout.splitlines()[-1])
            sys.exit(77)
        self.learn()
        return {"seconds": took, "failed": done.returncode != 0, "kills": int(found.group(1)) if found else -1,
                "again": int(found.group(2)) if found else -1}

    def learn(self):
        with open(os.path.join(self.folder, ".clotho_steps"), encoding="utf-8") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 9:
                    continue
                wall, cpu, mib = int(fields[0]) / 1e3, int(fields[1]) / 1e3, int(fields[2]) / 1024
                old = self.steps.get(fields[8], (wall, cpu, mib))
                self.steps[fields[8]] = (min(wall, old[0]), min(cpu, old[1]), min(mib, old[2]))

    def bound(self):
        needs = {}
        for output, inputs in re.findall(r"^build (\S+): \S+ ?(.*)$", self.text, re.M):
            needs[output] = [name for name in inputs.split() if name in self.steps]
        path = {}
        for name in sorted(needs, key=lambda n: len(needs[n])):  # two layers: compiles, then links
            path[name] = self.steps[name][0] + max([path[n] for n in needs[name]], default=0)
        every = self.steps.values()
        return {"work / J": sum(s[0] for s in every) / self.options.jobs,
                "CPU time / CPUs": sum(s[1] for s in every) / len(os.sched_getaffinity(0)), "critical path": max(path.values()),
                "memory area": sum(s[0] * s[2] for s in every) / self.options.budget}


def median_of(runs):
    return statistics.median(run["seconds"] for run in runs)


def compare(builds, options):
    builds.clotho(True)
    largest = max(step[2] for step in builds.steps.values())
    fits = max(1, int(options.budget // (largest + 4)))
    kinds = {"ninja -j%d" % options.jobs: lambda: builds.ninja(options.jobs), "ninja -j%d" % fits: lambda: builds.ninja(fits)}
    for depth in range(1, fits + 1):
        kinds["pool %d" % depth] = lambda depth=depth: builds.ninja(options.jobs, depth)
    kinds["first"] = lambda: builds.clotho(True)
    kinds["learned"] = lambda: builds.clotho(False)
    runs = {name: [] for name in kinds}
    for _ in range(options.rounds):
        for name, run in kinds.items():
            runs[name].append(run())
    return runs, fits, largest


def report(builds, options, runs, fits, largest):
    parts = builds.bound()
    bound = max(parts.values())
    whole = [name for name in runs if name.startswith("pool") and not any(r["failed"] or r["kills"] for r in runs[name])]
    best = min(whole, key=lambda name: median_of(runs[name]), default=None)
    ours = median_of(runs["learned"])
    result = {"set": options.set, "jobs": options.jobs, "budget_mib": options.budget, "rounds": options.rounds, "largest_mib": largest,
              "bound_s": bound, "bounds_s": parts, "best_pool": best, "runs": runs, "learned_over_bound": ours / bound,
              "uniform_over_learned": median_of(runs["ninja -j%d" % fits]) / ours,
              "best_pool_over_learned": median_of(runs[best]) / ours if best else None}
    if options.json:
        print(json.dumps(result))
    else:
        print("budget %d MiB, largest step %.0f MiB, J = %d, %d rounds; bound %.2f s (%s)" % (
            options.budget, largest, options.jobs, options.rounds, bound, ", ".join("%s %.2f" % part for part in parts.items())))
        for name, done in runs.items():
            seconds = sorted(run["seconds"] for run in done)
            print("%-10s median %6.2f s (%.2f to %.2f), %.2f of the bound; failed %d of %d, killed %d, run again %d%s" % (
                name, median_of(done), seconds[0], seconds[-1], median_of(done) / bound, sum(r["failed"] for r in done), len(done),
                sum(r["kills"] for r in done), sum(r["again"] for r in done), "  <- best pool" if name == best else ""))
    return any(run["failed"] for name in ("first", "learned") for run in runs[name]) or any(run["kills"] for run in runs["learned"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--set", choices=("steps", "llvm"), default="steps")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--budget", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clotho", default=os.path.abspath("build/release/bin/clotho"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not shutil.which("ninja") or not shutil.which("cc"):
        print("skipped: ninja or cc is not installed; install ninja-build and gcc")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        text, link, budget, jobs = (steps_set if options.set == "steps" else llvm_set)(folder, random.Random(options.seed))
        options.budget, options.jobs = options.budget or budget, options.jobs or jobs
        builds = Builds(folder, options, text, link)
        return int(report(builds, options, *compare(builds, options)))


if __name__ == "__main__":
    sys.exit(main())
