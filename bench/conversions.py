"""Conversions of bench/sets.py that need more than one source, or read what Python has pickled. A maker gets a function from a path to the
bytes of a file for each repository of its set, and yields (path, bytes) of each file of the set."""
import ast
import collections
import csv
import hashlib
import io
import json
import math
import pickle
import re
import struct
import zipfile

SOLVERS = ("CPO-4W", "Optal-4W-2FDS", "cpo-4w-2fds")


class Refused(ValueError):
    """A file that does what no data do."""


def line(row):
    return json.dumps(row, separators=(",", ":")) + "\n"


def is_open(name):
    """Three of five jobs: the others are kept aside."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 5 < 3


# ---- psplib: bounds of several solvers ----

def whole(text):
    try:
        return int(float(text))
    except ValueError:
        return None


def solved(texts):
    """{project: (greatest lower bound, least makespan)} of tables of solvers, one line a run."""
    bounds = {}
    for text in texts:
        for row in csv.DictReader(io.StringIO(text), delimiter=";"):
            found = re.fullmatch(r"rcpsp_j\d+_(j\w+)", row["Model name"])
            if found:
                bounds[found.group(1)] = tighter(bounds.get(found.group(1), (None, None)), (whole(row["Lower bound"]), whole(row["Objective"])))
    return bounds


def tighter(a, b):
    lower, upper = [x for x in (a[0], b[0]) if x is not None], [x for x in (a[1], b[1]) if x is not None]
    return max(lower, default=None), min(upper, default=None)


def record_list(text):
    """{project: (None, makespan)} of PSPLIB's list of the best known j90."""
    rows = re.findall(r"^(\d+)\s+(\d+)\s+(\d+)\s", text, re.M)
    return {"j90%s_%s" % (cell, rep): (None, int(best)) for cell, rep, best in rows}


def make_projects(kind, cells, read_sm, bounds, source):
    text = ""
    for cell in range(1, cells + 1):
        for rep in range(1, 7):
            name = "%s%d_%d" % (kind, cell, rep)
            project = read_sm(source("data/rcpsp/%s.sm/%s.sm" % (kind, name)).decode())
            text += line({"name": name, "param": cell, "rep": rep, **project, "lb": bounds[name][0], "ub": bounds[name][1]})
    return "psplib/%s.jsonl" % kind, text.encode()


def make_large_projects(read_sm, read_optima, projects, solvers, records):
    """j60, j90 and j120, with the tightest bounds of three sources."""
    found = solved(solvers("benchmarks/rcpsp/results/%s.csv" % name).decode() for name in SOLVERS)
    best = record_list(records("rcpsp/instances/j90hrs.sm").decode())
    for kind, cells in (("j60", 48), ("j90", 48), ("j120", 60)):
        bounds = read_optima(projects("data/rcpsp/%s.sm/optimum/optimum.csv" % kind).decode())
        for name in bounds:
            bounds[name] = tighter(tighter(bounds[name], found.get(name, (None, None))), best.get(name, (None, None)))
        yield make_projects(kind, cells, read_sm, bounds, projects)


# ---- alibaba: jobs of the traces v2017 and v2018 ----

class Task:
    """What the trace's pickle has for a task: a tuple, or attributes."""

    def __new__(cls, *values):
        made = object.__new__(cls)
        made.values = values
        return made


class Jobs(pickle.Unpickler):
    """Lists, dicts and tasks. Nothing else is called, whatever the file says."""

    def find_class(self, module, name):
        known = {"collections.defaultdict": collections.defaultdict, "builtins.list": list, "__main__.Task": Task,
                 "data.alibaba_loader.Task": Task}
        if "%s.%s" % (module, name) not in known:
            raise Refused("the file calls %s.%s, which no data do" % (module, name))
        return known["%s.%s" % (module, name)]


