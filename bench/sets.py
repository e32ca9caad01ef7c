#!/usr/bin/env python3
"""Gets the public data sets of the benchmarks that a folder lacks: clones their sources with git, converts, and compares checksums.

usage: bench/sets.py [FOLDER] [--only SET]... [--clones DIR] [--check]

FOLDER is where the benchmarks look (--data), ../shared/data if it is left out. What is there stays as it is. A file is written
whole, and only if it has the checksum of the one that the tables of the pages were made of. At the end the sets that could not be
had are named once, with where they come from. Exit status: 0 all is there, 1 something is missing, 2 wrong usage.

Needs python3 and git, and the network unless --clones names a folder with clones, OWNER/NAME in it. Licences are those of the
sources: look at them before you pass a file on."""
import argparse
import contextlib
import functools
import hashlib
import io
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import tempfile

import conversions

HOST = "https://github.com/"
ERDOS = "62c1480fe2494e6c69b0c22d505b5c5ff5b45125"
TPCH_SIZES = (2, 5, 10, 20, 50, 80, 100)

# What is not converted here: set -> where it comes from. bench programs leave its tables out, with a line.
OTHERS = {
    "saga_reference": "made by SAGA 2.1.0 (github.com/ANRGUSC/saga, not for commerce) from generated graphs",
    "rpc_callgraph": "call graphs of the Alibaba microservice trace, github.com/dufanrong/DGG",
}


class Wrong(Exception):
    """Something that is not as it should be, as one line."""


def line(row):
    return json.dumps(row, separators=(",", ":")) + "\n"


# ---- stg: Standard Task Graphs ----

def read_stg(text):
    """(times, predecessors, what the comments say by name) of a .stg file."""
    rows = [[int(word) for word in row.split()] for row in text.splitlines() if row.strip() and not row.startswith("#")]
    comments = dict(re.findall(r"^#\s*([^:\n]*?)\s*:\s*(.*?)\s*$", text, re.M))
    tasks = rows[1:]
    if len(tasks) != rows[0][0] + 2 or any(len(row) != 3 + row[2] for row in tasks):
        raise Wrong("no .stg file with %d tasks and two dummies" % rows[0][0])
    return [row[1] for row in tasks], [sorted(row[3:]) for row in tasks], comments


def longest_path(times, predecessors):
    """Tasks stand behind their predecessors."""
    ends = []
    for time, before in zip(times, predecessors):
        ends.append(time + max((ends[p] for p in before), default=0))
    return max(ends)


def make_stg(source):
    """Three of five graphs: the others are kept aside."""
    for size in (50, 100):
        optimal = {}
        for executors in (2, 4, 8, 16):
            for row in source("Optimal_values/Case%d_%d_OPT.csv" % (size, executors)).decode().split():
                name, _, best = row.split(",")[:3]  # behind that, remarks
                optimal.setdefault(name, {})[str(executors)] = int(best)
        text = ""
        for k in (k for k in range(180) if k % 5 < 3):
            name = "%d/rand%04d" % (size, k)
            times, before, comments = read_stg(source(name + ".stg").decode())
            text += line({"name": name, "n": len(times), "edges": sum(map(len, before)), "proc_time": times, "pred": before,
                          "cp": longest_path(times, before), "work": sum(times),
                          "generator": comments["Precedence constraints generator"],
                          "time_generator": comments["Task processing time generator"], "optimal": optimal[name + ".stg"]})
        yield "stg/stg%d.jsonl" % size, text.encode()


# ---- psplib: resource-constrained projects ----

def read_sm(text):
    """A project of a .sm file, without its name."""
    def section(head, end):
        return [[int(word) for word in row.split()] for row in text.split(head)[1].split(end)[0].splitlines()[2:] if re.match(r"^[\s\d]+\d", row)]

    count = int(re.search(r"jobs .*?:\s*(\d+)", text).group(1))
    after = section("PRECEDENCE RELATIONS:", "***")
    needs = section("REQUESTS/DURATIONS:", "***")
    capacity = section("RESOURCEAVAILABILITIES:", "***")
    capacity = capacity if capacity else [[int(w) for w in text.split("RESOURCEAVAILABILITIES:")[1].split("\n")[2].split()]]
    if len(after) != count or len(needs) != count:
        raise Wrong("no .sm file with %d jobs" % count)
    return {"n": count, "capacity": capacity[0], "horizon": int(re.search(r"horizon\s*:\s*(\d+)", text).group(1)),
            "duration": [row[2] for row in needs], "demand": [row[3:] for row in needs],
            "successors": [[job - 1 for job in row[3:]] for row in after]}


