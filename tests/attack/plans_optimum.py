"""The shortest makespan of a small graph, by trying all orders and executors: for plans.py.

Executions are placed one after another, each at its earliest time between those that lie already. If the order is that
of the starts of a best plan, none lies later than there; so the shortest of all orders is the optimum, with demands and
with replicas too. (Among equal starts what takes no time comes first: others are in its way only if they begin before.)

Behind the first execution of an instance come at least the fastest times of the longest chain: that cuts the search."""
import itertools

STEPS = 30000  # placements tried before this gives up


class TooLong(Exception):
    pass


def in_the_way(s, f, start, finish):
    """Two executions on one executor, of which one may take no time."""
    if s == f or start == finish:
        return s < start < f or start < s < finish
    return s < finish and start < f


class Search:
    def __init__(self, model, replicas):
        self.model, self.replicas, self.steps = model, replicas, STEPS
        self.keys = [(t, i) for t in model.order for i in range(model.ranges[t])]
        self.tail = self.tails()
        self.best = None
        self.where = {k: [] for k in self.keys}  # (executor, finish)
        self.busy = []                           # (executor, start, finish, task)

    def tails(self):
        """From the start of a task to the end of the longest chain behind it, in fastest times."""
        model = self.model
        tail = [model.fastest(t) for t in range(len(model.tasks))]
        for task in reversed(model.order):
            for a, _ in model.inputs[task]:
                tail[a] = max(tail[a], model.fastest(a) + tail[task])
        return tail

    def ready(self, task, executor):
        """When all inputs have come; None if one has no execution yet."""
        model, time = self.model, 0
        for source, size in model.inputs[task]:
            for instance in range(model.ranges[source]):
                come = [f + model.platform.transfer(size, e, executor) for e, f in self.where[(source, instance)]]
                if not come:
                    return None
                time = max(time, min(come))
        return time

    def fits(self, task, executor, start, finish):
        if any(e == executor and in_the_way(s, f, start, finish) for e, s, f, _ in self.busy):
            return False
        return not self.model.has_demands or self.has_room(task, executor, start, finish)

    def has_room(self, task, executor, start, finish):
        model = self.model
        machine = model.platform.machine[executor]
        there = [b for b in self.busy if model.platform.machine[b[0]] == machine]
        for moment in {start} | {s for _, s, _, _ in there if start < s < finish}:
            for resource, limit in enumerate(model.limits[machine]):
                used = sum(model.demand[t][resource] for _, s, f, t in there if s <= moment < f)
                if limit is not None and start < finish and used + model.demand[task][resource] > limit:
                    return False
        return True

    def earliest(self, task, executor, ready, time):
        for start in sorted({ready} | {f for _, _, f, _ in self.busy if f > ready}):
            if self.fits(task, executor, start, start + time):
                return start
        raise AssertionError("at the end of all there is room")

    def candidates(self):
        """Executions that may come next; of equal instances without a place only the first."""
        new = set()
        for task, instance in self.keys:
            places = self.where[(task, instance)]
            if not places and task not in new:
                new.add(task)
            elif not (places and self.replicas and self.model.duplicable[task]):
                continue
            taken = {e for e, _ in places}
            for executor, time in enumerate(self.model.time[task]):
                if time is not None and executor not in taken:
                    yield task, instance, executor, time

    def go(self, left, end):
        if left == 0:
            self.best = end if self.best is None else min(self.best, end)
            return
        for task, instance, executor, time in list(self.candidates()):
            ready = self.ready(task, executor)
            if ready is None:
                continue
            self.steps -= 1
            if self.steps < 0:
                raise TooLong
            start, is_new = self.earliest(task, executor, ready, time), not self.where[(task, instance)]
            least = max(end, start + (self.tail[task] if is_new else time))
            if self.best is not None and least >= self.best:
                continue
            self.where[(task, instance)].append((executor, start + time))
            self.busy.append((executor, start, start + time, task))
            self.go(left - is_new, max(end, start + time))
            self.busy.pop()
            self.where[(task, instance)].pop()


def least_load(model):
    """The smallest load of the fullest executor, over all places of all instances: no interval is shorter, and with
    enough releases in flight and no demands one is as short. None if that takes too long to find."""
    keys = [t for t in model.order for _ in range(model.ranges[t])]
    if len(keys) > 6 or model.platform.count > 4:
        return None
    places = [[e for e, time in enumerate(model.time[t]) if time is not None] for t in keys]
    least = None
    for chosen in itertools.product(*places):
        load = [0] * model.platform.count
        for task, executor in zip(keys, chosen):
            load[executor] += model.time[task][executor]
        least = max(load) if least is None else min(least, max(load))
    return max(least, 1)


def optimum(model, replicas):
    """The makespan of the best plan, with or without replicas; None if that takes too long to find."""
    search = Search(model, replicas and any(model.duplicable))
    if len(search.keys) > 6 or model.platform.count > 4 or model.platform.has_ports:
        return None
    try:
        search.go(len(search.keys), 0)
    except TooLong:
        return None
    return search.best