def task_row(task):
    """None: the trace does not say everything."""
    if task.values:
        name, _, instances, _, start, end, seconds, cpu, memory = task.values
        used = {}
    else:
        name, instances, start, end = task.name, task.instances, task.start_time, task.end_time
        seconds, cpu, memory = task.actual_duration, task.cpu_requested, task.mem_requested
        used = {"cpu_used": round(task.cpu_usage, 4), "mem_used": round(task.mem_usage, 4)}
    if any(math.isnan(value) for value in (instances, seconds, cpu, memory)):
        return None
    number, parents = re.match(r"[A-Za-z]+(\d+)((?:_\d+)*)", name).groups()
    return {"id": int(number), "name": name, "parents": [int(parent) for parent in parents.split("_")[1:]], "instances": int(instances),
            "start": start, "end": end, "dur": round(float(seconds), 3), "cpu": round(cpu / 100, 4), "mem": memory, **used}


def make_batch_jobs(source):
    """Jobs of v2017 without edges, all of whose tasks have ended and say what they demand; three of five, by a hash of the number."""
    jobs = {}
    for row in list(csv.reader(io.StringIO(source("batch_task.csv").decode()), skipinitialspace=True))[1:]:
        jobs.setdefault(int(row[2]), []).append([cell.strip() for cell in row])
    text = "job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm\n"
    for job in sorted(job for job in jobs if (job * 2654435761 >> 7) % 5 < 3):
        if all(row[5] == "Terminated" and len(row) > 7 and row[6] and row[7] for row in jobs[job]):
            for begin, end, _, task, instances, _, cpu, memory in sorted(jobs[job], key=lambda row: int(row[3])):
                text += "%d,%s,%s,%d,%s,%g,%s\n" % (job, task, begin, int(end) - int(begin), instances, int(cpu) / 100, memory)
    yield "alibaba/v2017_batch_jobs.csv", text.encode()


def make_alibaba(source, batch):
    yield from make_batch_jobs(batch)
    for pickled, path in (("alibaba_set_0_6600_dags.pkl", "v2018_dag_sample6600"), ("medium_filtered.pkl", "v2018_dag_medium3690")):
        text = ""
        for job, tasks in Jobs(io.BytesIO(source("traces/alibaba-cluster-trace-v2018/" + pickled))).load().items():
            rows = [task_row(task) for task in tasks] if is_open(job) else [None]
            if None not in rows:
                text += line({"job": job, "tasks": sorted(rows, key=lambda row: row["id"])})
        yield "alibaba/%s.jsonl" % path, text.encode()


# ---- decima_model: weights ----

class Weights(pickle.Unpickler):
    """Where the numbers of each tensor lie. Nothing else is called, whatever the file says."""

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, begin, shape, strides, *_: (storage[2], begin, shape)
        if name not in ("OrderedDict", "FloatStorage"):
            raise Refused("the file calls %s.%s, which no data do" % (module, name))
        return collections.OrderedDict if name == "OrderedDict" else name

    def persistent_load(self, pid):
        return pid


def make_decima(source):
    file = zipfile.ZipFile(io.BytesIO(source("models/decima/model.pt")))
    root, tensors = file.namelist()[0].split("/")[0], {}
    for name, (key, begin, shape) in Weights(io.BytesIO(file.read(root + "/data.pkl"))).load().items():
        count = math.prod(shape)
        numbers = struct.unpack_from("<%df" % count, file.read("%s/data/%s" % (root, key)), 4 * begin)
        tensors[name] = {"shape": list(shape), "data": [float("%.9g" % number) for number in numbers]}
    model = {"source": "ArchieGertsman/spark-sched-sim models/decima/model.pt (MIT, (c) 2023 Arkadiy Gertsman), commit "
                       "2ba8d80c2ce57ccb4f20e753476a69295db223c9",
             "config": {"num_executors": 50, "embed_dim": 16, "gnn_mlp": {"hid_dims": [32, 16], "act": "LeakyReLU(0.2)"},
                        "policy_mlp": {"hid_dims": [64, 64], "act": "Tanh"}, "num_node_features": 5, "num_tasks_scale": 200,
                        "work_scale": 1e5},
             "state_dict": tensors}
    yield "decima_model/decima_weights.json", json.dumps(model, separators=(",", ":")).encode()