def read_optima(text):
    """{name: (lower, upper)}; None where nothing is said. A swapped pair is put right."""
    bounds = {}
    for row in text.splitlines()[1:]:
        name, value = row.split(",")[:2]
        low, high = value.split("..") if ".." in value else (value, value)
        pair = (int(low) if low else None, int(high) if high else None)
        bounds[re.sub(r"\.sm$", "", name)] = tuple(sorted(pair)) if None not in pair else pair
    return bounds


def make_psplib(source, solvers, records):
    """The projects 1 to 6 of each cell: the others are kept aside. j30 is proved."""
    yield conversions.make_projects("j30", 48, read_sm, read_optima(source("data/rcpsp/j30.sm/optimum/optimum.csv").decode()), source)
    yield from conversions.make_large_projects(read_sm, read_optima, source, solvers, records)


# ---- tpch: queries measured on Spark ----

class Arrays(pickle.Unpickler):
    """Reads the lists, dicts and numbers of numpy's files of objects. Nothing else is called, whatever the file says."""

    class Array:
        def __setstate__(self, state):
            self.content = state[4]

    class Type:
        def __setstate__(self, state):
            pass

    def find_class(self, module, name):
        known = {"numpy.core.multiarray._reconstruct": lambda *_: Arrays.Array(), "numpy.ndarray": Arrays.Array,
                 "numpy.dtype": lambda *_: Arrays.Type()}
        if "%s.%s" % (module, name) not in known:
            raise Wrong("the file calls %s.%s, which no data do" % (module, name))
        return known["%s.%s" % (module, name)]


def read_npy(data):
    """A file of numpy: an object (dict), or rows of numbers."""
    if data[:6] != b"\x93NUMPY":
        raise Wrong("no file of numpy")
    length = struct.unpack("<H", data[8:10])[0] if data[6] == 1 else struct.unpack("<I", data[8:12])[0]
    start = (10 if data[6] == 1 else 12) + length
    head = data[10:start].decode("latin-1")
    kind = re.search(r"'descr': '([^']*)'", head).group(1)
    if kind == "|O":
        return Arrays(io.BytesIO(data[start:]), encoding="latin-1").load().content[0]
    if kind not in ("<f8", "<i8") or "'fortran_order': False" not in head:
        raise Wrong("numbers of kind %s" % kind)
    rows, columns = map(int, re.search(r"'shape': \((\d+), (\d+)\)", head).groups())
    numbers = struct.unpack("<%d%s" % (rows * columns, "d" if kind == "<f8" else "q"), data[start:])
    return [numbers[columns * row:columns * (row + 1)] for row in range(rows)]


def by_executors(times):
    return {str(count): [int(time) for time in times[count]] for count in sorted(times)}


def read_query(source, size, query):
    parts = {part: read_npy(source("spark_env/tpch/%dg/%s_%d.npy" % (size, part, query)))
             for part in ("adj_mat", "task_duration", "stage_id_to_node_idx_map")}
    matrix, times = parts["adj_mat"], parts["task_duration"]
    spark, stages = {node: stage for stage, node in parts["stage_id_to_node_idx_map"].items()}, []
    for node in range(len(matrix)):
        first, rest = times[node]["first_wave"], times[node]["rest_wave"]
        some = next(iter(first))
        stages.append({"id": node, "spark_stage": spark[node], "n_tasks": len(first[some]) + len(rest[some]),
                       "fresh": by_executors(times[node]["fresh_durations"]), "first": by_executors(first), "rest": by_executors(rest)})
    edges = [[a, b] for a in range(len(matrix)) for b in range(len(matrix)) if matrix[a][b] == 1]
    return {"job": "tpch-%dg-%d" % (size, query), "query": query, "size_gb": size, "n_stages": len(matrix), "edges": edges, "stages": stages}


