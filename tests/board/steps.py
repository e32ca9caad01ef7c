"""What runs on the board, and what must come out. Files named without a folder lie in /work, where the board begins."""
import dataclasses
import json
import os
import subprocess
import typing

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MACHINE = "aarch64, 0x41, 0xd05, 8 CPUs"
LITTLE, BIG = 485, 1024  # board.dts
KINDS = ["cortex-a55", "cortex-a76"]  # as platforms/rk3588.xml has them
ONE = 65536
GENERATE = "generate cholesky --tasks 56 --work 200us --ccr 1 --duplicable --outputs --seed 1 -o"
PLANNERS = ("heft", "deft", "peft", "cpop")
TESTS = ("test_platform_native", "test_platform_numa", "test_sync", "test_sync_pingpong", "test_run_record", "test_run_copies")


class Wrong(Exception):
    """What is not as it must be."""


@dataclasses.dataclass
class Step:
    name: str
    lines: list  # of /steps: CPUS PROGRAM ARGUMENT...
    judge: typing.Callable  # the Done of each line, and the files of prepare()


def equal(what, found, wanted):
    if found != wanted:
        raise Wrong(f"{what}: {found!r:.1500} instead of {wanted!r:.1500}")


def printed(results, status=0):
    """The outputs of lines that end with this status."""
    for done in results:
        if done.status != status:
            raise Wrong(f"status {done.status} instead of {status}: {done.output.strip()[-1500:]}")
    return [done.output for done in results]


def prepare(host, folder):
    """The files of the board, made by the build for this machine: {name: bytes}."""
    def clotho(line):
        return subprocess.run([os.path.join(host, "bin/clotho"), *line.split()], cwd=folder, check=True, capture_output=True).stdout

    with open(os.path.join(ROOT, "platforms/rk3588.xml"), encoding="utf-8") as file:
        platform = file.read()  # with links that cost time; the board takes it for its own, as if measured on it
    schema = '<info name="clotho.schema" value="1"/>'
    assert schema in platform
    with open(os.path.join(folder, "board.xml"), "w", encoding="utf-8") as file:
        file.write(platform.replace(schema, f'{schema}\n    <info name="clotho.machine" value="{MACHINE}"/>'))
    clotho(f"{GENERATE} graph.json")
    for planner in PLANNERS:
        clotho(f"plan graph.json --platform board.xml --planner {planner} --out {planner}.json")
    run = json.loads(clotho("run graph.json --platform uniform:2 --unpinned --clock virtual --json"))
    names = ["board.xml", "graph.json", *(f"{planner}.json" for planner in PLANNERS)]
    files = {"outputs": run["output_hash"].encode()}
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            files[name] = file.read()
    plan = json.loads(files["heft.json"])
    plan["placements"][-1]["start_ns"] -= 1  # it begins before its input is there
    plan["placements"][-1]["finish_ns"] -= 1
    files["spoiled.json"] = json.dumps(plan).encode()
    return files


def clotho_on(line, cpus="all"):
    return f"{cpus} /bin/clotho {line} --json"


