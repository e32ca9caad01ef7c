"""Readers of tables whose figures no clock makes: name of the table -> function(results, labels, head, column) -> new figures of a cell.

results: what the commands printed, in the page's order; labels: the row's cells without markup; head: those of the header. None: the
cell stays as it is (a paper's figure, an older build's). KeyError: the run should have it and has not."""
import re
import statistics

READERS = {}


def registrar(readers):
    """A decorator that enters a function under its names; labels: how many columns name the row."""
    def reader(*names, labels=1):
        def register(function):
            function.labels = labels
            readers.update({name: function for name in names})
            return function
        return register
    return reader


reader = registrar(READERS)


def pick(rows, **wanted):
    """The first row with these values."""
    for row in rows:
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    raise KeyError(str(wanted))


# ---- models in virtual time ----

@reader("hand_over", labels=2)
def hand_over(results, labels, head, column):
    body = {"mixed": 0}.get(labels[1]) if labels[1] == "mixed" else round(1000 * float(labels[1]))
    workers = int(re.search(r"\d+", head[column]).group())
    rows = [pick(results[0]["rows"], graph=graph, body_ns=body, workers=workers) for graph in labels[0].split("; ")]
    return [row["makespan_ns"] / row["greedy_ns"] for row in rows]


HAND_OVER_PARTS = ("the sum", "judging", "feeding", "the same stage")


@reader("hand_over-parts")
def hand_over_parts(results, labels, head, column):
    part = next(i for i, begin in enumerate(HAND_OVER_PARTS) if labels[0].startswith(begin))
    whole, without = results[0]["rows"], results[1 + part]["rows"]
    times = [(row["body_ns"], other["makespan_ns"] / row["makespan_ns"]) for row, other in zip(whole, without)]
    if head[column] == "mean":
        return statistics.geometric_mean(time for _, time in times)
    return max(time for body, time in times if (body == 100) == (head[column] == "0.1 us"))


@reader("contention", labels=2)
def contention(results, labels, head, column):
    bandwidth = 0.125 if column < 4 else 0.0125
    row = pick(results[0]["rows"], planner=labels[0], machines=int(labels[1]), bytes_per_ns=bandwidth)
    return [row["ratio"], row["error"]] if head[column] == "ratio" else [row["slr_without"], row["slr_with"]]


@reader("beside", labels=2)
def beside(results, labels, head, column):
    row = pick(results[0]["rows"], clock=labels[0], how=labels[1])
    key = head[column].replace(" us", "_ns")
    return row[key] / (1000 if key.endswith("_ns") else 1)


# ---- synch ----

SYNCH = {"synchpack-2, without LP (the better form)": "synchpack-2 free", "with LP alone": "synchpack-2 LP",
         "synchpack-3, the better form": "synchpack-3", "without LP": "synchpack-3 free", "PSRS": "psrs", "Tetris": "tetris-weighted",
         "Tetris with weights": "tetris-weighted", "JSQ-MaxWeight": "jsq-maxweight"}


def synch_row(results, scene, contender):
    return pick([row for result in results for row in result["rows"]], scene=scene, contender=contender)


@reader("synch")
def synch(results, labels, head, column):
    contender = SYNCH[labels[0]]
    if labels[0] == "with LP alone" and not labels[1]: # no google-like: this row is of synchpack-3
        contender = "synchpack-3 LP"
    row = synch_row(results, head[column], contender)
    return [row["ratio_median"], row["ratio_max"]]


@reader("synch-lp")
def synch_lp(results, labels, head, column):
    if labels[0].startswith("below "):
        row = synch_row(results, head[column], SYNCH[labels[0][len("below "):].rstrip(", %")])
        return 100 * (1 - 1 / row["quotient"])
    row = synch_row(results, head[column], labels[0] + " free")
    return [row["quotient"], row["quotient_median"], row["quotient_max"]]


@reader("synch-follow")
def synch_follow(results, labels, head, column):
    row = synch_row(results, head[column], "follow " + labels[0].lower())
    return [row["quotient"], row["quotient_median"], row["quotient_max"]]