def stage_rows(job):
    """Rows of stages.csv: means over all executor counts; the first wave with the fresh ones."""
    parents = [[a for a, b in job["edges"] if b == stage] for stage in range(job["n_stages"])]
    level = {}
    while len(level) < len(parents):  # ends: a query has no circle, so each turn finds a level
        ready = [stage for stage in range(len(parents)) if stage not in level and all(p in level for p in parents[stage])]
        if not ready:
            raise Wrong("%s has a circle" % job["job"])
        level.update({stage: max((level[p] + 1 for p in parents[stage]), default=0) for stage in ready})
    for stage in job["stages"]:
        times = {wave: [time for some in stage[wave].values() for time in some] for wave in ("rest", "first", "fresh")}
        means = [round(sum(some) / len(some), 1) if some else "" for some in times.values()]
        both = times["rest"] + times["first"]
        yield (job["query"], "%dg" % job["size_gb"], stage["id"], stage["n_tasks"], " ".join(map(str, parents[stage["id"]])),
               level[stage["id"]], *means, min(both), max(both), len(both))


# The order of stages.csv.
QUERIES = ((2, 3, 7, 8, 9, 10, 11, 13, 14, 15, 17, 18, 19), (1, 4, 5, 6, 12, 16, 20, 21, 22))


def make_tpch(source):
    jobs = {(size, query): read_query(source, size, query) for size in TPCH_SIZES for query in range(1, 23)}
    for size in TPCH_SIZES:
        yield "tpch/tpch_%dg.jsonl" % size, "".join(line(jobs[size, query]) for query in range(1, 23)).encode()
    rows = [("query", "size", "stage", "n_tasks", "parents", "level", "mean_rest_ms", "mean_first_ms", "mean_fresh_ms", "min_ms", "max_ms",
             "samples")]
    for queries in QUERIES:
        for size in TPCH_SIZES:
            for query in queries:
                rows.extend(stage_rows(jobs[size, query]))
    yield "tpch/stages.csv", "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


# ---- wfformat: workflows of WfCommons ----

WORKFLOWS = (
    "helloworld/helloworld-chain-5-chameleon", "helloworld/helloworld-forkjoin-10-chameleon", "makeflow/blast/blast-chameleon-small-001",
    "makeflow/bwa/bwa-chameleon-large-001", "makeflow/bwa/bwa-chameleon-small-001", "nextflow/methylseq-dirt02-001",
    "nextflow/rnaseq-dirt02-001", "nextflow/sarek-dirt02-001", "pegasus/1000genome/1000genome-chameleon-2ch-100k-001",
    "pegasus/1000genome/1000genome-chameleon-8ch-250k-001", "pegasus/cycles/cycles-chameleon-1l-1c-9p-001",
    "pegasus/epigenomics/epigenomics-chameleon-hep-1seq-100k-001", "pegasus/epigenomics/epigenomics-chameleon-ilmn-3seq-100k-001",
    "pegasus/montage/montage-chameleon-2mass-005d-001", "pegasus/montage/montage-chameleon-dss-10d-001",
    "pegasus/montage/montage-chameleon-dss-15d-001", "pegasus/seismology/seismology-chameleon-300p-001",
    "pegasus/soykb/soykb-chameleon-10fastq-10ch-001", "pegasus/srasearch/srasearch-chameleon-10a-001")


def make_wfformat(source):
    for path in WORKFLOWS:
        yield "wfformat/%s.json" % os.path.basename(path), json.dumps(json.loads(source(path + ".json")), separators=(",", ":")).encode()


# ---- sources and files ----

class Source:
    def __init__(self, repository, commit, *folders):
        self.repository, self.commit, self.folders = repository, commit, folders


class Set:
    def __init__(self, make, *sources):
        self.make, self.sources = make, sources


