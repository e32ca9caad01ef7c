#!/usr/bin/env python3
"""Makes the tables of the benchmarks' pages anew on this machine and compares: ./dev bench --pages [options] [NAME...]

A NAME is a table's or a page's (bench/NAME/...); without one all tables. The pages with new figures go to out/pages/; --update puts
them in place. At the end one line for each table says what differs. Figures that no clock makes must be the page's; plans of searches
with a budget of time may differ by what the page says; times are shown, not judged. Exit status: 0 nothing differs where it may not,
1 something does or a command fails, 2 wrong usage.

  --list           the tables, what makes them, and how they are judged; nothing is run
  --quick          benchmarks with --quick --rounds 1: shows that each table can be made; nothing is judged but what is short anyway
  --check          every table names a command that is there, with options that it takes, and this folder can read what it prints
  --update         new figures replace those of the pages
  --results DIR    results that lie there (HASH.json, as out/pages has them) are taken in place of a run
  --limit SECONDS  of a command (7200); what takes longer is said at the end
  --same           only tables whose figures no clock makes
  --short          of some of these a part that takes seconds, judged like the whole: CI runs it"""
import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

import learned
import measured
import simulated
from page import FIGURE, Wrong, cells_of, differs, fill, plain, refill_text, tables_of, write_page

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(SOURCE, "..", "shared", "data")
READERS = {**simulated.READERS, **measured.READERS, **learned.READERS}
# What makes a part of a table in seconds, the same figures: --short, which CI runs. None: the table's own command does.
SHORT = {
    "hand_over": None,
    "hand_over-parts": None,
    "quality-few": None,
    "quality-branches": None,
    "contention": "bench-contention --planner heft --planner deft --planner peft",
    "quality": "bench-quality --only saga --budget 1000 --planner best --planner graphene --planner deft --planner critical-path "
               "--planner peft --planner tetris --planner random",
    "quality-sets": "bench-quality --only stg-50 --budget 1 --planner graphene",
    "quality-packing": "bench-quality --only tpch-packing --budget 1 --planner graphene --planner tetris --planner breadth-first",
}


# What shortens a script, for --quick.
QUICK = {
    "bench/builds/memory_budget.py": ["--rounds", "1", "--only", "first"],
    "bench/predict/applications.py": ["--quick"],
    "bench/synch/on_workers.py": ["--seeds", "1", "--dilate", "10"],
}


def all_pages():
    bench = os.path.join(SOURCE, "bench")
    for name in sorted(os.listdir(bench)):
        folder = os.path.join(bench, name)
        if os.path.isdir(folder) and name != "pages":
            yield from (os.path.join(folder, page) for page in sorted(os.listdir(folder)) if page.endswith(".md"))


def all_tables():
    tables, wrong = [], []
    for path in all_pages():
        found, complaints = tables_of(path)
        tables += found
        wrong += complaints
    names = [table.name for table in tables]
    wrong += ["two tables are called %s" % name for name in sorted(set(names)) if names.count(name) > 1]
    return tables, wrong


def program_of(part):
    return part.split(" ")[0]


def parts(command):
    return [part.strip() for part in command.split(" && ")]


