"""Readers of tables of times (simulated.py says what a reader is). Their figures are shown, not judged."""
import json
import re
import statistics

from simulated import pick, registrar

READERS = {}
reader = registrar(READERS)


@reader("decision-ratios")
def decision_ratios(results, labels, head, column):
    what = {1: "warm", 3: "cold", 5: "every job a candidate"}[column - (column + 1) % 2]
    rows = [row for row in results[0]["ratios"] if row["what"].startswith(what)]
    row = pick(rows, policy=labels[0])
    return row["ratio"] if head[column] == "ratio" else next(row[key] for key in row if key.startswith("p50_ns"))


@reader("decision-served")
def decision_served(results, labels, head, column):
    row = pick(results[0]["served"], policy=labels[0])
    return row[("through_ns", "raw_ns", "alone_ns", "ratio")[column - 1]]


VARIANTS = {"AVX-512 VBMI": "avx512vbmi", "AVX-512 VNNI": "avx512vnni", "AVX-VNNI": "avxvnni", "AVX2": "avx2", "scalar": "scalar"}


@reader("decision-networks")
def decision_networks(results, labels, head, column):
    policy, _, variant = labels[0].partition(", ")
    row = pick(results[0]["ratios"], policy="%s %s" % (policy, VARIANTS[variant]) if variant else policy, what="warm")
    few_ns = next(row[key] for key in row if key.startswith("p50_ns"))
    return {"ns": few_ns, "ratio": row["ratio"]}.get(head[column], 14e6 / few_ns)


@reader("decision-parts")
def decision_parts(results, labels, head, column):
    head_alone = labels[0].startswith(("int8", "float", "system"))
    variant = labels[0].removeprefix("int8, ") if labels[0].startswith(("int8", "float")) else "avx512vnni"
    part = "head and arg-max in float" if variant == "float" else "system, head and arg-max" if head_alone else labels[0]
    part = "all: a job changed, decide" if part == "a job changed, decide" else part
    return pick(results[0]["parts"], variant=variant, part=part, candidates=int(head[column].replace(" ", "")))["p50_ns"]


@reader("decision-inputs")
def decision_inputs(results, labels, head, column):
    """Lines "WHAT, first piece   12.3 us, ..."."""
    if head[column] == "pieces":
        return None
    what = next(name for name in ("completion", "arrival", "cancellation", "swap") if name in labels[0])
    found = re.search(r"^an? %s (?:of|with) 1[0 ]*0(?: successors)?%s +([\d.]+) us" % (
        what, ", first piece" if "first" in head[column] else ""), results[0], re.M)
    if not found:
        raise KeyError(labels[0])
    return float(found.group(1))


@reader("device")
def device(results, labels, head, column):
    rows = results[0]["rows"]
    if labels[0].startswith(("empty", "the same")):
        row = pick(rows, measure="empty", driver="null" if labels[0].startswith("empty") else "opencl")
        return [row["through_ns"] / 1000, row["by_hand_ns"] / 1000, row["ratio"]]
    if labels[0].startswith("put"):
        row = pick(rows, measure="overlap")
        return row["depth_2_ns"] / row["depth_1_ns"]
    if labels[0].startswith("camera"):
        return pick(rows, measure="camera")["ratio"]
    row = pick(rows, measure="beside")
    return 100 * row["cpu_share"] if labels[0].startswith("CPU") else row["kernel_ns"] / 1e6


@reader("heads")
def heads(results, labels, head, column):
    found = re.fullmatch(r"(?:(\w+) )?(lanes|node|split)", head[column].removeprefix("p99 "))
    if not found and not head[column].startswith("p50 in misses"):
        return None # the goals
    variant, form = found.groups() if found else (None, "lanes")
    row = pick(results[0]["rows"], variant=variant or "avx512vnni", form=form, candidates=int(labels[0]))
    if not found:
        return row["p50_misses"]
    return row["p99_ns"] if head[column].startswith("p99") else [row["p50_ns"], row["lowest_ns"]]


@reader("heads-variants")
def heads_variants(results, labels, head, column):
    variant, form = labels[0].split(" ")
    return pick(results[0]["rows"], variant=variant, form=form, candidates=int(head[column]))["p50_ns"]


@reader("pass", labels=2)
def whole_pass(results, labels, head, column):
    said = results[0]
    if labels[0] == "float":
        p50_ns, row = said["float_pass_p50_ns"], {}
    else:
        part = head[column] if head[column] in ("encoder", "ready", "limits") else "pass"
        row = pick(said["rows"], variant=labels[0], numbers=labels[1], part=part)
        p50_ns = row["p50_ns"]
    return {"pass": [p50_ns / 1000, row.get("lowest_ns", 0) / 1000], "floor": row.get("pass_floor_ns", 0) / 1000,
            "p50 in misses": p50_ns / said["miss_ns"], "the paper's 15 ms / p50": said["paper_ns"] / p50_ns}.get(head[column], p50_ns / 1000)


PEERS = {"steal": "Clotho steal", "replay": "Clotho replay"}