SETS = {
    "stg": Set(make_stg, Source("thelonesailor/MSP", "672351f38bd3d4e59e3e2a29d8d28ddd2119888e", "50", "100", "Optimal_values")),
    "psplib": Set(make_psplib,
                  Source("ptal/kobe-scheduling", "a36af08de2bd5094424675d13ba32ed0015a725f",
                         *("data/rcpsp/%s.sm" % kind for kind in ("j30", "j60", "j90", "j120"))),
                  Source("ScheduleOpt/optalcp-benchmarks", "adcef15768749259db68e57b2744632848c70aa0",
                         *("benchmarks/rcpsp/results/%s.csv" % name for name in conversions.SOLVERS)),
                  Source("ScheduleOpt/benchmarks", "79f0edc1a2e95ed0e3cc105e79a6d03910a6d091", "rcpsp/instances/j90hrs.sm")),
    "tpch": Set(make_tpch, Source("hongzimao/decima-sim", "c010dd74ff4b7566bd0ac989c90a32cfbc630d84",
                                  *("spark_env/tpch/%dg" % size for size in TPCH_SIZES))),
    "wfformat": Set(make_wfformat, Source("wfcommons/WfInstances", "f085867f2f9d0b266835295605a6db2c434fe69b",
                                          *(path + ".json" for path in WORKFLOWS))),
    "tpch_packing": Set(functools.partial(conversions.make_packing, read_npy),
                        Source("Thinklab-SJTU/PPO-BiHyb", "dbb9a1a2613d8e306fa726089e2c294a29f9f133", "dag_data")),
    "alibaba": Set(conversions.make_alibaba,
                   Source("erdos-project/erdos-scheduling-simulator", ERDOS,
                          *("traces/alibaba-cluster-trace-v2018/" + name for name in ("alibaba_set_0_6600_dags.pkl", "medium_filtered.pkl"))),
                   Source("PriyadarshiniDas/Workload-Prediction-of-Alibaba-Cluster-Dataset", "53aa3e8cdc6017036590947b959e0cc4f6694f8f",
                          "batch_task.csv")),
    "pylot_av": Set(conversions.make_pylot, Source("erdos-project/erdos-scheduling-simulator", ERDOS,
                                                    *("profiles/workload/" + name for name in (
                                                        "pylot_profile.json", "pylot-workload-profile.json",
                                                        "pylot_1_camera_1_lidar_resource_profile.json")))),
    "decima_model": Set(conversions.make_decima, Source("ArchieGertsman/spark-sched-sim", "2ba8d80c2ce57ccb4f20e753476a69295db223c9",
                                                        "models/decima")),
}