# ---- pylot_av: a pipeline and how long its callbacks took ----

def make_pylot(source):
    """The first three of five frames, in the order of their names."""
    folder = "profiles/workload/"
    events = json.loads(source(folder + "pylot_profile.json"))
    begin = min(event["ts"] for event in events)
    rows = sorted((event["name"], re.search(r"\d+", event["args"]["timestamp"]).group(), event["ts"] - begin, event["dur"]) for event in events)
    frames = sorted({row[1] for row in rows})
    kept = set(frames[:int(len(frames) * 0.6)])
    yield "pylot_av/pylot_callbacks.csv", ("callback,frame,ts_us,dur_us\n" + "".join("%s,%s,%d,%d\n" % row for row in rows if row[1] in kept)).encode()
    graph, = json.loads(source(folder + "pylot-workload-profile.json"))
    needs = json.loads(source(folder + "pylot_1_camera_1_lidar_resource_profile.json"))
    yield "pylot_av/pylot_graph.json", json.dumps({
        "source": "erdos-project/erdos-scheduling-simulator profiles/workload (MIT, (c) 2024 DAGSched): Pylot autonomous-driving pipeline",
        "graph": {"name": graph["name"], "release_policy": graph["release_policy"], "period_ms": graph["period"],
                  "operators": [{"name": one["name"], "children": one.get("children", []),
                                 "resources": one["execution_strategies"][0]["resource_requirements"]} for one in graph["graph"]]},
        "callback_resources": {one["name"]: one["resource_requirements"] for one in needs}}, indent=1).encode()


# ---- tpch_packing: lists of queries ----

def first_waves(times):
    """Without the fresh durations, as the lists' authors do; where nothing is left, those of the next smaller count."""
    clean, last = {}, []
    for count, first in times["first_wave"].items():
        fresh = collections.Counter(times["fresh_durations"][count])
        clean[count] = []
        for time in first:
            if fresh[time] > 0:
                fresh[time] -= 1
            else:
                clean[count].append(time)
    for count in sorted(clean):
        last = clean[count] = clean[count] or last
    return clean


def read_packing_query(read_npy, source, size, query):
    """([(duration in us, tasks)], edges) of a query."""
    matrix = read_npy(source("dag_data/tpch/%s/adj_mat_%d.npy" % (size, query)))
    stages, times_of = [], read_npy(source("dag_data/tpch/%s/task_duration_%d.npy" % (size, query)))
    for stage in range(len(matrix)):
        times = times_of[stage]
        some = next(iter(times["first_wave"]))
        waves = (first_waves(times), times["rest_wave"], times["fresh_durations"])
        all_of = [time for wave in waves for list_of in wave.values() for time in list_of]
        stages.append((round(1000 * sum(all_of) / len(all_of)), len(times["first_wave"][some]) + len(times["rest_wave"][some])))
    return stages, [(a, b) for a in range(len(matrix)) for b in range(len(matrix)) if matrix[a][b] == 1]


def make_packing(read_npy, source):
    """The first five test lists of each size."""
    text, queries = source("dag_data/dag_dict.py").decode(), {}
    lists = ast.literal_eval(text[text.index("dag_data_dict = ") + len("dag_data_dict = "):])
    for jobs in (50, 100, 150):
        text = ""
        for number, chosen in enumerate(lists[jobs][1][:5]):
            stages, edges = [], []
            for size, query in chosen:
                if (size, query) not in queries:
                    queries[size, query] = read_packing_query(read_npy, source, size, query)
                edges += [[a + len(stages), b + len(stages)] for a, b in queries[size, query][1]]
                stages += queries[size, query][0]
            text += line({"name": "tpch%d_%d" % (jobs, number), "jobs": len(chosen), "n": len(stages), "capacity": [6000],
                          "duration_us": [time for time, _ in stages], "demand": [[tasks] for _, tasks in stages], "edges": edges})
        yield "tpch_packing/tpch%d.jsonl" % jobs, text.encode()
