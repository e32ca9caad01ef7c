#!/usr/bin/env python3
"""Time of a build under one memory budget, by ninja and by `clotho build --memory`.

usage: memory_budget.py [--set steps|tools|tree] [--dir DIR] [--targets NAMES] [--pool REGEX] [--jobs J] [--budget MIB]
                        [--rounds N] [--seed S] [--only KINDS] [--folder F] [--clotho PROGRAM] [--json]

--set steps  generated: compiles and links that take known memory for a known time (needs a C compiler)
--set tools  14 tools of clang and LLVM, each linked statically with their libraries (clang_tools.py; needs libclang-14-dev,
             llvm-14-dev and g++)
--set tree   a real one: DIR is a folder that CMake or meson has configured for ninja. It is cleaned and built again and
             again (all, or the targets NAMES), so have one for this alone. It needs --budget. A pool holds the rules
             that REGEX finds ("link"; small or capital letters). Instead of times + keep: ninja -jK for K up to the
             CPUs. Each build of ours must make the files that ninja made, byte for byte, and leave ninja no work

The budget is the limit of a memory control group around the whole build, the same for all. In each round, one after the
other:
  ninja -jJ        as people call it; the kernel kills steps of it
  ninja -jF        F = budget / largest step: what always fits
  pool D           ninja -jJ with a pool of depth D for the links, D = 1 .. F; --set tools: also "pool D -jK"
  times + keep     the rule of ninja 1.14, simulated here: the longest path behind a step by the times of the last build,
                   and no step begins with less than the largest step of memory free (--keep-free-memory), if one runs
  first, learned   clotho build -jJ --memory budget, without a history and with one
"best pool" is that with the shortest median among those that were never killed. The bound is the largest of work / J,
CPU time / CPUs, critical path and sum(memory * time) / budget. Steps that run together slow each other down, so each
learned run has a bound of its own, from the times and peaks that its steps had, and each round's times are divided by
that. What others use of the CPUs meanwhile is said: no build can have it. Exit status 1: a build of ours failed or was killed. Exit status 77, after one line: no control group can be made."""
import argparse
import contextlib
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import clang_tools
import configured

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

    def used(self):
        name = "memory.usage_in_bytes" if self.version == 1 else "memory.current"
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return int(file.read())

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


class Watch:
    """Wall time, and what others took of the CPUs meanwhile, as a share of all of them."""

    def __init__(self):
        self.begun, self.idle, self.own = time.monotonic(), self.idle_seconds(), self.own_seconds()

    @staticmethod
    def idle_seconds():
        with open("/proc/stat", encoding="utf-8") as file:
            numbers = file.readline().split()
        return (int(numbers[4]) + int(numbers[5])) / os.sysconf("SC_CLK_TCK")  # idle, and idle that waits for a disk

    @staticmethod
    def own_seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def end(self):
        took = time.monotonic() - self.begun
        idle = (self.idle_seconds() - self.idle) / took / os.cpu_count()
        own = (self.own_seconds() - self.own) / took / os.cpu_count()
        return {"seconds": took, "idle": idle, "others": max(0.0, 1 - idle - own)}


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


def tools_set(folder, _draw):
    missing = clang_tools.missing()
    if missing is not None:
        print("skipped: install %s" % missing)
        sys.exit(77)
    return clang_tools.write(folder), "link", 1000, 6