CHECKSUMS = {
    "stg/stg50.jsonl": "6915a258e063b79d8f99842d05705fe1b47d53bae6f0c985de487392a3be2966",
    "stg/stg100.jsonl": "1a9d3132e5bbeab57779eef048a95ee77b8a0ddb6178c43586fc5f9fbeb53026",
    "psplib/j30.jsonl": "836dc11505a07c59881f9622119c0e0d7bd0d063365992aa7da96198047835f0",
    "tpch/tpch_2g.jsonl": "b4790294b7f1f95bc018039eb1d0a29ce23cd9186817cf482d18689897664a81",
    "tpch/tpch_5g.jsonl": "64c25993ae07e749512c19ab77a08f95ed473680d3ffe1123c72f17a1df23593",
    "tpch/tpch_10g.jsonl": "c7a75b302c31cca8d2f2adbcbb5a88315baf90df1a1c3277cab8793d44add74a",
    "tpch/tpch_20g.jsonl": "be3d73485e9e89a1b843bf8db271a02bc54d8923db797e0e86e2f71aec514c4e",
    "tpch/tpch_50g.jsonl": "32f19a91c63d998fadbccbce9196156920f35f834fc4bf2f07a6dc41857724d8",
    "tpch/tpch_80g.jsonl": "383740800bfe1b456ed8ffecb0bdbe97b1691b1a913076723a9347c2f4be51c8",
    "tpch/tpch_100g.jsonl": "8bdd662d54d34e40635be65d0779b1e6b21bccd8a8d49361f4eee2a14748ad28",
    "tpch/stages.csv": "904ae4745a24ff19bd3dfbba98bdec063061fac0baa2767204b8dc1d114fbca0",
    "wfformat/helloworld-chain-5-chameleon.json": "a0b9d565c57af5e89284f17d01b8925a792513a22b81d4f4b5dd23c8242f4f3c",
    "wfformat/helloworld-forkjoin-10-chameleon.json": "b13f73ff7839d1386e691a9add9494b047295404fc65c16de05153505b7e6f2e",
    "wfformat/blast-chameleon-small-001.json": "2d86fe4ebef00a70775c1b22ac0806feea482a1a93392fa0820e3f75a86b239e",
    "wfformat/bwa-chameleon-large-001.json": "fef94bae808d56a69747a95a608354725df8666b3c83998e54d980ac5e3f3855",
    "wfformat/bwa-chameleon-small-001.json": "f136f94bb70b993a88b29dbd1d2739d7f9ef5e1e7ef744ab8b4e045e6be8a0a1",
    "wfformat/methylseq-dirt02-001.json": "f8293e82f7fc022467f49301b3964facfcc93bf6ccfd51f4ce66c1beee0e31d7",
    "wfformat/rnaseq-dirt02-001.json": "f540c89053c21050afa2a2e255ee1b9b849fcf8d1b5ec7bfacb62fa61faee481",
    "wfformat/sarek-dirt02-001.json": "75134f7761a96b5c67e8c5c7ee3c3140b9138a43da510f49157b8d2a905f8d02",
    "wfformat/1000genome-chameleon-2ch-100k-001.json": "2585c399b13537e694ab807947baf2f4f979d276de5dd77fb1ccc78252bdd88b",
    "wfformat/1000genome-chameleon-8ch-250k-001.json": "280ee3513f7e61986cad35092d62bd3af6f8346c1e055a9bf2412a5461b326af",
    "wfformat/cycles-chameleon-1l-1c-9p-001.json": "5c5b43ff9468d3c6f3daeb7b0d18a25eed898af82dd5c947d10fc328965f0688",
    "wfformat/epigenomics-chameleon-hep-1seq-100k-001.json": "6f56ee004d30762a2ae7209dedd36bd724280b648f9db4b1c8c597ee06c901c0",
    "wfformat/epigenomics-chameleon-ilmn-3seq-100k-001.json": "2fa1ad29ff0549543eea16313b5ec0e76c1ede83b11fda01c70da7ad87a38890",
    "wfformat/montage-chameleon-2mass-005d-001.json": "d8b91f8756439cbe281b81b8d8df3ccc0f4c59c751df803bdd12cb38a7f9e72a",
    "wfformat/montage-chameleon-dss-10d-001.json": "f04ec50663ad929b652d52c3fa7cf8e0b186f8b0825b3336b2de51a5e0c849bd",
    "wfformat/montage-chameleon-dss-15d-001.json": "9febae8598865f0f325532dd8f302a2528dedff786ffb249464ad4b33590124c",
    "wfformat/seismology-chameleon-300p-001.json": "55acac7406e299f67f2b011ce671a7babf0a1122b66402f5d2d96c303a522c68",
    "wfformat/soykb-chameleon-10fastq-10ch-001.json": "811085d47e02b0a01909c58e8c11516029a271467e247859b2cd509ee5120449",
    "wfformat/srasearch-chameleon-10a-001.json": "d156065885113f412585e175ab4ff020d24a6bd30694d379e566339a800ef149",
    "psplib/j60.jsonl": "4fb8ae77bacd110971b973264d983aeee202f3b30d5aad1b12a7884d87f6a644",
    "psplib/j90.jsonl": "07c08d179015414901f6567a13d5c6d9e884f7af825c32cc46f9022a0d766af0",
    "psplib/j120.jsonl": "4119a913b162d78b7d620e20e902d11cd882a7fc7bb29d84c79eb108f011b854",
    "tpch_packing/tpch50.jsonl": "a26cb8916c4d743532e0ae14bf5d1a7377c9bbd77e3d822ecb0c923db3a59a9c",
    "tpch_packing/tpch100.jsonl": "1333e69a154a7493a595bc0df540921f84f6dd227cb4aaa48332ad4caf9df1a8",
    "tpch_packing/tpch150.jsonl": "6ae840bd6c6cdf6e9ab6ba8076aea260a9e80b2fcef7de799ec665b6d2987c28",
    "alibaba/v2018_dag_sample6600.jsonl": "6096e05ea1f4362cabd5855502263362ababfe393d5eea2445c319573085eb5d",
    "alibaba/v2018_dag_medium3690.jsonl": "1f592f749cb43d52ac14c45fe70bfca7abe93b2229debd1eee0310949c40b761",
    "decima_model/decima_weights.json": "2ada6d605d31e75b9e4aa7e22b3a67d9a2ab06e702f8297c37b7a93294fb812d",
    "alibaba/v2017_batch_jobs.csv": "ef4e4de1c6cd7d6712297c6bd1653d0b448e5496f901cd59c9a73554e948c058",
    "pylot_av/pylot_callbacks.csv": "def3ee1676fe34850fdfcd3e9ea3541a07af5aa641e0bc85098e6dc60990f4ab",
    "pylot_av/pylot_graph.json": "d4067c985d155c85e1248e0f24c366ef63408bf707e426724e575b9acf714650",
}


