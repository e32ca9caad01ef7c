#!/usr/bin/env python3
"""Plants small faults into copies of runtime/, one at a time, runs the tests that reach them, and prints what the tests miss.

The faults are drawn by a seeded generator, the same number from each module. A fault is caught if a test fails, crashes or
hangs. What does not compile, or leaves the library the same byte for byte, is replaced by another. What survives is tried once
more under the address and undefined-behaviour sanitizers. Faults that change nothing a caller can see are listed, with the reason,
in equivalent.json, and are not counted; an entry whose line is no longer in the source makes the exit status 1.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import sys
import threading
import time

import sites
import trees

EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.json")
FIRST_BATCH = 6
SANITIZED_SECONDS = 2  # longer ones are left to the plain tree


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, metavar="N", help="number of faults (200)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which faults (1)")
    parser.add_argument("--module", action="append", metavar="NAME", help="only this module of runtime/; may be repeated")
    parser.add_argument("--match", default="", metavar="TEXT", help="only faults whose description holds this text")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="copies of the tree that work at once (1)")
    parser.add_argument("--patience", type=float, default=120, metavar="SECONDS",
                        help="timeout: leave out the slowest tests if those that reach a fault take longer in total (120)")
    parser.add_argument("--list", action="store_true", help="print the faults and plant none")
    parser.add_argument("--resume", action="store_true", help="keep the results file and continue after its last entry")
    parser.add_argument("--again", action="store_true", help="try only what survived according to the results file")
    parser.add_argument("--results", type=pathlib.Path, default=trees.SCRATCH / "results.jsonl", metavar="FILE",
                        help="one JSON object per line (build/mutation/results.jsonl)")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="exit status 1 if fewer are caught")
    return parser.parse_args()


def candidates(modules, seed: int) -> dict:
    """Per module every fault in the order in which they are tried: kinds in turn, places at random, one fault a line."""
    chosen = {}
    for module in modules:
        paths = sorted((trees.ROOT / "runtime" / module).rglob("*.[ch]"))
        found = [s for path in paths for s in sites.sites_of(trees.ROOT, path)]
        draw = random.Random(f"{seed} {module}")
        draw.shuffle(found)
        kinds = collections.defaultdict(list)
        for site in found:
            kinds[site.kind].append(site)
        order = sorted(kinds)
        draw.shuffle(order)
        mixed, lines = [], set()
        while any(kinds.values()):
            for kind in order:
                while kinds[kind]:
                    site = kinds[kind].pop()
                    if (site.file, site.line) not in lines:
                        lines.add((site.file, site.line))
                        mixed.append(site)
                        break
        chosen[module] = mixed
    return chosen


def read_equivalent() -> tuple:
    """What equivalent.json lists, and those of its entries that are no longer in the source."""
    listed = {(e["file"], e["function"], e["line"], e["change"]): e["why"] for e in json.loads(EQUIVALENT.read_text())}
    paths = {name: trees.ROOT / name for name in {key[0] for key in listed}}
    known = {site.key for path in paths.values() if path.exists() for site in sites.sites_of(trees.ROOT, path)}
    return listed, [key for key in listed if key not in known]


class Run:
    def __init__(self, args):
        self.args, self.lock, self.began = args, threading.Lock(), time.monotonic()
        self.modules = args.module or sorted(p.name for p in (trees.ROOT / "runtime").iterdir() if p.is_dir())
        self.chosen = candidates(self.modules, args.seed)
        self.equivalent, self.stale = read_equivalent()
        self.done = {}
        if (args.resume or args.again) and args.results.exists():
            rows = [json.loads(line) for line in args.results.read_text().splitlines()]
            self.done = {self.key(row): row for row in rows}
        self.sanitized, self.sanitized_lock = None, threading.Lock()

    @staticmethod
    def key(row: dict) -> tuple:
        return row["file"], row["function"], row["line"], row["change"]

    def say(self, text: str) -> None:
        with self.lock:
            print(f"{time.monotonic() - self.began:6.0f} s  {text}", flush=True)

    def quota(self, index: int) -> int:
        """This module's share; the first modules take what does not divide."""
        return self.args.count // len(self.modules) + (index < self.args.count % len(self.modules))

    def prepare(self) -> list:
        alone = trees.namespace()
        self.say("building what is tested, and what shows which test runs which line")
        work = [trees.Tree(f"plain-{n}", "plain", alone) for n in range(self.args.jobs)]
        for tree in work:
            tree.build(self.args.jobs)
            tree.unchanged = tree.library_hash()
        self.sanitized = trees.Tree("sanitized", "sanitized", alone)
        self.sanitized.build(self.args.jobs)
        reached = trees.Tree("reach", "reach", alone)
        reached.build(self.args.jobs)
        self.say("finding which test runs which line")
        self.reach = trees.Reach(reached)
        self.reach.find(work[0], self.args.jobs, self.say)
        return work

    def record(self, site: sites.Site, verdict: str, by: str) -> None:
        row = {"module": site.module, "file": site.file, "number": site.line, "function": site.function,
               "line": site.line_text, "change": site.change, "verdict": verdict, "by": by}
        with self.lock:
            self.done[site.key] = row
            with self.args.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if verdict not in ("broken", "same"):
            self.say(f"{verdict:10} {site.file}:{site.line}: {site.change}{'  (' + by + ')' if by else ''}")

    def order(self, module: str, names: list) -> list:
        """Tests of the module first, the quick ones first; of the others, no slow ones beyond the timeout."""
        seconds = {name: self.reach.tests[name]["seconds"] for name in names}
        left, chosen = self.args.patience, []
        for name in sorted(names, key=seconds.get):
            is_free = is_near(name, module) and seconds[name] < 4 * self.args.patience
            left -= 0 if is_free else seconds[name]
            if left >= 0 or is_free:
                chosen.append(name)
        return sorted(chosen, key=lambda name: seconds[name] - 2 * is_near(name, module))

    def limit_s(self, name: str) -> float:
        return 10 + 6 * self.reach.tests[name]["seconds"]

    def caught_by(self, tree: trees.Tree, names: list) -> str:
        """Runs tests until one fails; builds them in growing batches, as most faults are found by the first."""
        names = [name for name in names if name in tree.tests]
        at, size = 0, FIRST_BATCH
        while at < len(names):
            batch = names[at:at + size]
            if not tree.make([target for name in batch for target in tree.tests[name].targets] or trees.LIBRARIES):
                return "does not link"
            for name in batch:
                what = tree.fails(name, self.limit_s(name))
                if what:
                    return f"{name}: {what}"
            at, size = at + size, size * 3
        return ""

    def planted(self, tree: trees.Tree, site: sites.Site, judge):
        path = tree.source / site.file
        whole = path.read_text()
        try:
            path.write_text(whole[:site.start] + site.text + whole[site.end:])
            return judge()
        finally:
            path.write_text(whole)

    def plain_verdict(self, tree: trees.Tree, site: sites.Site, names: list) -> tuple:
        if not tree.make(trees.LIBRARIES):
            return "broken", ""
        if tree.library_hash() == tree.unchanged and not site.file.endswith(".h"):
            return "same", ""
        found = self.caught_by(tree, names)
        return ("caught", found) if found else ("survived", f"{len(names)} tests reach it")

    def sanitized_verdict(self, site: sites.Site, names: list) -> tuple:
        names = [name for name in names if self.reach.tests[name]["seconds"] < SANITIZED_SECONDS]
        names = [name for i, name in enumerate(names) if i < FIRST_BATCH or is_near(name, site.module)]
        with self.sanitized_lock:
            found = self.planted(self.sanitized, site, lambda: self.caught_by(self.sanitized, names))
        return ("caught", f"sanitized {found}") if found else ("survived", f"{len(names)} tests reach it")

    def try_site(self, tree: trees.Tree, site: sites.Site) -> str:
        names = self.reach.tests_of(site.file, site.first_line, site.line)
        if names is None:
            verdict = "broken", "not compiled here"
        elif site.key in self.equivalent:
            verdict = "equivalent", self.equivalent[site.key]
        else:
            names = self.order(site.module, names)
            verdict = self.planted(tree, site, lambda: self.plain_verdict(tree, site, names))
            if verdict[0] == "survived" and names:
                verdict = self.sanitized_verdict(site, names)
        self.record(site, *verdict)
        return verdict[0]

    def is_wanted(self, site: sites.Site) -> bool:
        if self.args.match not in f"{site.file}:{site.line}: {site.function}: {site.change}":
            return False
        return not self.args.again or self.done.get(site.key, {}).get("verdict") == "survived"

    def one_more(self, tree: trees.Tree, places) -> bool:
        """Plants the module's next fault that compiles and changes something; false if there is none left."""
        for site in places:
            row = self.done.get(site.key)
            verdict = row["verdict"] if row and not self.args.again else self.try_site(tree, site)
            if verdict not in ("broken", "same"):
                return True
        return False

    def work(self, tree: trees.Tree, todo: collections.deque) -> None:
        """One fault of each module in turn, so that a run that is cut off has seen them all."""
        while True:
            try:
                left, places = todo.popleft()
            except IndexError:
                return
            if left > 0 and self.one_more(tree, places):
                todo.append((left - 1, places))

    def report(self) -> float:
        """Prints the table; returns the share caught, in percent."""
        counts = collections.defaultdict(collections.Counter)
        for row in self.done.values():
            if row["verdict"] not in ("broken", "same"):
                counts[row["module"]][row["verdict"]] += 1
        print(f"\n{'module':10} {'planted':>8} {'equivalent':>11} {'caught':>7} {'survived':>9} {'share':>7}")
        total = collections.Counter()
        for module in sorted(counts):
            total += counts[module]
            self.print_row(module, counts[module])
        self.print_row("all", total)
        for row in sorted(self.done.values(), key=lambda row: (row["file"], row["number"])):
            if row["verdict"] == "survived":
                print(f"survived  {row['file']}:{row['number']}: {row['line']}\n          {row['change']}  ({row['by']})")
        for key in self.stale:
            print(f"equivalent.json: {': '.join(key)}: no longer in the source; mend the list")
        return share(total)

    @staticmethod
    def print_row(name: str, count) -> None:
        print(f"{name:10} {sum(count.values()):8} {count['equivalent']:11} {count['caught']:7} {count['survived']:9} "
              f"{share(count):6.1f} %")


def is_near(name: str, module: str) -> bool:
    """Whether a test is there for a module, or compares everything with stored text."""
    return re.search(rf"\.(test_)?{module}(_|$)", name) is not None or name.startswith("golden.")


def share(count) -> float:
    counted = count["caught"] + count["survived"]
    return 100.0 * count["caught"] / counted if counted else 100.0


def main() -> int:
    args = options()
    run = Run(args)
    if args.list:
        for i, module in enumerate(run.modules):
            for site in run.chosen[module][:run.quota(i)]:
                print(f"{site.file}:{site.line}: {site.function}: {site.line_text}\n    {site.change}")
        return 0
    args.results.parent.mkdir(parents=True, exist_ok=True)
    if not args.resume and not args.again:
        args.results.write_text("")
    work = run.prepare()
    run.say("planting")
    todo = collections.deque((run.quota(i), filter(run.is_wanted, run.chosen[module])) for i, module in enumerate(run.modules))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for future in [pool.submit(run.work, tree, todo) for tree in work]:
            future.result()
    return 1 if run.report() < args.at_least or run.stale else 0


if __name__ == "__main__":
    sys.exit(main())
