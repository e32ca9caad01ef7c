#!/usr/bin/env python3
"""Writes the platform file of each board of platforms/boards.json.

usage: make_boards.py [--check] [--table FILE] [--out FOLDER]

A file has what the table tells of the board, what follows from it by rule (capacities as Linux reckons them, links from the
rates of memcpy), and for each number where it comes from. With --check nothing is written: exit status 1, and the names, if
a file of the folder is not what the table says, or belongs to no board.
"""
import argparse
import json
import pathlib
import sys
from xml.sax.saxutils import quoteattr

ROOT = pathlib.Path(__file__).resolve().parents[1]
KERNEL = "Linux 7.1"
ONE = 65536  # speed of the reference executor
CAPACITY = 1024  # of the fastest CPU, as Linux has it
SHARED_L2 = (90, 189, "as Raspberry Pi 4 (core-to-core-latency issue 44: cores on one L2), 90 ns; across: times 80 / 38, the ratio of Jetson AGX Orin (issue 141), 189 ns")
SHARED_L3 = (38, 80, "as Jetson AGX Orin (core-to-core-latency issue 141), 38 ns in a cluster, 80 ns across")
KNOWN = {
    "name", "kernel", "tree", "arch", "summary", "l3", "memory", "memcpy", "like", "latency", "latency_like", "accelerators", "cores", "frequency",
    "speed", "speed.float", "speed.memory", "c2c", "links", "assumed", "clusters", "executors", "repeat",
}
KNOWN_OF_CLUSTER = {"cores", "cpus", "kind", "dmips", "mhz", "mv", "mw", "memcpy", "l1d", "l1i", "l2", "l2_each", "l3", "group"}


class Writer:
    """Lines of XML; objects get their gp_index in the order in which they are opened."""

    def __init__(self):
        self.lines, self.depth, self.objects = [], 0, 0

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def info(self, name, value):
        self.line("<info name=%s value=%s/>" % (quoteattr(name), quoteattr(str(value))))

    def open(self, kind, cpus, first="", last="", whole=False, leaf=False):
        self.objects += 1
        attributes = ""
        if cpus is not None:
            sets = [("cpuset", cpus), ("complete_cpuset", cpus)] + ([("allowed_cpuset", cpus)] if whole else [])
            nodes = [("nodeset", {0}), ("complete_nodeset", {0})] + ([("allowed_nodeset", {0})] if whole else [])
            attributes = "".join(' %s="%s"' % (name, mask(members)) for name, members in sets + nodes)
        self.line('<object type="%s"%s%s gp_index="%d"%s%s>' % (kind, first, attributes, self.objects, last, "/" if leaf else ""))
        self.depth += 0 if leaf else 1

    def close(self, what="object"):
        self.depth -= 1
        self.line("</%s>" % what)


