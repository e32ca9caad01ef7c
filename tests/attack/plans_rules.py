#!/usr/bin/env python3
"""A second reading of the rules of a plan: plans_rules.py GRAPH.json PLAN.json [--measured]

Written from docs/FORMATS.md, docs/PLATFORM_FILE.md and the comments of graph.h, platform.h, cost.h, plan.h, pipeline.h,
handle.h and branch.h, never from the checker in runtime/. It reads documents of the format clotho.graph/1 that hold
their platform. Slow and plain on purpose: every rule is a loop over what it speaks of."""
import itertools
import json
import math
import sys

ONE = 65536           # speed of the reference executor
SATURATED = 1 << 62   # "times below 2^62 ns"
LARGEST = 1 << 53     # a whole number in JSON
BRANCHES_MAX = 4096   # outcomes of branches that are tried
RESOURCES = 8


class Unsure(Exception):
    """The documents do not say."""


class NoPlan(Exception):
    """No plan of this graph exists, and why; or the graph breaks a limit."""


def nearest(numerator, denominator):
    return (2 * numerator + denominator) // (2 * denominator)


def at(value, row, column):
    """An entry of a matrix, or the number that holds for all pairs."""
    return value[row][column] if isinstance(value, list) else value


class Platform:
    def __init__(self, document):
        self.document = document
        executors = document["executors"]
        self.count = len(executors)
        self.kind = [e["kind"] for e in executors]
        self.machine = [e.get("machine", 0) for e in executors]
        self.memory = [e.get("memory", i) for i, e in enumerate(executors)]
        self.names = [e.get("name", "e%d" % i) for i, e in enumerate(executors)]
        self.resources = (document.get("resources", []) + [None] * RESOURCES)[:RESOURCES]
        rows = document.get("machines") or [{}]
        self.capacity = [self.row(r) for r in rows]
        ports = document.get("port_bytes_per_ns")
        self.has_ports = any(ports) if isinstance(ports, list) else bool(ports)

    def row(self, given):
        if isinstance(given, dict):
            return [given.get(n) if n is not None else None for n in self.resources]
        return (list(given) + [None] * RESOURCES)[:RESOURCES]

    def speed_q16(self, executor, of_class):
        one = self.document["executors"][executor]
        speed = one.get("speeds", {}).get(of_class, one.get("speed", 1))
        return max(1, math.floor(speed * ONE + 0.5))

    def transfer(self, count, a, b):
        """latency + bytes / bandwidth, piece by piece; the time of one byte is kept to the nearest 2^-32 ns."""
        if a == b or self.memory[a] == self.memory[b]:
            return 0
        document = self.document
        bounds = [0] + document.get("cut_bytes", []) + [None]
        tables = [document.get("bandwidth_bytes_per_ns")] + document.get("bandwidth_beyond", [])
        time = at(document.get("latency_ns", 0), a, b)
        for piece, table in enumerate(tables):
            first, end = bounds[piece], bounds[piece + 1]
            inside = (count if end is None else min(count, end)) - first
            bandwidth = at(table, a, b)
            if inside > 0 and bandwidth:
                time += nearest(inside * math.floor(2**32 / bandwidth + 0.5), 2**32)
        return min(time, SATURATED)


