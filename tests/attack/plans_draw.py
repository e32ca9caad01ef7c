"""Random graphs with platforms for plans.py, as documents of the format clotho.graph/1 (docs/FORMATS.md).

draw(rng) returns a document that names its own platform. Most can be planned; a few break a limit or have a task that
fits nowhere, so that refusals are seen too. The ids of tasks are in no order that helps."""
import plans_rules

EXECUTORS = ((1, 1), (2, 4), (3, 4), (4, 4), (8, 3), (16, 1), (64, 1), (100, 0.3))
SIZES = (("tiny", 45), ("small", 35), ("middle", 12), ("stages", 6), ("large", 2))
COUNTS = {"tiny": (1, 5), "small": (2, 25), "middle": (20, 80), "stages": (1, 6), "large": (100, 400)}
INSTANCES = {"tiny": 3, "small": 3, "middle": 12, "stages": 120, "large": 12}
NAMES = ("0", "3", "t1", "e1", "", "a b", "\u00e9\u4e2d", "q\"\\/'", "\t\n", "x" * 300)
LARGEST = (1 << 53) - 1  # a whole number in JSON


def pick(rng, choices):
    """One of ((value, weight), ...)."""
    return rng.choices([c[0] for c in choices], [c[1] for c in choices])[0]


# Edges, from smaller to larger numbers; the caller renames.
def chain(_, n):
    return {(i, i + 1) for i in range(n - 1)}


def star(rng, n):
    return {(0, i) for i in range(1, n)} if rng.random() < 0.5 else {(i, n - 1) for i in range(n - 1)}


def forkjoin(_, n):
    return {(0, i) for i in range(1, n - 1)} | {(i, n - 1) for i in range(1, n - 1)}


def tree(rng, n):
    down = {(rng.randrange(max(0, i - 4), i), i) for i in range(1, n)}
    return down if rng.random() < 0.5 else {(n - 1 - b, n - 1 - a) for a, b in down}


