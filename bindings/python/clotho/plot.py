"""Pictures by matplotlib: Gantt charts, and what compare() has found. Each takes and returns matplotlib's Axes."""
from clotho import errors
from clotho.plan import Plan


def _axes(axes, **size):
    pyplot = errors.optional("matplotlib.pyplot", "python3-matplotlib", "clotho.plot")
    return axes if axes is not None else pyplot.subplots(layout="constrained", **size)[1]


def _unit(longest_ns):
    """(factor, name) of the unit that suits a length."""
    for factor, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if longest_ns >= factor:
            return factor, name
    return 1, "ns"


def gantt(what, *, axes=None, title=None, labels=None):
    """A Gantt chart of a Plan or of a Result with a trace: a row for each executor, replicas hatched.
    labels  the tasks' names in the boxes that have room; None: where there are at most 60."""
    is_plan = isinstance(what, Plan)
    rows, executors = what.placements if is_plan else what.events, what.cost.platform.executors
    axes = _axes(axes, figsize=(10, 0.4 * len(executors) + 1.2))
    factor, unit = _unit(int(rows["finish_ns"].max()) if len(rows) else 0)
    names = what.cost.graph.names()
    labels = len(rows) <= 60 if labels is None else labels
    classes = what.cost.graph.tasks()["task_class"]
    for replica in (0, 1):
        chosen = rows[rows["is_replica"] == replica]
        if len(chosen):
            bars = axes.barh(chosen["executor"], (chosen["finish_ns"] - chosen["start_ns"]) / factor, left=chosen["start_ns"] / factor,
                             height=0.8, color=["C%d" % (classes[t] % 10) for t in chosen["task"]], alpha=0.6, edgecolor="white",
                             linewidth=0.5,
                             hatch="///" if replica else None)
            if labels:
                widths = (chosen["finish_ns"] - chosen["start_ns"]) / max(int(rows["finish_ns"].max()), 1)
                texts = [names[t] if width * 160 > len(names[t]) else "" for t, width in zip(chosen["task"], widths)]
                axes.bar_label(bars, texts, label_type="center", fontsize=7)
    axes.set_yticks(range(len(executors)), executors)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title or ("%s by %s: %.4g %s" % (what.cost.graph.name, what.planner, what.makespan_ns / factor, unit) if is_plan
                             else "%s: %.4g %s" % (what.cost.graph.name, what.makespan_ns / factor, unit)))
    return axes


def ratios(table, *, axes=None, title=None):
    """What compare() has found: for each planner the spread of makespan / lower bound over the graphs, the best planner first."""
    axes, order = _axes(axes, figsize=(8, 4.5)), list(table.by_planner())
    spread = [[row["makespan_ns"] / max(row["lower_bound_ns"], 1) for row in table.rows if row["planner"] == name and row["error"] is None]
              for name in order]
    axes.boxplot(spread, vert=False, labels=order, whis=(5, 95), showfliers=False)
    axes.invert_yaxis()
    axes.axvline(1, color="0.6", linewidth=0.8)
    axes.set_xlabel("makespan / lower bound; boxes: quartiles, whiskers: 5 % and 95 %")
    axes.set_title(title or "%d graphs" % len({row["index"] for row in table.rows}))
    return axes


def completions(results, *, axes=None, title=None):
    """{name: StreamResult}: the part of the jobs that has completed within a time, one line each."""
    axes = _axes(axes, figsize=(8, 4.5))
    factor, unit = _unit(max((int(result.jct_ns.max()) for result in results.values() if len(result.jct_ns)), default=0))
    for name, result in results.items():
        times = sorted((result.jct_ns / factor).tolist())
        if times:
            axes.step(times, [(k + 1) / len(times) for k in range(len(times))], where="post",
                      label="%s (mean %.4g %s)" % (name, sum(times) / len(times), unit))
    axes.set_xlabel("job completion time, %s" % unit)
    axes.set_ylabel("part of the jobs")
    axes.set_title(title or "job completion times")
    axes.legend(fontsize=8)
    return axes