class Builds:
    def __init__(self, folder, options, text, link):
        self.folder, self.options, self.text, self.link = folder, options, text, link
        self.steps = {}   # shortest time, CPU time and peak of each
        self.latest = {}  # of the last run

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
        watch = Watch()
        done = subprocess.run(["ninja", "-j%d" % jobs, *self.operands(pool)], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: group.put("cgroup.procs", 0), check=False)
        took, kills = watch.end(), group.kills()
        group.end()
        self.look(done.returncode == 0, False)
        return {**took, "failed": done.returncode != 0, "kills": kills, "again": 0}

    def knows(self):
        return False

    def operands(self, _pool):
        return []

    def look(self, is_good, is_ours):
        """At what a build has made."""

    def clotho(self, forget):
        self.clean(forget)
        self.write(0)
        watch = Watch()
        done = subprocess.run([self.options.clotho, "build", "-j", str(self.options.jobs), "--memory", "%dM" % self.options.budget,
                               *self.operands(0)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        took = watch.end()
        found = re.search(r"(\d+) killed, (\d+) run again", done.stdout)
        if done.returncode != 0 or found is None:
            print(done.stdout[-2000:], file=sys.stderr)
        if "largest process" in done.stdout:
            print("skipped: " + done.stdout.splitlines()[-1])
            sys.exit(77)
        self.learn()
        self.look(done.returncode == 0, True)
        return {**took, "failed": done.returncode != 0, "kills": int(found.group(1)) if found else -1,
                "again": int(found.group(2)) if found else -1, "bound": max(self.bound(self.latest).values())}

    def begin(self, name, group):
        rule, bindings = re.search(r"^build %s: (\S+).*\n((?:  .*\n)*)" % name, self.text, re.M).groups()
        command = re.search(r"^rule %s\n  command = (.*)$" % rule, self.text, re.M).group(1)
        values = dict(re.findall(r"^  (\w+) = (.*)$", bindings, re.M), out=name, **{"in": " ".join(self.inputs(name))})
        command = re.sub(r"\$(\w+)", lambda match: values[match.group(1)], command)
        return subprocess.Popen(command, shell=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                preexec_fn=lambda: group.put("cgroup.procs", 0))

    def inputs(self, name):
        return re.search(r"^build %s: \S+ ?(.*)$" % name, self.text, re.M).group(1).split()

    def times_and_keep(self, keep):
        self.clean(False)
        group, steps = Group(self.options.budget << 20), dict(self.steps)
        needs = {name: {n for n in self.inputs(name) if n in steps} for name in steps}
        rank = {name: step[0] + max([steps[n][0] for n in steps if name in needs[n]], default=0) for name, step in steps.items()}
        left, running, is_good = sorted(steps, key=lambda name: -rank[name]), {}, True
        watch = Watch()
        while running or (left and is_good):
            ready = [name for name in left if not needs[name]] if is_good else []
            if ready and len(running) < self.options.jobs and (
                    not running or group.used() + (keep << 20) <= self.options.budget << 20):
                left.remove(ready[0])
                running[self.begin(ready[0], group)] = ready[0]
                continue
            ended = [child for child in running if child.poll() is not None]
            for child in ended:
                is_good &= child.returncode == 0
                for waits in needs.values():
                    waits.discard(running[child])
                del running[child]
            if not ended:
                time.sleep(0.002)
        took, kills = watch.end(), group.kills()
        group.end()
        return {**took, "failed": not is_good, "kills": kills, "again": 0}

    def learn(self):
        self.latest = {}
        with open(os.path.join(self.folder, ".clotho_steps"), encoding="utf-8") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 9:
                    continue
                wall, cpu, mib = int(fields[0]) / 1e3, int(fields[1]) / 1e3, int(fields[2]) / 1024
                self.latest[fields[8]] = (wall, cpu, mib)
                old = self.steps.get(fields[8], (wall, cpu, mib))
                self.steps[fields[8]] = (min(wall, old[0]), min(cpu, old[1]), min(mib, old[2]))

    def longest_path(self, steps):
        needs = {}
        for output, inputs in re.findall(r"^build (\S+): \S+ ?(.*)$", self.text, re.M):
            needs[output] = [name for name in inputs.split() if name in steps]
        path = {}
        for name in sorted(needs, key=lambda n: len(needs[n])):  # two layers: compiles, then links
            path[name] = steps[name][0] + max([path[n] for n in needs[name]], default=0)
        return max(path.values())

    def bound(self, steps):
        every = steps.values()
        return {"work / J": sum(s[0] for s in every) / self.options.jobs,
                "CPU time / CPUs": sum(s[1] for s in every) / len(os.sched_getaffinity(0)), "critical path": self.longest_path(steps),
                "memory area": sum(s[0] * s[2] for s in every) / self.options.budget}


class Tree(Builds):
    """A folder that somebody has configured."""

    def __init__(self, folder, options):
        super().__init__(folder, options, configured.manifest(folder), None)
        self.needs = configured.needs(folder)
        self.files, self.builds_ours, self.differ, self.unfinished = None, 0, 0, 0

    def clean(self, forget):
        configured.clean(self.folder)
        if forget:
            configured.remove(self.folder, ".clotho_steps")

    def write(self, pool):
        if pool > 0 and configured.write_pool(self.folder, self.text, self.options.pool, pool) == 0:
            sys.exit("--pool %s: no rule of %s is called so" % (self.options.pool, self.folder))

    def knows(self):
        """A call before this one ended with a build of ours: what that learned is enough."""
        if not os.path.exists(os.path.join(self.folder, ".clotho_steps")) or not os.path.exists(os.path.join(self.folder, ".ninja_log")):
            return False
        self.learn()
        return bool(self.steps) and configured.is_up_to_date(self.folder, self.operands(0))

    def operands(self, pool):
        return (["-f", configured.POOLED] if pool > 0 else []) + self.options.targets.split()

    def look(self, is_good, is_ours):
        if not is_good:
            return
        files = configured.products(self.folder)
        self.files = self.files or (None if is_ours else files)
        if is_ours:
            self.builds_ours += 1
            self.unfinished += not configured.is_up_to_date(self.folder, self.operands(0))
        if is_ours and self.files is not None:
            self.differ = max(self.differ, len(set(self.files.items()) ^ set(files.items())))

    def learn(self):
        super().learn()
        ran = configured.logged(self.folder)  # the file knows what other builds made, too
        self.latest = {name: step for name, step in self.latest.items() if name in ran}
        self.steps = {name: step for name, step in self.steps.items() if name in ran}

    def longest_path(self, steps):
        return configured.longest_path(self.needs, {name: step[0] for name, step in steps.items()})


def median_of(runs):
    return statistics.median(run["seconds"] for run in runs)


def compare(builds, options):
    if not builds.knows():
        builds.clotho(False)  # learns; from nothing, or what the folder knows
    largest = max(step[2] for step in builds.steps.values())
    fits = max(1, int(options.budget // (largest + 4)))
    kinds = {"ninja -j%d" % options.jobs: lambda: builds.ninja(options.jobs), "ninja -j%d" % fits: lambda: builds.ninja(fits)}
    if options.set != "steps":  # also with as many as there are CPUs, whether that fits or not
        for jobs in range(1, len(os.sched_getaffinity(0)) + 1):
            kinds["ninja -j%d" % jobs] = lambda jobs=jobs: builds.ninja(jobs)
    for depth in range(1, fits + 1):
        kinds["pool %d" % depth] = lambda depth=depth: builds.ninja(options.jobs, depth)
    if options.set == "tools":  # deeper ones too, and with fewer jobs: compiles are as large as links
        for jobs, depth in ((options.jobs, 2), (options.jobs, 3), (2, 1), (3, 1), (3, 2)):
            kinds["pool %d -j%d" % (depth, jobs)] = lambda jobs=jobs, depth=depth: builds.ninja(jobs, depth)
    if options.set != "tree":
        kinds["times + keep"] = lambda: builds.times_and_keep(int(largest) + 1)
    kinds["first"] = lambda: builds.clotho(True)
    kinds["learned"] = lambda: builds.clotho(False)
    if options.only:
        kinds = {name: run for name, run in kinds.items() if name in options.only.split(",") or name == "learned"}
    runs = {name: [] for name in kinds}
    for _ in range(options.rounds):
        for name, run in kinds.items():
            runs[name].append(run())
    return runs, fits, largest


def report(builds, options, runs, fits, largest):
    parts = builds.bound(builds.steps)
    bounds = [run["bound"] for run in runs["learned"]]
    over = {name: [run["seconds"] / bound for run, bound in zip(done, bounds)] for name, done in runs.items()}
    whole = [name for name in runs if name.startswith("pool") and not any(r["failed"] or r["kills"] for r in runs[name])]
    best = min(whole, key=lambda name: median_of(runs[name]), default=None)
    ours = median_of(runs["learned"])
    uniform = runs.get("ninja -j%d" % fits)
    result = {"set": options.set, "jobs": options.jobs, "budget_mib": options.budget, "rounds": options.rounds, "largest_mib": largest,
              "bound_s": statistics.median(bounds), "files_differ": getattr(builds, "differ", None), "least_bounds_s": parts, "best_pool": best, "runs": runs,
              "learned_over_bound": statistics.median(over["learned"]),
              "uniform_over_learned": median_of(uniform) / ours if uniform else None,
              "best_pool_over_learned": median_of(runs[best]) / ours if best else None}
    if options.json:
        print(json.dumps(result))
    else:
        print("budget %d MiB, largest step %.0f MiB, J = %d, %d rounds; bound %.2f s (shortest times: %s)" % (
            options.budget, largest, options.jobs, options.rounds, statistics.median(bounds),
            ", ".join("%s %.2f" % part for part in parts.items())))
        for name, done in runs.items():
            seconds = sorted(run["seconds"] for run in done)
            print("%-12s median %6.2f s (%.2f to %.2f), %.3f of its round's bound (%.3f to %.3f); failed %d of %d, killed %d, run again %d, of the CPUs idle %.1f %%, used by others %.1f %%%s" % (
                name, median_of(done), seconds[0], seconds[-1], statistics.median(over[name]), min(over[name]), max(over[name]), sum(r["failed"] for r in done), len(done),
                sum(r["kills"] for r in done), sum(r["again"] for r in done), 100 * statistics.median(r["idle"] for r in done),
                100 * statistics.median(r["others"] for r in done), "  <- best pool" if name == best else ""))
    is_bad = False
    if options.set == "tree":
        is_bad = builds.differ > 0 or builds.unfinished > 0 or builds.files is None
        if not options.json:
            print("%d builds of ours: %s, after %s ninja finds work" % (
                builds.builds_ours, "%d files differ from ninja's" % builds.differ if builds.files is not None else
                "no build of ninja survived, so no files were compared", builds.unfinished or "none"))
    return is_bad or any(run["failed"] for name in ("first", "learned") for run in runs.get(name, ())) or any(run["kills"] for run in runs["learned"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--set", choices=("steps", "tools", "tree"), default="steps")
    parser.add_argument("--dir", help="of --set tree: a configured folder; it is cleaned")
    parser.add_argument("--targets", default="", help="of --set tree")
    parser.add_argument("--pool", default="link", help="of --set tree: the rules that a pool holds")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--budget", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="of the kinds, such as 'ninja -j2,pool 1,first'; learned is always among them")
    parser.add_argument("--folder", help="where to build; keeps what was learned for the next call (else a temporary folder)")
    parser.add_argument("--clotho", default=os.path.abspath("build/release/bin/clotho"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not shutil.which("ninja") or not shutil.which("cc"):
        print("skipped: ninja or cc is not installed; install ninja-build and gcc")
        return 77
    if options.set == "tree":
        if options.dir is None or options.budget == 0:
            parser.error("--set tree needs --dir and --budget")
        options.jobs = options.jobs or 8
        os.environ["CCACHE_DISABLE"] = "1"
        builds = Tree(os.path.abspath(options.dir), options)
        return int(report(builds, options, *compare(builds, options)))
    with contextlib.ExitStack() as stack:
        folder = options.folder or stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(folder, exist_ok=True)
        text, link, budget, jobs = (steps_set if options.set == "steps" else tools_set)(folder, random.Random(options.seed))
        options.budget, options.jobs = options.budget or budget, options.jobs or jobs
        builds = Builds(folder, options, text, link)
        return int(report(builds, options, *compare(builds, options)))


if __name__ == "__main__":
    sys.exit(main())
