"""Readers of the tables of bench/learned (simulated.py says what a reader is)."""
from simulated import pick, policy, ratio, registrar

READERS = {}
reader = registrar(READERS)


@reader("networks", labels=2)
def networks(results, labels, head, column):
    part = pick(results[0]["parts"], part="networks")
    rows = [row for row in part["rows"] if row["network"] == labels[0].split(",")[0] and row["policy"] == labels[1].split(",")[0]
            and row["scene"].endswith("-stream") == ("stream" in labels[0])]
    row = pick(rows, control="weights shuffled") if column == 2 else next(row for row in rows if row["control"] != "weights shuffled")
    return ratio(row)


@reader("weights", "learned-own", "weights-parts")
def weights(results, labels, head, column):
    """Columns of batches and of streams; a cell of a ratio, or of seconds. A row may name a policy for each."""
    if "paper" in labels[0]:
        return None
    is_stream = "stream" in head[column]
    names = [name.strip() for name in labels[0].split(" or ")]
    row = policy(results, "decima-stream" if is_stream else "decima-batch", names[-1 if is_stream else 0])
    return row["value_s"] if head[column].endswith(", s") else ratio(row)


EDGES = ("", "", "edges-greedy", "edges", "edges-random", "edges-tetris", "random-tetris", "edges-best", "random-best", "best")


@reader("edges")
def edges(results, labels, head, column):
    row = pick(pick(results[0]["parts"], part="edges")["settings"], setting=labels[0])
    if column == 1:
        return None # the paper's
    return row["bound"] if head[column] == "bound" else row[EDGES[column]]["over_cp"]


@reader("learned-lachesis")
def learned_lachesis(results, labels, head, column):
    rows = [row for row in pick(results[0]["parts"], part="lachesis")["rows"] if row["table"] == labels[0].split(" (")[0]]
    if head[column].startswith("room"):
        return pick(rows, contender="lachesis")["gap"]
    return pick(rows, contender=head[column])["below_heft"]


@reader("budget")
def budget(results, labels, head, column):
    """Percent and interval; of a row of several settings nothing."""
    row = next((row for row in pick(results[0]["parts"], part="budget")["rows"] if row["setting"] == labels[0]), None)
    if row is None or column == 1:
        return None
    beside = "best, as long as lachesis 1" if "best" in head[column] else row["rule"]["planner"]
    found = row["lachesis 1 over " + beside]
    return [found["percent"], found["interval"]]