class Runner:
    def __init__(self, build, asked):
        self.build, self.asked, self.known = build, asked, {}
        self.out = os.path.join(SOURCE, "out", "pages")

    def words(self, part, is_text):
        """The words that run one command of a page."""
        words = shlex.split(part)
        program = words[0]
        if program.startswith("bench-"):
            words += ["--quick", "--rounds", "1"] if self.asked.quick else []
            return [os.path.join(self.build, "bin", program), *words[1:], *([] if is_text else ["--json"])]
        if program == "clotho":
            return [os.path.join(self.build, "bin", program), *words[1:]]
        if program.startswith("test_"):
            return [os.path.join(self.build, "tests", program), *words[1:]]
        if program == "python3":
            return [sys.executable, "-B", *[word.replace("BUILD", self.build) for word in words[1:]],
                    *(QUICK.get(words[1], []) if self.asked.quick else [])]
        if program == "mpirun":
            return [*words[:-1], os.path.join(self.build, "bin", words[-1]), *(["--quick", "--rounds", "1"] if self.asked.quick else []), "--json"]
        raise Wrong("'%s' is no command that a table may name: bench-NAME, test_NAME, clotho, python3 or mpirun" % program)

    def run(self, part, is_text):
        words = self.words(part, is_text)
        key = hashlib.sha256(" ".join(word.replace(self.build, "") for word in words).encode()).hexdigest()[:12]
        if key in self.known:
            return self.known[key]
        stored = os.path.join(self.asked.results or "", key + ".json")
        if self.asked.results and os.path.exists(stored):
            with open(stored, encoding="utf-8") as file:
                said = file.read()
        else:
            print("running %s" % part, file=sys.stderr, flush=True)
            environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                           "CLOTHO_BIN": os.path.join(self.build, "bin"), "SMPI_PROGRAM": os.path.join(self.build, "tests", "smpi_protocol.so")}
            try:
                done = subprocess.run(words, cwd=SOURCE, capture_output=True, text=True, check=False, timeout=self.asked.limit, env=environment)
            except subprocess.TimeoutExpired as late:
                raise Wrong("'%s' takes more than %d s (--limit)" % (part, self.asked.limit)) from late
            if not done.stdout.strip():
                raise Wrong("'%s' ends with status %d: %s" % (part, done.returncode, (done.stderr.strip().splitlines() or [""])[-1]))
            said = done.stdout
            if not self.asked.short:
                os.makedirs(self.out, exist_ok=True)
                with open(os.path.join(self.out, key + ".json"), "w", encoding="utf-8") as file:
                    file.write(said)
        try:
            self.known[key] = said if is_text or program_of(part).startswith(("python3", "test_")) else json.loads(said)
        except ValueError as error:
            raise Wrong("'%s' prints no JSON: %s" % (part, error)) from error
        return self.known[key]


def remake(table, runner, lines):
    """(new lines, what differs, figures, figures that the run has not)."""
    is_text = table.rows is None
    results = [runner.run(part, is_text) for part in parts(runner.asked.short and SHORT[table.name] or table.command)]
    if is_text:
        block, missing = refill_text(lines[table.first:table.last], results[0])
        return block, [], sum(len(FIGURE.findall(line)) for line in block), ["%d lines" % missing] if missing else []
    read = READERS[table.name]
    new, found, count, missing = lines[table.first:table.first + 2], [], 0, []
    head = [plain(cell) for cell in table.rows[0]]
    above = ""
    for row in table.rows[2:]:
        above = row[0] or above
        labels, cells = [plain(above), *[plain(cell) for cell in row[1:]]], list(row)
        for column in range(read.labels, len(row)):
            if not FIGURE.sub(lambda m: "" if m.group().startswith("`") else "#", row[column]).count("#"):
                continue
            try:
                values = read(results, labels, head, column)
            except (KeyError, IndexError, StopIteration):
                missing.append("%s, %s" % (labels[0], head[column]))
                continue
            if values is None:
                continue
            cells[column], pairs = fill(row[column], values if isinstance(values, (list, tuple)) else [values])
            count += len(pairs)
            share = table.tolerance(" ".join(labels[:2]), head[column])
            found += ["%s, %s: %s, now %s" % (" ".join(labels[:read.labels]), head[column] or column, old, made)
                      for old, made in pairs if differs(old, made, share)]
        new.append(re.sub(r"\|  (?=\|)", "| ", "| " + " | ".join(cells) + " |") if cells != row else lines[table.first + len(new)])
    return new, found, count, missing


def is_judged(table, asked):
    return table.kind == "same" and not asked.quick


def remake_all(tables, runner, asked):
    status, pages = 0, {}
    for table in tables:
        name = "%-24s" % table.name
        if table.command is None:
            print(name, "not made: %s" % (table.why or "words, no figures"))
            continue
        with open(table.page, encoding="utf-8") as file:
            lines = file.read().split("\n")
        try:
            new, found, count, missing = remake(table, runner, lines)
        except Wrong as error:
            print(name, "FAILS: %s" % error)
            status = 1
            continue
        if asked.short and count == 0 and not os.path.isdir(DATA):
            print(name, "left out: its data set is not there; bench/sets.py gets it")
            continue
        pages.setdefault(table.page, {})[table.first] = new
        judged = is_judged(table, asked)
        verdict = "%d figures" % count
        if judged:
            verdict += ", all as on the page" if not found else ", %d DIFFER" % len(found)
            status |= bool(found)
        else:
            verdict += ", times" if table.kind == "times" else ", not judged (--quick)"
        if asked.short:
            status |= count == 0
        elif missing:
            verdict += "; the run has no %s%s" % ("; ".join(missing[:3]), " ..." if len(missing) > 3 else "")
            status |= not asked.quick
        print(name, verdict)
        for line in found[:12] if judged else []:
            print("    " + line)
    for path, replaced in pages.items() if asked.update or not asked.short else ():
        write_page(path, replaced, path if asked.update else os.path.join(runner.out, os.path.relpath(path, os.path.join(SOURCE, "bench"))))
    if pages and not asked.update and not asked.short:
        print("the pages with new figures: out/pages/")
    return status