def mask(members):
    """hwloc's way to write a set: words of 32 bits, the highest first."""
    value = sum(1 << member for member in members)
    words = [value >> 32 * word & 0xFFFFFFFF for word in range(max(members) // 32 + 1)]
    return ",".join("0x%08x" % word for word in reversed(words))


def clusters_of(board):
    """The clusters with the numbers of their CPUs."""
    clusters, following = [], 0
    for cluster in board["clusters"] * board.get("repeat", 1):
        unknown = cluster.keys() - KNOWN_OF_CLUSTER
        if unknown:
            raise SystemExit("make_boards: %s: a cluster has %s, which is not known" % (board["name"], ", ".join(sorted(unknown))))
        cluster = dict(cluster)
        cluster.setdefault("cpus", list(range(following, following + cluster["cores"])))
        following += cluster["cores"]
        clusters.append(cluster)
    return clusters


def kinds_of(clusters):
    """Kind -> (a cluster of it, all CPUs of it), slowest first as far as is known."""
    kinds = {}
    for cluster in clusters:
        kinds.setdefault(cluster["kind"], (cluster, []))[1].extend(cluster["cpus"])
    return kinds


def raw_capacity(cluster):
    return cluster["dmips"] * cluster.get("mhz", [1])[-1] if "dmips" in cluster else None


def capacities(clusters):
    """Kind -> capacity, floor(1024 * dmips * MHz / the largest) as Linux has it; none where a kind lacks its dmips."""
    raw = {cluster["kind"]: raw_capacity(cluster) for cluster in clusters}
    if None in raw.values():
        return {}
    return {kind: CAPACITY * value // max(raw.values()) for kind, value in raw.items()}


def memcpy_of(boards, board, cluster):
    """(MB/s of a core of the cluster, the board whose rate it is)."""
    if "memcpy" in cluster:
        return cluster["memcpy"], board
    if "memcpy" in board:
        return board["memcpy"], board
    other = boards[board["like"]]
    rates = [memcpy_of(boards, other, each)[0] for each in other["clusters"]]
    same = [rate for rate, each in zip(rates, other["clusters"]) if each["kind"] == cluster["kind"]]
    place = board["clusters"].index(next(each for each in board["clusters"] if each["kind"] == cluster["kind"]))
    return (same or [rates[0 if place == 0 and len(board["clusters"]) > 1 else -1]])[0], other


def has_l3(board):
    return "l3" in board or any("l3" in cluster for cluster in board["clusters"])


def latencies(board):
    inside, across, like = SHARED_L3 if has_l3(board) else SHARED_L2
    if "latency" in board:
        inside, across = board["latency"]
    return inside, across, board.get("latency_like", like)


def facts(boards, board, clusters):
    """Rows (fact, status, source)."""
    tree = "%s %s" % (board.get("kernel", KERNEL), board["tree"])
    known_mhz = sorted({(cluster["kind"], cluster["mhz"][-1]) for cluster in clusters if "mhz" in cluster}, key=lambda row: (row[1], row[0]))
    caches = sorted({key[:2].upper() for cluster in clusters + [board] for key in cluster if key in ("l1d", "l2", "l2_each", "l3")})
    yield "cores", "published", board.get("cores", "%s: cores, clusters%s" % (tree, "".join(", " + cache for cache in caches)))
    if known_mhz or "frequency" in board:
        text = ", ".join("%d MHz (%s)" % (mhz, kind) for kind, mhz in known_mhz)
        yield "frequency", "published", board.get("frequency", "%s: %s" % (tree, text))
    reckoned = capacities(clusters)
    if len(kinds_of(clusters)) == 1:
        yield "speed", "assumed", board.get("speed", "one kind of core: all are equal, no figures by class found")
    elif reckoned:
        text = "capacity-dmips-mhz %s times the frequency, %s" % (
            " / ".join(str(cluster["dmips"]) for cluster, _ in kinds_of(clusters).values()),
            " / ".join(str(reckoned[kind]) for kind in kinds_of(clusters)),
        )
        yield "speed", "published", board.get("speed", "%s: %s" % (tree, text))
    else:
        yield "speed", "assumed", board["speed"]
    if "speed.float" in board:
        yield "speed.float", "assumed", board["speed.float"]
    if memory_speeds(clusters):
        rates = ", ".join("%d MB/s (%s)" % (cluster["memcpy"], kind) for kind, (cluster, _) in kinds_of(clusters).items())
        yield "speed.memory", "published", board.get("speed.memory", "sbc-bench, memcpy: " + rates)
    _, whose = memcpy_of(boards, board, clusters[0])
    text = "sbc-bench, memcpy" if whose is board else "memcpy of %s, for want of its own" % whose["name"]
    found = "" if "latency_like" in board else "no figure found. "
    own = "%sLatency: %s. Bandwidth: %s, the lower of two cores" % (found, latencies(board)[2], text)
    yield "c2c", "assumed", board.get("c2c", own)
    if any(power_mw(cluster) for cluster in clusters):
        yield "power", "published", tree + ": dynamic-power-coefficient x mV^2 x MHz / 10^9 at the highest clock, one core; not measured"
    if "links" in board:
        yield "links", "assumed", board["links"]
    if "accelerators" in board:
        yield "accelerators", "published", "%s: %s; they are no executors here" % (tree, board["accelerators"])


def memory_speeds(clusters):
    """The kinds' memcpy differs, and each is known."""
    rates = [cluster.get("memcpy") for cluster in clusters]
    return None not in rates and len(set(rates)) > 1


def power_mw(cluster):
    if "mw" not in cluster or "mv" not in cluster:
        return 0
    return round(cluster["mw"] * cluster["mv"][-1] ** 2 * cluster["mhz"][-1] / 10**9)


def cache(out, kind, depth, what, cpus, kib):
    out.open(kind, cpus, last=' cache_size="%d" depth="%d" cache_linesize="64" cache_associativity="-1" cache_type="%d"' % (kib * 1024, depth, what))


def write_core(out, cluster, cpu):
    levels = 0
    for key, kind, depth, what in (("l2_each", "L2Cache", 2, 0), ("l1d", "L1Cache", 1, 1), ("l1i", "L1iCache", 1, 2)):
        if key in cluster:
            cache(out, kind, depth, what, {cpu}, cluster[key])
            levels += 1
    out.open("Core", {cpu}, ' os_index="%d"' % cpu)
    out.open("PU", {cpu}, ' os_index="%d"' % cpu, leaf=True)
    for _ in range(levels + 1):
        out.close()


def write_cluster(out, number, cluster, is_group):
    cpus, levels = set(cluster["cpus"]), 0
    if is_group:
        out.open("Group", cpus, last=' name="cluster%d" kind="0" subkind="0" dont_merge="1"' % number)
        out.info("clotho.freq_domain", number)
        levels += 1
    for key, kind, depth in (("l3", "L3Cache", 3), ("l2", "L2Cache", 2)):
        if key in cluster:
            cache(out, kind, depth, 0, cpus, cluster[key])
            levels += 1
    for cpu in cluster["cpus"]:
        write_core(out, cluster, cpu)
    for _ in range(levels):
        out.close()


def write_objects(out, board, clusters, cpus):
    out.open("Package", cpus, ' os_index="0"')
    memory = ' local_memory="%d"' % board["memory"] if "memory" in board else ""
    out.open("NUMANode", cpus, ' os_index="0"', memory, leaf=True)
    if "l3" in board:
        cache(out, "L3Cache", 3, 0, cpus, board["l3"])
    for number, cluster in enumerate(clusters):
        is_alone = not any(key in cluster for key in ("l2", "l3")) and len(clusters) > 1
        write_cluster(out, number, cluster, cluster.get("group", is_alone))
    out.close()
    if "l3" in board:
        out.close()


def write_executors(out, board):
    for executor in board.get("executors", []):
        out.open("Misc", None, last=' name="accel:%s"' % executor["name"])
        for key, name in (("kind", "kind"), ("speed_q16", "speed_q16"), ("latency_ns", "link_latency_ns"), ("MBps", "link_bandwidth_MBps"), ("bytes", "local_mem_bytes")):
            out.info("clotho." + name, executor[key])
        out.close()


def write_matrix(out, name, kind, rows):
    out.line('<distances2 type="PU" nbobjs="%d" kind="%d" name="clotho.%s" indexing="os">' % (len(rows), kind, name))
    out.depth += 1
    for element, row in [("indexes", range(len(rows)))] + [("u64values", row) for row in rows]:
        text = "".join("%d " % value for value in row)
        out.line('<%s length="%d">%s</%s>' % (element, len(text), text, element))
    out.close("distances2")


def write_links(out, boards, board, clusters):
    inside, across, _ = latencies(board)
    cluster_of = {cpu: number for number, cluster in enumerate(clusters) for cpu in cluster["cpus"]}
    rate_of = {cpu: memcpy_of(boards, board, cluster)[0] for cluster in clusters for cpu in cluster["cpus"]}
    cpus = sorted(cluster_of)
    latency = [[0 if a == b else inside if cluster_of[a] == cluster_of[b] else across for b in cpus] for a in cpus]
    write_matrix(out, "c2c_latency_ns", 6, latency)
    write_matrix(out, "c2c_bandwidth_MBps", 10, [[min(rate_of[a], rate_of[b]) for b in cpus] for a in cpus])


def write_kinds(out, clusters):
    reckoned = capacities(clusters)
    best_memcpy = max(cluster.get("memcpy", 0) for cluster in clusters)
    several = len(kinds_of(clusters)) > 1
    for number, (kind, (cluster, cpus)) in enumerate(kinds_of(clusters).items()):
        out.line('<cpukind cpuset="%s" forced_efficiency="%d">' % (mask(set(cpus)), number))
        out.depth += 1
        out.info("CoreType", kind)
        if "mhz" in cluster:
            out.info("FrequencyMaxMHz", cluster["mhz"][-1])
        if several and reckoned:
            out.info("LinuxCapacity", reckoned[kind])
        out.info("clotho.speed_q16", reckoned.get(kind, CAPACITY) * ONE // CAPACITY)
        if memory_speeds(clusters) and cluster["memcpy"] < best_memcpy:
            out.info("clotho.speed_q16.memory", round(cluster["memcpy"] * ONE / best_memcpy))
        if len(cluster.get("mv", [])) == 2:
            out.info("clotho.opps", ", ".join("%d MHz %d mV" % pair for pair in zip(cluster["mhz"], cluster["mv"])))
        if power_mw(cluster):
            out.info("clotho.power_mw", power_mw(cluster))
        out.close("cpukind")


def text_of(boards, board):
    unknown = board.keys() - KNOWN
    if unknown:
        raise SystemExit("make_boards: %s: %s is not known" % (board["name"], ", ".join(sorted(unknown))))
    clusters, out = clusters_of(board), Writer()
    cpus = {cpu for cluster in clusters for cpu in cluster["cpus"]}
    out.line('<?xml version="1.0" encoding="UTF-8"?>')
    out.line('<!DOCTYPE topology SYSTEM "hwloc2.dtd">')
    out.line("<!-- The keys clotho.* are explained in docs/PLATFORM_FILE.md; draw it with: lstopo -i %s.xml -->" % board["name"])
    out.line('<topology version="2.0">')
    out.depth += 1
    out.open("Machine", cpus, ' os_index="0"', whole=True)
    out.info("Architecture", board.get("arch", "aarch64"))
    for key, value in (("schema", 1), ("platform", board["name"]), ("summary", board["summary"]), ("coherent", int("executors" not in board))):
        out.info("clotho." + key, value)
    for fact, status, source in facts(boards, board, clusters):
        out.info("clotho.status." + fact, "assumed" if fact in board.get("assumed", []) else status)
        out.info("clotho.source." + fact, source)
    write_objects(out, board, clusters, cpus)
    write_executors(out, board)
    out.close()
    write_links(out, boards, board, clusters)
    write_kinds(out, clusters)
    out.close("topology")
    return "\n".join(out.lines) + "\n"


def differences(folder, texts):
    """The names of files that are not what the table says."""
    names = sorted(set(texts) | {path.name for path in folder.glob("*.xml")})
    return [name for name in names if not (folder / name).is_file() or texts.get(name) != (folder / name).read_text(encoding="utf-8")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if a file is not what the table says")
    parser.add_argument("--table", type=pathlib.Path, default=ROOT / "platforms" / "boards.json")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "platforms")
    asked = parser.parse_args()
    rows = json.loads(asked.table.read_text(encoding="utf-8"))["boards"]
    boards = {board["name"]: board for board in rows}
    texts = {board["name"] + ".xml": text_of(boards, board) for board in rows}
    if asked.check:
        wrong = differences(asked.out, texts)
        for name in wrong:
            print("make_boards: %s is not what boards.json says; run tools/make_boards.py" % name)
        return 1 if wrong else 0
    for name, text in texts.items():
        (asked.out / name).write_text(text, encoding="utf-8")
    print("make_boards: %d boards in %s" % (len(texts), asked.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
