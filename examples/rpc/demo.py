"""Starts services, runs a stream of requests on them with and without hedging and a workflow from a call graph, and draws
the latencies.

usage: demo.py BIN [--svg FILE] [--graph FILE]     BIN: the folder with example-rpc and example-rpc-service

The services are processes on this machine's loopback; tests/rpc has the same with hosts that are network namespaces."""
import argparse
import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import tempfile

REQUESTS, RATE, STALL_MS = 3000, 400, 400
HEDGED, PLAIN, INK, GRID = "#0072b2", "#d55e00", "#222222", "#dddddd"  # told apart by the colour-blind, too


def follow():
    """Between fork and exec: SIGTERM comes when this program ends, however it does."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Services:
    """Three replicas; the first stalls now and then."""

    def __init__(self, folder):
        self.list = []
        for i in range(3):
            more = ["--stall", "20", "--stall-ms", str(STALL_MS)] if i == 0 else []
            self.list.append(subprocess.Popen([os.path.join(folder, "example-rpc-service"), "--listen", "127.0.0.1:0",
                                               "--seed", str(i + 1), "--slots", "4000"] + more, stdout=subprocess.PIPE,
                                              text=True, preexec_fn=follow))
        lines = [s.stdout.readline() for s in self.list]
        if not all(line.startswith("listening ") for line in lines):
            sys.exit("demo: a service does not listen; its own line above says why")
        self.names = [line.split()[1] for line in lines]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for service in self.list:
            service.terminate()
            service.wait()


def run(folder, *words):
    done = subprocess.run([os.path.join(folder, "example-rpc"), "--json"] + list(words), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("demo: " + done.stderr.strip())
    return json.loads(done.stdout)


def stream(folder, services, path, *words):
    row = run(folder, "--services", "a=" + ",".join(services.names), "--requests", str(REQUESTS), "--rate", str(RATE),
              "--work-us", "8000", "--run", "7", "--latencies", path, *words)
    with open(path, encoding="utf-8") as file:
        return row, sorted(int(line) / 1000 for line in file)


def tail(values):
    """Points (ms, share of the requests that take longer)."""
    n = len(values)
    return [(v, (n - i) / n) for i, v in enumerate(values)]


def draw(path, rows):
    """Share of requests that take longer than so many ms, both axes logarithmic."""
    wide, high, left, top = 760, 440, 80, 48 + 20 * len(rows)  # above the curves: the title and a line for each
    low = min(v[0] for _, _, _, v in rows)
    most = max(v[-1] for _, _, _, v in rows) * 1.1
    x = lambda ms: left + (wide - left - 24) * math.log(max(ms, low) / low) / math.log(most / low)
    y = lambda share: top + (high - top - 64) * -math.log10(share) / math.log10(REQUESTS)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" fill="%s">'
           % (wide, high, wide, high, INK), '<rect width="100%" height="100%" fill="white"/>',
           '<text x="%d" y="26" font-size="17">Requests that take longer than t: one of three hosts stalls 2 %% of its '
           'requests</text>' % left]
    for power in range(int(math.log10(REQUESTS)) + 1):
        share = 10.0 ** -power
        out.append('<path d="M%d %.1fH%d" stroke="%s"/><text x="%d" y="%.1f" text-anchor="end">%g %%</text>' % (
            left, y(share), wide - 24, GRID, left - 8, y(share) + 4, 100 * share))
    for ms in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        if low <= ms <= most:
            out.append('<path d="M%.1f %dV%d" stroke="%s"/><text x="%.1f" y="%d" text-anchor="middle">%d ms</text>' % (
                x(ms), top, high - 64, GRID, x(ms), high - 44, ms))
    for number, (name, colour, row, values) in enumerate(rows):
        points = " ".join("%.1f,%.1f" % (x(ms), y(share)) for ms, share in tail(values))
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>' % (points, colour))
        y_of_line = 48 + number * 20
        out.append('<path d="M%d %dh22" stroke="%s" stroke-width="2.5"/>' % (left, y_of_line - 4, colour))
        out.append('<text x="%d" y="%d">%s: p50 %.1f, p99 %.1f, p99.9 %.1f ms; %d calls for %d requests</text>' % (
            left + 30, y_of_line, name, row["p50_us"] / 1e3, row["p99_us"] / 1e3, row["p999_us"] / 1e3, row["calls"], row["requests"]))
    out.append('<text x="%d" y="%d" text-anchor="middle">t, from the request to its answer (logarithmic)</text>' % ((left + wide - 24) / 2, high - 18))
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description="RPC workflows: a demonstration")
    parser.add_argument("bin")
    parser.add_argument("--svg")
    parser.add_argument("--graph", help="call graphs; the one with the number 3 is run")
    o = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, colour, words in (("one attempt", PLAIN, ["--no-hedge"]), ("hedged", HEDGED, [])):
            with Services(o.bin) as services:
                row, values = stream(o.bin, services, os.path.join(folder, "latencies"), *words)
            rows.append((name, colour, row, values))
            print("%-12s p50 %6.1f ms   p99 %6.1f ms   p99.9 %6.1f ms   %d calls for %d requests" % (
                name, row["p50_us"] / 1e3, row["p99_us"] / 1e3, row["p999_us"] / 1e3, row["calls"], row["requests"]))
        if o.graph is not None and os.path.exists(o.graph):
            with Services(o.bin) as services:
                words = ["--services", "*[02468]=%s,%s;*=%s" % tuple(services.names), "--graph", o.graph, "--pick", "3", "--planner",
                         "heft", "--effects", "30"]
                far = run(o.bin, *words, "--journal", os.path.join(folder, "journal"))
            near = run(o.bin, *words, "--local")
            if far["hash"] != near["hash"]:
                sys.exit("demo: the workflow's outputs are not those of the run within one process")
            print("workflow     %d tasks in %.1f ms, outputs as within one process; %d records in %d commits" % (
                far["tasks"], far["makespan_ms"], far["records"], far["commits"]))
    if o.svg is not None:
        draw(o.svg, rows)
        print("picture      %s" % o.svg)


if __name__ == "__main__":
    main()