def check(tables, runner):
    """What is wrong with the commands of the pages."""
    seen = set()
    for table in tables:
        if table.command is None:
            continue
        if table.rows is not None and table.name not in READERS:
            yield "%s: %s has no reader for table %s" % (os.path.relpath(table.page, SOURCE), os.path.relpath(__file__, SOURCE), table.name)
        for part in parts(table.command):
            if part in seen:
                continue
            seen.add(part)
            try:
                words = runner.words(part, True)
            except Wrong as error:
                yield "%s: %s" % (table.name, error)
                continue
            if part.startswith("mpirun"):
                words = [word for word in words if os.path.basename(word) == shlex.split(part)[-1]]
            if part.startswith("python3"):
                if not os.path.exists(os.path.join(SOURCE, words[2])):
                    yield "%s: %s is not there" % (table.name, words[2])
                continue
            if not os.path.exists(words[0]):
                if not part.startswith("mpirun"):
                    yield "%s: there is no %s" % (table.name, words[0])
                continue
            if part.startswith("test_"):
                continue
            done = subprocess.run([*words, "--help"], cwd=SOURCE, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode != 0:
                yield "%s: %s: %s" % (table.name, part, done.stderr.strip())
    for name in sorted(set(READERS) - {table.name for table in tables}):
        yield "bench/pages has a reader for the table %s, which no page has" % name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0], allow_abbrev=False)
    parser.add_argument("build", help="the build's folder (build/release); ./dev bench --pages gives it")
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables or pages; without one, all")
    for option, text in (("list", "the tables and what makes them"), ("quick", "shortened: that each table can be made"),
                         ("check", "only whether the commands are there and take their options"), ("update", "put new figures into the pages"),
                         ("same", "only tables whose figures no clock makes"), ("short", "parts of tables that take seconds, judged")):
        parser.add_argument("--" + option, action="store_true", help=text)
    parser.add_argument("--results", metavar="DIR", help="take results that lie there in place of a run")
    parser.add_argument("--limit", metavar="SECONDS", type=int, default=7200, help="of a command (7200)")
    asked = parser.parse_intermixed_args()
    tables, wrong = all_tables()
    known = {table.name for table in tables} | {os.path.basename(os.path.dirname(table.page)) for table in tables}
    for name in asked.names:
        if name not in known:
            parser.error("'%s' is no table and no page; --list prints them" % name)
    if asked.quick and (asked.update or asked.short):
        parser.error("--quick makes other figures than the pages have; leave out --update and --short")
    tables = [table for table in tables if not asked.names or {table.name, os.path.basename(os.path.dirname(table.page))} & set(asked.names)]
    tables = [table for table in tables if not asked.same or table.kind == "same"]
    tables = [table for table in tables if not asked.short or table.name in SHORT]
    if asked.list:
        for table in tables:
            print("%-24s %-38s %s" % (table.name, table.kind + (": " if table.why else "") + table.why[:60], table.command or ""))
        return 0
    runner = Runner(os.path.abspath(asked.build), asked)
    if asked.check:
        wrong += check(tables, runner)
        print("\n".join(wrong) if wrong else "%d tables, each with its command or the reason why it has none" % len(tables))
        return 1 if wrong else 0
    if wrong:
        raise Wrong("\n".join(wrong))
    return remake_all(tables, runner, asked)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as error:
        sys.exit("pages.py: %s" % error)
    except KeyboardInterrupt:
        sys.exit("pages.py: interrupted; no page was changed")
