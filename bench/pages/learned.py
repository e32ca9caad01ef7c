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