def layered(rng, n):
    width, edges = rng.randint(1, max(1, n // 2)), set()
    for i in range(width, n):
        below = range((i // width - 1) * width, (i // width) * width)
        edges |= {(j, i) for j in rng.sample(list(below), rng.randint(1, min(width, 4)))}
    return edges


def scattered(rng, n):
    chance = rng.choice((0.05, 0.15, 0.3, 0.7))
    return {(i, j) for j in range(n) for i in range(max(0, j - 12), j) if rng.random() < chance}


def none(_, __):
    return set()


SHAPES = ((chain, 1), (star, 1), (forkjoin, 1), (tree, 2), (layered, 3), (scattered, 4), (none, 1))


def draw_time(rng, profile):
    if profile == "zero" or rng.random() < 0.08:
        return 0
    if profile == "unit":
        return 100
    if profile == "few":
        return rng.randint(0, 9)
    if profile == "huge":
        return rng.choice((LARGEST, rng.randint(1 << 45, LARGEST), 1))
    return rng.choice((rng.randint(1, 50), rng.randint(1, 5000), rng.randint(1, 10**6), rng.choice((1, 1000, 65536))))


def draw_bytes(rng, profile):
    if profile == "none" or rng.random() < 0.1:
        return 0
    if profile == "huge":
        return rng.choice((LARGEST, rng.randint(1 << 32, 1 << 48), (1 << 32) - 1, 1 << 33))
    return rng.choice((1, rng.randint(1, 100), rng.randint(1, 10**5), 4096))


def draw_speed(rng, profile):
    """Speeds that make fractions of a ns, and of the 65536ths that Clotho keeps."""
    if profile == "huge":
        return rng.choice((1, 2, 0.5))
    return rng.choice((1, 1, 2, 0.5, 0.3, 1.7, round(rng.uniform(0.05, 4), 3), 65536 / 65537, 0.001, 1000))


def draw_matrix(rng, executors, value):
    """One number, or a row for each executor."""
    if len(executors) > 16 or rng.random() < 0.5:
        return value()
    return [[value() for _ in executors] for _ in executors]


def draw_links(rng, platform, huge):
    executors = platform["executors"]

    def bandwidth():
        return rng.choice((None, 1, 0.5, 8, 0.3, 1e-3, 1e3, round(rng.uniform(0.01, 20), 4)))
    if rng.random() < 0.7:
        platform["latency_ns"] = draw_matrix(rng, executors, lambda: rng.choice((0, 1, 30, 500, rng.randint(0, 5000))))
    if rng.random() < 0.8:
        platform["bandwidth_bytes_per_ns"] = draw_matrix(rng, executors, bandwidth)
    if rng.random() < 0.2 and not huge:
        cuts = sorted(rng.sample(range(1, 10**5), rng.randint(1, rng.choice((1, 3, 7)))))
        platform["cut_bytes"] = cuts
        platform["bandwidth_beyond"] = [draw_matrix(rng, executors, bandwidth) for _ in cuts]


def draw_memories(rng, platform, machines):
    """Executors of a machine may share a memory; the numbers of memories are in no order."""
    groups = rng.randint(1, 3)
    for executor in platform["executors"]:
        executor["memory"] = executor.get("machine", 0) * groups + rng.randrange(groups)
    numbers = list(range(machines * groups))
    rng.shuffle(numbers)
    for executor in platform["executors"]:
        executor["memory"] = numbers[executor["memory"]]


def draw_capacities(rng, platform, machines):
    names = ["r%d" % i for i in range(rng.choice((1, 1, 2, 3, 8)))]
    rng.shuffle(names)
    platform["resources"] = names
    rows = []
    for _ in range(machines):
        row = {n: rng.choice((None, 0, 1, 2, 3, 10, 10, 10, 1000, LARGEST)) for n in names}
        rows.append(row if rng.random() < 0.5 else [row[n] for n in names])
    platform["machines"] = rows


def draw_platform(rng, size, profile):
    count = rng.choice((1, 2, 2, 3)) if size == "tiny" else pick(rng, EXECUTORS)
    kinds = ["k%d" % i for i in range(rng.choice((1, 1, 2, 3)))]
    machines = rng.randint(1, min(count, 4)) if rng.random() < 0.4 else 1
    alike = rng.random() < 0.4
    speeds = [draw_speed(rng, profile) for _ in kinds]
    executors = []
    for e in range(count):
        kind = rng.randrange(len(kinds))
        one = {"kind": kinds[kind], "speed": 1 if alike else speeds[kind]}
        if rng.random() < 0.15 and not alike:
            one["speeds"] = {c: draw_speed(rng, profile) for c in rng.sample(("integer", "float", "memory"), 2)}
        if rng.random() < 0.3:
            one["name"] = rng.choice(NAMES) if rng.random() < 0.05 else "x%d" % e
        if machines > 1:
            one["machine"] = e if e < machines else rng.randrange(machines)
        executors.append(one)
    platform = {"name": "drawn", "executors": executors, "coherent": rng.random() < 0.3}
    if rng.random() < 0.1:
        platform["mean_includes_self"] = True
    if rng.random() < 0.4:
        draw_memories(rng, platform, machines)
    if rng.random() < 0.8:
        draw_links(rng, platform, profile == "huge")
    if machines > 1:
        platform["machines"] = [{} for _ in range(machines)]
    if rng.random() < 0.4:
        draw_capacities(rng, platform, machines)
    if machines > 1 and rng.random() < 0.3 and profile != "huge":
        platform["port_bytes_per_ns"] = rng.choice((0.5, 2, [rng.choice((None, 0.3, 1, 5)) for _ in range(machines)]))
    return platform


def draw_demand(rng, document):
    """By name, where the graph names resources; else by index."""
    names = document.get("resources")
    amounts = [rng.choice((0, 1, 1, 2, 3, rng.randint(0, 10))) for _ in names or range(rng.randint(1, 8))]
    if rng.random() < 0.04:
        amounts[0] = rng.choice((11, 5000, LARGEST, 1 << 52))
    return dict(zip(names, amounts)) if names and rng.random() < 0.5 else amounts


def draw_places(rng, task, platform, profile):
    """Times by kind, and sets of executors."""
    kinds = sorted({e["kind"] for e in platform["executors"]})
    if rng.random() < 0.25:
        task["times"] = {k: draw_time(rng, profile) for k in rng.sample(kinds, rng.randint(1, len(kinds)))}
        if rng.random() < 0.3:
            del task["work_ns"]
        elif rng.random() < 0.3 and len(kinds) > 1:
            task["times"][rng.choice(sorted(task["times"]))] = None
    if rng.random() < 0.15:
        count = len(platform["executors"])
        task["executors"] = rng.sample(range(count + 2), rng.randint(1, min(4, count)))
        if rng.random() < 0.98:  # else perhaps none that there is
            task["executors"].append(rng.randrange(count))
            task["executors"] = list(dict.fromkeys(task["executors"]))


def draw_tasks(rng, document, count, traits, profile):
    tasks, is_named = [], rng.random() < 0.9
    for number in range(count):
        task = {"work_ns": draw_time(rng, profile), "body": "none"}  # runs under the virtual clock do no work
        if is_named and rng.random() < 0.5:
            task["name"] = "n%d" % (number if rng.random() < 0.9 else rng.randrange(count))
            if rng.random() < 0.05:
                task["name"] = rng.choice(NAMES)
        if rng.random() < {1: 0, INSTANCES["stages"]: 0.8}.get(traits.get("instances", 1), 0.4):
            task["instances"] = rng.randint(1, traits["instances"])
            if rng.random() < 0.3:
                task["grain"] = rng.randint(1, 5)
        if "class" in traits:
            task["class"] = rng.choice(("generic", "integer", "float", "memory", 7))
        if traits.get("duplicable", 0) > rng.random():
            task["duplicable"] = True
        if traits.get("demands", 0) > rng.random():
            task["demand"] = draw_demand(rng, document)
        if "places" in traits:
            draw_places(rng, task, document["platform"], profile)
        if rng.random() < 0.02:
            task["command"], task["body"] = ["true"], "command"  # runs once, whatever "duplicable" says
        if rng.random() < 0.2:
            task["output_bytes"] = rng.choice((0, 8, 4096))
        tasks.append(task)
    return tasks


def draw_branches(rng, document):
    """Some tasks with successors become branches, some with predecessors merges."""
    tasks, edges = document["tasks"], document["edges"]
    for number, task in enumerate(tasks):
        out = [e for e in edges if e["from"] == number]
        if out and rng.random() < 0.4 and "command" not in task:
            for key in ("instances", "grain", "duplicable"):
                task.pop(key, None)
            task["arms"] = rng.randint(1, 3)
            if rng.random() < 0.5:
                first = rng.randint(0, 65536)
                task["chances"] = {1: [65536], 2: [first, 65536 - first], 3: [first, 0, 65536 - first]}[task["arms"]]
            for edge in out:
                if rng.random() < 0.8:
                    edge["arm"] = rng.randrange(task["arms"])
        if rng.random() < 0.3:
            task["merge"] = True


def draw_handles(rng, document):
    """Buffers that tasks use in place: edges follow, in the order of the tasks."""
    handles = [{"bytes": rng.choice((8, 4096, 10**5)), "kept": True} for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.5:
        handles[0]["name"] = "image"
    for task in document["tasks"]:
        if task.get("instances", 1) == 1 and "command" not in task and rng.random() < 0.4:
            mode = rng.choice(("read", "read", "write", "update"))
            task["data"] = [{"handle": rng.randrange(len(handles)), "mode": mode}]
    document["handles"] = handles


def draw_graph(rng, size, platform, profile):
    traits = {}
    if rng.random() < 0.4 or size == "stages":
        traits["instances"] = INSTANCES[size]
    for trait, chance in (("class", 0.2), ("places", 0.4)):
        if rng.random() < chance:
            traits[trait] = True
    if rng.random() < 0.5:
        traits["duplicable"] = rng.choice((0.3, 1))
    document = {"format": "clotho.graph/1", "name": "drawn", "platform": platform}
    if "resources" in platform or rng.random() < 0.05:
        traits["demands"] = rng.choice((0.3, 1))
        names = list(platform.get("resources", ("r0", "r9")))
        if rng.random() < 0.3:
            names = (names + ["only here"])[-8:]
        rng.shuffle(names)
        document["resources"] = names
    count = rng.randint(*COUNTS[size])
    document["tasks"] = draw_tasks(rng, document, count, traits, profile)
    order = list(range(count))
    has_handles = rng.random() < 0.06
    if rng.random() < 0.6 and not has_handles:
        rng.shuffle(order)
    profile_bytes = pick(rng, (("none", 2), ("mixed", 7), ("huge", 1 if profile != "huge" else 0)))
    edges = []
    for a, b in sorted(pick(rng, SHAPES)(rng, count)):
        edge = {"from": order[a], "to": order[b], "bytes": draw_bytes(rng, profile_bytes)}
        if edge["bytes"] == 0 and rng.random() < 0.5:
            del edge["bytes"]
        edges.append(edge)
    rng.shuffle(edges)
    document["edges"] = edges
    if rng.random() < 0.12:
        draw_branches(rng, document)
    if has_handles:
        draw_handles(rng, document)
    return document


def draw_loop(rng, document):
    """A loop of a few tasks between tasks of the graph; its condition leads to all tasks that begin an iteration."""
    count, first = rng.randint(1, 3), len(document["tasks"])
    tasks = [{"name": "step%d" % i, "work_ns": rng.randint(0, 500), "body": "none"} for i in range(count)]
    edges = [{"from": i, "to": i + 1, "bytes": draw_bytes(rng, "mixed")} for i in range(count - 1)]
    loop = {"tasks": tasks, "edges": edges, "condition": count - 1, "bound": rng.randint(1, 5),
            "again": rng.choice((0, 32768)), "carried": [{"from": count - 1, "to": 0, "bytes": 8}],
            "exit": {"name": "behind", "work_ns": 7, "body": "none"}, "exit_bytes": draw_bytes(rng, "mixed")}
    document["loops"] = [loop]
    before, behind = rng.randrange(first), rng.randrange(first)
    if before != behind and not document["edges"]:
        document["edges"] = [{"from": before, "to": "step0", "bytes": 99}, {"from": "behind", "to": behind}]


def make_room(rng, document):
    """Most tasks that fit nowhere lose what stands against them."""
    for task, times in zip(document["tasks"], plans_rules.Model(document).time):
        if rng.random() < 0.97 and all(t is None for t in times):
            for key in ("executors", "times", "demand"):
                task.pop(key, None)
            task.setdefault("work_ns", 5)


def draw(rng, size=None):
    """A document, and its size: "tiny" (all plans can be tried), "small", "middle", "stages" (of many instances) or
    "large"."""
    size = size or pick(rng, SIZES)
    profile = pick(rng, (("mixed", 6), ("few", 3), ("unit", 2), ("zero", 0.3), ("huge", 0.5)))
    document = draw_graph(rng, size, draw_platform(rng, size, profile), profile)
    make_room(rng, document)
    if rng.random() < 0.04 and "handles" not in document and not any("name" in t for t in document["tasks"]):
        draw_loop(rng, document)
    return document, size