class Model:
    """What the rules speak of: times, edges, demands and sets of executors, all by number."""

    def __init__(self, document):
        self.document, self.platform = document, Platform(document["platform"])
        self.tasks = document["tasks"]
        self.names = [t.get("name") for t in self.tasks]
        self.grain = [max(1, min(t.get("grain", 1), t.get("instances", 1))) for t in self.tasks]
        self.ranges = [-(-t.get("instances", 1) // g) for t, g in zip(self.tasks, self.grain)]
        self.demand = [self.demands(t) for t in self.tasks]
        self.limits = self.resource_limits()
        self.time = [[self.time_on(t, e) for e in range(self.platform.count)] for t in range(len(self.tasks))]
        self.edges = [(self.task_id(e["from"]), self.task_id(e["to"]), e.get("bytes", 0), e.get("arm"))
                      for e in document.get("edges", [])]
        self.pinned = set()
        self.add_handles()
        self.duplicable = [bool(t.get("duplicable")) and "command" not in t and i not in self.pinned
                           for i, t in enumerate(self.tasks)]
        self.inputs = [[] for _ in self.tasks]
        self.from_arm = {(a, b) for a, b, _, arm in self.edges if arm is not None}
        for a, b, count, _ in self.edges:
            self.inputs[b].append((a, -(-count // (self.ranges[a] * self.ranges[b]))))
        self.has_branches = any("arms" in t or t.get("merge") for t in self.tasks)
        self.has_demands = any(any(d) for d in self.demand)
        self.order = self.topological()

    def task_id(self, reference):
        return reference if isinstance(reference, int) else self.names.index(reference)

    def demands(self, task):
        given = task.get("demand", [])
        if isinstance(given, dict):
            names = self.document["resources"]
            given = [given.get(n, 0) for n in names]
        return (list(given) + [0] * RESOURCES)[:RESOURCES]

    def resource_limits(self):
        """For each machine and resource of the graph the capacity, or None. By name; what is unnamed on either side by
        index, unless that one is taken."""
        names = (self.document.get("resources", []) + [None] * RESOURCES)[:RESOURCES]
        there = self.platform.resources
        of = [there.index(n) if n is not None and n in there else None for n in names]
        of = [r if i is None and r not in of and None in (names[r], there[r]) else i for r, i in enumerate(of)]
        return [[None if i is None else row[i] for i in of] for row in self.platform.capacity]

    def time_on(self, number, executor):
        """Time of one range; None if it cannot run there."""
        task, platform = self.tasks[number], self.platform
        if "executors" in task and executor not in task["executors"]:
            return None
        limits = self.limits[platform.machine[executor]]
        if any(c is not None and d > c for d, c in zip(self.demand[number], limits)):
            return None
        times, work, grain = task.get("times", {}), task.get("work_ns", 0), self.grain[number]
        if platform.kind[executor] in times:
            time = times[platform.kind[executor]]
            if time is None:
                return None
            time *= grain
        elif work == 0 and any(t is not None for t in times.values()):
            return None
        else:
            time = nearest(work * grain * ONE, platform.speed_q16(executor, task.get("class", "generic")))
            time = max(time, 1) if work else 0
        return max(time, 1) if any(self.demand[number]) else time

    def add_handles(self):
        """Tasks take effect on each handle in the order of their ids. Edges between the same tasks are one: the sum."""
        handles = self.document.get("handles", [])
        derived = []
        for handle, what in enumerate(handles):
            users = [(i, use["mode"]) for i, t in enumerate(self.tasks) for use in t.get("data", [])
                     if use["handle"] in (handle, what.get("name", ()))]
            writer, readers = None, []
            for place, (task, mode) in enumerate(users):
                if mode != "write" and writer is not None:
                    derived.append((writer, task, what["bytes"]))
                if mode == "read":
                    readers.append(task)
                    if any(m != "read" for _, m in users[place + 1:]):
                        self.pinned.add(task)
                    continue
                self.pinned.add(task)
                derived += [(r, task, 0) for r in readers]
                if not readers and mode == "write" and writer is not None:
                    derived.append((writer, task, 0))
                writer, readers = task, []
        for a, b, count in derived:
            places = [i for i, e in enumerate(self.edges) if e[:2] == (a, b)]
            if places:
                old = self.edges[places[0]]
                self.edges[places[0]] = (a, b, old[2] + count, old[3])
            else:
                self.edges.append((a, b, count, None))

    def topological(self):
        waits = [len(i) for i in self.inputs]
        out = [[] for _ in self.tasks]
        for a, b, _, _ in self.edges:
            out[a].append(b)
        order = [t for t, w in enumerate(waits) if w == 0]
        for task in order:
            for b in out[task]:
                waits[b] -= 1
                if waits[b] == 0:
                    order.append(b)
        if len(order) < len(self.tasks):
            raise NoPlan("cycle")
        return order

    def must_be_plannable(self):
        """Raises NoPlan if the documents say that no plan exists; Unsure near a limit."""
        if self.has_branches and self.platform.has_ports:
            raise NoPlan("ports and branches")
        total = 0
        for task, times in enumerate(self.time):
            possible = [t for t in times if t is not None]
            if not possible:
                raise NoPlan("task %d fits nowhere" % task)
            total += max(possible) * self.ranges[task]
        if total >= 1 << 61:
            raise NoPlan("times beyond 2^61")
        count = range(self.platform.count)
        for task, inputs in enumerate(self.inputs):
            for a, size in inputs:
                slowest = max(self.platform.transfer(size, x, y) for x in count for y in count)
                total += slowest * self.ranges[a] * self.ranges[task]
        if total >= 1 << 62:
            raise NoPlan("transfers beyond 2^62")
        if total >= 1 << 59:
            raise Unsure("near the limits")

    def fastest(self, task):
        return min(t for t in self.time[task] if t is not None)

    def critical_path(self):
        """The longest chain of fastest times, without transfers."""
        end = [0] * len(self.tasks)
        for task in self.order:
            end[task] = self.fastest(task) + max((end[a] for a, _ in self.inputs[task]), default=0)
        return max(end)

    def serial(self):
        """Serial time on the best single executor; None if none can run all."""
        sums = []
        for executor in range(self.platform.count):
            times = [self.time[t][executor] for t in range(len(self.tasks))]
            if None not in times:
                sums.append(sum(t * r for t, r in zip(times, self.ranges)))
        return min(sums, default=None)


def is_same(a, b):
    """Two models speak of the same times, edges and limits. (The names of kinds and of resources may be others.)"""
    if a.time != b.time or a.ranges != b.ranges or a.duplicable != b.duplicable or a.has_branches != b.has_branches:
        return False
    if [sorted(i) for i in a.inputs] != [sorted(i) for i in b.inputs] or a.from_arm != b.from_arm:
        return False
    count = range(min(a.platform.count, 8))
    for size in (0, 1, 1000, 54321, 10**5, 10**9):
        for x, y in itertools.product(count, count):
            if a.platform.transfer(size, x, y) != b.platform.transfer(size, x, y):
                return False
    return True


class Placed:
    """One placement of a plan file, by numbers."""

    def __init__(self, model, entry):
        self.task = self.number(entry["task"], model.names)
        self.executor = self.number(entry["executor"], model.platform.names)
        self.instance = entry.get("instance", 0)
        self.start, self.finish = entry["start_ns"], entry["finish_ns"]
        self.is_replica = entry.get("replica", False)
        if not 0 <= self.instance < model.ranges[self.task]:
            raise ValueError("instance %d of task %d" % (self.instance, self.task))
        if not 0 <= self.start <= self.finish:
            raise ValueError("times of task %d" % self.task)

    @staticmethod
    def number(reference, names):
        if isinstance(reference, str):
            if names.count(reference) != 1:
                raise ValueError("name %r" % reference)
            return names.index(reference)
        if not 0 <= reference < len(names):
            raise ValueError("index %d" % reference)
        return reference


def read(model, plan):
    """Placements in the order of the file, and the interval. ValueError: the file names what does not exist."""
    largest = max([plan.get("interval_ns", 0)] + [e["finish_ns"] for e in plan["placements"]])
    if largest == LARGEST + 1:
        raise Unsure("2^53 + 1 reads as 2^53")
    if largest > LARGEST:
        raise ValueError("a number beyond 2^53")
    return [Placed(model, entry) for entry in plan["placements"]], plan.get("interval_ns", 0)


def label(p):
    return "task %d instance %d on executor %d at %d" % (p.task, p.instance, p.executor, p.start)


def skipped_by(model, arms):
    """The tasks that are skipped if the branches choose these arms."""
    skipped = set()
    into = [[] for _ in model.tasks]
    for a, b, _, arm in model.edges[:len(model.document.get("edges", []))]:
        into[b].append((a, arm))
    for task in model.order:
        # The last body of a loop has one way to go.
        dead = [a in skipped or (arm is not None and arms.get(a, 0 if "bound" in model.tasks[a] else None) != arm) for a, arm in into[task]]
        if dead and (all(dead) if model.tasks[task].get("merge") else any(dead)):
            skipped.add(task)
    return skipped


def may_be_skipped(model, missing):
    """True if branches can choose so that exactly these tasks are skipped."""
    branches = [t for t in range(len(model.tasks)) if "arms" in model.tasks[t] and t not in missing]
    if math.prod(model.tasks[b]["arms"] for b in branches) > BRANCHES_MAX:
        raise Unsure("too many branches")
    for arms in itertools.product(*(range(model.tasks[b]["arms"]) for b in branches)):
        if skipped_by(model, dict(zip(branches, arms))) == missing:
            return True
    return False


def wrong_in_number(model, placed, interval, is_run):
    """Completeness and replicas: an instance has one original, and on each executor at most one execution."""
    originals, on, there = {}, set(), {p.task for p in placed}
    for p in placed:
        key = (p.task, p.instance)
        if key + (p.executor,) in on:
            return "twice on one executor: " + label(p)
        on.add(key + (p.executor,))
        if p.is_replica:
            if not model.duplicable[p.task]:
                return "a replica of what may not be duplicated: " + label(p)
            if interval:
                return "a replica in a plan with an interval: " + label(p)
        else:
            originals[key] = originals.get(key, 0) + 1
            if originals[key] > 1:
                return "two originals: " + label(p)
    missing = set(range(len(model.tasks))) - there
    for task in there:
        for instance in range(model.ranges[task]):
            if (task, instance) not in originals:
                return "no original of task %d instance %d" % (task, instance)
    if missing and not (is_run and model.has_branches and may_be_skipped(model, missing)):
        return "tasks without a place: %s" % sorted(missing)
    return None


def wrong_place_or_time(model, placed, measured):
    for p in placed:
        time = model.time[p.task][p.executor]
        if time is None:
            return "cannot run there: " + label(p)
        if not measured and p.finish - p.start != time:
            return "takes %d, not %d: %s" % (time, p.finish - p.start, label(p))
    return None


def overlap(model, placed):
    """On an executor nothing begins between begin and end of another; what takes no time may begin at both."""
    for executor in range(model.platform.count):
        mine = sorted((p for p in placed if p.executor == executor), key=lambda p: (p.start, p.finish))
        busy = None
        for p in mine:
            if busy is not None and p.start < busy.finish and (p.finish > p.start or p.start > busy.start):
                return "%s overlaps %s" % (label(p), label(busy))
            if p.finish > p.start:
                busy = p
    return None


def late_input(model, placed, measured, is_run):
    """For each input the nearest execution has finished and its data have arrived. In a run nothing comes to a merge
    from an arm that was not chosen; the branch has finished all the same."""
    by_instance, transfer = {}, model.platform.transfer
    for p in placed:
        by_instance.setdefault((p.task, p.instance), []).append(p)
    for p in placed:
        for source, size in model.inputs[p.task]:
            may_be_dead = is_run and model.tasks[p.task].get("merge") and (source, p.task) in model.from_arm
            for instance in range(model.ranges[source]):
                from_there = by_instance.get((source, instance))
                if from_there is None:
                    continue  # skipped: its edges are dead
                is_free = measured or may_be_dead
                come = min(q.finish + (0 if is_free else transfer(size, q.executor, p.executor)) for q in from_there)
                if come > p.start:
                    return "input from task %d instance %d arrives at %d: %s" % (source, instance, come, label(p))
    return None


def beyond_capacity(model, placed):
    """All executions of a machine together demand no more than it has, at any time."""
    for machine, limits in enumerate(model.limits):
        for resource, limit in enumerate(limits):
            if limit is None:
                continue
            events = []
            for p in placed:
                demand = model.demand[p.task][resource]
                if demand and model.platform.machine[p.executor] == machine and p.finish > p.start:
                    events += [(p.start, demand), (p.finish, -demand)]
            used = 0
            for time, change in sorted(events):  # at equal times what ends comes first
                used += change
                if used > limit:
                    return "%d of resource %d in use at %d, machine %d has %d" % (used, resource, time, machine, limit)
    return None


def wrong_in_interval(model, placed, interval):
    """The same modulo the interval, for what lies on an executor and for capacities."""
    for p in placed:
        if p.finish - p.start > interval:
            return "longer than the interval: " + label(p)
    for a, b in itertools.combinations(placed, 2):
        if a.executor != b.executor:
            continue
        for p, q in ((a, b), (b, a)):
            after = (q.start - p.start) % interval
            if after < p.finish - p.start and (after > 0 or q.finish > q.start):
                return "%s overlaps %s modulo the interval" % (label(q), label(p))
    for machine, limits in enumerate(model.limits):
        mine = [p for p in placed if model.platform.machine[p.executor] == machine and any(model.demand[p.task])]
        for p in mine:
            for resource, limit in enumerate(limits):
                used = sum(model.demand[q.task][resource] for q in mine
                           if (p.start - q.start) % interval < q.finish - q.start)
                if limit is not None and used > limit:
                    return "%d of resource %d modulo the interval, machine %d has %d" % (used, resource, machine, limit)
    return None


def violation(model, plan, measured=False, is_run=False):
    """What is wrong with a plan; None: nothing. With `measured` durations, transfers, capacities and an
    interval do not count. What a run has executed (`is_run`) may leave out what branches skip; a plan file holds all
    arms."""
    try:
        placed, interval = read(model, plan) if not is_run else ([Placed(model, e) for e in plan["placements"]], 0)
    except (ValueError, TypeError, KeyError) as error:
        return "file: %s" % error
    interval = 0 if measured else interval
    wrong = (wrong_in_number(model, placed, interval, is_run) or wrong_place_or_time(model, placed, measured) or
             overlap(model, placed) or late_input(model, placed, measured, is_run))
    if wrong is None and interval:
        wrong = wrong_in_interval(model, placed, interval)
    return wrong or (None if measured else beyond_capacity(model, placed))


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        model = Model(json.load(file))
    with open(arguments[1], encoding="utf-8") as file:
        wrong = violation(model, json.load(file), "--measured" in arguments)
    print(wrong or "valid")
    return wrong is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