def git(folder, *words):
    """Never asks for a name or a password, and gives up where nothing comes."""
    done = subprocess.run(["git", "-C", folder, "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60", *words], capture_output=True,
                          env={**os.environ, "GIT_TERMINAL_PROMPT": "0"}, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Wrong("git %s: %s" % (words[0], said[-1] if said else "exit status %d" % done.returncode))
    return done.stdout


def clone(one, folder):
    """Of the commit only the files of the set, where the server can do that (a partial clone)."""
    print("fetching %s%s" % (HOST, one.repository), file=sys.stderr, flush=True)
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", HOST + one.repository)
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "remote.origin.partialclonefilter", "blob:none")
    git(folder, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", one.commit)
    git(folder, "checkout", "--quiet", one.commit, "--", *one.folders)


def reader(folder, commit):
    """A function from a path to the bytes of the file at the commit."""
    git(folder, "cat-file", "-e", commit + "^{commit}")
    process = subprocess.Popen(["git", "-C", folder, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(path):
        process.stdin.write(("%s:%s\n" % (commit, path)).encode())
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3:
            raise Wrong("%s is not in the source" % path)
        data = process.stdout.read(int(head[2]))
        process.stdout.read(1)
        return data

    return process, read


def write(path, data):
    """Whole, or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), prefix=".sets-", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.chmod(file.name, 0o644)
            os.rename(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def files_of(name):
    return [path for path in CHECKSUMS if path.startswith(name + "/")]


def lacking(folder, name):
    return [path for path in files_of(name) if not os.path.exists(os.path.join(folder, path))]


def get(folder, name, clones):
    """Makes the files of a set that are not there."""
    one, wanted = SETS[name], lacking(folder, name)
    with contextlib.ExitStack() as open_ones:
        reads = []
        for source in one.sources:
            place = os.path.join(clones, source.repository) if clones else open_ones.enter_context(tempfile.TemporaryDirectory())
            if not clones:
                clone(source, place)
            process, read = reader(place, source.commit)
            open_ones.enter_context(process)
            reads.append(read)
        for path, data in one.make(*reads):
            if hashlib.sha256(data).hexdigest() != CHECKSUMS[path]:
                raise Wrong("%s has not the checksum that it should have; it was not written" % path)
            if path in wanted:
                write(os.path.join(folder, path), data)
                print("%s: %d bytes" % (os.path.join(folder, path), len(data)))


def check(folder, names):
    """Compares what is there with the checksums."""
    faults = 0
    for path in (path for name in names for path in files_of(name)):
        there = os.path.join(folder, path)
        if not os.path.exists(there):
            print("%s: not there" % there)
            faults += 1
            continue
        with open(there, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != CHECKSUMS[path]:
                print("%s: not what the tables were made of" % there)
                faults += 1
    return faults


def get_all(folder, names, clones):
    """Returns {set: why it could not be had}."""
    missing = {}
    for name in names:
        try:
            if lacking(folder, name):
                get(folder, name, clones)
        except (Wrong, OSError, ValueError, LookupError, AttributeError, TypeError, struct.error, pickle.UnpicklingError) as error:
            missing[name] = "%s: %s" % (" ".join(HOST + source.repository for source in SETS[name].sources), error)
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0], allow_abbrev=False)
    parser.add_argument("folder", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/data"),
                        help="where the benchmarks look (../shared/data, beside the project)")
    parser.add_argument("--only", action="append", choices=sorted(SETS), help="this set; may be given several times")
    parser.add_argument("--clones", metavar="DIR", help="take the sources from clones DIR/OWNER/NAME, not from the network")
    parser.add_argument("--check", action="store_true", help="compare what is there with the checksums, fetch nothing")
    asked = parser.parse_args()
    folder, names = os.path.normpath(asked.folder), asked.only or sorted(SETS)
    if asked.check:
        return 1 if check(folder, names) else 0
    missing = get_all(folder, names, asked.clones)
    if not asked.only:
        missing.update({name: where for name, where in OTHERS.items() if not os.path.isdir(os.path.join(folder, name))})
    for name in sorted(missing):
        print("sets.py: %s is missing: %s" % (name, missing[name]), file=sys.stderr)
    if not missing:
        print("%s: nothing is missing" % folder)
    return 1 if missing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("sets.py: interrupted; files that are there are whole")
