"""Ways to change a plan, for plans.py: some leave it valid, most do not.

Each takes a random source, the model (plans_rules.py) and a plan that it may change, and returns a line about what it
did, or None if it does not apply."""
import copy

import plans_rules


def lasts(model, entry, executor):
    task = task_of(model, entry)
    time = model.time[task][executor] if task < len(model.tasks) else None
    return time if time is not None else entry["finish_ns"] - entry["start_ns"]


def task_of(model, entry):
    return entry["task"] if isinstance(entry["task"], int) else model.names.index(entry["task"])


def executor_of(model, entry):
    given = entry["executor"]
    return given if isinstance(given, int) else model.platform.names.index(given)


def move_to(entry, start):
    entry["finish_ns"] += start - entry["start_ns"]
    entry["start_ns"] = start


def shift(rng, _, plan):
    entry = rng.choice(plan["placements"])
    by = rng.choice((-1, 1, -1, 1, -entry["start_ns"], rng.randint(-1000, 1000), rng.randint(1, 10**6)))
    if by == 0 or entry["start_ns"] + by < 0:
        return None
    move_to(entry, entry["start_ns"] + by)
    return "shift by %d" % by


def shift_to_another(rng, _, plan):
    """To where another one begins or ends: close to a limit."""
    entry, other = rng.choice(plan["placements"]), rng.choice(plan["placements"])
    move_to(entry, rng.choice((other["start_ns"], other["finish_ns"], max(0, other["finish_ns"] - 1))))
    return "shift to another"


def last(rng, _, plan):
    entry = rng.choice(plan["placements"])
    entry["finish_ns"] = max(entry["start_ns"], entry["finish_ns"] + rng.choice((-1, 1, 1000)))
    return "another duration"


def move(rng, model, plan):
    entry = rng.choice(plan["placements"])
    entry["executor"] = rng.randrange(model.platform.count)
    if rng.random() < 0.7:
        entry["finish_ns"] = entry["start_ns"] + lasts(model, entry, entry["executor"])
    return "another executor"


def move_to_the_end(rng, model, plan):
    """Valid if the task has no successors, and may run there."""
    entry = rng.choice(plan["placements"])
    end = max(p["finish_ns"] for p in plan["placements"])
    entry["executor"] = rng.randrange(model.platform.count)
    move_to(entry, end + rng.choice((0, 10**7)))
    entry["finish_ns"] = entry["start_ns"] + lasts(model, entry, entry["executor"])
    return "behind all others"


def swap(rng, model, plan):
    if len(plan["placements"]) < 2:
        return None
    a, b = rng.sample(plan["placements"], 2)
    first, second = a["start_ns"], b["start_ns"]
    if rng.random() < 0.6:
        a["executor"], b["executor"] = b["executor"], a["executor"]
    for entry, start in ((a, second), (b, first)):
        move_to(entry, start)
        if rng.random() < 0.8:
            entry["finish_ns"] = start + lasts(model, entry, executor_of(model, entry))
    return "swap"


def swap_neighbours(rng, model, plan):
    """Two neighbours on an executor, with their times: valid where nothing depends on them."""
    entry = rng.choice(plan["placements"])
    mine = sorted((p for p in plan["placements"] if executor_of(model, p) == executor_of(model, entry)),
                  key=lambda p: p["start_ns"])
    if len(mine) < 2:
        return None
    place = rng.randrange(len(mine) - 1)
    a, b = mine[place], mine[place + 1]
    end = b["finish_ns"]
    move_to(b, a["start_ns"])
    move_to(a, end - (a["finish_ns"] - a["start_ns"]))
    return "swap neighbours"


def drop(rng, model, plan):
    """One placement, or all of a task."""
    entry = rng.choice(plan["placements"])
    if rng.random() < 0.5:
        plan["placements"].remove(entry)
    else:
        plan["placements"] = [p for p in plan["placements"] if task_of(model, p) != task_of(model, entry)]
    return "drop"


def drop_arms(rng, model, plan):
    """What a run would skip."""
    if not model.has_branches:
        return None
    arms = {t: rng.randrange(task["arms"]) for t, task in enumerate(model.tasks) if "arms" in task}
    skipped = plans_rules.skipped_by(model, arms)
    if rng.random() < 0.2:
        skipped.add(rng.randrange(len(model.tasks)))
    plan["placements"] = [p for p in plan["placements"] if task_of(model, p) not in skipped]
    return "drop what a run may skip"


def duplicate(rng, model, plan):
    entry = copy.deepcopy(rng.choice(plan["placements"]))
    entry["replica"] = rng.random() < 0.85
    if rng.random() < 0.8:
        entry["executor"] = rng.randrange(model.platform.count)
    if rng.random() < 0.7:
        move_to(entry, max(p["finish_ns"] for p in plan["placements"]) + rng.choice((0, 10**6)))
    entry["finish_ns"] = entry["start_ns"] + lasts(model, entry, executor_of(model, entry))
    plan["placements"].append(entry)
    return "duplicate"


def replica_flag(rng, _, plan):
    entry = rng.choice(plan["placements"])
    entry["replica"] = not entry.get("replica", False)
    return "replica or not"


def other_instance(rng, model, plan):
    entry = rng.choice(plan["placements"])
    entry["instance"] = rng.randrange(max(model.ranges) + 1)
    return "another instance"


def other_task(rng, model, plan):
    entry = rng.choice(plan["placements"])
    entry["task"] = rng.randrange(len(model.tasks) + 1)
    return "another task"


def all_later(rng, _, plan):
    """Valid as before."""
    by = rng.choice((1, 10**6))
    for entry in plan["placements"]:
        move_to(entry, entry["start_ns"] + by)
    return "all later by %d" % by


def cut(rng, _, plan):
    """What begins from some time on is later: valid where no input waits."""
    time, by = rng.choice(plan["placements"])["start_ns"], rng.choice((1, 999))
    for entry in plan["placements"]:
        if entry["start_ns"] >= time:
            move_to(entry, entry["start_ns"] + by)
    return "from %d on later by %d" % (time, by)


def shuffle(rng, _, plan):
    """The order of a file says nothing."""
    rng.shuffle(plan["placements"])
    return "another order of the file"


def interval(rng, _, plan):
    longest = max(p["finish_ns"] for p in plan["placements"])
    now = plan.get("interval_ns", longest)
    plan["interval_ns"] = max(0, rng.choice((now, now - 1, now + 1, now // 2, longest, rng.randint(1, longest + 1))))
    return "interval %d" % plan["interval_ns"]


CHANGES = (shift, shift, shift_to_another, shift_to_another, last, move, move, move_to_the_end, swap, swap_neighbours,
           drop, drop_arms, drop_arms, duplicate, duplicate, replica_flag, other_instance, other_task, all_later, cut,
           cut, shuffle, interval)


def change(rng, model, plan):
    """A changed copy of a plan, and a line about it."""
    changed, said = copy.deepcopy(plan), []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not changed["placements"]:
            break
        line = rng.choice(CHANGES)(rng, model, changed)
        if line:
            said.append(line)
    return changed, ", ".join(said)