@reader("synch-policies")
def synch_policies(results, labels, head, column):
    contender = {"synchpack-2 online": "synchpack-2 online", "auto": "auto", "Tetris with weights": "tetris-weighted", "wspt": "wspt",
                 "tetris": "tetris", "PSRS": "psrs"}[re.split(r", | \(", labels[0])[0]]
    row = synch_row(results, "google-like-online", contender)
    return [row["quotient"], row["quotient_median"], row["quotient_max"]]


def sweep_of(workload):
    """Rows are settings, columns contenders."""
    def read(results, labels, head, column):
        setting = re.sub(r"[ %]+", "-", labels[0].split(",")[0].removeprefix("weights ").replace(".5", "50")).strip("-")
        setting = setting + "00" if re.fullmatch(r"penalty-\d", setting) else setting
        row = synch_row(results, "sweep-%s-%s" % (workload, setting), {"synchpack-2, planner online": "synchpack-2 online"}.get(
            head[column], "policy " + head[column] if head[column] != "auto" else "auto"))
        return [row["delay"], row["delay_low"], row["delay_high"]]
    return read


reader("synch-sweep-google")(sweep_of("google"))
reader("synch-sweep-alibaba")(sweep_of("alibaba"))


# ---- quality ----

def plans(results, name, planner):
    """The program leaves out what takes a planner more than 3 s, so a busy machine may have fewer plans: no figure then."""
    one = pick([one for result in results for one in result["sets"]], set=name)
    row = pick(one["rows"], planner=planner)
    if row["plans"] < one["instances"]:
        raise KeyError("%s, %s: some instances were left out" % (name, planner))
    return row


SETS = {"saga": ["saga"], **{j: ["psplib-" + j] for j in ("j30", "j60", "j90", "j120")},
        "stg": ["stg-%d on %d" % (tasks, executors) for tasks in (50, 100) for executors in (2, 4, 8, 16)],
        "tpch 50": ["tpch-packing-50"], "100": ["tpch-packing-100"], "150": ["tpch-packing-150"], "wfformat": ["wfformat"],
        "alibaba": ["alibaba"]}


@reader("quality")
def quality(results, labels, head, column):
    return statistics.fmean(plans(results, name, labels[0])["ratio"] for name in SETS[head[column]])


@reader("quality-sets")
def quality_sets(results, labels, head, column):
    if head[column] == "instances":
        return pick([one for result in results for one in result["sets"]], set=labels[0])["instances"]
    row = plans(results, labels[0], head[column])
    return [100 * row["gap"], *([100 * row["reference_gap"], row["reached"]] if "references" in row else [])]


@reader("quality-few")
def quality_few(results, labels, head, column):
    return plans(results, labels[0], "best " + head[column])["ratio"]


@reader("quality-justified")
def quality_justified(results, labels, head, column):
    return [plans(results, head[column], labels[0] + justified)["ratio"] for justified in ("", " justified")]


@reader("quality-branches")
def quality_branches(results, labels, head, column):
    name = "branches " + labels[0].removesuffix(", CCR 0.5") + (", all arms" if head[column] == "its worst case" else "")
    return plans(results, name, "heft-expected")["ratio"]


FIGURES = ["lachesis fig. %d, %s, CCR %d" % (figure, edges, ccr) for edges in ("even", "producer") for figure in (7, 8) for ccr in (1, 5)]


@reader("quality-lachesis")
def quality_lachesis(results, labels, head, column):
    if labels[0].startswith("gap of"):
        return 100 * plans(results, FIGURES[column - 1], "best 1000ms")["gap"]
    return 100 * plans(results, FIGURES[column - 1], labels[0])["reduction"]


@reader("quality-lachesis-must", labels=0)
def quality_must(results, labels, head, column):
    names = ["lachesis %s, CCR 5" % head[column]] if column < 4 else ["lachesis fig. %d, producer, CCR 5" % figure for figure in (7, 8)]
    rows = [plans(results, name, "best 1000ms") for name in names]
    below = [(row["reduction"], 1 - (1 - row["reduction"]) * (1 - row["room"])) for row in rows] # the plan, the bound
    return [100 * statistics.fmean(column) for column in zip(*below)]


