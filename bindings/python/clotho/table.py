"""Many planners and policies on many graphs, in one table."""
import collections
import math
import time

from clotho import errors
from clotho.cost import as_cost
from clotho.plan import plan as make_plan
from clotho.simulate import simulate

COLUMNS = ("graph", "tasks", "platform", "planner", "makespan_ns", "lower_bound_ns", "gap", "slr", "speedup", "utilization", "transfers",
           "transferred_bytes", "duplicates", "schedules", "optimal", "plan_ns", "error")


class Table:
    """Rows of compare(): a list of dicts, as a pandas DataFrame `frame`, and means by planner."""

    def __init__(self):
        self.rows = []

    @property
    def frame(self):
        """The rows as a pandas DataFrame."""
        return errors.optional("pandas", "python3-pandas", "Table.frame").DataFrame(self.rows, columns=COLUMNS)

    def by_planner(self):
        """{planner: dict of graphs, refused, ratio (geometric mean of makespan / lower bound), best (graphs where none is shorter),
        plan_ns (mean)}, the lowest ratio first; ratios are of graphs that the planner has planned."""
        shortest, groups = collections.defaultdict(lambda: math.inf), collections.defaultdict(list)
        for row in self.rows:
            groups[row["planner"]].append(row)
            if row["error"] is None:
                shortest[row["index"]] = min(shortest[row["index"]], row["makespan_ns"])
        found = {}
        for planner, rows in groups.items():
            good = [row for row in rows if row["error"] is None]
            logs = [math.log(max(row["makespan_ns"], 1) / max(row["lower_bound_ns"], 1)) for row in good]
            found[planner] = {
                "graphs": len(good), "refused": len(rows) - len(good), "ratio": math.exp(sum(logs) / len(logs)) if logs else math.nan,
                "best": sum(row["makespan_ns"] == shortest[row["index"]] for row in good),
                "plan_ns": sum(row["plan_ns"] for row in good) / len(good) if good else math.nan}
        return dict(sorted(found.items(), key=lambda item: (math.isnan(item[1]["ratio"]), item[1]["ratio"])))

    def __str__(self):
        lines = ["%-24s %7s %8s %8s %6s %12s" % ("planner", "graphs", "refused", "ratio", "best", "ms a plan")]
        lines += ["%-24s %7d %8d %8.4f %6d %12.3f" % (name, row["graphs"], row["refused"], row["ratio"], row["best"], row["plan_ns"] / 1e6)
                  for name, row in self.by_planner().items()]
        return "\n".join(lines)

    def __len__(self):
        return len(self.rows)


def _name(what):
    if isinstance(what, str):
        return what
    return getattr(what, "name", None) or getattr(what, "__name__", type(what).__name__)


def _planned(cost, planner, fields):
    begin = time.perf_counter_ns()
    made = make_plan(cost, planner=planner, **fields)
    row = {"plan_ns": time.perf_counter_ns() - begin}
    row.update(made.check().measure(), planner=made.planner, schedules=made.schedules)
    row["optimal"] = made.is_optimal or row["gap"] <= 0
    return row


def _decided(cost, policy, _):
    begin = time.perf_counter_ns()
    result = simulate(cost, policy=policy)
    row = {"plan_ns": time.perf_counter_ns() - begin}
    row.update(result.plan().check(is_measured=True).measure(), planner="policy " + _name(policy), schedules=0)
    row["optimal"] = row["gap"] <= 0
    return row


def compare(graphs, platform=None, planners=("heft", "deft"), policies=(), *, keep_going=False, **fields):
    """Plans each graph with each planner (a name, a Planner, or a function), simulates it under each policy (a name, a Policy, or a
    function), checks each plan and each run with the independent checker, and returns a Table. Policies are the rows "policy NAME";
    they decide while the graph runs, so their makespans are simulated, and plan_ns is what the simulation took.

    fields      of plan().
    keep_going  what fails on a graph has a row with `error`, in place of an exception.
    Ctrl-C: Interrupted.result is the table so far."""
    table = Table()
    asked = [(_planned, planner, "") for planner in planners] + [(_decided, policy, "policy ") for policy in policies]
    try:
        for index, graph in enumerate(graphs):
            cost = as_cost(graph, platform)
            for ask, what, prefix in asked:
                row = {"index": index, "graph": cost.graph.name, "tasks": len(cost.graph), "platform": cost.platform.name, "error": None}
                try:
                    row.update(ask(cost, what, fields))
                except Exception as error:  # pylint: disable=broad-except # of an own planner any
                    if not keep_going or isinstance(error, errors.OutOfMemory):
                        raise
                    row.update(planner=prefix + _name(what), error="%s: %s" % (type(error).__name__, error))
                table.rows.append(row)
    except KeyboardInterrupt:
        raise errors.Interrupted(table) from None
    return table
