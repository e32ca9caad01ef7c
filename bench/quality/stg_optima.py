#!/usr/bin/env python3
"""Which published optima of the Standard Task Graph set are wrong? Prints stg_optima.csv.

Wherever `clotho plan --planner best` ends above the published optimum, a pseudo-Boolean solver (clasp; Debian: apt-get
install clasp) is asked for a schedule that is one unit shorter, and so on: the optimum is where it finds none. Where it
takes too long, the row says between what the optimum lies. Only rows with a published value that cannot be true are
printed. Takes minutes to an hour.

usage: bench/quality/stg_optima.py CLOTHO FILE.jsonl... > bench/quality/stg_optima.csv"""
import json
import math
import os
import subprocess
import sys
import tempfile

PROCESSORS = (2, 4, 8, 16)
SCHEDULES = 100000
SECONDS = 120  # for one question to the solver


def topological(pred):
    succ = [[] for _ in pred]
    for v, before in enumerate(pred):
        for u in before:
            succ[u].append(v)
    waits = [len(before) for before in pred]
    order = [v for v, count in enumerate(waits) if count == 0]
    for v in order:  # grows while it is read
        for w in succ[v]:
            waits[w] -= 1
            if waits[w] == 0:
                order.append(w)
    return order, succ


class Question:
    """Is there a schedule on so many processors that ends by `end`? Variables: task v has started by time t."""

    def __init__(self, graph, processors, end):
        self.time, self.names, self.lines, self.possible = graph["proc_time"], {}, [], True
        order, succ = topological(graph["pred"])
        tasks = range(len(self.time))
        self.first, self.last = [0] * len(self.time), [0] * len(self.time)
        for v in order:
            self.first[v] = max((self.first[u] + self.time[u] for u in graph["pred"][v]), default=0)
        for v in reversed(order):
            self.last[v] = min((self.last[w] for w in succ[v]), default=end) - self.time[v]
        if any(self.first[v] > self.last[v] for v in tasks):
            self.possible = False
            return
        for v in tasks:
            for t in range(self.first[v], self.last[v] - 1):  # once started, always
                self.at_least(0, [(1, v, t + 1), (-1, v, t)])
            for w in succ[v]:
                for t in range(self.first[w], self.last[w] + 1):
                    self.at_least(0, [(1, v, t - self.time[v]), (-1, w, t)])
        for t in range(end):
            running = [x for v in tasks if self.time[v] > 0 for x in ((-1, v, t), (1, v, t - self.time[v]))]
            self.at_least(-processors, running)

    def at_least(self, least, terms):
        words, lowest = [], 0
        for factor, v, t in terms:
            if t >= self.last[v]:
                least -= factor
            elif t >= self.first[v]:
                words.append("%+d x%d" % (factor, self.names.setdefault((v, t), len(self.names) + 1)))
                lowest += min(factor, 0)
        if lowest >= least:
            return
        self.possible = self.possible and len(words) > 0
        self.lines.append("%s >= %d ;\n" % (" ".join(words), least))

    def answer(self):
        """True, False, or None where the solver takes too long."""
        if not self.possible:
            return False
        with tempfile.NamedTemporaryFile("w", suffix=".opb", delete=False) as file:
            file.write("* #variable= %d #constraint= %d\n" % (len(self.names), len(self.lines)))
            file.writelines(self.lines)
        try:
            said = subprocess.run(["clasp", "--time-limit=%d" % SECONDS, "--quiet=2", file.name], capture_output=True,
                                  text=True, check=False).stdout
        finally:
            os.unlink(file.name)
        return {"s SATISFIABLE": True, "s UNSATISFIABLE": False}.get(
            next((line for line in said.splitlines() if line.startswith("s ")), None))


def narrow(graph, processors, lower, upper):
    for end in range(upper - 1, lower - 1, -1):
        answer = Question(graph, processors, end).answer()
        if answer is None:
            break
        if not answer:
            return upper, upper
        upper = end
    while lower < upper and Question(graph, processors, lower).answer() is False:
        lower += 1
    return lower, upper


def main(clotho, files):
    print("# name,processors,published,lower,upper: the optimum lies between the last two; made by stg_optima.py")
    for path in files:
        with open(path, encoding="utf-8") as file:
            graphs = {graph["name"]: graph for graph in map(json.loads, file)}
        for processors in PROCESSORS:
            said = subprocess.run([clotho, "plan", path, "--platform", "uniform:%d" % processors, "--planner", "best",
                                   "--budget", str(SCHEDULES), "--json"], capture_output=True, text=True, check=True)
            for plan in map(json.loads, said.stdout.splitlines()):
                graph = graphs[plan["graph"]]
                published, upper = graph["optimal"][str(processors)], round(plan["makespan"])
                if upper <= published:
                    continue
                lower = math.ceil(plan["lower_bound_ns"] / 1000 - 1e-9)  # a unit is read as 1 us
                lower, upper = narrow(graph, processors, lower, upper)
                if lower > published:
                    print("%s,%d,%d,%d,%d" % (plan["graph"], processors, published, lower, upper), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2:])
    except FileNotFoundError as error:
        sys.exit("error: %s: not found; clasp comes with Debian's package of that name" % error.filename)