def overhead_row(results, graph, peer, workers=2, body=0):
    rows = [row for result in results for row in result["rows"]]
    return pick(rows, graph=graph, peer=PEERS.get(peer, peer), workers=workers, **({"body_ns": body} if body is not None else {}))


@reader("overhead")
def overhead(results, labels, head, column):
    workers = 1 if labels[0].endswith("1 worker") else 2
    peer = labels[0].split(",")[0]
    if column < 7:
        return overhead_row(results, head[column], peer, workers)["run"]
    body = 1000 if "1 us" in head[column] else 10000
    all_of = [overhead_row(results, graph, peer, workers, body)["efficiency"] for graph in ("fan", "wave", "rand", "reuse")]
    return [1] if peer == "serial floor" else [min(all_of), max(all_of)]


@reader("overhead-goals")
def overhead_goals(results, labels, head, column):
    """Its rows of goals stay."""
    if labels[0].startswith("must"):
        return None
    workers = "1 worker" in labels[0]
    row = pick(results[0]["goals"], graph=head[column], goal=labels[0] if workers else "steal / oneTBB flow graph, 2 workers")
    return {"aim, ns": row["aim_ns"], "steal / oneTBB by hand": row["by_hand"]}.get(labels[0], [row["value"], row["value_lowest"]])


@reader("overhead-learning")
def overhead_learning(results, labels, head, column):
    peers = ("Clotho steal", "learning each", "learning each", "learning 1 of 32", "learning 1 of 32", "Clotho steal", "learning each",
             "learning 1 of 32")
    row = pick(results[0]["rows"], graph=labels[0], body_ns=0, peer=peers[column - 1], workers=1 if column < 6 else 2)
    return [row["more"], row["more_p10"], row["more_p90"]] if head[column] == "more" else row["run"]


@reader("overhead-cpp")
def overhead_cpp(results, labels, head, column):
    workers = 1 if head[column] == "one worker" else 2
    goal = pick(results[0]["goals"], goal="C++ %s / C" % labels[0], workers=workers)
    all_of = [row["over_c"] for row in results[0]["rows"] if row["peer"] == "C++ " + labels[0] and row["workers"] == workers]
    return [goal["value"], min(all_of), max(all_of)]


@reader("overhead-narrow", "overhead-short")
def overhead_narrow(results, labels, head, column):
    peer = labels[0].split(" (")[0]
    if peer.startswith("steal over"):
        return overhead_row(results, head[column], "steal", body=None)["run"] / overhead_row(results, head[column], "oneTBB by hand", body=None)["run"]
    return overhead_row(results, head[column], peer, body=None)["run"]


@reader("overhead-first")
def overhead_first(results, labels, head, column):
    graph = {"one task": "task", "chain of 64": "chain64", "wave of 10 000": "wave", "rand of 10 000": "rand"}[labels[0]]
    peer = "oneTBB flow graph" if head[column].startswith("oneTBB") else "Clotho steal"
    row = pick(results[0]["rows"], graph=graph, peer=peer, workers=2)
    keys = ("build", "prepare", "first", "drop")
    value = {"build": "build", "prepare": "prepare", "first run": "first", "drop": "drop"}.get(head[column])
    return row[value] if value else sum(row[key] for key in keys)


@reader("memory-orders")
def memory_orders(results, labels, head, column):
    row = pick(results[0]["orders"], order=labels[0])
    two = row["zeroed"], row["by_demand"]
    return {1: [two[0]["makespan_ns"] / 1e6], 2: [two[1]["makespan_ns"] / 1e6], 3: [row["ratio"], None, row["low"], row["high"]],
            4: [one["achieved_gbs"] for one in two], 5: [one["stream_gbs"] for one in two]}[column]


@reader("memory-buffers")
def memory_buffers(results, labels, head, column):
    row = pick(results[0]["sets"], set=labels[0].split(" ")[0] if labels[0].startswith("scattered") else labels[0])
    return [row["bytes"] / 2**20, row["alone_gbs"], row["two_gbs"], row["slowdown"], row["beside_computing_gbs"]][column - 1]


@reader("planners")
def planners(results, labels, head, column):
    planner, _, is_pair = labels[0].partition(", ")
    if head[column] == "exponent":
        return pick(results[0]["growth"], planner=planner, executors=50)["exponent"]
    row = pick(results[0]["rows"], planner=planner, executors=50, tasks=int(head[column].replace(" ", "")))
    return row["ns_per_pair" if is_pair else "ns_per_task"]


@reader("lone-runs")
def lone_runs(results, labels, head, column):
    row = pick(results[0]["rows"], pattern=head[column], peer="Clotho steal")
    return pick(row["points"], iterations=int(labels[0]))["granularity_ns"]


@reader("predict-clock")
def predict_clock(results, labels, head, column):
    if labels[0] == "all":
        return 100 * results[0]["error"] if column == 3 else 100 * results[0]["error_p90"]
    rows = [pick(results[0]["rows"], graph=labels[0], planner=planner) for planner in ("heft", "deft")]
    if column == 1:
        return rows[0]["predicted_ns"] / 1e6
    key = {2: "measured_ns", 3: "error", 4: "error_p90"}[column]
    return [row[key] / 1e6 if column == 2 else 100 * row[key] for row in rows]