@reader("quality-hua")
def quality_hua(results, labels, head, column):
    name = "hua, " + labels[0]
    if head[column].startswith("gap"):
        return [100 * plans(results, name, planner)["gap"] for planner in ("best 100ms", "critical-path")]
    return None if head[column] == "Hua et al." else 100 * plans(results, name, head[column])["reduction"]


@reader("quality-hua-jobs")
def quality_hua_jobs(results, labels, head, column):
    times, count = labels[0].split(", ")
    result = [results[("5", "10", "20", "50", "100").index(count)]]

    def mean(planner, key):
        return statistics.fmean(plans(result, "hua, %s times, r to %s" % (times, most), planner)[key] for most in ("1", "2/3", "1/3"))

    if head[column].startswith("gap"):
        return [100 * mean(planner, "gap") for planner in ("best 100ms", "critical-path")]
    return mean("lp-midpoint", "plan_ms") if head[column].startswith("ms") else 100 * mean(head[column], "reduction")


@reader("quality-graphene")
def quality_graphene(results, labels, head, column):
    row = plans(results, ("graphene, tpch", "graphene, alibaba", "graphene, 40 alibaba jobs")[(column - 1) // 2], labels[0])
    if head[column] == "within":
        return [100 * share for share in row["within"]]
    return None if "mean" in head[column] else [100 * row["baseline_gain"]] # the program prints the median


@reader("quality-packing")
def quality_packing(results, labels, head, column):
    name = re.sub(r"TPC-H, (\d+) jobs.*", r"tpch-packing-\1", re.sub(r"PSPLIB (j\d+),.*", r"psplib-\1", labels[0]))
    return 100 * plans(results, "graphene, 40 alibaba jobs" if name.startswith("40 ") else name, head[column])["gap"]


# ---- online ----

def policy(results, scene, name):
    return pick(pick([one for result in results for one in result["scenes"]], scene=scene)["policies"], policy=name)


def first_policy(results, scene):
    return pick([one for result in results for one in result["scenes"]], scene=scene)["policies"][0]


def ratio(row):
    return [row["ratio"], row["low"], row["high"]]


def name_of(label):
    """The first policy that a label names."""
    return label.split(",")[0].removeprefix("by task: ").strip()


@reader("online-stream")
def lachesis_stream(results, labels, head, column):
    scene = {"CCR 1": "", "CCR 5": "-far", "dense, CCR 1": "-dense", "dense, CCR 5": "-dense-far"}[head[column]]
    if labels[0] == "rank_u alone":
        return None # another model
    row = policy(results, "lachesis-stream" + scene, name_of(labels[0]))
    return [1, row["value_s"]] if name_of(labels[0]) == "deft" else ratio(row)


def load_cell(results, scene, label, is_makespan):
    if label == "lower bound":
        found = pick([one for result in results for one in result["scenes"]], scene=scene)
        return found["lower_bound_s"] / found["policies"][0]["jct_s"]
    row = policy(results, scene, name_of(label))
    values = [row["makespan_ratio"], row["makespan_low"], row["makespan_high"]] if is_makespan else ratio(row)
    return [1, row["makespan_s"] if is_makespan else row["value_s"]] if label == "deft:fifo" else values


@reader("online-load")
def lachesis_load(results, labels, head, column):
    percent = re.search(r"\d+", head[column]).group()
    return load_cell(results, "lachesis-load-" + percent, labels[0], head[column].startswith("makespan"))


@reader("online-load-jobs")
def lachesis_load_jobs(results, labels, head, column):
    result = [results[("50", "100", "200", "300").index(labels[0])]]
    if head[column] == "deft:fifo, s":
        return policy(result, "lachesis-load-120", "deft:fifo")["value_s"]
    return load_cell(result, "lachesis-load-120", "lachesis" if head[column] == "makespan" else head[column], head[column] == "makespan")


@reader("online-decima")
def decima(results, labels, head, column):
    if "first numbers" in labels[0] or labels[0].startswith("Decima"):
        return None # of an older build, of the paper
    row = policy(results, "decima-batch" if column < 3 else "decima-stream", name_of(labels[0]))
    return row["value_s"] if column in (1, 3) else ratio(row)


def beside_fair(results, scene, head, column):
    if "tuned" in head[column]:
        return first_policy(results, scene)["value_s"]
    row = policy(results, scene, head[column].split(",")[0].split(" /")[0])
    return row["value_s"] if head[column].endswith(", s") else ratio(row)


@reader("online-cluster")
def cluster(results, labels, head, column):
    return beside_fair(results, "cluster-" + labels[0].split(",")[0].replace(" ", ""), head, column)


@reader("online-gap")
def gap(results, labels, head, column):
    return beside_fair(results, "gap-" + labels[0], head, column)


@reader("online-mixed")
def mixed(results, labels, head, column):
    scene = {"Alibaba": "alibaba", "Alibaba and TPC-H, side by side": "both", "TPC-H, then Alibaba": "changing"}[labels[0]]
    return beside_fair(results, "mixed-" + scene, head, column)


@reader("online-replan")
def replan(results, labels, head, column):
    row = pick(results[0 if column < 3 else 1]["policies"], policy=labels[0])
    return row["makespan_s"] if "makespan" in head[column] else row["avg_jct_s"]


@reader("online-headroom")
def headroom(results, labels, head, column):
    row = pick([one for result in results for one in result["scenes"]], scene=labels[0].split(",")[0])
    if labels[2].rpartition(",")[0] != row["best_rule"]:
        raise KeyError("the best rule is %s" % row["best_rule"])
    if column == 2:
        return row["rule_s"]
    return [row["again_percent"], row["again_error"]] if "other" in head[column] else [row["gain_percent"], row["gain_error"]]


@reader("online-deadlines", "online-deadlines-decima")
def deadlines(results, labels, head, column):
    scene = ("deadlines-decima-" if head[0].startswith("Decima") else "deadlines-") + re.search(r"\d+", labels[0]).group()
    if head[column].startswith("auto /"):
        others = [policy(results, scene, name)["value_s"] for name in ("edf", "fair", "sjf")]
        return policy(results, scene, "auto")["value_s"] / min(others)
    return policy(results, scene, name_of(head[column]))["value_s"]


GOALS = {"20 at once": "decima-batch", "stream at 85 % load": "decima-stream", "150 at once, 200 executors": "cluster-200",
         "stream, a job in 30 s": "gap-30", "TPC-H and Alibaba, side by side": "mixed-both",
         "deadlines, load of 90 %: auto:p95": "deadlines-90"}


@reader("online-p95")
def goal_p95(results, labels, head, column):
    scene = GOALS[labels[0]]
    plain, mine = policy(results, scene, "auto"), policy(results, scene, "auto:p95" if scene == "deadlines-90" else "parametric:p95")
    return {1: plain["value_s"], 2: ratio(mine), 3: mine["jct_s"] / plain["jct_s"]}[column]


@reader("online-late")
def goal_late(results, labels, head, column):
    where, _, percent = labels[0].partition(", load of ")
    scene = {"equal executors": "deadlines-", "Decima's environment": "deadlines-decima-", "four resources": "deadlines-packing"}[where]
    row = policy(results, scene + (percent.split(" ")[0] if percent and not where.startswith("four") else ""), head[column].split(" /")[0])
    return ratio(row) if "/" in head[column] else row["value_s"]


@reader("online-order")
def job_order(results, labels, head, column):
    if labels[0].startswith("parametric"):
        names = [row["policy"] for row in pick(results[0]["scenes"], scene="job-order")["policies"] if row["policy"].startswith("parametric")]
        name = next(name for name in names if (":" in name) == (":" in labels[0]))
    else:
        name = labels[0].split(";")[0]
    row = policy(results, "job-order", name)
    return row["value_s"] if column == 1 else ratio(row)


@reader("online-wrong")
def wrong_packing(results, labels, head, column):
    true = policy(results, "wrong-packing-0", labels[0])["value_s"]
    if column == 1:
        return true
    text = {2: "25", 3: "50", 4: "75", 5: "low", 6: "high"}[column]
    return policy(results, "wrong-packing-" + text, labels[0])["value_s"] / true


@reader("online-wrong-times")
def wrong_times(results, labels, head, column):
    row = policy(results, "wrong-times-" + {1: "0", 2: "25", 3: "50", 4: "75", 5: "low", 6: "high"}[column], labels[0])
    return row["value_s"] if labels[0] == "tetris" else ratio(row)


@reader("packing-windows")
def windows(results, labels, head, column):
    """Jain's index in windows."""
    found = pick(results[0]["scenes"], scene="graphene-users")["policies"]
    row = pick(found, policy=name_of(labels[0]))
    return ratio(row) if column == 1 else row["jain_%ss" % head[column].split(" ")[0]]


@reader("packing-recurring", "packing-recurring-windows")
def recurring(results, labels, head, column):
    """Lines "  POLICY  RATIO [LOW, HIGH]  JAIN  JAIN  JAIN"."""
    name = name_of(labels[0])
    found = re.search(r"^ +%s +([\d.]+) \[([\d.]+), ([\d.]+)\] *(.*)$" % re.escape(name), results[0], re.M)
    if not found:
        raise KeyError(name)
    return [float(value) for value in found.groups()[:3]] if column == 1 else float(found.group(4).split()[column - 2])


LEARNED = {"controls": ":behind=0", "the numbers of the score shuffled": ":fit=-0.28,", "those of who may delay": ":pass=-1.15,",
           "the score alone": ":pass=0,", "who may delay alone": ":fit=1,"}


@reader("packing-learned")
def packing_learned(results, labels, head, column):
    argument = next((LEARNED[begin] for begin in LEARNED if labels[0].startswith(begin)), None)
    wanted = "easy-parametric" + argument if argument else labels[0] if ":" in labels[0] else name_of(labels[0])
    found = pick(results[0]["scenes"], scene="graphene-tpch")["policies"]
    row = next(one for one in found if one["policy"] == wanted or argument and one["policy"].startswith(wanted))
    if column == 1:
        return [1, row["value_s"]] if labels[0] == "easy-sjf" else ratio(row)
    return row["p95_s"] if column == 2 else [row["makespan_ratio"], row["makespan_low"], row["makespan_high"]]


@reader("packing-network")
def packing_network(results, labels, head, column):
    """The last policy that a label names, but for auto."""
    name = [part for part in labels[0].split(", ") if part != "auto"][-1]
    row = pick(results[0]["scenes"][0]["policies"], policy=name)
    if column == 1:
        return [1, row["value_s"]] if name == "easy-parametric" else ratio(row)
    return row["p95_s"] if column == 2 else [row["makespan_ratio"], row["makespan_low"], row["makespan_high"]]


OTHERS = ("load of 50", "110", "120", "five users", "60 jobs", "deadlines", "Alibaba, 100", "Alibaba, 60", "ten machines")


@reader("packing-network-others")
def packing_network_others(results, labels, head, column):
    """One call a row, in their order."""
    at = next(i for i, begin in enumerate(OTHERS) if labels[0].startswith(begin))
    found = results[at]["scenes"][0]["policies"]
    row = pick(found, policy="easy-sjf" if column == 3 else "easy-residual")
    return [row["makespan_ratio"], row["makespan_low"], row["makespan_high"]] if column == 2 else ratio(row)


ROOM = {"always": ",pass=-30", "if the wait": ",pass=3.32", "if it is": "easy-sjf", "never": "wspt", "and nobody": "strict-sjf"}


@reader("packing-room")
def packing_room(results, labels, head, column):
    found = results[(column - 1) // 2]["scenes"][0]["policies"]
    end = next(ROOM[begin] for begin in ROOM if labels[0].startswith(begin))
    row = next(one for one in found if one["policy"].endswith(end))
    return row["makespan_ratio"] if head[column] == "makespan" else row["ratio"]


@reader("packing-memory", labels=2)
def packing_memory(results, labels, head, column):
    """The built-in numbers without l_size are written out in the calls."""
    if head[column] == "paper":
        return None
    found = results[("TPC-H", "TPC-H, 60 jobs, 4 seeds", "Alibaba").index(labels[0])]["scenes"][0]
    if labels[1] == "lower bound":
        return found["lower_bound_s"] / found["policies"][0]["jct_s"]
    written = [row for row in found["policies"] if row["policy"].startswith("parametric:")]
    if labels[1].startswith("parametric:1,"):
        return ratio(next(row for row in written if row["policy"] == "parametric:1,0,0,0,0,900,1,0,1"))
    if labels[1] == "parametric:TRAINED":
        return ratio(next(row for row in written if ",fit=0.0682," in row["policy"]))
    if "fit=1" in labels[1]:
        return ratio(next(row for row in written if row["policy"].endswith(",fit=1")))
    return ratio(written[0] if "l_size" in labels[1] else pick(found["policies"], policy=labels[1]))


PACKING = {"TPC-H, four resources, stream at 85 % load": "graphene-tpch", "the same, 60 jobs at once": "graphene-batch-tpch",
           "Alibaba v2018, stream at 85 % load": "graphene-alibaba", "Alibaba v2018, 60 jobs at once": "graphene-batch-alibaba"}


@reader("packing-ratios", labels=2)
def packing(results, labels, head, column):
    scene = PACKING.get(labels[0], "graphene-batch-tpch")
    if labels[0] == "the same, 30 jobs at once" or "weights" in labels[1] and "paper" not in labels[1]:
        return None # another call
    name = name_of(labels[1])
    found = pick([one for result in results for one in result["scenes"]], scene=scene)["policies"]
    if "paper's weights" in labels[1]:
        row = next(one for one in found if one["policy"].startswith("graphene:"))
    else:
        row = pick(found, policy=name)
    return ratio(row) if head[column].startswith("mean") else [row["makespan_ratio"], row["makespan_low"], row["makespan_high"]]


@reader("packing-loads")
def packing_loads(results, labels, head, column):
    result = [results[("50", "85", "110", "120", "200").index(labels[0].split(" ")[0])]]
    row = policy(result, "graphene-tpch", "easy-sjf" if column < 3 else "graphene" if column < 5 else "capacity")
    makespan = [row["makespan_ratio"], row["makespan_low"], row["makespan_high"]]
    return [row["ratio"], row["makespan_ratio"]] if column == 5 else makespan if head[column] == "makespan" else ratio(row)


@reader("packing-users")
def users(results, labels, head, column):
    name = "graphene:kappa=" + labels[0].split(" ")[0]
    found = pick(results[0]["scenes"], scene="graphene-users")["policies"]
    row = next(one for one in found if one["policy"] == name or one["policy"] == "graphene" and "built in" in labels[0])
    return ratio(row) if column == 1 else row["jain"] if column == 4 else None # deficits are in the text alone


# ---- scripts, which print text ----

@reader("packing-alone")
def alone(results, labels, head, column):
    """Blocks "KIND, N", then lines "  POLICY  MEAN  worst MAX"."""
    block = results[0].split(head[column].removesuffix("s"))[1].split("\n", 1)[1]
    found = re.search(r"^ +%s +([\d.]+) +worst ([\d.]+)$" % re.escape(name_of(labels[0])), block, re.M)
    if not found:
        raise KeyError(labels[0])
    return [float(value) for value in found.groups()]


@reader("online-arrivals")
def arrivals(results, labels, head, column):
    """Lines "KIND POLICY SECONDS"."""
    if column == 3:
        return None # of the file
    names = {1: ["decima-fair"], 2: ["decima-wfair:-1", "decima-wfair:-0.8"], 4: ["parametric"], 5: ["parametric:stream"]}[column]
    kind = "batch" if "batches" in labels[0] else "stream"
    rows = [line.split() for line in results[0].splitlines()]
    return None if column == 5 else min(float(row[2]) for row in rows if row[0].startswith(kind) and row[1] in names)