def discovered(cpus):
    """Judges `platform show native` of a process that may use these CPUs."""
    def judge(results, _files):
        capacity = [LITTLE if cpu < 4 else BIG for cpu in cpus]
        kinds = [KINDS[cpu >= 4] for cpu in cpus]
        shown = json.loads(printed(results)[0])
        executors = shown["executors"]
        equal("CPUs", [e["os_index"] for e in executors], list(cpus))
        equal("kinds", shown["kinds"], sorted(set(kinds)))
        equal("kind of each", [e["kind"] for e in executors], kinds)
        speeds = [(c * ONE + max(capacity) // 2) // max(capacity) for c in capacity]
        equal("speeds", [e["speed_q16"]["generic"] for e in executors], speeds)
        equal("clusters", [e["cluster"] for e in executors], [int(cpu >= 4 > cpus[0]) for cpu in cpus])
        equal("source of the speeds", shown["sources"]["speed"]["source"], "cpu_capacity of the Linux kernel")
        equal("native", shown["native"], True)
        equal("machine", shown["summary"], MACHINE)
    return judge


def capacities(results, _files):
    equal("cpu_capacity", printed(results)[0].split(), 4 * [str(LITTLE)] + 4 * [str(BIG)])


def pinned(count):
    def judge(results, _files):
        lines = printed(results)[0].splitlines()
        equal("runs", [line.split(":")[0] for line in lines], ["plan", "steal"])
        equal("bodies of each", [line.count(" on cpu") for line in lines], [count, count])
    return judge


def replicas_of(plan):
    return sum("replica" in placement for placement in json.loads(plan)["placements"])


def ran(plan=None, replays=True):
    """Judges runs: valid, replayed with every decision equal; of a plan: as many replicas as that has."""
    def judge(results, files):
        for line in printed(results):
            run = json.loads(line)
            replicas = replicas_of(files[plan]) if plan else 0
            wanted = {"status": "CLO_OK", "valid": True, "replay_equal": True if replays else None, "clock": "real", "emulated": False,
                      "executors": 8, "executed": 56 + replicas, "duplicates_run": replicas}
            equal("run", {key: run[key] for key in wanted}, wanted)
            if plan:
                equal("predicted", run["predicted_ns"], json.loads(files[plan])["makespan_ns"])
    return judge


def with_replicas(results, files):
    if replicas_of(files["deft.json"]) == 0:
        raise Wrong("DEFT has planned no replica; take another graph")
    ran("deft.json")(results, files)


def same_outputs(results, files):
    for line in printed(results):
        equal("outputs", json.loads(line)["output_hash"], files["outputs"].decode())


def same_bytes(results, files):
    shown = dict(zip(("graph.json", *(f"{planner}.json" for planner in PLANNERS)), printed(results)[-1 - len(PLANNERS):]))
    for name, text in shown.items():
        if text.encode() != files[name]:
            raise Wrong(f"{name} is another one than on x86-64")


def checked(results, _files):
    printed(results[:2])
    refused, = printed(results[2:], 1)
    verdict = json.loads(refused.splitlines()[0])
    equal("the spoiled plan", verdict["valid"], False)
    if "arrives at" not in verdict["violation"]:
        raise Wrong(f"the spoiled plan: {verdict['violation']}")


def passed(results, _files):
    for output in printed(results):
        if "[  PASSED  ]" not in output or "[  FAILED  ]" in output:
            raise Wrong(output[-1500:])


def calibrated(results, files):
    """What was measured is not judged: all CPUs of the emulation are equally fast."""
    _, shown, run = printed(results)
    shown = json.loads(shown)
    equal("CPUs", [e["os_index"] for e in shown["executors"]], list(range(8)))
    equal("kinds", [e["kind"] for e in shown["executors"]], [KINDS[cpu >= 4] for cpu in range(8)])
    equal("pairs", sum(c["pairs"] for c in shown["links"]["classes"].values()), 56)
    equal("native", shown["native"], True)
    replicas = json.loads(run)["duplicates_run"]
    wanted = {"status": "CLO_OK", "valid": True, "replay_equal": True, "executors": 8, "executed": 56 + replicas}
    equal("run", {key: json.loads(run)[key] for key in wanted}, wanted)


BOARD = "--platform board.xml"
STEPS = [
    Step("the kernel sees two capacities", ["all /init show " + " ".join(f"/sys/devices/system/cpu/cpu{n}/cpu_capacity" for n in range(8))],
         capacities),
    Step("eight executors of two kinds", [clotho_on("platform show native")], discovered(range(8))),
    Step("only the little ones", [clotho_on("platform show native", "0-3")], discovered(range(4))),
    Step("some of each", [clotho_on("platform show native", "3-5")], discovered(range(3, 6))),
    Step("each worker on its CPU", ["all /bin/pinned"], pinned(8)),
    Step("each worker on its CPU, of four", ["2-5 /bin/pinned"], pinned(4)),
    Step("each worker on its CPU, as SCHED_FIFO", ["all /bin/pinned 50"], pinned(8)),
    Step("steal", [clotho_on("run graph.json --platform native --policy steal")], ran(replays=False)),
    Step("replay of HEFT", [clotho_on("run graph.json --platform native --planner heft")], ran()),
    Step("a policy", [clotho_on("run graph.json --platform native --policy eft")], ran()),
    Step("replay of DEFT with replicas", [clotho_on(f"run graph.json {BOARD} --planner deft")], with_replicas),
    Step("replay of a plan made elsewhere", [clotho_on(f"run graph.json {BOARD} --plan heft.json")], ran("heft.json")),
    Step("replay as SCHED_FIFO", [clotho_on(f"run graph.json {BOARD} --planner heft --fifo 50")], ran("heft.json")),
    Step("the same outputs as on x86-64 however it runs",
         [clotho_on(f"run graph.json {BOARD} {how}") for how in ("--planner heft", "--planner deft", "--policy steal", "--policy eft")],
         same_outputs),
    Step("the same graph and plans as on x86-64",
         [f"all /bin/clotho {GENERATE} again.json",
          *(f"all /bin/clotho plan graph.json {BOARD} --planner {planner} --out again-{planner}.json --json" for planner in PLANNERS),
          *(f"all /init show {name}" for name in ("again.json", *(f"again-{planner}.json" for planner in PLANNERS)))], same_bytes),
    Step("good plans are valid, a spoiled one is not",
         [clotho_on(f"check graph.json {name}.json {BOARD}") for name in ("heft", "deft", "spoiled")], checked),
    Step("calibration measures all CPUs and links",
         ["all /bin/clotho platform calibrate --quick -o here.xml", clotho_on("platform show here.xml"),
          clotho_on("run graph.json --platform here.xml --planner deft")], calibrated),
    *(Step(name, [f"all /tests/{name}"], passed) for name in TESTS),
]
