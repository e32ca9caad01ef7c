"""Clotho: plans and runs task graphs on heterogeneous multicore systems.

Graph, Platform, Cost; plan(), Plan; simulate(), simulate_stream(), Workload; Runtime, run(); Planner and Policy of your own; compare();
clotho.plot; clotho.rpc, where libclotho-rpc is. Times are whole nanoseconds, sizes bytes. Every failure is an exception of clotho.errors
with the library's line."""
import importlib

from clotho import errors, library
from clotho.bodies import Call, Symbol
from clotho.cost import Cost
from clotho.errors import Error, Interrupted
from clotho.graph import EDGE, TASK, Graph, load
from clotho.library import NONE, TIME_NEVER
from clotho.plan import Plan, pipeline, plan
from clotho.planners import PLACEMENT, Planner, Schedule
from clotho.platform import Platform
from clotho.policies import Choice, Event, Policy, View
from clotho.run import Job, Runtime, run
from clotho.simulate import EVENT, OUTCOME, Result, StreamResult, simulate, simulate_stream
from clotho.table import Table, compare
from clotho.workload import Workload

__version__ = library.text(library.lib.clo_version())
__all__ = [
    "EDGE", "EVENT", "NONE", "OUTCOME", "PLACEMENT", "TASK", "TIME_NEVER", "Call", "Choice", "Cost", "Error", "Event", "Graph",
    "Interrupted", "Job", "Plan", "Planner", "Platform", "Policy", "Result", "Runtime", "Schedule", "StreamResult", "Symbol", "Table",
    "View", "Workload", "compare", "errors", "load", "names", "pipeline", "plan", "plot", "run", "simulate", "simulate_stream"]


def names(registry):
    """{name: summary} of "planners", "policies", "platforms", "families", "formats", "models" ..."""
    entry, found = library.config("clo_entry", {}), {}
    index, name = 0, library.encoded(registry, "registry")
    while library.lib.clo_registry_entry(name, index, entry):
        found[library.text(entry.name)] = library.text(entry.summary)
        index += 1
    if not found:
        raise errors.ArgumentError("there is no registry '%s': planners, policies, platforms, families, formats, models" % registry)
    return found


def __getattr__(name):
    if name in ("plot", "rpc"):
        return importlib.import_module("clotho." + name)
    raise AttributeError("module 'clotho' has no attribute '%s'" % name)