def must_have_kept(said, mix):
    if said[mix]["kept"] == 0:
        raise KeyError("%s: no turn in which the machine was as when the times were learned" % mix)


@reader("predict-real", labels=2)
def predict_real(results, labels, head, column):
    must_have_kept(results[0], labels[0])
    key = {2: "error", 3: "error_p90", 4: "inside"}[column] + ("_alone" if labels[1] == "tasks alone" else "")
    return 100 * results[0][labels[0]][key]


@reader("predict-memory")
def predict_memory(results, labels, head, column):
    must_have_kept(results[0], labels[0])
    return 100 * results[0]["contention"][labels[0]]["error_" + head[column]]


@reader("predict-applications")
def predict_applications(results, labels, head, column):
    app, how = labels[0].split(", ", 1)
    row = pick(json.loads(results[0])["rows"], app=app, how="device" if "device" in how else how)
    if column == 4:
        return [row["turns_kept"], row["turns_kept"] + row["turns_dropped"]]
    if row["turns_kept"] == 0:
        raise KeyError("unsteady")
    return 100 * row[("error", "own_error", "deviation")[column - 1]]


@reader("remote-plans")
def remote_plans(results, labels, head, column):
    """Lines "ENGINE, HOW: predicted ... (1.010) ..." and "RANKS ranks: N plans, ...: 1.690", then ports."""
    if labels[0].startswith("SMPI"):
        ranks = re.search(r"\d+", labels[0]).group()
        return float(re.search(r"^%s ranks: \d+ %s,.*: ([\d.]+)$" % (ranks, "plans" if "no ports" in head[column] else "ports"), results[1], re.M).group(1))
    how = "no ports" if "no ports" in head[column] else "(?:with replicas|without)" if "one message" in labels[0] else r"\{'port.*\}"
    shares = [float(share) for share in re.findall(r"^\w+, %s: predicted .* \(([\d.]+)\)" % how, results[0], re.M)]
    return [min(shares), max(shares)]


@reader("synch-workers", labels=0)
def synch_workers(results, labels, head, column):
    """Lines "POLICY  bound  median 1.000, largest 1.000"."""
    policy = "follow:" + re.search(r"synchpack-\d", head[column]).group() if head[column].startswith("follow") else head[column].split(",")[0]
    found = re.search(r"^%s +%s +median [\d.]+, largest ([\d.]+)$" % (policy, "bound" if "bound" in head[column] else ""), results[0], re.M)
    if not found:
        raise KeyError(head[column])
    return float(found.group(1))


BUILDS = {"clotho build, no history": "first", "clotho build, learned": "learned", "pool of 1 link, -j2": "pool 1 -j2"}


def builds_of(results, label):
    """Seconds and share of the round's bound of each round, how many failed, and the seconds of ours."""
    if results[0].startswith("skipped"):
        raise KeyError(results[0])
    runs = json.loads(results[0])["runs"]
    name = BUILDS.get(label, "pool 1" if label.startswith("pool") else label.split(" (")[0])
    over = [one["seconds"] / ours["bound"] for one, ours in zip(runs[name], runs["learned"])]
    return [one["seconds"] for one in runs[name]], over, sum(one["failed"] for one in runs[name]), [one["seconds"] for one in runs["learned"]]


def middle(values):
    return [statistics.median(values), min(values), max(values)]


@reader("builds-generated", "builds-tools")
def builds(results, labels, head, column):
    seconds, over, failed, ours = builds_of(results, labels[0])
    if head[column] == "killed":
        return [failed, len(seconds)]
    if labels[1].startswith("fails"):
        return statistics.median(seconds)
    is_generated = "(" in labels[1] or "(" in labels[2]
    if head[column] == "over ours":
        return statistics.median(seconds) / statistics.median(ours) if is_generated else [a / b for a, b in zip(seconds, ours)]
    values = seconds if column == 1 else over
    return middle(values) if is_generated else values


@reader("remote", labels=2)
def remote(results, labels, head, column):
    number, unit = labels[0].split(" ")
    size, of = labels[1].split(" ")
    row = pick(results[0]["rows"], work_ns=int(number) * {"us": 1000, "ms": 1000000}[unit], bytes=int(size) * {"B": 1, "KiB": 1024}[of])
    if column == 5:
        return [row["ratio"], row["ratio_p10"], row["ratio_p90"]]
    return row[{2: "one_rank_ns", 3: "clotho_ns", 4: "starpu_ns", 6: "clotho_call_ns", 7: "starpu_call_ns"}[column]] / 1e6


@reader("stream-others")
def stream_others(results, labels, head, column):
    rows = results[0]["rows"]
    return pick(rows, policy="fifo")["ns_per_completion"] / pick(rows, policy=labels[column - 1])["ns_per_completion"]


@reader("stream")
def stream(results, labels, head, column):
    row = pick(results[0]["rows"], policy=labels[0])
    return {1: row["ns_per_completion"], 2: row["lowest_ns"], 3: row["completions_per_s"] / 1e6, 4: None}[column]
